package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/bench/person"
	"selfplay/bench/screen"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/locales"
	"selfplay/scheduler"
)

// playFlags are what `selfplay play` takes.
type playFlags struct {
	model, game, lang, otherLang string
	prompt, think, locales       string
	seat, maxTokens, context     int
	seed                         int64
	deviceFlags
}

func playCommand() *cobra.Command {
	f := &playFlags{}
	c := &cobra.Command{
		Use:   "play --model M",
		Short: "Play a game yourself against a model, and see what it sees",
		Long: `Play a game yourself against a model or a built-in policy. You are shown what a model
in your seat would be shown, and what you type is read as its answer would be. The deal
and the model's draws are those of the first such game of selfplay bench with the same
--seed: the same answers of yours get the same answers from it.`,
		Example: `  selfplay play --model builtin:optimal --game Nim
  selfplay play --model ollama:qwen3:0.6b --game KuhnPoker --lang en --other-lang ar`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return runPlay(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.model, "model", "", modelFlag)
	fl.StringVar(&f.game, "game", "TicTacToe", "game, by name or environment id")
	fl.IntVar(&f.seat, "seat", 0, "your seat: 0 or 1")
	fl.StringVar(&f.lang, "lang", "en", "language in which you are shown the game")
	fl.StringVar(&f.otherLang, "other-lang", "", "language in which the other is (default: yours)")
	fl.Int64Var(&f.seed, "seed", 1, "decides the deal and every draw, as for bench")
	fl.IntVar(&f.maxTokens, "max-tokens", 512, "tokens of one answer; 0: until the context is full")
	fl.IntVar(&f.context, "context", defaultContext, "tokens of a turn's prompt and answer together")
	fl.StringVar(&f.prompt, "prompt", "conditioned", "system prompt: default, conditioned (reason in the language provided), or reason-in:LANG")
	thinkFlag(c, &f.think)
	fl.StringVar(&f.locales, "locales", "", localesFlag)
	f.deviceFlags.addTo(fl, false)
	return c
}

func runPlay(c *cobra.Command, f *playFlags) error {
	set, err := openLocales(f.locales)
	if err != nil {
		return err
	}
	who, err := choosePlayer(c, f.model, false)
	if err != nil {
		return err
	}
	job, err := f.job(who, set)
	if err != nil {
		return err
	}
	if err := warnOfLocales(c.ErrOrStderr(), set, []string{job.Game}, slices.Compact(slices.Clone(job.Langs[:]))); err != nil {
		return err
	}
	o := person.Options{Job: job, Seat: f.seat, Opponent: who.id.Name, In: c.InOrStdin(), Out: stdout(c), Screen: func() *screen.Screen { return screenOf(c.OutOrStdout()) }}
	if in, ok := o.In.(*os.File); !ok || !term.IsTerminal(in.Fd()) {
		o.Echo = true
	}
	o.Config = scheduler.Config{Seed: f.seed, MaxTokens: f.maxTokens, New: dealer(set), Policies: policies(who)}
	if who.policy == nil {
		system, err := systemPrompt(f.prompt)
		if err != nil {
			return err
		}
		o.Config.System = func(string) string { return system }
		m, err := f.load(c, who)
		if err != nil {
			return err
		}
		defer m.Close()
		o.Engine, o.Config.Codec, o.Config.Limits, o.Show = m, m.Codec, m.Limits(), m.Codec.Show
	}
	ctx, stop := interruptible(c)
	defer stop()
	return person.Play(ctx, o)
}

// job is the game of a plan of bench with these languages.
func (f *playFlags) job(who player, set *locales.Set) (scheduler.Job, error) {
	spec, err := games.Lookup(f.game)
	if err != nil {
		return scheduler.Job{}, usagef("--game: %w", err)
	}
	if err := who.canPlay("--model", []games.Spec{spec}); err != nil {
		return scheduler.Job{}, err
	}
	if f.seat != 0 && f.seat != 1 {
		return scheduler.Job{}, usagef("--seat %d: give 0 or 1", f.seat)
	}
	if f.maxTokens < 0 || f.context < 0 {
		return scheduler.Job{}, usagef("--max-tokens and --context must not be negative")
	}
	other := f.otherLang
	if other == "" {
		other = f.lang
	}
	have := set.Langs(spec.Game)
	for _, l := range []struct{ flag, lang string }{{"lang", f.lang}, {"other-lang", other}} {
		if !slices.Contains(have, l.lang) {
			return scheduler.Job{}, usagef("--%s: %s has no strings for %s in %q: choose from %s, or name a folder with --locales", l.flag, set.Name(), spec.Game, l.lang, strings.Join(have, ", "))
		}
	}
	langs := [2]string{f.lang, other}
	if f.seat == 1 {
		langs = [2]string{other, f.lang}
	}
	plan := bench.Plan{Games: []string{spec.ID}, Langs: slices.Compact(slices.Clone(langs[:])), N: 1, Seed: f.seed}
	if err := plan.Validate(); err != nil {
		return scheduler.Job{}, usageError{err}
	}
	for j := range plan.Jobs() {
		if j.Langs == langs {
			return j, nil
		}
	}
	panic(fmt.Sprintf("no game of the plan is in %v", langs))
}

// load loads the model as bench would, for one game.
func (f *playFlags) load(c *cobra.Command, who player) (*inference.Model, error) {
	w := c.ErrOrStderr()
	opts := inference.Options{Slots: 1, Cells: f.context, Weights: inference.WeightsAuto, Think: f.think}
	if movesCursor(w) {
		opts.Progress = loading(w)
	}
	at, err := f.choose(w, who.path, opts)
	if err != nil {
		return nil, err
	}
	defer at.close()
	m, err := loadHere(c.Context(), c, who, at, f.context, opts)
	if err != nil {
		return nil, err
	}
	describe(w, who, m.Codec, m.Plan.String())
	return m, nil
}
