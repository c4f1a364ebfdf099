// Package person lets a person play a game of an experiment against its model, or
// against a policy: shown what a model would be shown, with answers that are read as
// a model's are.
package person

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"selfplay/bench"
	"selfplay/bench/screen"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// Options say who plays what, and where a person reads and writes.
type Options struct {
	Config scheduler.Config // as for the model's own games; the jobs are Play's to fill in
	Engine inference.Engine // nil if a policy is the opponent
	Show   func(ids []int32) string

	Job      scheduler.Job // of the plan: the same game has the same deal and draws
	Seat     int           // of the person
	Opponent string        // what to call the other

	In     io.Reader
	Echo   bool // In is no terminal, which would show what is typed
	Out    io.Writer
	Screen func() *screen.Screen // what Out is by now, for it may change its width; nil, or giving nil: no terminal
}

// policyName is how the job names the person.
const policyName = "person"

// Play plays one game. It ends early, without an error, when In does, when the
// person says so or when ctx ends.
func Play(ctx context.Context, o Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &desk{Options: o, ctx: ctx, stop: stop, lines: make(chan string)}
	go d.read()
	core, err := scheduler.NewCore(d.config())
	if err != nil {
		return err
	}
	d.greet()
	var ended []scheduler.Record
	err = scheduler.Run(ctx, core, o.Engine, func(r scheduler.Record) error {
		ended = append(ended, r)
		return nil
	}, d.progress)
	d.clear()
	switch {
	case d.stopped || ctx.Err() != nil:
		fmt.Fprintf(o.Out, "stopped after %d turns\n", d.turns)
		return nil
	case err != nil:
		return err
	}
	for _, r := range ended {
		d.end(r)
	}
	return nil
}

// A desk is what is between a person and a game. The scheduler calls all of its
// methods but read one after the other.
type desk struct {
	Options
	ctx     context.Context
	stop    context.CancelFunc
	lines   chan string // that the person types; closed at the end
	stopped bool        // the person has left: what the game still does is not shown
	turns   int         // ended

	before string // what the person was shown up to its last turn
	asked  bool   // the other has been
	last   scheduler.Turn
	prompt []int32 // of the other's last turn; nil for a policy
	open   bool    // it opened a think block
	tokens int     // sampled in that turn
	shown  bool    // their number is on the last line
}

// config has the person, and whoever watches the other, put in.
func (d *desk) config() scheduler.Config {
	c := d.Config
	job := d.Job
	job.Players = [2]string{}
	job.Players[d.Seat] = policyName
	c.Jobs, c.Total = func(yield func(scheduler.Job) bool) { yield(job) }, 1
	c.Policies = map[string]scheduler.Policy{policyName: d}
	if other := d.Config.Policies[""]; other != nil {
		c.Policies[""] = watchedPolicy{d, other}
	} else {
		c.Codec = watchedCodec{d.Config.Codec, d}
	}
	c.New = func(j scheduler.Job) (games.Game, error) {
		g, err := d.Config.New(j)
		return &watchedGame{g, d}, err
	}
	return c
}

// read takes lines from the person until there are no more.
func (d *desk) read() {
	defer close(d.lines)
	in := bufio.NewReader(d.In)
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" || err == nil {
			select {
			case d.lines <- line:
			case <-d.ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Act is the person's turn.
func (d *desk) Act(g games.Game, _ func(n int) int) string {
	if d.stopped {
		return "" // whatever comes of it, nobody sees it
	}
	now := g.Observation()
	d.text(bench.Added(d.before, now), d.lang(d.Seat))
	d.before = now
	d.say("")
	for {
		line, ok := d.ask()
		if !ok {
			d.stopped = true
			d.stop()
			return ""
		}
		if strings.HasPrefix(line, ":") {
			d.command(line, now)
			continue
		}
		if strings.TrimSpace(line) == "" {
			d.say("an answer, please; :help lists commands")
			continue
		}
		a := prompts.Extract(line, false)
		d.say(fmt.Sprintf("extracted (%s): %s", a.Status, a.Action))
		return a.Action
	}
}

// ask reads a line; false if there is none to come.
func (d *desk) ask() (line string, ok bool) {
	if d.ctx.Err() != nil {
		return "", false
	}
	fmt.Fprint(d.Out, "answer> ")
	select {
	case line, ok = <-d.lines:
	case <-d.ctx.Done():
	}
	switch {
	case !ok:
		fmt.Fprintln(d.Out)
	case d.Echo:
		d.say(line)
	}
	return line, ok
}

func (d *desk) lang(seat int) string { return bench.InterfaceOf(d.Job.Langs[seat]) }

// say writes a line in this program's words.
func (d *desk) say(line string) { d.text(line, "") }

func (d *desk) screen() *screen.Screen {
	if d.Screen == nil {
		return nil
	}
	return d.Screen()
}

// text writes what nobody vouches for.
func (d *desk) text(text, lang string) {
	d.clear()
	lines := strings.Split(screen.Clean(text), "\n")
	if s := d.screen(); s != nil {
		lines = s.Lines(text, lang)
	}
	for _, line := range lines {
		fmt.Fprintln(d.Out, line)
	}
}

// progress is called after each step of the engine.
func (d *desk) progress(p scheduler.Progress) {
	if p.Last.Rows > 0 && d.tokens > 0 {
		d.working(fmt.Sprintf("answers: %d tokens", d.tokens))
	}
}

// working shows on a terminal that the model is at work.
func (d *desk) working(doing string) {
	if d.screen() == nil || d.stopped {
		return
	}
	fmt.Fprintf(d.Out, "\r%s %s\x1b[K", screen.Clean(d.Opponent), doing)
	d.shown = true
}

// clear takes the count of tokens off the screen.
func (d *desk) clear() {
	if d.shown {
		fmt.Fprint(d.Out, "\r\x1b[K")
		d.shown = false
	}
}
