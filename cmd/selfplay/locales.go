package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"selfplay/bench/screen"
	"selfplay/games"
	"selfplay/locales"
)

func localesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "locales",
		Short: "List, check, pack, translate and judge the strings that players are shown",
		Example: `  selfplay locales list
  selfplay locales check my-locales/`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(localesListCommand(), localesCheckCommand(), localesImportCommand(), localesTranslateCommand(), localesJudgeCommand(), localesCalibrateCommand())
	return c
}

func localesListCommand() *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "Show languages, games, which game has which language, and how good they are",
		Example: `  selfplay locales list
  # those of a folder, for a script
  selfplay locales list --locales my-locales/ --json`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := openLocales(dir)
			if err != nil {
				return err
			}
			list, err := set.List()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), list)
			}
			return printListing(c.OutOrStdout(), list)
		},
	}
	c.Flags().StringVar(&dir, "locales", "", localesFlag)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return c
}

const localesFlag = "locale files: a folder of ours, a TextArena checkout, or a file made by `selfplay locales import` (default: built in)"

// printListing writes two tables: languages and games.
func printListing(w io.Writer, l *locales.Listing) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %s, %s\n\n", l.Source, screen.Counted(len(l.Langs), "language", "languages"), screen.Counted(len(l.Games), "game", "games"))
	fmt.Fprintln(t, "language\tname\ttier\tgames\tright\tin English\tgames with known faults")
	for _, lang := range l.Langs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", lang.Lang, orDash(lang.Name), lang.Tier, len(lang.Games), percent(lang.Fidelity, math.Floor), percent(lang.Fallback, math.Ceil), orDash(strings.Join(lang.Flagged, " ")))
	}
	fmt.Fprintln(t, "\ngame\tplayed here\tlanguages\twhich")
	for _, g := range l.Games {
		played := "no"
		if _, err := games.Lookup(g.Game); err == nil {
			played = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\n", g.Game, played, len(g.Langs), coverage(g.Langs, l.Langs))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, lang := range l.Langs {
		if lang.Tier == locales.Unreviewed {
			_, err := fmt.Fprintf(w, "\n%s: built in, and reviewed by no native speaker.\n", locales.Unreviewed)
			return err
		}
	}
	return nil
}

// percent gives a tenth of it; a share is rounded to what is worse, so that none looks
// like one of a better tier.
func percent(share *float64, round func(float64) float64) string {
	if share == nil {
		return "-"
	}
	return strconv.FormatFloat(round(*share*10)/10, 'f', -1, 64) + "%"
}

// coverage names the languages that a game has, or if that is shorter those
// that it lacks.
func coverage(has []string, all []locales.ListedLang) string {
	var lacks []string
	for _, l := range all {
		if !slices.Contains(has, l.Lang) {
			lacks = append(lacks, l.Lang)
		}
	}
	switch {
	case len(lacks) == 0:
		return "all"
	case len(lacks) < len(has):
		return "all but " + strings.Join(lacks, " ")
	}
	return strings.Join(has, " ")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func localesCheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Find what is wrong with locale files: keys, placeholders, commands, examples, characters",
		Example: `  # the built-in strings, then those of a folder
  selfplay locales check
  selfplay locales check my-locales/ --json`,
		Args: asUsage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			set := locales.Embedded()
			if len(args) > 0 {
				var err error
				if set, err = locales.Open(args[0]); err != nil {
					return usageError{err}
				}
			}
			rep := locales.Checker{Set: set, Play: games.PlayExamples}.Run()
			var err error
			if asJSON {
				err = printJSON(c.OutOrStdout(), rep)
			} else {
				err = printFindings(c.OutOrStdout(), rep)
			}
			if err == nil && rep.Errors > 0 {
				err = fmt.Errorf("%d errors in the locale files of %s: correct them as listed", rep.Errors, rep.Source)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return c
}

// printFindings writes a line for each finding, and a summary.
func printFindings(out io.Writer, rep *locales.Report) error {
	w := bufio.NewWriter(out)
	for _, f := range rep.Findings {
		fmt.Fprintln(w, f)
	}
	fmt.Fprintf(w, "%s: %s, %s, %s: %s, %s\n", rep.Source, screen.Counted(rep.Files, "file", "files"), screen.Counted(rep.Games, "game", "games"),
		screen.Counted(rep.Langs, "language", "languages"), screen.Counted(rep.Errors, "error", "errors"), screen.Counted(rep.Warnings, "warning", "warnings"))
	for _, kind := range locales.Kinds {
		if n := rep.Counts[kind]; n > 0 {
			fmt.Fprintf(w, "%8d %s\n", n, kind)
		}
	}
	return w.Flush()
}

func localesImportCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "import DIR",
		Short: "Pack a TextArena checkout or a folder of ours into one file for --locales",
		Example: `  selfplay locales import TextArena/ -o textarena.zip
  selfplay bench --model model.gguf --locales textarena.zip`,
		Args: asUsage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := canBeFile("-o", file); err != nil {
				return err
			}
			set, err := locales.Open(args[0])
			if err != nil {
				return usageError{err}
			}
			p, err := set.Pack(file)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %s, %s, %s, %d bytes; use it with --locales %s\n", file, screen.Counted(p.Files, "file", "files"), screen.Counted(p.Games, "game", "games"),
				screen.Counted(p.Langs, "language", "languages"), p.Bytes, file)
			return err
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "locales.zip", "file to write; one that exists is replaced")
	return c
}

// warnOfLocales says on one line which languages of a run nobody has certified.
func warnOfLocales(w io.Writer, set *locales.Set, ids, langs []string) error {
	var rules []string
	for _, id := range ids {
		if spec, err := games.Lookup(id); err == nil {
			rules = append(rules, spec.Game)
		}
	}
	doubts, err := set.Doubts(rules, langs)
	if err != nil || doubts == "" {
		return err
	}
	_, err = fmt.Fprintf(w, "warning: languages that are not certified: %s\n", doubts)
	return err
}

func printJSON(w io.Writer, v any) error {
	line, err := toJSON(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}
