package inference

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// A Description says what a model is; nothing of it is loaded.
type Description struct {
	Architecture string      `json:"architecture"`
	Name         string      `json:"name,omitempty"` // as the file has it
	Layers       int         `json:"layers"`
	Parameters   uint64      `json:"parameters"`
	Bytes        uint64      `json:"bytes"`
	Types        []TypeCount `json:"types"` // the one with most parameters first
	Context      int         `json:"context"`
	Vocab        int         `json:"vocabulary"`
	Ends         []string    `json:"ends"`           // the tokens that end a turn, as Show writes them
	BOS          string      `json:"bos,omitempty"`  // what every prompt begins with
	Chat         string      `json:"chat"`           // the template's rendering of a small chat, as Show writes it
	Note         string      `json:"note,omitempty"` // what is done about the chat that a user would not expect
	Thinking     bool        `json:"thinking"`       // whether the template has a switch for it
}

// A TypeCount counts the parameters of one type of weights.
type TypeCount struct {
	Type       string `json:"type"`
	Tensors    int    `json:"tensors"`
	Parameters uint64 `json:"parameters"`
}

// Describe reads what a model file says of itself, and checks it as Open does.
func Describe(path, system, user string) (*Description, error) {
	h, err := readHeader(path)
	if err != nil {
		return nil, err
	}
	build, err := h.builder()
	if err != nil {
		return nil, err
	}
	c, err := newCodec(h)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	arch, err := build(h, c.Vocab())
	if err != nil {
		return nil, err
	}
	d := &Description{
		Architecture: h.kv.Architecture(), Name: h.kv.String("general.name"), Layers: len(arch.streams()),
		Bytes: h.size(), Types: h.types(), Vocab: c.Vocab(),
	}
	for _, t := range d.Types {
		d.Parameters += t.Parameters
	}
	if d.Context, err = h.count("context_length"); err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(c.ends)) {
		d.Ends = append(d.Ends, c.Show([]int32{id}))
	}
	if c.bos >= 0 {
		d.BOS = c.Show([]int32{c.bos})
	}
	_, ids, err := c.Chat([]Message{{"system", system}, {"user", user}})
	if err != nil {
		return nil, err
	}
	d.Chat, d.Note = c.Show(ids), c.TemplateNote()
	d.Thinking = c.template.setThink("on") == nil
	return d, nil
}

// types counts the tensors by their type.
func (h *header) types() []TypeCount {
	counts := map[uint32]*TypeCount{}
	for _, t := range h.tensors {
		c := counts[t.Kind]
		if c == nil {
			c = &TypeCount{Type: typeName(t.Kind)}
			counts[t.Kind] = c
		}
		c.Tensors++
		c.Parameters += t.Elements()
	}
	list := []TypeCount{}
	for _, c := range counts {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b TypeCount) int {
		return cmp.Or(cmp.Compare(b.Parameters, a.Parameters), cmp.Compare(a.Type, b.Type))
	})
	return list
}

// typeName is that of a type of weights, or its number where fs/ggml keeps the
// name to itself.
func typeName(kind uint32) string {
	if name := fsggml.TensorType(kind).String(); name != "unknown" {
		return name
	}
	return fmt.Sprintf("type %d", kind)
}

// Show writes tokens with each control token as its number and text in brackets.
func (c *Codec) Show(ids []int32) string {
	var b strings.Builder
	from := 0
	for i, id := range ids {
		at := slices.IndexFunc(c.markers, func(m marker) bool { return m.id == id })
		if at < 0 {
			continue
		}
		b.WriteString(c.Text(ids[from:i]))
		fmt.Fprintf(&b, "[%d %s]", id, c.markers[at].text)
		from = i + 1
	}
	b.WriteString(c.Text(ids[from:]))
	return b.String()
}

// WorkingSet is what the runtime asks for beside weights and cache, in bytes,
// for a step as large as the limits allow: every slot full and computing, as
// many tokens as fit, all drawn.
func (m *Model) WorkingSet() (bytes uint64, err error) {
	defer caught(&err, "measuring the working set")
	m.forget()
	l := m.limits
	long := min(l.Cells, max(1, l.Tokens-(l.Rows-1)))
	if l.Ring > 0 {
		long = min(long, longestPart)
	}
	size := l.BlockFor(l.Cells)
	for size > l.Least && l.Pool/size < l.Rows {
		size /= 2
	}
	rows := []Row{{Slot: 0, Block: Block{0, l.BlockFor(l.Cells)}, Pos: l.Cells - long, Tokens: make([]int32, long), Sample: true}}
	for b := rows[0].Block.Cells / size; len(rows) < l.Rows && (b+1)*size <= l.Pool; b++ {
		rows = append(rows, Row{Slot: len(rows), Block: Block{b * size, size}, Pos: min(size, l.Cells) - 1, Tokens: []int32{0}, Decode: true, Sample: true})
	}
	rows = rows[:m.fitting(rows)]
	g := m.build(m.streams.lay(rows, m.padTokens, m.padOutputs, nil), m.picks)
	defer g.ctx.Close()
	g.ctx.Reserve()
	memory := m.be.BackendMemory()
	bytes = memory.CPU.Graph
	for _, gpu := range memory.GPUs {
		bytes += gpu.Graph
	}
	return bytes, nil
}
