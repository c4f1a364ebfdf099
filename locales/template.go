package locales

import (
	"fmt"
	"slices"
	"strings"

	"selfplay/locales/verify"
)

// A template is a text in Python's str.format notation, cut behind each of its
// placeholders.
type template []piece

// A piece is literal text and the value that stands behind it.
type piece struct {
	text string
	arg  int // index of the value in Message.Args, noValue in the last piece
}

const noValue = -1

// write appends the text with its placeholders filled in.
func (t template) write(b *strings.Builder, args []string) {
	for _, p := range t {
		b.WriteString(p.text)
		if p.arg != noValue {
			b.WriteString(args[p.arg])
		}
	}
}

// parse cuts a text at its placeholders, which may only be those in args. It
// takes what str.format takes, but of its fields only plain names: the texts
// use no others.
func parse(text string, args []string) (template, error) {
	var t template
	var literal strings.Builder
	for i := 0; i < len(text); {
		size := strings.IndexAny(text[i:], "{}")
		if size < 0 {
			size = len(text) - i
		}
		literal.WriteString(text[i : i+size])
		i += size
		switch rest := text[i:]; {
		case rest == "":
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"): // stand for one brace
			literal.WriteByte(rest[0])
			i += 2
		default:
			name, ok := verify.Field(rest)
			if !ok {
				return nil, fmt.Errorf("a single %q in %q; write it twice to show a brace", rest[0], verify.Excerpt(text, i))
			}
			arg := slices.Index(args, name)
			if arg < 0 {
				return nil, fmt.Errorf("unknown placeholder {%s}; %s", verify.Excerpt(name, 0), usable(args))
			}
			t = append(t, piece{literal.String(), arg})
			literal.Reset()
			i += len("{") + len(name) + len("}")
		}
	}
	return append(t, piece{literal.String(), noValue}), nil
}

func usable(args []string) string {
	if len(args) == 0 {
		return "no placeholder can be filled in here, remove it"
	}
	return "use only {" + strings.Join(args, "}, {") + "}"
}
