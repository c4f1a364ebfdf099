package inference

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/daulet/tokenizers"
)

// A Codec turns chats into a model's tokens and tokens into text. It is used by
// one goroutine at a time.
type Codec struct {
	path       string
	words      *tokenizers.Tokenizer // makes no control tokens
	texts      []string              // of each token; control tokens have none
	markers    []marker
	byFirst    [256]bool // whether a marker begins with this byte
	prefix     bool      // text is encoded with a space in front
	template   *chatTemplate
	noTemplate error // the file has none: it can encode text, but no chat
	bos        int32 // put in front of every prompt that does not start with it; -1: none
	ends       map[int32]bool
	missing    [256]bool // bytes that the vocabulary cannot write
	nul        int32     // the token of byte 0, which a C string cannot carry; -1: none
}

// A marker is a control token and its text.
type marker struct {
	text string
	id   int32
}

func newCodec(h *header) (*Codec, error) {
	v, err := readVocab(h)
	if err != nil {
		return nil, err
	}
	c := &Codec{path: h.path, texts: v.texts(), markers: v.markers(), prefix: v.pre.prefix, bos: v.bos, ends: v.ends, nul: -1, missing: v.bytesWithoutToken()}
	for _, m := range c.markers {
		c.byFirst[m.text[0]] = true
		if inThinkMark(m.text) {
			c.texts[m.id] = m.text
		}
	}
	if !h.kv.Bool("tokenizer.ggml.add_bos_token", v.pre.bos) && !v.pre.always {
		c.bos = -1
	}
	for id, t := range c.texts {
		if t == "\x00" {
			c.nul = int32(id)
		}
	}
	name := func(kind string) string {
		if id, ok := h.kv["tokenizer.ggml."+kind+"_token_id"].(uint32); ok {
			return v.tokens[id]
		}
		return ""
	}
	if c.template, err = newTemplate(h.path, v.template, name("bos"), name("eos")); err != nil && v.template != "" {
		return nil, err
	}
	c.noTemplate = err
	data, err := v.tokenizerJSON()
	if err != nil {
		return nil, err
	}
	if c.words, err = tokenizers.FromBytes(data); err != nil {
		return nil, fmt.Errorf("%s: vocabulary: %s", h.path, oneLine(err.Error()))
	}
	return c, nil
}

// Vocab is the size of the vocabulary.
func (c *Codec) Vocab() int { return len(c.texts) }

// End tells whether the token ends the model's turn.
func (c *Codec) End(id int32) bool { return c.ends[id] }

// Close frees the tokenizer.
func (c *Codec) Close() error {
	if c.words == nil {
		return nil
	}
	err := c.words.Close()
	c.words = nil
	return err
}

// Prompt gives the tokens of a chat of a system and a user message, up to where
// the answer begins. open tells whether the template began the model's
// thinking.
func (c *Codec) Prompt(system, user string) (ids []int32, open bool, err error) {
	text, ids, err := c.Chat([]Message{{"system", system}, {"user", user}})
	return ids, err == nil && opens(text), err
}

// TemplateNote says what is done about a chat that a user would not expect; ""
// if nothing is.
func (c *Codec) TemplateNote() string { return c.template.note() }

// Chat gives the text and the tokens of a chat up to where the answer begins.
// Only the template's own markers become control tokens: those inside a message
// stay text.
func (c *Codec) Chat(messages []Message) (text string, ids []int32, err error) {
	if c.noTemplate != nil {
		return "", nil, c.noTemplate
	}
	guard := guard(messages)
	guarded := make([]Message, len(messages))
	for i, m := range messages {
		guarded[i] = Message{m.Role, c.hide(m.Content, guard)}
	}
	rendered, err := c.template.render(guarded)
	if err != nil {
		return "", nil, err
	}
	if ids, err = c.encode(rendered, guard); err != nil {
		return "", nil, err
	}
	if c.bos >= 0 && (len(ids) == 0 || ids[0] != c.bos) {
		ids = append([]int32{c.bos}, ids...)
	}
	return strings.ReplaceAll(rendered, guard, ""), ids, nil
}

// Encode gives the tokens of plain text, in which markers stay text.
func (c *Codec) Encode(text string) ([]int32, error) { return c.plain(nil, text) }

// guardRune is one of Unicode's non-characters, meant for such inner use.
const guardRune = "\uFDD0"

// guard is a text that no message holds. It is written into every marker inside
// a message while the template is rendered, so that the template's own markers
// are told from it.
func guard(messages []Message) string {
	n := 1
	for _, m := range messages {
		n += strings.Count(m.Content, guardRune)
	}
	return strings.Repeat(guardRune, n)
}

// hide writes the guard into each marker of the text, after its first character,
// and in front of one that has no more.
func (c *Codec) hide(text, guard string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		if m, ok := c.markerAt(text, i); ok {
			_, n := utf8.DecodeRuneInString(text[i:])
			if n == len(m.text) {
				n = 0
			}
			b.WriteString(text[from : i+n])
			b.WriteString(guard)
			from = i + n
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// markerAt is the longest marker that the text holds at byte i.
func (c *Codec) markerAt(text string, i int) (marker, bool) {
	if !c.byFirst[text[i]] {
		return marker{}, false
	}
	for _, m := range c.markers {
		if strings.HasPrefix(text[i:], m.text) {
			return m, true
		}
	}
	return marker{}, false
}

// encode gives the tokens of rendered text: markers become control tokens, what
// lies between them is plain text without its guards.
func (c *Codec) encode(text, guard string) (ids []int32, err error) {
	from := 0
	for i := 0; i < len(text); {
		m, ok := c.markerAt(text, i)
		if !ok || strings.HasSuffix(text[:i], guard) {
			i++
			continue
		}
		if ids, err = c.plain(ids, strings.ReplaceAll(text[from:i], guard, "")); err != nil {
			return nil, err
		}
		ids = append(ids, m.id)
		i += len(m.text)
		from = i
	}
	return c.plain(ids, strings.ReplaceAll(text[from:], guard, ""))
}

// plain appends the tokens of text without markers.
func (c *Codec) plain(ids []int32, text string) ([]int32, error) {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	for i, r := range text {
		for _, b := range []byte(text[i : i+utf8.RuneLen(r)]) {
			if c.missing[b] {
				return nil, fmt.Errorf("%s: a text for the model holds %U, which its vocabulary cannot write", c.path, r)
			}
		}
	}
	for i, part := range strings.Split(text, "\x00") { // a C string ends at byte 0
		if i > 0 {
			ids = append(ids, c.nul)
		}
		words, err := c.part(part, i > 0)
		if err != nil {
			return nil, err
		}
		for _, id := range words {
			ids = append(ids, int32(id))
		}
	}
	return ids, nil
}

// part gives the tokens of text without byte 0. Where it goes on behind other
// text no space is put in front of it, but of a byte that merges with nothing.
func (c *Codec) part(text string, goesOn bool) ([]uint32, error) {
	var lead []uint32
	if goesOn && c.prefix {
		lead = c.words.EncodeWithOptions("\x01", false).IDs
		text = "\x01" + text
	}
	if text == "" {
		return nil, nil
	}
	ids := c.words.EncodeWithOptions(text, false).IDs
	if n := len(lead); len(ids) == 0 || len(ids) < n || !slices.Equal(ids[:n], lead) { // the library says no more
		return nil, fmt.Errorf("%s: the tokenizer failed on a text of %d bytes", c.path, len(text))
	}
	return ids[len(lead):], nil
}

// Text gives the text of sampled tokens: control tokens are left out but for
// the marks of thinking, and a character that was cut off is U+FFFD.
func (c *Codec) Text(ids []int32) string {
	var b []byte
	for _, id := range ids {
		if id >= 0 && int(id) < len(c.texts) {
			b = append(b, c.texts[id]...)
		}
	}
	if c.prefix { // the space that encoding put in front
		b = bytes.TrimPrefix(b, []byte(" "))
	}
	return lossy(b)
}

// lossy reads bytes as UTF-8. Of what is none, each longest beginning of a
// character becomes one U+FFFD, as Hugging Face's decoders have it.
func lossy(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var s strings.Builder
	for len(b) > 0 {
		r, n := nextRune(b)
		s.WriteRune(r)
		b = b[n:]
	}
	return s.String()
}

// nextRune reads one character, or U+FFFD for the bytes that begin one.
func nextRune(b []byte) (rune, int) {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		for n < len(b) && !utf8.FullRune(b[:n+1]) {
			n++
		}
	}
	return r, n
}

// OpenCodec reads the codec of a model file and leaves the weights alone.
func OpenCodec(path string) (*Codec, error) {
	h, err := readHeader(path)
	if err != nil {
		return nil, err
	}
	return newCodec(h)
}
