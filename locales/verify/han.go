package verify

import (
	"unicode"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// A hanStyle is one of the two ways in which Chinese is written. Which characters are
// of one alone the old national standards tell: GB 2312 has the simplified ones, Big5
// the traditional ones, and many are in both. What is in neither is rare, not foreign.
type hanStyle struct {
	name       string
	own, other encoding.Encoding
}

var (
	simplified  = hanStyle{"simplified", simplifiedchinese.HZGB2312, traditionalchinese.Big5}
	traditional = hanStyle{"traditional", traditionalchinese.Big5, simplifiedchinese.HZGB2312}
)

// hanStyleOf is how a language writes Han characters; nil: not as Chinese.
func hanStyleOf(code string) *hanStyle {
	switch usualScript(code) {
	case "Hans":
		return &simplified
	case "Hant":
		return &traditional
	}
	return nil
}

// foreign reports whether a character is of the other style alone.
func (s *hanStyle) foreign(r rune) bool {
	return unicode.Is(unicode.Han, r) && !encodes(s.own, r) && encodes(s.other, r)
}

func encodes(e encoding.Encoding, r rune) bool {
	_, err := e.NewEncoder().String(string(r))
	return err == nil
}
