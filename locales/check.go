package locales

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"selfplay/locales/mask"
	"selfplay/locales/verify"
)

// A Kind is a kind of fault in a locale file: one of these, or of a text.
type Kind = verify.Kind

const (
	KindFile    Kind = "file"    // cannot be read
	KindKey     Kind = "key"     // missing, unknown, twice, or no string
	KindExample Kind = "example" // an example that the rules refuse
)

// Kinds lists them in the order in which they are counted.
var Kinds = append([]Kind{KindFile, KindKey, KindExample}, verify.Kinds...)

// A Severity tells what a fault does.
type Severity = verify.Severity

const (
	Error   = verify.Error   // a game is refused, or its players are misled
	Warning = verify.Warning // the text reads badly, or may be wrong
)

// A Finding is one fault: where it is, what it is, and what to do.
type Finding struct {
	File     string   `json:"file"` // inside the set's folder
	Game     string   `json:"game"`
	Lang     string   `json:"lang"`
	Key      string   `json:"key,omitempty"` // dotted; none: the whole file
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	What     string   `json:"what"`
}

// String is the finding on one line. What a file holds is not trusted: nothing
// of it reaches a terminal that could steer it.
func (f Finding) String() string {
	s := fmt.Sprintf("%s: %s: %s: %s", f.File, f.Key, f.Kind, f.What)
	if f.Key == "" {
		s = fmt.Sprintf("%s: %s: %s", f.File, f.Kind, f.What)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, s)
}

// A Report is what a check of a whole set found.
type Report struct {
	Source   string       `json:"source"`
	Files    int          `json:"files"`
	Games    int          `json:"games"` // the common strings not counted
	Langs    int          `json:"languages"`
	Errors   int          `json:"errors"`
	Warnings int          `json:"warnings"`
	Counts   map[Kind]int `json:"counts"`
	Findings []Finding    `json:"findings"`
}

// A Checker looks through all files of a set.
type Checker struct {
	Set *Set
	// Play tries the examples in a game's texts on its rules. An error says that
	// the game cannot be started with them. Nil: no example is tried.
	Play func(set *Set, game, lang string, texts map[string]string) ([]Finding, error)
}

// Run checks every file; English ones too, as far as they can be wrong alone.
// The findings come in the order of games, languages and keys.
func (c Checker) Run() *Report {
	games := append(c.Set.Games(), Common)
	rep := &Report{Source: c.Set.Name(), Games: len(games) - 1, Counts: make(map[Kind]int), Findings: []Finding{}}
	var files []*fileCheck
	var langs []string
	for _, game := range games {
		english := &englishTexts{set: c.Set, game: game}
		for _, lang := range c.Set.fileLangs(game) {
			files = append(files, &fileCheck{set: c.Set, game: game, lang: lang, english: english, play: c.Play})
			langs = append(langs, lang)
		}
	}
	slices.Sort(langs)
	rep.Files, rep.Langs = len(files), len(slices.Compact(langs))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(files); i = next.Add(1) - 1 {
				files[i].run()
			}
		})
	}
	workers.Wait()
	for _, f := range files {
		rep.add(f.findings)
	}
	return rep
}

func (r *Report) add(findings []Finding) {
	for _, f := range findings {
		r.Counts[f.Kind]++
		if f.Severity == Error {
			r.Errors++
		} else {
			r.Warnings++
		}
	}
	r.Findings = append(r.Findings, findings...)
}

// englishTexts are what the other languages of a game are compared with. They
// are read once, by the first that needs them.
type englishTexts struct {
	set   *Set
	game  string
	once  sync.Once
	texts []original
}

// An original is an English text and its key.
type original struct {
	key string
	*verify.Original
	masked mask.Masked
}

func newOriginal(t Text) original {
	return original{t.Key, verify.NewOriginal(t.Text), mask.Mask(t.Text)}
}

func (e *englishTexts) get() []original {
	e.once.Do(func() {
		data, err := e.set.read(e.game, english)
		if err != nil {
			return // the others can still be checked for what is wrong alone
		}
		leaves, _, _ := readLeaves(data)
		for _, l := range leaves {
			e.texts = append(e.texts, newOriginal(l))
		}
	})
	return e.texts
}

// english is the language that all others are translated from.
const english = "en"

// A fileCheck checks one file.
type fileCheck struct {
	set        *Set
	game, lang string
	english    *englishTexts
	play       func(set *Set, game, lang string, texts map[string]string) ([]Finding, error)

	findings []Finding
}

func (c *fileCheck) run() {
	defer c.locate()
	data, err := c.set.read(c.game, c.lang)
	if err != nil {
		_, what, _ := strings.Cut(err.Error(), c.lang+".json")
		c.find("", KindFile, Error, strings.TrimLeft(what, ": "))
		return
	}
	leaves, faults, err := readLeaves(data)
	if err != nil {
		c.find("", KindFile, Error, err.Error())
		return
	}
	c.findings = append(c.findings, faults...)
	texts := make(map[string]string, len(leaves))
	for _, l := range leaves {
		texts[l.Key] = l.Text
	}
	c.compare(leaves, texts)
	c.try(texts)
}

// compare checks each text against the English one. One that has no English
// text is its own original: what is wrong with it alone is seen so, too.
func (c *fileCheck) compare(leaves []Text, texts map[string]string) {
	originals, known := c.english.get(), make(map[string]bool)
	lang := verify.Of(c.lang, slices.Collect(maps.Values(texts))...)
	for _, o := range originals {
		known[o.key] = true
		if text, ok := texts[o.key]; ok {
			c.text(o, text, lang)
		} else {
			c.find(o.key, KindKey, Error, "missing; add it as the English file has it")
		}
	}
	for _, l := range leaves {
		if known[l.Key] {
			continue
		}
		if len(originals) > 0 {
			c.find(l.Key, KindKey, Error, "not in the English file; remove it")
		}
		c.text(newOriginal(l), l.Text, lang)
	}
}

func (c *fileCheck) text(o original, text string, lang verify.Language) {
	for _, f := range append(o.Check(text, lang), o.masked.Lost(text)...) {
		c.find(o.key, f.Kind, f.Severity, f.What)
	}
}

// try plays the examples.
func (c *fileCheck) try(texts map[string]string) {
	if c.play == nil {
		return
	}
	findings, err := c.play(c.set, c.game, c.lang, texts)
	c.findings = append(c.findings, findings...)
	// What keeps a game from starting has mostly been found already.
	if err != nil && !slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Severity == Error }) {
		c.find("", KindFile, Error, err.Error())
	}
}

func (c *fileCheck) find(key string, kind Kind, severity Severity, what string) {
	c.findings = append(c.findings, Finding{Key: key, Kind: kind, Severity: severity, What: what})
}

// locate fills in where the findings are.
func (c *fileCheck) locate() {
	inside, _ := c.set.file(c.game, c.lang)
	for i := range c.findings {
		f := &c.findings[i]
		f.File, f.Game, f.Lang = inside, c.game, c.lang
	}
}
