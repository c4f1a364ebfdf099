package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/bench/page"
	"selfplay/bench/replay"
	"selfplay/bench/screen"
	"selfplay/games"
	"selfplay/scheduler"
)

// replayFlags are what `selfplay replay` takes.
type replayFlags struct {
	game, lang, winner, cause string
	longer, shorter, limit    int
	json, plain               bool
	text, html                string
}

func replayCommand() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay RUN [GAME]",
		Short: "List the games of a run and step through one: what was shown, thought, answered",
		Long: `List the games of a run, or step through one: what was shown, thinking, answers,
what the rules made of them. GAME is an ID, a part of one, or a number from the list.
On a terminal keys do it; into a pipe, or with --plain, the list or the whole game is
written as text.`,
		Example: `  # look through it
  selfplay replay runs/X
  # the games that both are true of
  selfplay replay runs/X --lang ar --cause length
  # a page to share
  selfplay replay runs/X en-ar/3 --html game.html`,
		Args: asUsage(cobra.RangeArgs(1, 2)),
		RunE: func(c *cobra.Command, args []string) error { return runReplay(c, f, args) },
	}
	var causes []string
	for _, cause := range bench.Causes {
		causes = append(causes, cause.Name+" ("+cause.Says+")")
	}
	fl := c.Flags()
	fl.StringVar(&f.game, "game", "", "only of this game, by name or environment id")
	fl.StringVar(&f.lang, "lang", "", "only with this language in a seat; en-ar: with en in seat 0 and ar in seat 1")
	fl.StringVar(&f.winner, "winner", "", "only won by this seat, 0 or 1, or draw")
	fl.StringVar(&f.cause, "cause", "", "only in which this happened: "+strings.Join(causes, ", "))
	fl.IntVar(&f.longer, "longer", 0, "only of more turns than this")
	fl.IntVar(&f.shorter, "shorter", 0, "only of fewer turns than this")
	fl.IntVar(&f.limit, "limit", 0, "list only the first of them (default: all)")
	fl.BoolVar(&f.json, "json", false, "list them as JSON, one game a line")
	fl.BoolVar(&f.plain, "plain", false, "plain text also on a terminal")
	fl.StringVar(&f.text, "text", "", "write the game into this file, as plain text")
	fl.StringVar(&f.html, "html", "", "write the game into this file, as one page")
	return c
}

func runReplay(c *cobra.Command, f *replayFlags, args []string) error {
	if err := f.check(c, len(args) == 2); err != nil {
		return err
	}
	run, err := bench.Open(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	if len(args) == 2 {
		return replayGame(c, f, run, args[1])
	}
	filter, err := f.filter(run.Experiment)
	if err != nil {
		return err
	}
	if keys(c) && !f.plain && !f.json {
		ctx, stop := interruptible(c)
		defer stop()
		return replay.View(ctx, run, filter, nil, c.InOrStdin(), stdout(c))
	}
	return f.list(c.OutOrStdout(), run, filter)
}

// check refuses flags that one game, or a list, has no use for.
func (f *replayFlags) check(c *cobra.Command, one bool) error {
	ofList, ofGame := []string{"game", "lang", "winner", "cause", "longer", "shorter", "limit", "json"}, []string{"text", "html"}
	for _, name := range ofList {
		if one && c.Flags().Changed(name) {
			return usagef("--%s is for the list of games: leave GAME out", name)
		}
	}
	for _, name := range ofGame {
		if !one && c.Flags().Changed(name) {
			return usagef("--%s writes one game: give GAME too; selfplay replay RUN lists them", name)
		}
	}
	if f.longer < 0 || f.shorter < 0 || f.limit < 0 {
		return usagef("--longer, --shorter and --limit must not be negative")
	}
	return nil
}

// filter checks what is to be listed against what the run can hold.
func (f *replayFlags) filter(e bench.Experiment) (bench.Filter, error) {
	b := bench.Filter{Winner: f.winner, Cause: f.cause, Longer: f.longer, Shorter: f.shorter, Limit: f.limit}
	if f.game != "" {
		b.Game = f.game
		if spec, err := games.Lookup(f.game); err == nil {
			b.Game = spec.ID
		}
		if !slices.Contains(e.Games, b.Game) {
			return b, usagef("--game %s: the run has %s", f.game, strings.Join(e.Games, ", "))
		}
	}
	if f.lang != "" {
		b.Langs[0], b.Langs[1], _ = strings.Cut(f.lang, "-")
		for _, label := range b.Langs {
			if label != "" && !slices.Contains(e.Labels(), label) {
				return b, usagef("--lang %s: the run has %s", f.lang, strings.Join(e.Labels(), ", "))
			}
		}
	}
	if f.winner != "" && !slices.Contains([]string{"0", "1", bench.Draw}, f.winner) {
		return b, usagef("--winner %s: give 0, 1 or draw", f.winner)
	}
	if f.cause != "" && !slices.ContainsFunc(bench.Causes, func(c bench.Cause) bool { return c.Name == f.cause }) {
		var names []string
		for _, c := range bench.Causes {
			names = append(names, c.Name)
		}
		return b, usagef("--cause %s: give one of %s", f.cause, strings.Join(names, ", "))
	}
	return b, nil
}

func (f *replayFlags) list(out io.Writer, run *bench.Run, filter bench.Filter) error {
	w := bufio.NewWriter(out)
	err := run.List(filter, func(l bench.Listed) error {
		if f.json {
			return printJSON(w, l)
		}
		_, err := fmt.Fprintln(w, replay.Row(l))
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

func replayGame(c *cobra.Command, f *replayFlags, run *bench.Run, name string) error {
	rec, err := findGame(run, name)
	if err != nil {
		return err
	}
	if f.text != "" {
		if err := f.save(c, f.text, func(w io.Writer) error { return replay.WriteGame(w, run.Experiment, rec, nil) }); err != nil {
			return fmt.Errorf("--text: %w", err)
		}
	}
	if f.html != "" {
		if err := f.save(c, f.html, func(w io.Writer) error { return page.WriteGame(w, run.Experiment, rec) }); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
	}
	if f.text != "" || f.html != "" {
		return nil
	}
	if keys(c) && !f.plain {
		ctx, stop := interruptible(c)
		defer stop()
		return replay.View(ctx, run, bench.Filter{}, &rec, c.InOrStdin(), stdout(c))
	}
	return replay.WriteGame(c.OutOrStdout(), run.Experiment, rec, screenOf(c.OutOrStdout()))
}

func (f *replayFlags) save(c *cobra.Command, path string, write func(io.Writer) error) error {
	if err := writeFile(path, write); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "game: %s\n", path)
	return nil
}

// findGame reads the one game that the person means.
func findGame(run *bench.Run, name string) (scheduler.Record, error) {
	found, err := run.Search(name)
	if err != nil {
		return scheduler.Record{}, err
	}
	switch {
	case len(found) == 0:
		return scheduler.Record{}, fmt.Errorf("%s holds no ended game %q: selfplay replay RUN lists those that it holds", run.Dir, name)
	case len(found) > 1:
		var ids []string
		for _, l := range found {
			ids = append(ids, screen.Clean(l.ID))
		}
		return scheduler.Record{}, usagef("%q could be several games, such as %s: give more of the ID", name, strings.Join(ids, ", "))
	}
	rec, ok, err := run.FindAt(found[0].Position)
	if err == nil && !ok {
		err = fmt.Errorf("%s: game %s is gone", run.Dir, found[0].ID)
	}
	return rec, err
}

// keys says whether a person sits at a terminal that a program can draw on.
func keys(c *cobra.Command) bool {
	in, ok := c.InOrStdin().(*os.File)
	return ok && term.IsTerminal(in.Fd()) && screenOf(c.OutOrStdout()) != nil && !isDumb()
}

// screenOf is the terminal that is written to; nil: it is none.
func screenOf(w io.Writer) *screen.Screen {
	f, ok := fileOf(w)
	if !ok || !term.IsTerminal(f.Fd()) {
		return nil
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width < 1 {
		width = 80
	}
	return &screen.Screen{Width: width, Turn: screen.Turns(os.Getenv)}
}
