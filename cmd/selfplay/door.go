package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"selfplay/bench/screen"
)

// A door is what all text leaves the program by. Names and texts come from files
// and models that may be anyone's, and in whatever table, warning or error they
// stand, nothing in them may steer the terminal: characters that would are named
// in their place. What is data, or draws on the terminal, goes out by raw; lines
// that are written over each other by writeOver.
type door struct {
	w    io.Writer
	mu   sync.Mutex
	rest []byte // the beginning of a character that is not whole yet
}

func (d *door) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := append(d.rest, b...)
	whole := len(all) - len(cutRune(all))
	d.rest = append([]byte(nil), all[whole:]...)
	if _, err := io.WriteString(d.w, screen.Harmless(string(all[:whole]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// cutRune is the end of a text that may be the beginning of a character.
func cutRune(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if end := b[len(b)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return nil
			}
			return end
		}
	}
	return nil
}

// writeOver writes a line over the one that a terminal's cursor stands on, see
// movesCursor. One with its end stays; any other is there until something is written
// over it, and an empty one clears what is. The codes for that are the program's own:
// what the line says is as harmless as all else.
func writeOver(w io.Writer, line string) {
	d, ok := w.(interface{ over(line string) })
	if !ok {
		d = &door{w: w}
	}
	d.over(line)
}

func (d *door) over(line string) {
	text, end := strings.ReplaceAll(line, "\n", "\u240a"), "\r"
	if cut, ended := strings.CutSuffix(line, "\n"); ended {
		text, end = cut, "\n"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	io.WriteString(d.w, "\r"+screen.Harmless(text)+"\x1b[K"+end)
}

// raw is what a door, or several goroutines' one, stands before.
func raw(w io.Writer) io.Writer {
	switch d := w.(type) {
	case *door:
		return raw(d.w)
	case *sharedWriter:
		return raw(d.w)
	}
	return w
}

// fileOf is the file that is written to in the end; false if it is none.
func fileOf(w io.Writer) (*os.File, bool) {
	f, ok := raw(w).(*os.File)
	return f, ok
}

// stdout is the command's standard output for data, and for what draws on it.
func stdout(c *cobra.Command) io.Writer { return raw(c.OutOrStdout()) }

// harmlessJSON escapes in JSON, whose strings alone can hold them, the characters
// that the door would name: so data means the same, and passes.
func harmlessJSON(line []byte) []byte {
	if bytes.Equal(line, []byte(screen.Harmless(string(line)))) {
		return line
	}
	var b bytes.Buffer
	for _, r := range string(line) {
		switch {
		case screen.Harmless(string(r)) == string(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
