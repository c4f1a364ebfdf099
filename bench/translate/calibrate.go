package translate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"selfplay/bench"
	"selfplay/bench/asking"
)

// A Seen is what a judge said of a pair whose fault is known: a line of a file of
// the judge's.
type Seen struct {
	Form     int    `json:"form"` // of the question
	Lang     string `json:"lang"`
	Kind     string `json:"kind,omitempty"` // of the fault; none: there is none
	English  string `json:"english"`
	Text     string `json:"text"`
	Faithful bool   `json:"faithful"`
	Unclear  string `json:"unclear,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// form is raised with every change of how judges are asked.
const form = 1

func (s Seen) check() error {
	if s.Form < 1 || s.Lang == "" || s.Text == "" || s.Kind != "" && !slices.Contains(Kinds, s.Kind) {
		return errors.New("it names no case")
	}
	return nil
}

// A Calibration is what a judge said of all cases so far.
type Calibration struct {
	log  *asking.Log[Seen]
	seen map[Case]Seen
}

func calibrationFile(dir string, judge bench.Model) string {
	return filepath.Join(dir, judge.SHA256[:min(16, len(judge.SHA256))]+".jsonl")
}

// OpenCalibration opens a judge's file in a folder, which is made if it is not there.
func OpenCalibration(dir string, judge bench.Model) (*Calibration, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	log, lines, err := asking.OpenLog(calibrationFile(dir, judge), Seen.check)
	if err != nil {
		return nil, err
	}
	return newCalibration(log, lines), nil
}

func newCalibration(log *asking.Log[Seen], lines []Seen) *Calibration {
	c := &Calibration{log, make(map[Case]Seen)}
	for _, s := range lines {
		if s.Form == form {
			c.seen[s.of()] = s
		}
	}
	return c
}

// of is the case; what the language is called is no part of it.
func (s Seen) of() Case { return Case{Pair{Lang: s.Lang, English: s.English, Text: s.Text}, s.Kind} }

func (c *Calibration) find(of Case) (Seen, bool) {
	of.Name = ""
	s, ok := c.seen[of]
	return s, ok
}

// Close lets others use the file.
func (c *Calibration) Close() error { return c.log.Close() }

// Open are the cases that the judge has not seen.
func (c *Calibration) Open(cases []Case) (rest []Case) {
	for _, one := range cases {
		if _, ok := c.find(one); !ok {
			rest = append(rest, one)
		}
	}
	return rest
}

// Run has the judge see the cases that it has not seen, each pair once.
func (c *Calibration) Run(ctx context.Context, cases []Case, asker asking.Asker) error {
	var questions []asking.Question
	open := make(map[string][]Case)
	for _, one := range c.Open(cases) {
		q := one.question()
		if open[q.ID] == nil {
			questions = append(questions, q)
		}
		open[q.ID] = append(open[q.ID], one)
	}
	return asker(ctx, questions, func(q asking.Question, a asking.Answer) (*asking.Question, error) {
		faithful, reason, unclear := verdictOf(a)
		for _, one := range open[q.ID] {
			s := Seen{form, one.Lang, one.Kind, one.English, one.Text, faithful, unclear, reason}
			if err := c.log.Add(s); err != nil {
				return nil, err
			}
			c.seen[s.of()] = s
		}
		return nil, nil
	})
}

// A Sight is how well a judge sees.
type Sight struct {
	Langs       []string               `json:"languages"`
	Sensitivity bench.Share            `json:"sensitivity"` // of the pairs with a fault, those that it found not faithful
	Specificity bench.Share            `json:"specificity"` // of the good pairs, those that it found faithful
	Kinds       map[string]bench.Share `json:"kinds"`       // sensitivity by kind of fault
	Unclear     bench.Share            `json:"unclear"`     // answers that were no verdict; they count as not faithful
}

// SightIn is how well the judge sees in some languages; nil: in all that it was
// tried in.
func (c *Calibration) SightIn(langs []string) Sight {
	var cases []Case
	for one := range c.seen {
		if langs == nil || slices.Contains(langs, one.Lang) {
			cases = append(cases, one)
		}
	}
	return c.Sight(cases)
}

// Sight is how well the judge sees in cases that it has seen.
func (c *Calibration) Sight(cases []Case) Sight {
	s := Sight{Kinds: make(map[string]bench.Share)}
	for _, one := range cases {
		seen, ok := c.find(one)
		if !ok {
			continue
		}
		if !slices.Contains(s.Langs, one.Lang) {
			s.Langs = append(s.Langs, one.Lang)
		}
		count(&s.Unclear, seen.Unclear != "")
		if one.Kind == "" {
			count(&s.Specificity, seen.Faithful)
			continue
		}
		count(&s.Sensitivity, !seen.Faithful)
		kind := s.Kinds[one.Kind]
		count(&kind, !seen.Faithful)
		s.Kinds[one.Kind] = kind
	}
	slices.Sort(s.Langs)
	return s
}

func count(s *bench.Share, yes bool) {
	s.Of++
	if yes {
		s.Count++
	}
}

// Doubt says why a judge is not to be believed; "" if nothing speaks against it. One
// that says the same of everything finds as many faults in good pairs as in bad
// ones: sensitivity and specificity make 1 together.
func (s Sight) Doubt() string {
	caught, a := s.Sensitivity.Interval()
	passed, b := s.Specificity.Interval()
	switch {
	case !a || !b:
		return "was never calibrated"
	case caught[0]+passed[0] <= 1:
		return "is not known to be better than a guess"
	case caught[0] < 0.5:
		return "may miss every other fault"
	}
	return ""
}

// ReadSight is how well a judge sees in a language, as far as it was calibrated, or
// in all where it was not in that one.
func ReadSight(dir string, judge bench.Model, lang string) (Sight, error) {
	lines, err := asking.ReadLog(calibrationFile(dir, judge), Seen.check)
	if err != nil {
		return Sight{}, err
	}
	c := newCalibration(nil, lines)
	if s := c.SightIn([]string{lang}); s.Sensitivity.Of > 0 {
		return s, nil
	}
	return c.SightIn(nil), nil
}
