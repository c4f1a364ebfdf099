package bench

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"selfplay/scheduler"
)

// plainBytes is how long an action may be to stand in its own column, where SQL
// finds it. One that is longer is a whole answer in which no action was marked.
const plainBytes = 200

// What one game may hold, so that a file of a few bytes cannot ask for all memory. No
// game comes near: they have at most about a hundred turns, of which each could have
// 80,000 tokens that are all thinking, which is kept twice.
const (
	maxTranscript = 64 << 20 // bytes of its transcript
	maxShown      = 64 << 20 // bytes of its observations: each is the whole of what its seat was shown
)

// transcriptLevel: the next better one took twice as long for 2 % less, of random
// games as of long answers.
const transcriptLevel = zstd.SpeedFastest

// newEncoder makes what compresses transcripts, for one goroutine.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(transcriptLevel), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
}

// newDecoder makes what reads them, for one goroutine.
func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxTranscript), zstd.WithDecoderLowmem(true))
}

// A turnTexts is one turn's part of the transcript: the texts in their order,
// and how many bytes of the observation before are kept.
type turnTexts struct {
	kept                                               int
	observation, completion, thinking, action, wrapped string // as far as they stand in the transcript
}

// textsOf says which texts of a turn go into the transcript, where before is the
// observation that its seat had last.
func textsOf(t scheduler.Turn, before string) turnTexts {
	kept := commonPrefix(before, t.Observation)
	return turnTexts{kept: kept, observation: t.Observation[kept:], completion: t.Completion, thinking: t.Thinking,
		action: long(t.Action), wrapped: long(t.Event.Action)}
}

// long is a text that is too long for a column of its own, or nothing.
func long(text string) string {
	if len(text) > plainBytes {
		return text
	}
	return ""
}

// column is the value of a column for a text: NULL if it is long.
func column(text string) *string {
	if len(text) > plainBytes {
		return nil
	}
	return &text
}

// textBytes is about how much memory a game's texts take.
func textBytes(r scheduler.Record) (n int) {
	for _, t := range r.Turns {
		n += len(t.Observation) + len(t.Completion) + len(t.Thinking)
	}
	return n
}

func (t turnTexts) appendTo(transcript []byte) []byte {
	for _, text := range []string{t.observation, t.completion, t.thinking, t.action, t.wrapped} {
		transcript = append(transcript, text...)
	}
	return transcript
}

// commonPrefix counts the bytes with which both texts begin. An observation is
// the seat's whole history, so storing only what is new makes a game's size
// grow with its turns and not with their square. A character may be cut in
// two: reading joins it again.
func commonPrefix(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+64 <= n && a[i:i+64] == b[i:i+64] { // much faster than byte by byte
		i += 64
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// errTranscript: lengths and texts do not belong together.
var errTranscript = errors.New(dbName + " is damaged, its texts do not fit its turns: restore it or choose another --run folder")

// A transcript is read from its front.
type transcript struct{ rest string }

// take cuts off the next n bytes.
func (t *transcript) take(n int) (string, error) {
	if n < 0 || n > len(t.rest) {
		return "", errTranscript
	}
	text := t.rest[:n]
	t.rest = t.rest[n:]
	return text, nil
}

// unpack decompresses a frame; buf is reused.
func unpack(dec *zstd.Decoder, frame, buf []byte) (transcript, []byte, error) {
	buf, err := dec.DecodeAll(frame, buf[:0])
	if err != nil {
		return transcript{}, buf, fmt.Errorf("%w (%w)", errTranscript, err)
	}
	return transcript{string(buf)}, buf, nil
}
