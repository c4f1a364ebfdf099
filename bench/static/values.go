package static

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// plain reads n values that stand one after the other.
func plain(b []byte, kind, n int64) (texts []string, err error) {
	least := int64(4)
	if kind == kindInt64 {
		least = 8
	}
	if n < 0 || n > int64(len(b))/least {
		return nil, errPage
	}
	texts = make([]string, n)
	for i := range texts {
		switch kind {
		case kindInt32:
			texts[i], b = strconv.Itoa(int(int32(binary.LittleEndian.Uint32(b)))), b[4:]
		case kindInt64:
			texts[i], b = strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10), b[8:]
		default:
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return nil, errPage
			}
			end := 4 + int(binary.LittleEndian.Uint32(b))
			texts[i], b = string(b[4:end]), b[end:]
			if !utf8.ValidString(texts[i]) {
				return nil, errors.New("is not UTF-8")
			}
		}
	}
	return texts, nil
}

// runs reads n numbers of so many bits: runs of one number, and numbers packed
// bit by bit.
func runs(b []byte, bits, n int) ([]uint32, error) {
	numbers := make([]uint32, 0, n)
	for len(numbers) < n {
		head, used := binary.Uvarint(b)
		if used <= 0 {
			return nil, errPage
		}
		b = b[used:]
		count := min(head>>1, uint64(n)) // of eights if packed
		if head&1 == 0 {
			size := (bits + 7) / 8
			if len(b) < size {
				return nil, errPage
			}
			number := uint32(0)
			for i, x := range b[:size] {
				number |= uint32(x) << (8 * i)
			}
			b = b[size:]
			for range min(int(count), n-len(numbers)) {
				numbers = append(numbers, number)
			}
			continue
		}
		packed := b[:min(len(b), int(count)*bits)]
		b = b[len(packed):]
		for i := 0; i < 8*int(count) && len(numbers) < n; i++ {
			number := uint32(0)
			for bit := range bits {
				at := i*bits + bit
				if at/8 >= len(packed) {
					return nil, errPage
				}
				number |= uint32(packed[at/8]>>(at%8)&1) << bit
			}
			numbers = append(numbers, number)
		}
	}
	return numbers, nil
}

// codecs are the compressions, in Parquet's numbers.
var codecs = []string{"none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw"}

// unpack gives the size bytes that b was packed of.
func unpack(codec int64, b []byte, size int) ([]byte, error) {
	var r io.Reader
	var err error
	switch codec {
	case 0:
		r = bytes.NewReader(b)
	case 1:
		if n, err := snappy.DecodedLen(b); err != nil || n != size || size > 64*len(b) { // more than it can save
			return nil, errPage
		}
		if b, err = snappy.Decode(nil, b); err != nil {
			return nil, errPage
		}
		return b, nil
	case 2:
		r, err = gzip.NewReader(bytes.NewReader(b))
	case 6:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20)); err == nil {
			defer d.Close()
			r = d
		}
	default:
		name := fmt.Sprintf("of Parquet's number %d", codec)
		if codec > 0 && codec < int64(len(codecs)) {
			name = codecs[codec]
		}
		return nil, fmt.Errorf("has the compression %s, which is not read: write the file again with snappy, zstd or gzip", name)
	}
	if err != nil {
		return nil, errPage
	}
	all, err := io.ReadAll(io.LimitReader(r, int64(size)+1))
	if err != nil || len(all) != size {
		return nil, errPage
	}
	return all, nil
}
