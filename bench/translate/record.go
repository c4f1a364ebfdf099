package translate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"selfplay/games"
	"selfplay/inference/files"
	"selfplay/locales"
	"selfplay/locales/tier"
	"selfplay/locales/wholefile"
)

// A Result is what became of the texts of one language.
type Result struct {
	Lang   string      `json:"lang"`
	Record tier.Record `json:"record"`

	Copied   int             `json:"copied"`   // without a word
	Refused  int             `json:"refused"`  // by checks, the last try too
	Doubted  int             `json:"doubted"`  // by judges
	Unjudged int             `json:"unjudged"` // translations that fewer than two judges saw all of
	Reasons  map[string]int  `json:"reasons"`  // kinds of fault of the last try of texts that stay in English
	Terms    int             `json:"terms"`    // of glossaries
	Unnamed  int             `json:"unnamed"`  // terms that nothing is called
	Judges   []JudgedBy      `json:"judges,omitempty"`
	Back     map[string]Mean `json:"back,omitempty"`   // of translations that were translated back, by what judges said
	Review   string          `json:"review,omitempty"` // why an earlier review no longer counts
}

// JudgedBy is what one judge said of all.
type JudgedBy struct {
	Name     string `json:"name"`
	SHA256   string `json:"sha256"`
	Faithful int    `json:"faithful"`
	Unclear  int    `json:"unclear"` // of those that it did not find so
	Of       int    `json:"of"`
}

// A Mean is of shares.
type Mean struct {
	Sum float64 `json:"sum"`
	N   int     `json:"n"`
}

// Finish writes the confidence record of a language whose files are written, and
// gives it with what it is made of. day is as 2006-01-02.
func (f *Folder) Finish(lang, name, day string) (Result, error) {
	set, err := locales.Open(f.Dir)
	if err != nil {
		return Result{}, err
	}
	texts, err := f.Texts(set, lang)
	if err != nil {
		return Result{}, err
	}
	if err := f.Write(lang, texts); err != nil { // other games may have been judged since
		return Result{}, err
	}
	res := f.count(lang, texts)
	r := &res.Record
	r.Name, r.Date = name, day
	// Games that the language is missing of are texts that it does not cover.
	all, err := TextsOf(set, set.Games())
	if err != nil {
		return res, err
	}
	r.Texts = len(all)
	if r.Flagged, err = flagged(set, lang); err != nil {
		return res, err
	}
	if r.SHA256, err = set.HashOf(lang); err != nil {
		return res, err
	}
	file := filepath.Join(f.Dir, locales.Common, locales.RecordFile+".json")
	records, err := readRecords(file)
	if err != nil {
		return res, err
	}
	if old := records[lang]; old.Review != nil {
		if old.SHA256 == r.SHA256 {
			r.Review = old.Review
		} else {
			res.Review = "the review by " + old.Review.Who + " was of other texts and no longer counts"
		}
	}
	r.Tier = tier.Of(*r)
	records[lang] = *r
	data, err := tier.Format(records)
	if err != nil {
		return res, fmt.Errorf("%s: %w", file, err)
	}
	return res, wholefile.Bytes(file, data)
}

// readRecords reads a record file, which need not be there. The other languages keep
// theirs, so one that cannot be read is not replaced.
func readRecords(file string) (map[string]tier.Record, error) {
	data, err := files.Read(file, mostFile)
	if errors.Is(err, os.ErrNotExist) {
		return make(map[string]tier.Record), nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s (%w): replace it", file, wholefile.Cause(err))
	}
	records, err := tier.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return records, nil
}

// flagged are games with errors that remain.
func flagged(set *locales.Set, lang string) (in []string, err error) {
	for _, f := range (locales.Checker{Set: set, Play: games.PlayExamples}).Run().Findings {
		if f.Lang == lang && f.Severity == locales.Error && !slices.Contains(in, f.Game) {
			in = append(in, f.Game)
		}
	}
	return in, nil
}

// count goes through the texts of a language.
func (f *Folder) count(lang string, texts []Text) Result {
	res := Result{Lang: lang, Reasons: make(map[string]int), Back: make(map[string]Mean)}
	r := &res.Record
	judges := f.judges(lang, texts)
	for _, j := range judges {
		res.Judges = append(res.Judges, JudgedBy{Name: f.named(j), SHA256: j})
		r.Judges = append(r.Judges, f.named(j))
	}
	var by []string
	for _, t := range texts {
		e, _ := f.entry(lang, t)
		by = append(by, e.By)
		for _, try := range e.Tries {
			r.Seeds = append(r.Seeds, int64(try.Seed))
		}
		switch {
		case e.Copied:
			res.Copied++
			r.Translated++
		case e.Text == "":
			res.Refused++
			res.addReasons(e)
		default:
			res.add(f, e, judges)
		}
	}
	r.English = res.Refused + res.Doubted
	if len(judges) < 2 {
		res.Unjudged, r.Judged, r.Faithful = r.Judged, 0, 0
	}
	r.Seeds = slices.DeleteFunc(sorted(r.Seeds), func(seed int64) bool { return seed == 0 })
	r.Translator = joined(sorted(by))
	for k, e := range f.entries {
		if k.lang != lang || k.key != "" {
			continue
		}
		if res.Terms++; e.Text == "" {
			res.Unnamed++
		}
	}
	return res
}

// add counts a text that was translated.
func (res *Result) add(f *Folder, e Entry, judges []string) {
	r := &res.Record
	r.Judged++
	for i, j := range judges {
		v, _ := f.verdict(e, j)
		res.Judges[i].Of++
		switch {
		case v.Faithful:
			res.Judges[i].Faithful++
		case v.Unclear != "":
			res.Judges[i].Unclear++
		}
	}
	said := "faithful"
	if no := f.against(e); len(no) > 0 {
		said = "not faithful"
		res.Doubted++
		res.Reasons[KindJudged]++
	} else {
		r.Translated++
		r.Faithful++
	}
	if len(judges) == 0 {
		said = "not judged"
	}
	for k, b := range f.backs {
		if k.lang == e.Lang && k.game == e.Game && k.key == e.Key && k.text == e.Text {
			m := res.Back[said]
			res.Back[said] = Mean{m.Sum + overlap(e.English, b.Back), m.N + 1}
		}
	}
}

// addReasons counts the kinds of fault of the last try, each once.
func (res *Result) addReasons(e Entry) {
	if len(e.Tries) == 0 {
		return
	}
	var kinds []string
	for _, f := range e.Tries[len(e.Tries)-1].Faults {
		if !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
			res.Reasons[f.Kind]++
		}
	}
}

func sorted[T string | int64](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}

// joined are names as one that a record holds.
func joined(names []string) string {
	const most = 200
	all := ""
	for i, n := range names {
		if i > 0 {
			all += ", "
		}
		all += n
	}
	if r := []rune(all); len(r) > most {
		all = string(r[:most-1]) + "…"
	}
	return all
}
