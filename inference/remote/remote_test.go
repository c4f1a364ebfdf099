package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"selfplay/inference"
)

// The child's engine is asked for what the parent's is, and its tokens come back.
func TestForward(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fake := &fakeEngine{limits: inference.Limits{Rows: 1, Tokens: 2, Slots: 3, Cells: 4, Pool: 5, Least: 6, Window: 7, Ring: 8}}
	var got Request
	var shares []float32
	q := Request{Program: "v1", Model: "m.gguf", Options: inference.Options{
		Slots: 1, Cells: 2, Pool: 3, Cache: "q8_0", Tokens: 4, Threads: 5, Weights: "bf16", GPU: true, Think: "off", Plain: true, Sharing: 2,
		Progress: func(share float32) { shares = append(shares, share) },
	}}
	e, ended := serve(func(q Request) (inference.Engine, inference.Plan, error) {
		got = q
		for _, share := range []float32{0, 0.1, 0.101, 0.5, 1} {
			q.Options.Progress(share)
		}
		return fake, inference.Plan{Slots: 11, Kind: "file"}, nil
	})
	if err := e.open(q); err != nil {
		t.Fatal(err)
	}
	got.Options.Progress, q.Options.Progress = nil, nil
	if !reflect.DeepEqual(got, q) || e.Limits() != fake.limits || e.Plan.Slots != 11 || e.Plan.Kind != "file" {
		t.Errorf("asked for %+v, opened %+v with %+v", q, got, e)
	}
	if want := []float32{0.1, 0.5, 1}; !slices.Equal(shares, want) {
		t.Errorf("progress %v, want %v", shares, want)
	}
	for n := range 200 {
		b := randomBatch(r, n)
		if n == 100 { // more than is read at once
			b.Rows[0].Tokens = slices.Repeat([]int32{1, 2, 3}, 100_000)
		}
		want := clone(b)
		for _, c := range b.Copies {
			if err := e.Copy(c); err != nil {
				t.Fatal(err)
			}
		}
		fake.seen = nil
		if err := e.Forward(b); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(fake.seen, asSeen(want)) {
			t.Fatalf("%d rows: the engine saw\n%v, want\n%v", n, fake.seen, asSeen(want))
		}
		for i, row := range want.Rows {
			if got := b.Rows[i].Token; row.Sample && got != drawn(&row) || !row.Sample && got != 0 {
				t.Fatalf("row %d of %d: token %d", i, n, got)
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil || fake.closed != 1 {
		t.Errorf("the child: %v, closed %d times", err, fake.closed)
	}
	if err := e.Forward(randomBatch(r, 1)); err == nil {
		t.Error("Forward after Close")
	}
	if err := e.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// The child's model scores what the parent asks for, and its scores come back bit
// by bit.
func TestScore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	fake := &fakeEngine{}
	e, ended := serve(func(Request) (inference.Engine, inference.Plan, error) { return fake, inference.Plan{}, nil })
	if err := e.open(Request{Program: "v1"}); err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		b := randomBatch(r, n)
		want := clone(b)
		wanted := make([][]int32, n)
		for i := range wanted {
			for range r.IntN(6) {
				wanted[i] = append(wanted[i], r.Int32N(300_000))
			}
		}
		for _, c := range b.Copies {
			if err := e.Copy(c); err != nil {
				t.Fatal(err)
			}
		}
		fake.seen = nil
		scores, err := e.Score(b, wanted)
		if err != nil || len(scores) != n || !slices.Equal(fake.seen, asSeen(want)) {
			t.Fatalf("%d rows: %d scores, %v; the engine saw\n%v, want\n%v", n, len(scores), err, fake.seen, asSeen(want))
		}
		for i := range want.Rows {
			row := &want.Rows[i]
			if !row.Sample {
				if scores[i] != nil {
					t.Errorf("row %d does not sample: %v", i, scores[i])
				}
				continue
			}
			for k, token := range wanted[i] {
				if len(scores[i]) != len(wanted[i]) || scores[i][k] != scored(row, token) {
					t.Fatalf("row %d of %d: %v for %v", i, n, scores[i], wanted[i])
				}
			}
		}
	}
	b := randomBatch(r, 3)
	if _, err := e.Score(b, make([][]int32, 2)); err == nil || !strings.Contains(err.Error(), "wanted tokens for 2") {
		t.Error(err)
	}
	fake.fail = errors.New("not a number")
	if _, err := e.Score(b, make([][]int32, 3)); err == nil || err.Error() != "replica r0: not a number" {
		t.Error(err)
	}
	fake.fail = nil
	if err := e.Forward(b); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	e.Close()
	<-ended
	if _, err := e.Score(b, make([][]int32, 3)); err == nil {
		t.Error("Score after Close")
	}
}

// An engine that does not score says so, and a child that answers other scores is
// lost.
func TestNoScores(t *testing.T) {
	e, ended := serve(func(Request) (inference.Engine, inference.Plan, error) { return silent{}, inference.Plan{}, nil })
	if err := e.open(Request{Program: "v1"}); err != nil {
		t.Fatal(err)
	}
	b := &inference.Batch{Rows: []inference.Row{{Sample: true}, {}, {Sample: true}}}
	wanted := [][]int32{{1, 2}, nil, {3}}
	if _, err := e.Score(b, wanted); err == nil || !strings.Contains(err.Error(), "does not tell how likely") {
		t.Error(err)
	}
	e.Close()
	<-ended
	for _, bytes := range [][]byte{answer(kindScores, make([]byte, 16)...), answer(kindScores, make([]byte, 25)...), answer(kindTokens, make([]byte, 8)...)} {
		e, child := answers(bytes)
		if _, err := e.Score(b, wanted); !errors.As(err, new(*Lost)) || child.killed != 1 {
			t.Errorf("%x: %v", bytes, err)
		}
	}
}

// silent is an engine that does not score.
type silent struct{ inference.Engine }

func (silent) Limits() inference.Limits { return inference.Limits{} }
func (silent) Close() error             { return nil }

// Errors of the engine come back as they are, and it goes on.
func TestEngineErrors(t *testing.T) {
	fake := &fakeEngine{}
	e, ended := serve(func(Request) (inference.Engine, inference.Plan, error) { return fake, inference.Plan{}, nil })
	if err := e.open(Request{Program: "v1"}); err != nil {
		t.Fatal(err)
	}
	b := randomBatch(rand.New(rand.NewPCG(1, 3)), 5)
	fake.fail = errors.New("layer 3\nis not a number\x1b[2J")
	if err := e.Forward(b); err == nil || err.Error() != "replica r0: layer 3 is not a number[2J" {
		t.Errorf("got %v", err)
	}
	fake.fail = nil
	e.Copy(inference.Copy{Cells: -1})
	if err := e.Forward(b); err == nil || !strings.Contains(err.Error(), "copy of -1 cells: no cells") {
		t.Errorf("got %v", err)
	}
	if err := e.Forward(b); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	e.Close()
	<-ended
}

// A model that can't be opened.
func TestOpenErrors(t *testing.T) {
	for name, c := range map[string]struct {
		open   error
		ask    string
		want   string
		noRoom bool
	}{
		"no file": {errors.New("m.gguf: no such file"), "v1", "replica r0: m.gguf: no such file", false},
		"no room": {inference.NoRoom{Err: errors.New("m.gguf: too large")}, "v1", "replica r0: m.gguf: too large", true},
		"version": {nil, "v2", "another version (v2 and v1)", false},
	} {
		e, ended := serve(func(Request) (inference.Engine, inference.Plan, error) { return nil, inference.Plan{}, c.open })
		err := e.open(Request{Program: c.ask})
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, new(inference.NoRoom)) != c.noRoom {
			t.Errorf("%s: %v", name, err)
		}
		if err := <-ended; err != nil {
			t.Errorf("%s: the child: %v", name, err)
		}
	}
}

// answers makes an engine that gets these bytes as answers.
func answers(b []byte) (*Engine, *fakeChild) {
	c := &fakeChild{close: func() {}}
	return &Engine{name: "r0", child: c, c: connection{r: bytes.NewReader(b), w: io.Discard}}, c
}

// answer is a message.
func answer(kind byte, contents ...byte) []byte {
	var b bytes.Buffer
	c := connection{w: &b}
	c.begin(kind)
	c.out = append(c.out, contents...)
	c.send()
	return b.Bytes()
}

// A child that answers nonsense, or nothing, is lost for good.
func TestNonsense(t *testing.T) {
	for name, c := range map[string]struct {
		bytes  []byte
		want   string
		killed int
	}{
		"nothing":        {nil, "it ended", 0},
		"half a length":  {[]byte{1, 0}, "it ended", 0},
		"half a message": {[]byte{9, 0, 0, 0, kindTokens, 1}, "it ended", 0},
		"no kind":        {[]byte{0, 0, 0, 0}, "without a kind", 1},
		"too long":       {[]byte{0xff, 0xff, 0xff, 0xff}, "more than", 1},
		"text":           {[]byte("Hello, I am a shell\n"), "more than", 1},
		"other kind":     {answer(kindGreeting), "kind 5", 1},
		"few tokens":     {answer(kindTokens, 1, 2, 3, 4), "4 bytes of tokens", 1},
		"many tokens":    {answer(kindTokens, make([]byte, 12)...), "12 bytes of tokens", 1},
		"failed of what": {answer(kindFailed), "kind 7", 1},
	} {
		e, child := answers(c.bytes)
		b := &inference.Batch{Rows: []inference.Row{{Sample: true}, {}, {Sample: true}}}
		err := e.Forward(b)
		lost, ok := errors.AsType[*Lost](err)
		if !ok || !strings.Contains(err.Error(), c.want) || lost.Name != "r0" || child.killed != c.killed {
			t.Errorf("%s: %v, killed %d times", name, err, child.killed)
			continue
		}
		if want := "the process of replica r0 is lost (exit status 7): "; !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "; it last wrote: one / two") {
			t.Errorf("%s: %v", name, err)
		}
		if again := e.Forward(b); again != err {
			t.Errorf("%s: then %v", name, again)
		}
		if again := e.Copy(inference.Copy{}); again != err {
			t.Errorf("%s: then a copy: %v", name, again)
		}
	}
}

// A child that greets in another version, or not at all, is lost.
func TestBrokenGreeting(t *testing.T) {
	other, _ := json.Marshal(greeting{Protocol: protocol + 1, Program: "v1"})
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"protocol": {answer(kindGreeting, other...), "another version"},
		"broken":   {answer(kindGreeting, '{'), "broken greeting"},
		"tokens":   {answer(kindTokens), "kind 6"},
		"nothing":  {answer(kindProgress, 1, 2, 3, 4), "it ended"},
	} {
		e, _ := answers(c.bytes)
		if err := e.open(Request{Program: "v1"}); !errors.As(err, new(*Lost)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzServe: whatever is asked, the child answers or ends. What it takes for a
// batch is one, byte for byte.
func FuzzServe(f *testing.F) {
	data, _ := json.Marshal(request{protocol, Request{Program: "v1"}})
	f.Add(answer(kindOpen, data...), answer(kindClose))
	b := randomBatch(rand.New(rand.NewPCG(1, 4)), 3)
	f.Add(answer(kindOpen, data...), answer(kindForward, appendBatch(nil, b, b.Copies)...))
	f.Add(answer(kindOpen, data...), answer(kindScore, appendBatch(appendWanted(nil, [][]int32{{1, 2}, nil, {3}}), b, b.Copies)...))
	f.Add([]byte{}, []byte{1, 0, 0, 0, kindForward})
	f.Add([]byte{255, 255, 255, 3, 1}, answer(kindForward, make([]byte, 40)...))
	f.Fuzz(func(t *testing.T, first, rest []byte) {
		fake := &fakeEngine{}
		Serve(bytes.NewReader(slices.Concat(first, rest)), io.Discard, "v1", func(Request) (inference.Engine, inference.Plan, error) {
			return fake, inference.Plan{}, nil
		})
		if fake.closed > 1 || len(fake.seen) > 0 && fake.closed == 0 {
			t.Errorf("closed %d times", fake.closed)
		}
		var br batchReader
		if b, err := br.read(rest); err == nil {
			again := appendBatch(nil, b, b.Copies)
			for i := 8 + copyBytes*len(b.Copies); i < len(again); { // unknown flags are ignored
				rest[i+20] &= flagDecode | flagSample
				i += rowBytes + 4*int(again[i+16]) + 4<<8*int(again[i+17]) + 4<<16*int(again[i+18])
			}
			if !bytes.Equal(again, rest) {
				t.Errorf("%x is read as %x", rest, again)
			}
		}
	})
}

// FuzzAnswers: whatever the child answers is a greeting, tokens, or an error.
func FuzzAnswers(f *testing.F) {
	data, _ := json.Marshal(greeting{Protocol: protocol, Program: "v1"})
	f.Add(slices.Concat(answer(kindProgress, 0, 0, 0, 0), answer(kindGreeting, data...), answer(kindTokens, make([]byte, 8)...)))
	f.Add(slices.Concat(answer(kindGreeting, data...), answer(kindScores, make([]byte, 24)...), answer(kindTokens, make([]byte, 8)...)))
	f.Add(answer(kindFailed, 1, 'x'))
	f.Add([]byte{255, 255, 255, 3, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, _ := answers(b)
		if e.open(Request{Program: "v1"}) == nil {
			batch := &inference.Batch{Rows: []inference.Row{{Sample: true}, {}, {Sample: true}}}
			for err := error(nil); err == nil; err = e.Forward(batch) {
				if _, err = e.Score(batch, [][]int32{{1, 2}, nil, {3}}); err != nil {
					break
				}
			}
		}
		e.Close()
	})
}

// decodeBatch is a step of so many games that decode.
func decodeBatch(rows int) *inference.Batch {
	b := &inference.Batch{}
	for i := range rows {
		b.Rows = append(b.Rows, inference.Row{
			Slot: i, Block: inference.Block{First: 2048 * i, Cells: 2048}, Pos: 1000 + i%100, Tokens: []int32{int32(i)},
			Decode: true, Sample: true, Draw: 0.5, Token: int32(i),
		})
	}
	return b
}

// Messages take no memory of their own, step after step.
func TestMessagesAllocateNothing(t *testing.T) {
	b := decodeBatch(64)
	var br batchReader
	var out, back []byte
	if n := testing.AllocsPerRun(50, func() {
		out = appendBatch(out[:0], b, b.Copies)
		got, err := br.read(out)
		if err != nil {
			t.Fatal(err)
		}
		back = appendTokens(back[:0], got.Rows)
		if err := readTokens(back, b.Rows); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

// BenchmarkStep is what a decoding step of 1,024 games costs beside the engine:
// within the messages, and with two pipes of this process between.
func BenchmarkStep(b *testing.B) {
	batch := decodeBatch(1024)
	b.Run("messages", func(b *testing.B) {
		var br batchReader
		var out, back []byte
		for b.Loop() {
			out = appendBatch(out[:0], batch, nil)
			got, _ := br.read(out)
			back = appendTokens(back[:0], got.Rows)
			readTokens(back, batch.Rows)
		}
	})
	b.Run("pipes", func(b *testing.B) {
		e, _ := serve(func(Request) (inference.Engine, inference.Plan, error) { return idle{}, inference.Plan{}, nil })
		if err := e.open(Request{Program: "v1"}); err != nil {
			b.Fatal(err)
		}
		defer e.Close()
		for b.Loop() {
			if err := e.Forward(batch); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// idle computes nothing.
type idle struct{ fakeEngine }

func (idle) Limits() inference.Limits       { return inference.Limits{} }
func (idle) Forward(*inference.Batch) error { return nil }
func (idle) Close() error                   { return nil }
func (idle) Copy(inference.Copy) error      { return nil }
