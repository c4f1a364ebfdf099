package cluster

import (
	"os/exec"
	"testing"
)

// A shell gives a quoted word back, whatever is in it, and does nothing else.
func TestQuote(t *testing.T) {
	for _, word := range []string{"plain", "", " ", "$(touch x)", "`touch x`", "a'b", "''", "'; touch x; '", `"\`, "a\nb", "\x1b[2J", "!x", "~", "*", "$HOME", "-n", "ä\u202e", "#x", "a=b", "{a,b}", "x&", "\xff"} {
		got, err := exec.Command("sh", "-c", "printf '[%s]' "+Quote(word)).Output()
		if err != nil || string(got) != "["+word+"]" {
			t.Errorf("%q quoted as %s is %q: %v", word, Quote(word), got, err)
		}
	}
}
