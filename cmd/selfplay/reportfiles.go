package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/bench/figures"
	"selfplay/bench/page"
	"selfplay/locales/wholefile"
)

// reportFiles are what report writes beside its tables.
type reportFiles struct {
	html, figures string
	accuracy      []string
	words         string
}

func (f *reportFiles) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.html, "html", "", "write one page with everything into this file")
	c.Flags().StringVar(&f.figures, "figures", "", "write the paper's figures 2, 4 and F.1 into this folder, as SVG and PNG")
	c.Flags().StringArrayVar(&f.accuracy, "accuracy", nil, "for figure 4: accuracy per language, the JSON of selfplay eval or a CSV lang,accuracy; may be repeated")
	c.Flags().StringVar(&f.words, "words", "", "for figure 4: words on the web per language, a CSV lang,words")
}

func (f *reportFiles) check() error {
	if f.html == "" && f.figures == "" && (len(f.accuracy) > 0 || f.words != "") {
		return usagef("--accuracy and --words are for --html and --figures: give one of these")
	}
	for _, path := range f.accuracy {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("--accuracy: %w", err)
		}
	}
	if f.words != "" {
		if _, err := os.Stat(f.words); err != nil {
			return fmt.Errorf("--words: %w", err)
		}
	}
	if err := canBeFile("--html", f.html); err != nil {
		return err
	}
	return canBeFolder("--figures", f.figures)
}

// canBeFile refuses at once what cannot be written once the work is done: a folder,
// or a file in one that is not there.
func canBeFile(flag, path string) error {
	if path == "" {
		return nil
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return fmt.Errorf("%s %s is a folder: name a file", flag, path)
	}
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return fmt.Errorf("%s %s: there is no folder %s: make it first", flag, path, dir)
	}
	return nil
}

// canBeFolder refuses a folder that is a file.
func canBeFolder(flag, path string) error {
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		return fmt.Errorf("%s %s is a file: name a folder", flag, path)
	}
	return nil
}

// write makes the files of reports, which are those of the folders, and says which.
func (f *reportFiles) write(say io.Writer, dirs []string, reports []*bench.Report) error {
	if f.html == "" && f.figures == "" {
		return nil
	}
	scatters, err := f.scatters(reports)
	if err != nil {
		return err
	}
	if f.html != "" {
		var shown []page.Run
		for i, dir := range dirs {
			run, err := bench.Open(dir)
			if err != nil {
				return err
			}
			defer run.Close()
			shown = append(shown, page.Run{Report: reports[i], Games: run})
		}
		done := waiting(say, "writing "+f.html)
		err := wholefile.Write(f.html, func(w io.Writer) error { return page.Write(w, shown, page.Options{Scatters: scatters}) })
		done()
		if err != nil {
			return err
		}
		fmt.Fprintf(say, "page: %s\n", f.html)
	}
	if f.figures == "" {
		return nil
	}
	if err := os.MkdirAll(f.figures, 0o755); err != nil {
		return fmt.Errorf("--figures: %w", err)
	}
	done := waiting(say, "drawing the figures")
	names, err := figures.Write(f.figures, reports, scatters)
	done()
	for _, name := range names {
		fmt.Fprintf(say, "figure: %s\n", filepath.Join(f.figures, name))
	}
	return err
}

// scatters are figure 4's panels: each model against each file. Values of a
// model are for the runs of that model alone.
func (f *reportFiles) scatters(reports []*bench.Report) ([]bench.Scatter, error) {
	var all []bench.Scatter
	for _, path := range f.accuracy {
		values, err := bench.ReadAccuracy(path)
		if err != nil {
			return nil, fmt.Errorf("--accuracy: %w", err)
		}
		axis := "accuracy"
		if values.Name != "" {
			axis += ", " + values.Name
		}
		n := len(all)
		for _, r := range reports {
			if values.Model == "" || values.Model == r.Experiment.Model.Name {
				all = append(all, r.Scatter(axis, values.Values))
			}
		}
		if len(all) == n {
			return nil, fmt.Errorf("--accuracy: %s is of model %q, which none of the runs is of", path, values.Model)
		}
	}
	if f.words != "" {
		values, err := bench.ReadWords(f.words)
		if err != nil {
			return nil, fmt.Errorf("--words: %w", err)
		}
		for _, r := range reports {
			all = append(all, r.Scatter("log10 of web words", values.Values))
		}
	}
	for _, s := range all {
		if len(s.Points) == 0 {
			return nil, fmt.Errorf("no language has both a mean margin in the run of %s and a value of %q: compare the file's languages with the run's", s.Model, s.X)
		}
	}
	return all, nil
}
