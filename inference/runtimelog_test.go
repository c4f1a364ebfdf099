package inference

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestRuntimeLog puts pieces together, as the runtime gives them.
func TestRuntimeLog(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	defer slog.SetDefault(before)
	var r runtimeLines
	for _, piece := range []struct {
		level int
		text  string
	}{
		{2, "found 1 "}, {5, "device\n"}, {1, "a\nb\n"}, {4, "broken"}, {3, "odd\n"}, {2, "."}, {5, "."}, {5, "\n"}, {2, "\n"}, {0, "none\n"},
	} {
		r.add(piece.level, piece.text)
	}
	want := `level=INFO msg=ggml text="found 1 device"
level=DEBUG msg=ggml text=a
level=DEBUG msg=ggml text=b
level=ERROR msg=ggml text=broken
level=WARN msg=ggml text=odd
level=DEBUG-4 msg=ggml text=none
`
	want = strings.Replace(want, "level=DEBUG-4 msg=ggml text=none\n", "", 1) // below what is asked for
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
