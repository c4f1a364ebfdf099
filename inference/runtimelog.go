package inference

// void ggml_log_set(void (*callback)(int level, char *text, void *data), void *data);
// void logFromRuntime(int level, char *text, void *data);
// static void log_runtime(void) { ggml_log_set(logFromRuntime, NULL); }
import "C"

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"unsafe"
)

// LogRuntime has what the runtime's C code tells go into slog's default logger, a
// record a line. Otherwise it goes to standard error as it is, if the logger takes
// its level.
func LogRuntime() { C.log_runtime() }

// runtimeLog puts lines together, which come in pieces.
var runtimeLog runtimeLines

//export logFromRuntime
func logFromRuntime(level C.int, text *C.char, _ unsafe.Pointer) {
	runtimeLog.add(int(level), C.GoString(text))
}

// The runtime's levels, and the one of a piece that goes on with the last line.
const (
	runtimeInfo = 2
	runtimeGoOn = 5
)

// runtimeLines are lines of which the last is not yet whole. They may come from
// several threads.
type runtimeLines struct {
	mu    sync.Mutex
	level slog.Level
	line  strings.Builder
}

func (r *runtimeLines) add(level int, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if level != runtimeGoOn {
		r.end() // whose end never came
		r.level = slog.Level(4 * (level - runtimeInfo))
	}
	for {
		line, rest, whole := strings.Cut(text, "\n")
		r.line.WriteString(line)
		if !whole {
			return
		}
		r.end()
		text = rest
	}
}

func (r *runtimeLines) end() {
	if text := strings.TrimSpace(r.line.String()); strings.Trim(text, ".") != "" { // dots alone show progress
		slog.Log(context.Background(), r.level, "ggml", "text", text)
	}
	r.line.Reset()
}
