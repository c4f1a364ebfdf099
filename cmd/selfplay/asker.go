package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/bench/asking"
	"selfplay/inference"
	"selfplay/scheduler"
)

// askFlags say how a model answers questions about texts.
type askFlags struct {
	think                              string
	maxTokens, context, slots, threads int
	deviceFlags
}

func (f *askFlags) addTo(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&f.maxTokens, "max-tokens", 1024, "tokens of one answer; 0: until the context is full")
	fl.IntVar(&f.context, "context", 4096, "tokens of a question and its answer together")
	thinkFlag(c, &f.think)
	f.deviceFlags.addTo(fl, true)
	fl.IntVar(&f.slots, "slots", 0, "questions at once (default: as tuned, or what memory allows, at most 64)")
	fl.IntVar(&f.threads, "threads", 0, "CPU threads (default: as tuned, or one for every core)")
}

func (f *askFlags) check() error {
	if f.maxTokens < 0 || f.context < 0 || f.slots < 0 || f.threads < 0 {
		return usagef("--max-tokens, --context, --slots and --threads must not be negative")
	}
	if err := checkThink(f.think); err != nil {
		return err
	}
	return f.deviceFlags.check()
}

// model finds a model that can answer questions.
func (f *askFlags) model(c *cobra.Command, name string) (player, error) {
	who, err := choosePlayer(c, name, false)
	if err == nil && who.policy != nil {
		err = usagef("--model %s: it writes no text", name)
	}
	return who, err
}

// An unfinished error is one of the asking, what was answered before it being kept.
type unfinished struct{ error }

func (u unfinished) Unwrap() error { return u.error }

// with loads a model, and has ask ask it; at most most questions come of each one.
// Then the model is gone again.
func (f *askFlags) with(ctx context.Context, c *cobra.Command, who player, most int, ask func(asking.Asker) error) error {
	do := func(a asking.Asker) error {
		if err := ask(a); err != nil {
			return unfinished{err}
		}
		return nil
	}
	w := c.ErrOrStderr()
	trained, err := inference.TrainedContext(who.path)
	if err != nil {
		return err
	}
	cells := f.context
	if !c.Flags().Changed("context") {
		cells = min(cells, trained)
	}
	opts := inference.Options{Cells: cells, Slots: f.slots, Threads: f.threads, Weights: inference.WeightsAuto, Think: f.think}
	if movesCursor(w) {
		opts.Progress = loading(w)
	}
	at, err := f.choose(w, who.path, opts)
	if err != nil {
		return err
	}
	defer at.close()
	asker := func(play func(scheduler.Config) bench.Player) asking.Asker {
		return asking.Of(play, 1, f.maxTokens, most, showAnswers(w))
	}
	if at.processes() {
		inference.HideGPUs() // they are the replicas'
		stderr := shared(c)
		r, err := loadReplicas(c, who, at, f.context, opts)
		if err != nil {
			return err
		}
		defer r.close()
		describe(stderr, who, r.codecs[0], r.plans()...)
		return do(asker(func(cfg scheduler.Config) bench.Player { return r.player(stderr, cfg, askedAgain) }))
	}
	m, err := loadHere(ctx, c, who, at, f.context, opts)
	if err != nil {
		return err
	}
	defer m.Close()
	describe(w, who, m.Codec, m.Plan.String())
	return do(asker(func(cfg scheduler.Config) bench.Player {
		cfg.Codec, cfg.Limits = m.Codec, m.Limits()
		return bench.OnEngine(cfg, m)
	}))
}

// answerGuess is about how many tokens a verdict takes.
const answerGuess = 60

// dry has ask ask a model that is not loaded and answers nothing, and tells how many
// questions there are and about how many tokens they take.
func (f *askFlags) dry(ctx context.Context, w io.Writer, who player, ask func(asking.Asker) error) error {
	codec, err := inference.OpenCodec(who.path)
	if err != nil {
		return err
	}
	defer codec.Close()
	n, read := 0, 0
	err = ask(func(_ context.Context, questions []asking.Question, _ asking.Each) error {
		for _, q := range questions {
			ids, _, err := codec.Prompt(q.System, q.User)
			if err != nil {
				return err
			}
			n, read = n+1, read+len(ids)
		}
		return ctx.Err()
	})
	if err == nil {
		_, err = fmt.Fprintf(w, "%s: %d questions, about %d tokens to read and %d to write, and more with thinking\n", who.id.Name, n, read, answerGuess*n)
	}
	return err
}

// showAnswers shows how many answers there are: on one line of a terminal,
// elsewhere now and then on a new one.
func showAnswers(w io.Writer) func(scheduler.Progress) {
	interval, show := 10*time.Second, func(line string) { fmt.Fprintln(w, line) }
	if movesCursor(w) {
		interval, show = 200*time.Millisecond, func(line string) { writeOver(w, line) }
	}
	var shown time.Duration
	return func(p scheduler.Progress) {
		if p.Elapsed < shown { // the clock of another round
			shown = 0
		}
		if p.Elapsed-shown < interval {
			return
		}
		shown = p.Elapsed
		seconds := p.Elapsed.Seconds()
		show(fmt.Sprintf("%d answers, %d being written, %.0f tokens/s read, %.0f written", p.Ended, p.Live(),
			float64(p.PrefillTokens)/seconds, float64(p.CompletionTokens)/seconds))
	}
}
