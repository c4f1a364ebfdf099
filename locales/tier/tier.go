// Package tier holds what is known about how good a language's texts are: the
// confidence record, a JSON file beside the locale files, and the tier that
// follows from it.
//
//	A  a native speaker has reviewed the texts
//	B  machines translated them and judged at least 85 % right, and no text was left
//	   in English and no game has a fault that is known
//	C  at least 85 % were judged right
//	E  fewer, or nothing was judged
//
// The bound is that of TextArena's record. Its CERTIFIED and CERTIFIED_FLAGGED
// differ as B and C do, its EXPERIMENTAL is E, and it has no D either. A record
// stores what was counted; shares are derived.
package tier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Tier is a grade of trust.
type Tier string

const (
	A Tier = "A"
	B Tier = "B"
	C Tier = "C"
	E Tier = "E"
)

// Bar is the fidelity in percent from which on a language is no longer E.
const Bar = 85.0

// A Record is what is known about one language.
type Record struct {
	Name       string   `json:"name,omitempty"` // in English
	Tier       Tier     `json:"tier"`           // as Of gives it
	Texts      int      `json:"texts"`          // of all games in the set
	Translated int      `json:"translated"`     // of them, those in the language
	English    int      `json:"english"`        // those that failed and were left in English
	Judged     int      `json:"judged"`         // those whose translation was judged, before any was left in English
	Faithful   int      `json:"faithful"`       // of these, the ones that all judges found right
	Flagged    []string `json:"flagged_games,omitempty"`
	Translator string   `json:"translator,omitempty"` // a model's name
	Judges     []string `json:"judges,omitempty"`
	Seeds      []int64  `json:"seeds,omitempty"`
	Date       string   `json:"date"`   // 2006-01-02
	SHA256     string   `json:"sha256"` // of the files: locales.Set.HashOf
	Review     *Review  `json:"review,omitempty"`
}

// A Review is set by hand. Both are free text.
type Review struct {
	Who  string `json:"who"`
	When string `json:"when"`
}

// Of is the tier that a record gives.
func Of(r Record) Tier {
	fidelity, judged := r.Fidelity()
	switch {
	case r.Review != nil:
		return A
	case !judged || fidelity < Bar:
		return E
	case r.English == 0 && len(r.Flagged) == 0:
		return B
	}
	return C
}

// Fidelity is the share of the judged texts that are right, in percent; false if
// none was judged.
func (r Record) Fidelity() (percent float64, ok bool) { return share(r.Faithful, r.Judged) }

// Coverage is the share of all texts that are in the language, in percent.
func (r Record) Coverage() (percent float64, ok bool) { return share(r.Translated, r.Texts) }

// Fallback is the share of all texts that were left in English, in percent.
func (r Record) Fallback() (percent float64, ok bool) { return share(r.English, r.Texts) }

func share(part, whole int) (float64, bool) {
	if whole <= 0 {
		return 0, false
	}
	return 100 * float64(part) / float64(whole), true
}

// check says what is wrong with a record that came from somewhere.
func (r Record) check() error {
	for _, count := range []struct {
		name string
		n    int
	}{{"texts", r.Texts}, {"translated", r.Translated}, {"english", r.English}, {"judged", r.Judged}, {"faithful", r.Faithful}} {
		if count.n < 0 || count.n > r.Texts {
			return fmt.Errorf("%s is %d of %d texts; count again", count.name, count.n, r.Texts)
		}
	}
	if r.Translated+r.English > r.Texts {
		return fmt.Errorf("translated and english are %d of %d texts; count again", r.Translated+r.English, r.Texts)
	}
	if r.Faithful > r.Judged {
		return fmt.Errorf("faithful is %d of %d judged; count again", r.Faithful, r.Judged)
	}
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil {
		return fmt.Errorf("date %s is no day; write it as 2006-01-02", quote(r.Date))
	}
	if len(r.SHA256) != 64 || strings.Trim(r.SHA256, "0123456789abcdef") != "" {
		return errors.New("sha256 is no sum of 64 hexadecimal digits; write the record anew")
	}
	words := slices.Concat([]string{r.Name, r.Translator}, r.Flagged, r.Judges)
	if r.Review != nil {
		if strings.TrimSpace(r.Review.Who) == "" || strings.TrimSpace(r.Review.When) == "" {
			return errors.New("review names no who or no when; say both")
		}
		words = append(words, r.Review.Who, r.Review.When)
	}
	for _, w := range words {
		if utf8.RuneCountInString(w) > longestWord || strings.ContainsFunc(w, func(c rune) bool { return !unicode.IsPrint(c) }) {
			return fmt.Errorf("%s is too long or holds control characters; write a plain name", quote(w))
		}
	}
	if want := Of(r); r.Tier != want {
		return fmt.Errorf("tier %s does not follow from the rest, %s does; only a review gives A", quote(string(r.Tier)), want)
	}
	if (r.Tier == B || r.Tier == C) && len(r.Judges) < 2 {
		return fmt.Errorf("tier %s takes two judges that agree; name them", r.Tier)
	}
	return nil
}

const longestWord = 200

// quote shows a piece of what came from somewhere, on one line.
func quote(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40])
	}
	return fmt.Sprintf("%q", s)
}

// Parse reads a record file: an object with a Record for each language. Nothing
// in it is believed that does not follow from the rest.
func Parse(data []byte) (map[string]Record, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8; save it as UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var records map[string]Record
	if err := d.Decode(&records); err != nil {
		return nil, fmt.Errorf("not an object of records: %s; correct the file", strings.Join(strings.Fields(err.Error()), " "))
	}
	if records == nil { // null
		records = make(map[string]Record)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more text after its end; remove it")
	}
	for _, lang := range slices.Sorted(maps.Keys(records)) {
		if err := records[lang].check(); err != nil {
			return nil, fmt.Errorf("language %s: %w", quote(lang), err)
		}
	}
	return records, nil
}

// Format writes a record file that Parse reads. The tiers are set to what follows
// from the records.
func Format(records map[string]Record) ([]byte, error) {
	out := make(map[string]Record, len(records))
	for lang, r := range records {
		r.Tier = Of(r)
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("language %s: %w", quote(lang), err)
		}
		out[lang] = r
	}
	data, err := json.MarshalIndent(out, "", "  ")
	return append(data, '\n'), err
}
