// Package remote is an inference.Engine whose work a child process does. What a
// crash in the runtime, which is C, takes with it is that process alone.
//
// Both sides exchange messages: four bytes with the length of what follows, one
// with the kind, and the contents, numbers in little endian. The parent asks and
// the child answers, one at a time.
package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"selfplay/inference"
)

// protocol is the version of the messages. Raise it with every change to them, or
// to a type of inference that they hold.
const protocol = 2

// mostBytes is far more than a step of any engine takes.
const mostBytes = 1 << 26

// Kinds of messages.
const (
	kindOpen     = iota + 1 // to the child: a request as JSON
	kindForward             // to the child: a batch, see appendBatch
	kindClose               // to the child: the end
	kindProgress            // to the parent: the loaded share, float32
	kindGreeting            // to the parent: the engine is open, as JSON
	kindTokens              // to the parent: int32 for each row that samples
	kindFailed              // to the parent: one byte, whether it is inference.NoRoom, and the error's text
	kindScore               // to the child: the tokens wanted behind each row, see appendWanted, and a batch
	kindScores              // to the parent: float64 for each token wanted behind a row that samples
)

var errTooLong = fmt.Errorf("a message of more than %d bytes", mostBytes)

// A connection reads and writes messages. Reading and writing are for one
// goroutine each.
type connection struct {
	r   io.Reader
	w   io.Writer
	in  []byte // the last message read
	out []byte // the one being written
}

// begin begins a message; its contents are to be appended to out.
func (c *connection) begin(kind byte) { c.out = append(c.out[:0], 0, 0, 0, 0, kind) }

// send writes the message that was begun.
func (c *connection) send() error {
	n := len(c.out) - 4
	if n > mostBytes {
		return errTooLong
	}
	binary.LittleEndian.PutUint32(c.out, uint32(n))
	_, err := c.w.Write(c.out)
	return err
}

// receive reads a message. Its contents stay until the next one is read. At the
// end of input the error is io.EOF, within a message io.ErrUnexpectedEOF.
func (c *connection) receive() (kind byte, contents []byte, err error) {
	var length [4]byte
	if _, err := io.ReadFull(c.r, length[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n < 1 {
		return 0, nil, errors.New("a message without a kind")
	}
	if n > mostBytes {
		return 0, nil, errTooLong
	}
	c.in = c.in[:0]
	for left := int(n); left > 0; { // a length alone takes no memory
		had, part := len(c.in), min(left, 1<<18)
		c.in = slices.Grow(c.in, part)[:had+part]
		if _, err := io.ReadFull(c.r, c.in[had:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
		left -= part
	}
	return c.in[0], c.in[1:], nil
}

// Flags of a row.
const (
	flagDecode = 1 << iota
	flagSample
)

// Bytes of a copy, and of a row without its tokens.
const (
	copyBytes = 7 * 4
	rowBytes  = 5*4 + 1 + 8
)

// appendBatch writes a batch: how many copies and rows, then those.
func appendBatch(b []byte, batch *inference.Batch, copies []inference.Copy) []byte {
	b = appendInts(b, len(copies), len(batch.Rows))
	for _, c := range copies {
		b = appendInts(b, c.Dst, c.Src, c.To.First, c.To.Cells, c.From.First, c.From.Cells, c.Cells)
	}
	for i := range batch.Rows {
		r := &batch.Rows[i]
		flags := byte(0)
		if r.Decode {
			flags |= flagDecode
		}
		if r.Sample {
			flags |= flagSample
		}
		b = appendInts(b, r.Slot, r.Block.First, r.Block.Cells, r.Pos, len(r.Tokens))
		b = append(b, flags)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.Draw))
		for _, t := range r.Tokens {
			b = binary.LittleEndian.AppendUint32(b, uint32(t))
		}
	}
	return b
}

// appendInts writes numbers that fit into 32 bits, as all of an engine's do.
func appendInts(b []byte, numbers ...int) []byte {
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(n)))
	}
	return b
}

// A batchReader reads batches into memory that it uses again.
type batchReader struct {
	batch  inference.Batch
	tokens []int32
}

var errBatch = errors.New("a broken batch")

// read reads what appendBatch wrote. The batch stays until the next one.
func (br *batchReader) read(b []byte) (*inference.Batch, error) {
	f := fields{rest: b}
	copies, rows := f.int(), f.int()
	if copies < 0 || rows < 0 || copies > len(f.rest)/copyBytes || rows > len(f.rest)/rowBytes {
		return nil, errBatch
	}
	br.batch.Copies, br.batch.Rows = br.batch.Copies[:0], br.batch.Rows[:0]
	if n := len(f.rest) / 4; n > cap(br.tokens) { // at least as many as there are: the rows' parts of it stay where they are
		br.tokens = make([]int32, 0, n)
	}
	br.tokens = br.tokens[:0]
	for range copies {
		br.batch.Copies = append(br.batch.Copies, inference.Copy{
			Dst: f.int(), Src: f.int(), To: inference.Block{First: f.int(), Cells: f.int()}, From: inference.Block{First: f.int(), Cells: f.int()}, Cells: f.int(),
		})
	}
	for range rows {
		r := inference.Row{Slot: f.int(), Block: inference.Block{First: f.int(), Cells: f.int()}, Pos: f.int()}
		n, flags := f.int(), f.byte()
		r.Decode, r.Sample = flags&flagDecode != 0, flags&flagSample != 0
		r.Draw = f.float64()
		if n < 0 || n > len(f.rest)/4 {
			return nil, errBatch
		}
		from := len(br.tokens)
		for range n {
			br.tokens = append(br.tokens, int32(f.int()))
		}
		r.Tokens = br.tokens[from:]
		br.batch.Rows = append(br.batch.Rows, r)
	}
	if f.short || len(f.rest) > 0 {
		return nil, errBatch
	}
	return &br.batch, nil
}

// appendTokens writes the drawn tokens of the rows that sample.
func appendTokens(b []byte, rows []inference.Row) []byte {
	for i := range rows {
		if rows[i].Sample {
			b = binary.LittleEndian.AppendUint32(b, uint32(rows[i].Token))
		}
	}
	return b
}

// readTokens fills in what appendTokens wrote.
func readTokens(b []byte, rows []inference.Row) error {
	f := fields{rest: b}
	for i := range rows {
		if rows[i].Sample {
			rows[i].Token = int32(f.int())
		}
	}
	if f.short || len(f.rest) > 0 {
		return fmt.Errorf("%d bytes of tokens do not belong to the batch", len(b))
	}
	return nil
}

// appendWanted writes the tokens that are wanted behind each row: for how many
// rows, and for each how many and which.
func appendWanted(b []byte, wanted [][]int32) []byte {
	b = appendInts(b, len(wanted))
	for _, tokens := range wanted {
		b = appendInts(b, len(tokens))
		for _, t := range tokens {
			b = binary.LittleEndian.AppendUint32(b, uint32(t))
		}
	}
	return b
}

// wanted reads what appendWanted wrote.
func (f *fields) wanted() ([][]int32, error) {
	rows := f.int()
	if rows < 0 || rows > len(f.rest)/4 {
		return nil, errBatch
	}
	all := make([][]int32, rows)
	for i := range all {
		n := f.int()
		if n < 0 || n > len(f.rest)/4 {
			return nil, errBatch
		}
		for range n {
			all[i] = append(all[i], int32(f.int()))
		}
	}
	if f.short {
		return nil, errBatch
	}
	return all, nil
}

// appendScores writes the scores of the rows that sample.
func appendScores(b []byte, rows []inference.Row, scores [][]float64) []byte {
	for i := range rows {
		if rows[i].Sample {
			for _, s := range scores[i] {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s))
			}
		}
	}
	return b
}

// readScores reads what appendScores wrote.
func readScores(b []byte, rows []inference.Row, wanted [][]int32) ([][]float64, error) {
	f := fields{rest: b}
	scores := make([][]float64, len(rows))
	for i := range rows {
		if rows[i].Sample {
			scores[i] = make([]float64, len(wanted[i]))
			for k := range scores[i] {
				scores[i][k] = f.float64()
			}
		}
	}
	if f.short || len(f.rest) > 0 {
		return nil, fmt.Errorf("%d bytes of scores do not belong to the batch", len(b))
	}
	return scores, nil
}

// fields reads numbers one after the other. Behind the end they are 0.
type fields struct {
	rest  []byte
	short bool // there were too few bytes
}

func (f *fields) take(n int) []byte {
	if len(f.rest) < n {
		f.rest, f.short = nil, true
		return make([]byte, n)
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

func (f *fields) int() int { return int(int32(binary.LittleEndian.Uint32(f.take(4)))) }

func (f *fields) byte() byte { return f.take(1)[0] }

func (f *fields) float64() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(f.take(8)))
}
