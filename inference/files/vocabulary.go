package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Types of tokens in a GGUF vocabulary.
const (
	tokenNormal      = 1
	tokenControl     = 3
	tokenUserDefined = 4
	tokenUnused      = 5
	tokenByte        = 6
)

// A tokenizer is what a folder's tokenizer.json says, as far as GGUF has keys
// for it. The whole of it goes along verbatim.
type tokenizer struct {
	path  string
	raw   []byte
	Added []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
	Model struct {
		Type         string         `json:"type"`
		Vocab        map[string]int `json:"vocab"`
		ByteFallback bool           `json:"byte_fallback"`
	} `json:"model"`
	PostProcessor *postProcessor `json:"post_processor"`

	texts []string // of every token, by id
	ids   map[string]int
}

// A postProcessor adds the tokens around a text. A Sequence has several.
type postProcessor struct {
	Type       string          `json:"type"`
	Processors []postProcessor `json:"processors"`
	Single     []struct {
		SpecialToken *struct {
			ID string `json:"id"`
		} `json:"SpecialToken"`
	} `json:"single"`
}

// starts says whether a text begins with the token.
func (p *postProcessor) starts(token string) bool {
	if p == nil {
		return false
	}
	if p.Type == "TemplateProcessing" && len(p.Single) > 0 && p.Single[0].SpecialToken != nil {
		return p.Single[0].SpecialToken.ID == token
	}
	return slices.ContainsFunc(p.Processors, func(q postProcessor) bool { return q.starts(token) })
}

func readTokenizer(dir string) (*tokenizer, error) {
	t := &tokenizer{path: filepath.Join(dir, "tokenizer.json")}
	var err error
	if t.raw, err = Read(t.path, mostText); errors.Is(err, fs.ErrNotExist) {
		for _, other := range []string{"tekken.json", "tokenizer.model"} {
			if _, err := os.Stat(filepath.Join(dir, other)); err == nil {
				return nil, fmt.Errorf("%s is missing, and %s is not read: put the model's tokenizer.json into the folder", t.path, other)
			}
		}
		return nil, fmt.Errorf("%s is missing: the folder has no tokenizer", t.path)
	}
	if err == nil {
		err = json.Unmarshal(t.raw, t)
	}
	if err == nil && (t.Model.Type != "BPE" || len(t.Model.Vocab) == 0) {
		err = fmt.Errorf("a tokenizer of type %q with %d tokens; BPE is supported", t.Model.Type, len(t.Model.Vocab))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	return t, nil
}

// number puts the tokens in the order of their ids, n in all, and gives their
// types.
func (t *tokenizer) number(n int) (types []int32, err error) {
	t.texts, t.ids, types = make([]string, n), make(map[string]int, n), make([]int32, n)
	put := func(id int, text string, kind int32) error {
		if id < 0 || id >= n {
			return fmt.Errorf("%s: token %q has id %d, but config.json has vocab_size %d", t.path, text, id, n)
		}
		if types[id] != 0 && t.texts[id] != text {
			return fmt.Errorf("%s: tokens %q and %q have the same id %d", t.path, t.texts[id], text, id)
		}
		if other, ok := t.ids[text]; ok && other != id {
			return fmt.Errorf("%s: token %q has the ids %d and %d", t.path, text, other, id)
		}
		t.texts[id], types[id], t.ids[text] = text, kind, id
		return nil
	}
	for text, id := range t.Model.Vocab {
		kind := int32(tokenNormal)
		if t.Model.ByteFallback && isByte(text) {
			kind = tokenByte
		}
		if err := put(id, text, kind); err != nil {
			return nil, err
		}
	}
	for _, a := range t.Added {
		kind := int32(tokenUserDefined)
		if a.Special {
			kind = tokenControl
		}
		if err := put(a.ID, a.Content, kind); err != nil {
			return nil, err
		}
	}
	for id := range types {
		if types[id] == 0 {
			t.texts[id], types[id] = fmt.Sprintf("[PAD%d]", id), tokenUnused
		}
	}
	return types, nil
}

// isByte says whether a token stands for one byte, as <0x0A> does.
func isByte(text string) bool {
	var b byte
	n, err := fmt.Sscanf(text, "<0x%02X>", &b)
	return n == 1 && err == nil && text == fmt.Sprintf("<0x%02X>", b)
}

// describeTokenizer writes the vocabulary, the tokens that begin and end a text,
// and the chat template. root is config.json's own object.
func describeTokenizer(dir string, root *config, vocab int, m *metadata) error {
	t, err := readTokenizer(dir)
	if err != nil {
		return err
	}
	types, err := t.number(vocab)
	if err != nil {
		return err
	}
	m.set("tokenizer.ggml.model", "huggingface")
	m.set("tokenizer.huggingface.json", string(t.raw))
	m.set("tokenizer.ggml.tokens", t.texts)
	m.set("tokenizer.ggml.token_type", types)
	own, err := readIfThere(filepath.Join(dir, "tokenizer_config.json"), root)
	if err != nil {
		return err
	}
	generation, err := readIfThere(filepath.Join(dir, "generation_config.json"), root)
	if err != nil {
		return err
	}
	if err := t.ends(m, own, generation, root); err != nil {
		return err
	}
	template, err := chatTemplate(dir, own)
	if template != "" {
		m.set("tokenizer.chat_template", template)
	}
	if err != nil {
		return err
	}
	return *root.err
}

// readIfThere reads a file that a folder may lack: then it has no fields.
func readIfThere(path string, root *config) (*config, error) {
	c, err := readConfig(path)
	if errors.Is(err, fs.ErrNotExist) {
		c, err = &config{where: path + ":", read: map[string]bool{}}, nil
	}
	if err == nil {
		c.err = root.err
	}
	return c, err
}

// ends writes which tokens begin and end a text: those of tokenizer_config.json,
// of generation_config.json, of config.json, in this order.
func (t *tokenizer) ends(m *metadata, own, generation, root *config) error {
	places := []*config{generation, root}
	if text := root.sub(); text != nil {
		places = append(places, text)
	}
	bos := t.find("bos_token", own, places)
	addBOS := false
	if len(bos) > 0 {
		m.set("tokenizer.ggml.bos_token_id", uint32(bos[0]))
		for text, id := range t.ids {
			addBOS = addBOS || id == bos[0] && t.PostProcessor.starts(text)
		}
	}
	if own.get("add_bos_token", &addBOS); addBOS && len(bos) == 0 {
		own.fail("add_bos_token", " is true, but no file of the folder names bos_token")
	}
	m.set("tokenizer.ggml.add_bos_token", addBOS)
	eos := t.find("eos_token", own, places)
	if len(eos) == 0 {
		own.fail("eos_token", " is missing, and eos_token_id in config.json too: nothing would end a turn")
		return *own.err
	}
	m.set("tokenizer.ggml.eos_token_id", uint32(eos[0]))
	var all []int32 // of the first place that names any
	for _, c := range places {
		for _, id := range c.tokenIDs("eos_token_id", len(t.texts)) {
			all = append(all, int32(id))
		}
		if len(all) > 0 {
			break
		}
	}
	if len(all) == 0 {
		all = []int32{int32(eos[0])}
	}
	m.set("tokenizer.ggml.eos_token_ids", all)
	return *own.err
}

// find gives the id of a token that tokenizer_config.json names, or else those
// of the first place that has any.
func (t *tokenizer) find(name string, own *config, places []*config) []int {
	if text, ok := own.token(name); ok {
		id, ok := t.ids[text]
		if !ok {
			own.fail(name, " is %q, which tokenizer.json does not have", text)
		}
		return []int{id}
	}
	for _, c := range places {
		if ids := c.tokenIDs(name+"_id", len(t.texts)); len(ids) > 0 {
			return ids
		}
	}
	return nil
}

// token is a field of tokenizer_config.json that names a token: a string, or an
// object that has it as content.
func (c *config) token(name string) (string, bool) {
	if !c.has(name) {
		return "", false
	}
	var full struct {
		Content string `json:"content"`
	}
	if json.Unmarshal(c.fields[name], &full) == nil {
		return full.Content, true
	}
	return c.text(name), true
}

// tokenIDs is a field that holds one id or a list of them.
func (c *config) tokenIDs(name string, vocab int) (ids []int) {
	var one int
	if !c.has(name) {
		return nil
	}
	if json.Unmarshal(c.fields[name], &one) == nil {
		ids = []int{one}
	} else {
		c.get(name, &ids)
	}
	for _, id := range ids {
		if id < 0 || id >= vocab {
			c.fail(name, " is %s, but there are %d tokens", short(c.fields[name]), vocab)
		}
	}
	return ids
}

// chatTemplate is the folder's own file, or what tokenizer_config.json holds:
// one, or several of which the one named default is meant.
func chatTemplate(dir string, own *config) (string, error) {
	b, err := Read(filepath.Join(dir, "chat_template.jinja"), mostText)
	if !errors.Is(err, fs.ErrNotExist) {
		return string(b), err
	}
	if !own.has("chat_template") {
		return "", nil
	}
	var several []struct {
		Name     string `json:"name"`
		Template string `json:"template"`
	}
	if json.Unmarshal(own.fields["chat_template"], &several) != nil {
		return own.text("chat_template"), nil
	}
	for _, t := range several {
		if t.Name == "default" {
			return t.Template, nil
		}
	}
	own.fail("chat_template", " holds %d templates, none of them named default", len(several))
	return "", nil
}
