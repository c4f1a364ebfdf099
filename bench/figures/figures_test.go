package figures

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"selfplay/bench"
	"selfplay/bench/screen"
)

func testReport(model string) *bench.Report {
	return &bench.Report{
		Experiment:  bench.Experiment{Games: []string{"Nim-v0", "KuhnPoker-v0", "TicTacToe-v0", "SimpleTak-v0"}, Langs: []string{"en", "ar"}, Model: bench.Model{Name: model}},
		Labels:      []string{"en", "ar"},
		MarginsMean: map[string]map[string]float64{"en": {"ar": 0.31}, "ar": {"en": -0.31}},
		MuMean:      map[string]float64{"en": 0.31, "ar": -0.31},
		Mu:          map[string]map[string]float64{"Nim-v0": {"en": 0.5, "ar": -0.5}, "TicTacToe-v0": {"en": 0.1, "ar": -0.1}, "KuhnPoker-v0": {"en": 0, "ar": 0}, "SimpleTak-v0": {}},
		MuCI:        map[string]map[string]bench.Interval{"Nim-v0": {"en": {0.4, 0.6}}},
	}
}

// textsOf lists the words of an SVG, which must be well-formed and load nothing.
func textsOf(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	d := xml.NewDecoder(bytes.NewReader(data))
	inText := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			if e.Name.Local == "script" || e.Name.Local == "image" {
				t.Errorf("%s has an element %s", path, e.Name.Local)
			}
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts = append(texts, strings.TrimSpace(string(e)))
			}
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	reports := []*bench.Report{testReport("a/b <x>.gguf"), testReport("a/b <x>.gguf")}
	scatters := []bench.Scatter{
		{Model: "m", X: "accuracy, belebele", Points: []bench.ScatterPoint{{Lang: "en", X: 0.5, Y: 0.1}, {Lang: "ar", X: 0.25, Y: 0}, {Lang: "zh", X: 0.3, Y: 0}}, Fit: &bench.Fit{Slope: 1, Intercept: -0.3, R: 0.89, P: 0.3}},
		{Model: "m", X: "one point", Points: []bench.ScatterPoint{{Lang: "en", X: 0.5, Y: 0.1}}},
		{Model: "m", X: "nothing"},
	}
	names, err := Write(dir, reports, scatters)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"figure2-a-b-x-", "figure2-a-b-x-2", "figure4-m-accuracy-belebele", "figure4-m-one-point", "figureF1-a-b-x-", "figureF1-a-b-x-2"} {
		name = strings.TrimSuffix(name, "-")
		want = append(want, name+".svg", name+".png")
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	for file, words := range map[string][]string{
		"figure2-a-b-x":               {"+0.31", "-0.31", "en", "ar", "over", "margin of", "a/b <x>.gguf"},
		"figure4-m-accuracy-belebele": {"en", "ar", "zh", "accuracy, belebele", "mean margin", "m   r = 0.89, p = 0.300"},
		"figureF1-a-b-x":              {"Nim-v0", "TicTacToe-v0", "KuhnPoker-v0", "en", "ar"},
	} {
		texts := textsOf(t, filepath.Join(dir, file+".svg"))
		for _, word := range words {
			if !slices.Contains(texts, word) {
				t.Errorf("%s has no %q, but %q", file, word, texts)
			}
		}
		if slices.Contains(texts, "SimpleTak-v0") {
			t.Errorf("%s shows a game without margins", file)
		}
	}
}

// In the heat map's picture the row's language that is ahead is blue, the other
// orange.
func TestHeatMapColours(t *testing.T) {
	dir := t.TempDir()
	if _, err := Write(dir, []*bench.Report{testReport("m")}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "figure2-m.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	centre := map[color.RGBA][2]int{} // of the pixels of each colour: how many, sum of x
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			n := centre[c]
			centre[c] = [2]int{n[0] + 1, n[1] + x}
		}
	}
	share := 0.31 / bench.MarginScale(testReport("m"))
	ahead, behind := centre[margin(share)], centre[margin(-share)]
	if ahead[0] < 1000 || behind[0] < 1000 {
		t.Fatalf("%d pixels ahead, %d behind", ahead[0], behind[0])
	}
	// Row en, column ar lies to the right of row ar, column en.
	if ahead[1]/ahead[0] <= behind[1]/behind[0] {
		t.Error("the cells are swapped")
	}
}

func TestNothingToDraw(t *testing.T) {
	names, err := Write(t.TempDir(), []*bench.Report{{Labels: []string{"en"}}}, nil)
	if err != nil || len(names) != 0 {
		t.Errorf("%v %v", names, err)
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{"SmolLM2-135M.Q4_1.gguf": "SmolLM2-135M.Q4_1", "ollama:qwen3:4b": "ollama-qwen3-4b", "../..": "model", "模型": "model", "a/../b": "a-..-b", strings.Repeat("x", 100): strings.Repeat("x", 80)} {
		if got := slug(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Whatever names are, a figure is a picture that any viewer takes, with no elements or
// attributes of theirs, and nothing in it turns text round.
func TestHostileNames(t *testing.T) {
	const evil = `"'></text></svg><script>x</script><!-- ]]>&evil; ` + "\x00\x1b[2J\u202e\ufffe\xff"
	dir := t.TempDir()
	r := testReport("m" + evil)
	r.Experiment.Langs, r.Labels = []string{"en", evil}, []string{"en", evil}
	r.MarginsMean = map[string]map[string]float64{"en": {evil: 0.31}, evil: {"en": -0.31}}
	r.Mu["Nim-v0"], r.MuMean = map[string]float64{"en": 0.5, evil: -0.5}, map[string]float64{"en": 0.31, evil: -0.31}
	names, err := Write(dir, []*bench.Report{r}, []bench.Scatter{{Model: evil, X: evil, Points: []bench.ScatterPoint{{Lang: evil, X: 0.5, Y: 0.1}}}})
	if err != nil || len(names) != 6 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".svg") {
			continue
		}
		texts := strings.Join(textsOf(t, filepath.Join(dir, name)), "|")
		if !strings.Contains(texts, `"'></text></svg><script>`) || screen.Clean(texts) != texts {
			t.Errorf("%s: %q", name, texts)
		}
	}
}
