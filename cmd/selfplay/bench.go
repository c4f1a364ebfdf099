package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/inference/gpus"
	"selfplay/locales"
	"selfplay/scheduler"
)

// benchFlags are the flags of `selfplay bench` as given.
type benchFlags struct {
	model, locales, run, prompt  string
	shard, shardFrom             string // shardFrom: where the number of the part comes from
	weights, think, trace, cache string
	games, langs                 []string
	n, maxTokens, context        int
	seed                         int64
	slots, pool, chunk, threads  int
	json, quiet                  bool
	planFlags
	deviceFlags
}

var paperLangs = []string{"en", "ar", "de", "es", "fr", "he", "ms", "zh"}

func benchCommand() *cobra.Command { return benchCommandOf(&benchFlags{}) }

// benchCommandOf is the command that keeps its flags in f.
func benchCommandOf(f *benchFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "bench --model M",
		Short: "Play every ordered pair of languages, both roles, and print the margins",
		Example: `  # two games in two languages, 20 games each way
  selfplay bench --model model.gguf --games TicTacToe,Nim --langs en,de --n 20
  # the paper's protocol; the same command goes on where it stopped
  selfplay bench --model ollama:qwen3:4b --suite paper --run runs/qwen3-4b
  # against perfect play, and for a script
  selfplay bench --model m.gguf --opponent builtin:optimal --games Nim --json
  # on two of the GPUs, with a log for later
  selfplay bench --model hf-folder/ --gpus 0,1 --log bench.jsonl`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return runBench(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.model, "model", "", modelFlag)
	fl.StringSliceVar(&f.games, "games", defaultGames(), "games, by name or environment id")
	fl.StringSliceVar(&f.langs, "langs", paperLangs, "languages")
	fl.IntVar(&f.n, "n", 400, "games for each ordered pair of languages; twice as many for a language with itself")
	fl.Int64Var(&f.seed, "seed", 1, "decides every deal and every draw")
	fl.IntVar(&f.maxTokens, "max-tokens", 512, "tokens of one answer; 0: until the context is full")
	fl.IntVar(&f.context, "context", defaultContext, "tokens of a turn's prompt and answer together")
	fl.StringVar(&f.weights, "weights", "auto", "types that the weights are computed in: file, bf16 (expands types that are slow for many rows), or auto: as the run has them, as tuned, or what is faster as a rule")
	thinkFlag(c, &f.think)
	fl.StringVar(&f.prompt, "prompt", "conditioned", "system prompt: default, conditioned (reason in the language provided), or reason-in:LANG")
	fl.StringVar(&f.locales, "locales", "", localesFlag)
	fl.StringVar(&f.run, "run", "", "run folder, resumed if it holds the same experiment (default: runs/MODEL-HASH)")
	fl.StringVar(&f.shard, "shard", "", shardFlag)
	fl.IntVar(&f.slots, "slots", 0, "games at once (default: as tuned, or what memory allows, at most 64)")
	fl.IntVar(&f.pool, "pool", 0, "tokens that the cache holds for all games together (default: --context for each of the slots, or what memory allows); games that outgrow it wait for others")
	fl.StringVar(&f.cache, "cache", "f16", "type of keys and values in the cache: f16, or q8_0, which takes half the memory and is a little less exact")
	fl.IntVar(&f.chunk, "chunk", 0, "tokens computed in one step (default: as tuned, or 512)")
	fl.IntVar(&f.threads, "threads", 0, "CPU threads (default: as tuned, or one for every core)")
	f.planFlags.addTo(fl)
	f.deviceFlags.addTo(fl, true)
	fl.StringVar(&f.trace, "trace", "", "file that gets a timeline of the steps for chrome://tracing or Perfetto; overwritten if it exists")
	fl.BoolVar(&f.json, "json", false, "the last line of standard output is one JSON object")
	fl.BoolVar(&f.quiet, "quiet", false, "no progress and no tables")
	group(c, "What is played", "model", "suite", "games", "langs", "n", "seed", "prompt", "locales", "opponent", "reason-in", "interface", "until-ci")
	group(c, "How the model answers", "max-tokens", "context", "think", "weights", "cache")
	group(c, "What computes it (no game depends on these)", "device", "gpus", "replicas", "slots", "pool", "chunk", "threads")
	group(c, "Where it is kept and what is shown", "run", "trace", "json", "quiet")
	return c
}

// defaultGames are the paper's: every game's plain variant.
func defaultGames() []string {
	var plain []string
	for _, id := range games.Names() {
		if name, ok := strings.CutSuffix(id, "-v0"); ok {
			plain = append(plain, name)
		}
	}
	return plain
}

// asked is what the flags ask for, checked as far as nothing is loaded.
func (f *benchFlags) asked(c *cobra.Command) (suite string, set *locales.Set, who player, e bench.Experiment, err error) {
	if suite, err = applySuite(c, f); err != nil {
		return
	}
	if set, err = openLocales(f.locales); err != nil {
		return
	}
	if who, err = choosePlayer(c, f.model, f.quiet); err != nil {
		return
	}
	if e, err = experiment(f, who, set); err != nil {
		return
	}
	err = warnOfLocales(c.ErrOrStderr(), set, e.Games, e.Langs)
	return
}

func runBench(c *cobra.Command, f *benchFlags) error {
	suite, set, who, e, err := f.asked(c)
	if err != nil {
		return err
	}
	cfg := scheduler.Config{Seed: e.Seed, System: e.SystemOf, MaxTokens: e.MaxTokens, New: dealer(set), Policies: policies(who)}
	session := bench.Session{Started: time.Now().UTC(), Program: version, Model: f.model, Suite: suite, Settings: map[string]string{}}
	if session.Locales, err = set.Confidence(e.Langs); err != nil {
		return err
	}
	o := bench.Options{Experiment: e, Session: session}
	if f.trace != "" { // before the weights are loaded: a wrong path is told at once
		if o.Trace, err = os.Create(f.trace); err != nil {
			return usagef("--trace: %w", err)
		}
	}
	if who.policy != nil {
		o.Player = bench.OnEngine(cfg, nil)
		return play(c, f, o)
	}
	opts := inference.Options{Slots: f.slots, Cells: f.context, Pool: f.pool, Cache: inference.Cache(f.cache), Tokens: f.chunk, Threads: f.threads, Weights: inference.Weights(keptWeights(f, e)), Think: f.think}
	if !f.quiet && movesCursor(c.ErrOrStderr()) {
		opts.Progress = loading(c.ErrOrStderr())
	}
	at, err := f.choose(c.ErrOrStderr(), who.path, opts)
	if err != nil {
		return err
	}
	defer at.close()
	if at.processes() {
		inference.HideGPUs() // they are the replicas'
		return benchReplicas(c, f, who, at, opts, cfg, o)
	}
	m, err := loadHere(c.Context(), c, who, at, f.context, opts)
	if err != nil {
		return err
	}
	defer m.Close()
	slog.Info("model loaded", "model", who.id.Name, "plan", m.Plan.String())
	if !f.quiet {
		describe(c.ErrOrStderr(), who, m.Codec, m.Plan.String())
	}
	cfg.Codec, cfg.Limits = m.Codec, m.Limits()
	o.Experiment.Weights, o.Session.Settings = string(m.Plan.Kind), settings(m.Plan)
	o.Player = bench.OnEngine(cfg, m)
	return play(c, f, o)
}

// describe says what was loaded and how, and what is done about its chats.
func describe(w io.Writer, who player, codec *inference.Codec, plans ...string) {
	for _, plan := range plans {
		fmt.Fprintf(w, "%s: %s\n", who.id.Name, plan)
	}
	if note := codec.TemplateNote(); note != "" {
		fmt.Fprintf(w, "%s: %s\n", who.id.Name, note)
	}
}

// benchReplicas plays on several processes.
func benchReplicas(c *cobra.Command, f *benchFlags, who player, at *site, opts inference.Options, cfg scheduler.Config, o bench.Options) error {
	stderr := shared(c)
	r, err := loadReplicas(c, who, at, f.context, opts)
	if err != nil {
		return err
	}
	defer r.close()
	if !f.quiet {
		describe(stderr, who, r.codecs[0], r.plans()...)
	}
	o.Experiment.Weights, o.Session.Settings = string(r.engines[0].Plan.Kind), r.settings()
	o.Player = r.player(stderr, cfg, playedAgain)
	if at.lib != nil {
		o.Watch = at.watch(r, gpus.Clock{})
	}
	return play(c, f, o)
}

// loadHere has this process load the model, unless ctx ends before. context is what
// tuned settings are for.
func loadHere(ctx context.Context, c *cobra.Command, who player, at *site, context int, opts inference.Options) (m *inference.Model, err error) {
	at.here(&opts)
	err = openTuned(c, who, at, context, opts, func(o inference.Options) error {
		return unlessEnded(ctx, func() (err error) {
			m, err = inference.Open(who.path, o)
			return err
		})
	})
	return m, err
}

// loadReplicas has them load the model, unless the user interrupts it. context is
// what tuned settings are for.
func loadReplicas(c *cobra.Command, who player, at *site, context int, opts inference.Options) (r *replicas, err error) {
	ctx, stop := interruptible(c)
	defer stop()
	err = openTuned(c, who, at, context, opts, func(opts inference.Options) (err error) {
		r, err = openReplicas(ctx, c.ErrOrStderr(), who.path, at.replicas(opts), opts.Progress)
		return err
	})
	if ctx.Err() != nil {
		err = fmt.Errorf("stopped (%w) before the model was loaded", ctx.Err())
	}
	return r, err
}

// loading shows how much of the weights is loaded, on one line of a terminal.
func loading(w io.Writer) func(share float32) {
	var shown atomic.Int32
	return func(share float32) {
		percent := int32(100 * share)
		if old := shown.Load(); percent > old && shown.CompareAndSwap(old, percent) {
			writeOver(w, fmt.Sprintf("loading the weights: %d%%", percent))
		}
	}
}

// play runs the experiment until it ends or the user interrupts it, and prints
// what came of it.
func play(c *cobra.Command, f *benchFlags, o bench.Options) error {
	if f.run == "" {
		f.run = defaultRun(o.Experiment)
	}
	o.Dir = f.run
	ctx, stop := interruptible(c)
	defer stop()
	if !f.quiet {
		o.Progress = c.ErrOrStderr()
		plan := o.Experiment.Describe(promptName(f, o.Experiment))
		if f.shardFrom != "" {
			plan += "; shard by " + f.shardFrom
		}
		fmt.Fprintln(o.Progress, plan)
		o.Doing = func(what string) func() { return waiting(c.ErrOrStderr(), what) }
	}
	sum, err := playInView(ctx, c, f.quiet, o)
	if err == nil || sum.Report != nil {
		if werr := printSummary(c.OutOrStdout(), f, sum); err == nil {
			err = werr
		}
	}
	if err == nil && sum.ReplicasLost > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "selfplay: warning: replicas lost: %d of %d; the others played all games\n", sum.ReplicasLost, sum.Replicas)
	}
	if err != nil && ctx.Err() != nil {
		var shard []string
		if s := o.Experiment.Shard; f.shardFrom != "" { // no job's task plays it by hand
			shard = []string{"--shard", fmt.Sprintf("%d/%d", s.Number, s.Of)}
		}
		fmt.Fprintf(c.ErrOrStderr(), "resume with: %s\n", commandLine(c, f.run, shard...))
	}
	return err
}

func printSummary(w io.Writer, f *benchFlags, sum bench.Summary) error {
	if !f.quiet {
		if err := sum.Report.WriteText(w, sum.Dir); err != nil {
			return err
		}
	}
	if !f.json {
		return nil
	}
	return printJSON(w, sum)
}

func settings(p inference.Plan) map[string]string {
	device := "cpu"
	if len(p.Devices) > 0 {
		device = p.Devices[0].Description
	}
	return map[string]string{
		"device": device, "kernels": p.Kernels, "slots": strconv.Itoa(p.Slots), "pool": strconv.Itoa(p.Pool), "chunk": strconv.Itoa(p.Tokens), "threads": strconv.Itoa(p.Threads),
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(f.Fd())
}
