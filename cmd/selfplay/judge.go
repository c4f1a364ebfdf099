package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/bench/asking"
	"selfplay/bench/cluster"
	"selfplay/bench/translate"
	"selfplay/inference/files"
	"selfplay/locales"
)

// judgeFlags are the flags of `selfplay locales judge` as given.
type judgeFlags struct {
	models, langs      []string
	back, json, dryRun bool
	askFlags
}

func localesJudgeCommand() *cobra.Command {
	f := &judgeFlags{}
	c := &cobra.Command{
		Use:   "judge DIR --model M1 --model M2",
		Short: "Have two models judge what was translated, put English for what one of them doubts, and record it",
		Example: `  selfplay locales judge swahili/ --model ollama:qwen3:4b --model gemma.gguf
  # one of several languages, and each text translated back for a reader
  selfplay locales judge mine/ --model a.gguf --model b.gguf --langs sw --back`,
		Args: asUsage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return runJudge(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.models, "model", nil, fileFlag+"; two or more, which are loaded one after the other")
	fl.StringSliceVar(&f.langs, "langs", nil, "languages (default: all that were translated there)")
	fl.BoolVar(&f.back, "back", false, "have the first model translate each text back, for the record; it decides nothing")
	fl.BoolVar(&f.json, "json", false, "one JSON object")
	fl.BoolVar(&f.dryRun, "dry-run", false, "count what is to be asked, and do nothing")
	f.askFlags.addTo(c)
	return c
}

// judges finds the models; at least so many, and none twice.
func (f *askFlags) judges(c *cobra.Command, names []string, least int) (all []player, err error) {
	if len(names) < least {
		return nil, usagef("--model is given %d times: %d are needed", len(names), least)
	}
	for _, name := range names {
		who, err := f.model(c, name)
		if err != nil {
			return nil, err
		}
		for _, other := range all {
			if other.id.SHA256 == who.id.SHA256 {
				return nil, usagef("--model %s: it is the same model as %s; give another one", cluster.Quote(name), other.id.Name)
			}
		}
		all = append(all, who)
	}
	return all, nil
}

func runJudge(c *cobra.Command, f *judgeFlags, dir string) error {
	if err := f.askFlags.check(); err != nil {
		return err
	}
	judges, err := f.judges(c, f.models, 2)
	if err != nil {
		return err
	}
	folder, err := translate.OpenTranslated(dir)
	if err != nil {
		return usageError{err}
	}
	defer folder.Close()
	sheets, err := f.sheets(folder, dir)
	if err != nil {
		return err
	}
	if err := warnOfJudges(c.ErrOrStderr(), judges, sheets); err != nil {
		return err
	}
	ctx, stop := interruptible(c)
	defer stop()
	for i, judge := range judges {
		if err := f.judge(ctx, c, folder, judge, sheets, f.back && i == 0); err != nil {
			return stopped(ctx, c, dir, err)
		}
	}
	if f.dryRun {
		return nil
	}
	var results []translate.Result
	for _, s := range sheets {
		res, err := folder.Finish(s.lang, s.name, today())
		if err != nil {
			return err
		}
		results = append(results, res)
	}
	if f.json {
		return printJSON(c.OutOrStdout(), map[string]any{"languages": results})
	}
	for _, res := range results {
		if err := printJudged(c.OutOrStdout(), dir, res); err != nil {
			return err
		}
	}
	return nil
}

// A judgeSheet is what is judged of one language.
type judgeSheet struct {
	lang, name string
	texts      []translate.Text
}

func (f *judgeFlags) sheets(folder *translate.Folder, dir string) (sheets []judgeSheet, err error) {
	have := folder.Langs()
	for i, lang := range f.langs {
		if !slices.Contains(have, lang) || slices.Contains(f.langs[:i], lang) {
			return nil, usagef("--langs %s: choose from %s, each once", cluster.Quote(lang), strings.Join(have, ", "))
		}
		sheets = append(sheets, judgeSheet{lang: lang})
	}
	for _, lang := range have {
		if len(f.langs) == 0 {
			sheets = append(sheets, judgeSheet{lang: lang})
		}
	}
	set, err := locales.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: finish the translation first", err)
	}
	known, err := set.Confidence(have)
	if err != nil {
		return nil, err
	}
	for i := range sheets {
		s := &sheets[i]
		if s.texts, err = folder.Texts(set, s.lang); err != nil {
			return nil, err
		}
		if s.name = known[slices.Index(have, s.lang)].Name; s.name == "" {
			return nil, fmt.Errorf("%s has no record of %s: finish its translation first, by the same command", dir, s.lang)
		}
	}
	return sheets, nil
}

// judge has one model see all that it has not seen.
func (f *judgeFlags) judge(ctx context.Context, c *cobra.Command, folder *translate.Folder, judge player, sheets []judgeSheet, back bool) error {
	ask := func(a asking.Asker) error {
		for _, s := range sheets {
			if err := folder.Judge(ctx, s.lang, s.name, s.texts, judge.id, a); err != nil {
				return err
			}
			if !back {
				continue
			}
			if err := folder.TranslateBack(ctx, s.lang, s.name, s.texts, judge.id, a); err != nil {
				return err
			}
		}
		return nil
	}
	if f.dryRun {
		return f.dry(ctx, c.OutOrStdout(), judge, ask)
	}
	open := 0
	for _, s := range sheets {
		open += folder.Unjudged(s.lang, s.texts, judge.id)
		if back {
			open += folder.NotBack(s.lang, s.texts, judge.id)
		}
	}
	if open == 0 {
		return nil
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s: %d questions\n", judge.id.Name, open)
	return f.with(ctx, c, judge, 1, ask)
}

// judgesFolder keeps what calibrations measured.
func judgesFolder() (string, error) {
	f, err := files.New()
	if err != nil {
		return "", err
	}
	return filepath.Join(f.Cache, "judges"), nil
}

// warnOfJudges says how well each judge is known to see.
func warnOfJudges(w io.Writer, judges []player, sheets []judgeSheet) error {
	dir, err := judgesFolder()
	if err != nil {
		return err
	}
	for _, j := range judges {
		for _, s := range sheets {
			sight, err := translate.ReadSight(dir, j.id, s.lang)
			if err != nil {
				return err
			}
			if doubt := sight.Doubt(); doubt != "" {
				fmt.Fprintf(w, "selfplay: warning: the judge %s %s: see selfplay locales calibrate\n", j.id.Name, doubt)
				break
			}
			where := ""
			if !slices.Contains(sight.Langs, s.lang) {
				where = ", of other languages: " + strings.Join(sight.Langs, " ")
			}
			fmt.Fprintf(w, "%s in %s: it finds %s of faults, and lets %s of good texts pass%s\n", j.id.Name, s.lang, shareText(sight.Sensitivity), shareText(sight.Specificity), where)
		}
	}
	return nil
}

// shareText is a share with its interval.
func shareText(s bench.Share) string {
	v, ok := s.Value()
	if !ok {
		return "-"
	}
	ci, _ := s.Interval()
	return fmt.Sprintf("%.0f%% [%.0f, %.0f]", 100*v, 100*ci[0], 100*ci[1])
}

// printJudged writes what judges said, and what became of the language.
func printJudged(w io.Writer, dir string, res translate.Result) error {
	r := res.Record
	for _, j := range res.Judges {
		fmt.Fprintf(w, "%s: %d of %d translations faithful, %d answers unclear\n", j.Name, j.Faithful, j.Of, j.Unclear)
	}
	if percent, ok := r.Fidelity(); ok {
		fmt.Fprintf(w, "all judges agree on %d of %d: fidelity %.1f%%\n", r.Faithful, r.Judged, percent)
	}
	for _, said := range slices.Sorted(maps.Keys(res.Back)) {
		m := res.Back[said]
		fmt.Fprintf(w, "translated back, %s: %d texts share %.0f%% of their words with the English ones\n", said, m.N, 100*m.Sum/float64(m.N))
	}
	return printTranslated(w, dir, res)
}

func localesCalibrateCommand() *cobra.Command {
	f := &calibrateFlags{}
	c := &cobra.Command{
		Use:   "calibrate --model M",
		Short: "Measure how well models judge translations: put faults into good ones, and see which they find",
		Example: `  selfplay locales calibrate --model ollama:qwen3:4b --model gemma.gguf
  # a few questions in two languages
  selfplay locales calibrate --model m.gguf --langs de,zh --n 3`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return runCalibrate(c, f) },
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.models, "model", nil, fileFlag+"; may be repeated")
	fl.StringSliceVar(&f.langs, "langs", paperLangs[1:], "languages whose strings are good")
	fl.StringVar(&f.locales, "locales", "", localesFlag)
	fl.IntVar(&f.n, "n", 10, "texts of each language as they are, and as many with each kind of fault")
	fl.Int64Var(&f.seed, "seed", 1, "decides which texts, and where the faults are")
	fl.BoolVar(&f.json, "json", false, "one JSON object")
	fl.BoolVar(&f.dryRun, "dry-run", false, "count what is to be asked, and do nothing")
	f.askFlags.addTo(c)
	return c
}

// calibrateFlags are the flags of `selfplay locales calibrate` as given.
type calibrateFlags struct {
	models, langs []string
	locales       string
	n             int
	seed          int64
	json, dryRun  bool
	askFlags
}

func runCalibrate(c *cobra.Command, f *calibrateFlags) error {
	if f.n < 1 {
		return usagef("--n %d: give at least 1", f.n)
	}
	if err := f.askFlags.check(); err != nil {
		return err
	}
	set, err := openLocales(f.locales)
	if err != nil {
		return err
	}
	for i, lang := range f.langs {
		if lang == "en" || slices.Contains(f.langs[:i], lang) {
			return usagef("--langs %s: give other languages than English, each once", cluster.Quote(lang))
		}
	}
	cases, err := translate.CasesOf(set, f.langs, f.n, uint64(f.seed))
	if err == nil && len(cases) == 0 {
		err = fmt.Errorf("%s has no strings in %s", set.Name(), strings.Join(f.langs, ", "))
	}
	if err != nil {
		return usagef("--langs: %w", err)
	}
	judges, err := f.judges(c, f.models, 1)
	if err != nil {
		return err
	}
	dir, err := judgesFolder()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(c)
	defer stop()
	sights := make(map[string]translate.Sight)
	for _, judge := range judges {
		sight, err := f.calibrate(ctx, c, dir, judge, cases)
		if err != nil {
			return stopped(ctx, c, dir, err)
		}
		sights[judge.id.Name] = sight
		if !f.json && !f.dryRun {
			if err := printSight(c.OutOrStdout(), judge.id.Name, sight); err != nil {
				return err
			}
		}
	}
	if f.json && !f.dryRun {
		return printJSON(c.OutOrStdout(), sights)
	}
	return nil
}

func (f *calibrateFlags) calibrate(ctx context.Context, c *cobra.Command, dir string, judge player, cases []translate.Case) (sight translate.Sight, err error) {
	cal, err := translate.OpenCalibration(dir, judge.id)
	if err != nil {
		return sight, err
	}
	defer cal.Close()
	open := cal.Open(cases)
	switch ask := func(a asking.Asker) error { return cal.Run(ctx, open, a) }; {
	case f.dryRun:
		err = f.dry(ctx, c.OutOrStdout(), judge, ask)
	case len(open) > 0:
		fmt.Fprintf(c.ErrOrStderr(), "%s: %d questions\n", judge.id.Name, len(open))
		err = f.with(ctx, c, judge, 1, ask)
	}
	return cal.Sight(cases), err
}

// printSight writes how well a judge sees, by kind of fault.
func printSight(w io.Writer, name string, s translate.Sight) error {
	fmt.Fprintf(w, "%s, in %s\n", name, strings.Join(s.Langs, " "))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, of bench.Share) {
		fmt.Fprintf(t, "  %s\t%s\t%d of %d\n", name, shareText(of), of.Count, of.Of)
	}
	row("good texts that pass (specificity)", s.Specificity)
	row("faults that are found (sensitivity)", s.Sensitivity)
	for _, kind := range translate.Kinds {
		row("  "+kind, s.Kinds[kind])
	}
	row("answers that were no verdict", s.Unclear)
	if err := t.Flush(); err != nil {
		return err
	}
	if doubt := s.Doubt(); doubt != "" {
		fmt.Fprintf(w, "  this judge %s\n", doubt)
	}
	return nil
}
