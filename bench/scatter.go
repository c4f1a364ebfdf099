package bench

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"selfplay/locales/wholefile"
)

// A Scatter is one panel of the paper's Figure 4: a value of each language, such
// as a benchmark's accuracy, against the mean margin of the language.
type Scatter struct {
	Model  string
	X      string // what lies along the x axis, with its unit
	Points []ScatterPoint
	Fit    *Fit // nil: no line fits, see FitLine
}

// A ScatterPoint is one language of a Scatter.
type ScatterPoint struct {
	Lang string
	X    float64
	Y    float64 // mean margin over the games
}

// PerLang is a value for each language, out of a file that the user gives.
type PerLang struct {
	Name   string // of a benchmark, or empty
	Model  string // whose values they are; empty: not of a model
	Values map[string]float64
}

// Scatter sets the report's mean margins against values; languages that lack
// either are left out, and so are labels such as zh+fr.
func (rep *Report) Scatter(x string, values map[string]float64) Scatter {
	s := Scatter{Model: rep.Experiment.Model.Name, X: x}
	var xs, ys []float64
	for _, lang := range rep.Experiment.Langs {
		v, hasX := values[lang]
		mu, hasY := rep.MuMean[lang]
		if hasX && hasY {
			s.Points = append(s.Points, ScatterPoint{lang, v, mu})
			xs, ys = append(xs, v), append(ys, mu)
		}
	}
	if fit, ok := FitLine(xs, ys); ok {
		s.Fit = &fit
	}
	return s
}

// MarginScale is the largest margin that a heat map of any of the reports shows,
// rounded up to a tenth: the one that has the strongest colour in all of them.
func MarginScale(reports ...*Report) float64 {
	largest := 0.0
	look := func(rows map[string]map[string]float64) {
		for _, row := range rows {
			for _, v := range row {
				largest = max(largest, math.Abs(v))
			}
		}
	}
	for _, r := range reports {
		look(r.MarginsMean)
		look(r.Mu)
		for _, game := range r.Margins {
			look(game)
		}
	}
	return max(0.1, math.Ceil(largest*10-1e-9)/10)
}

// maxPerLang is far more than a file of a line for each language needs.
const maxPerLang = 1 << 20

// ReadAccuracy reads the accuracy, from 0 to 1, of a model in each language: the
// JSON that selfplay eval writes, or a CSV with the columns lang and accuracy.
func ReadAccuracy(path string) (PerLang, error) {
	data, err := readSmall(path)
	if err != nil {
		return PerLang{}, err
	}
	p := PerLang{}
	if strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		p, err = parseEval(data)
	} else {
		p.Values, err = parsePerLang(data, "accuracy")
	}
	for lang, v := range p.Values {
		if err == nil && (v < 0 || v > 1) {
			err = fmt.Errorf("accuracy %v of %s is not from 0 to 1", v, lang)
		}
	}
	if err != nil {
		return PerLang{}, fmt.Errorf("%s: %w: give the JSON of selfplay eval, or a CSV with the columns lang,accuracy", path, err)
	}
	return p, nil
}

// ReadWords reads how many words of each language the web has, a CSV with the
// columns lang and words, and gives their base-10 logarithms.
func ReadWords(path string) (PerLang, error) {
	data, err := readSmall(path)
	if err != nil {
		return PerLang{}, err
	}
	values, err := parsePerLang(data, "words")
	for lang, v := range values {
		if err == nil && v < 1 {
			err = fmt.Errorf("%v words of %s", v, lang)
		}
		values[lang] = math.Log10(v)
	}
	if err != nil {
		return PerLang{}, fmt.Errorf("%s: %w: give a CSV with the columns lang,words", path, err)
	}
	return PerLang{Values: values}, nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, wholefile.Cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPerLang+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, wholefile.Cause(err))
	}
	if len(data) > maxPerLang {
		return nil, fmt.Errorf("%s has more than %d bytes: a line for each language is enough", path, maxPerLang)
	}
	return data, nil
}

// parseEval reads what selfplay eval writes of one benchmark and model.
func parseEval(data []byte) (PerLang, error) {
	var f struct {
		Benchmark string `json:"benchmark"`
		Model     Model  `json:"model"`
		Langs     map[string]struct {
			Accuracy *float64 `json:"accuracy"`
		} `json:"langs"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return PerLang{}, err
	}
	if len(f.Langs) == 0 {
		return PerLang{}, fmt.Errorf("no langs")
	}
	p := PerLang{Name: f.Benchmark, Model: f.Model.Name, Values: map[string]float64{}}
	for lang, v := range f.Langs {
		if v.Accuracy == nil {
			return PerLang{}, fmt.Errorf("langs.%s has no accuracy", lang)
		}
		p.Values[lang] = *v.Accuracy
	}
	return p, nil
}

// parsePerLang reads a CSV whose first line names its columns, lang and column
// among them; others are passed over.
func parsePerLang(data []byte, column string) (map[string]float64, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("no lines below the names of the columns")
	}
	lang, value := slices.Index(rows[0], "lang"), slices.Index(rows[0], column)
	if lang < 0 || value < 0 {
		return nil, fmt.Errorf("the first line is %q and does not name the columns lang and %s", strings.Join(rows[0], ","), column)
	}
	values := map[string]float64{}
	for i, row := range rows[1:] {
		v, err := strconv.ParseFloat(strings.TrimSpace(row[value]), 64)
		name := strings.TrimSpace(row[lang])
		switch _, twice := values[name]; {
		case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
			return nil, fmt.Errorf("line %d: %q is no number", i+2, row[value])
		case name == "":
			return nil, fmt.Errorf("line %d names no language", i+2)
		case twice:
			return nil, fmt.Errorf("line %d: language %s is given twice", i+2, name)
		}
		values[name] = v
	}
	return values, nil
}
