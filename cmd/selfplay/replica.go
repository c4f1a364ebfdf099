package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"selfplay/bench"
	"selfplay/inference"
	"selfplay/inference/remote"
	"selfplay/scheduler"
)

// mostReplicas is far more than one machine has use for.
const mostReplicas = 64

const replicaName = "replica"

const playedAgain, askedAgain = "the games that it had begun are played again", "the questions that it had begun are asked again"

// replicaCommand is what the processes of replicas run.
func replicaCommand() *cobra.Command {
	return &cobra.Command{
		Use:    replicaName,
		Short:  "Compute for another selfplay process, which starts this one",
		Hidden: true,
		Args:   asUsage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return remote.Child(version, func(q remote.Request) (inference.Engine, inference.Plan, error) {
				m, err := inference.Open(q.Model, q.Options)
				if err != nil {
					return nil, inference.Plan{}, err // not m, which would be no nil Engine
				}
				return m, m.Plan, nil
			})
		},
	}
}

// A replica is a process to start, with a model's copy of its own.
type replica struct {
	name    string
	env     []string // beside this process's: which GPUs it sees, for one
	options inference.Options
}

// cpuReplicas are n replicas that share the CPU's threads.
func cpuReplicas(n int, o inference.Options) []replica {
	if o.Threads == 0 {
		o.Threads = inference.Inspect().Cores
	}
	o.Threads, o.Sharing = max(1, o.Threads/n), n
	var all []replica
	for i := range n {
		all = append(all, replica{name: fmt.Sprintf("cpu%d", i), options: o})
	}
	return all
}

// replicas are those that have loaded the model.
type replicas struct {
	engines []*remote.Engine
	codecs  []*inference.Codec
	names   []string

	mu   sync.Mutex
	lost []string // names; they are not used again
}

// openReplicas starts them and waits until all have loaded the model. Here, each
// has a codec of its own, but no weights. What their processes write goes to w.
func openReplicas(ctx context.Context, w io.Writer, path string, all []replica, loaded func(share float32)) (_ *replicas, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &replicas{engines: make([]*remote.Engine, len(all)), codecs: make([]*inference.Codec, len(all))}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	together := meanOf(len(all), loaded)
	g, ctx := errgroup.WithContext(ctx)
	for i, one := range all {
		r.names = append(r.names, one.name)
		one.options.Progress = func(share float32) { together(i, share) }
		g.Go(func() (err error) {
			r.engines[i], err = remote.Start(ctx, remote.Command{
				Name: one.name, Path: program, Args: append([]string{replicaName}, logOfReplica()...), Env: one.env,
				Said: func(line string) {
					if !logged(one.name, line) {
						tell(w, one.name+": "+line)
					}
				},
			}, remote.Request{Program: version, Model: path, Options: one.options})
			if err == nil {
				slog.Info("model loaded", "replica", one.name, "plan", r.engines[i].Plan.String())
			}
			return err
		})
		g.Go(func() (err error) {
			if r.codecs[i], err = inference.OpenCodec(path); err != nil {
				return err
			}
			return r.codecs[i].SetThink(one.options.Think)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	first := r.engines[0].Plan
	for i, e := range r.engines {
		if e.Plan.Kind != first.Kind || e.Plan.Type != first.Type {
			return nil, fmt.Errorf("replicas %s and %s would not play alike: weights %s and %s, cache %s and %s: name them with --weights and --cache",
				r.names[0], r.names[i], first.Kind, e.Plan.Kind, first.Type, e.Plan.Type)
		}
	}
	return r, nil
}

// meanOf is told the share that each of n has done, and tells the mean. It may be
// nil.
func meanOf(n int, told func(float32)) func(i int, share float32) {
	var mu sync.Mutex
	shares := make([]float32, n)
	return func(i int, share float32) {
		if told == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		shares[i] = share
		sum := float32(0)
		for _, s := range shares {
			sum += s
		}
		told(sum / float32(n))
	}
}

// player plays on the replicas, and warns of each that is lost, and of what is done
// again then.
func (r *replicas) player(w io.Writer, cfg scheduler.Config, again string) bench.Player {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []scheduler.Replica
	for i, e := range r.engines {
		if !slices.Contains(r.lost, r.names[i]) {
			all = append(all, scheduler.Replica{Name: r.names[i], Engine: e, Codec: r.codecs[i]})
		}
	}
	return bench.OnReplicas(cfg, all, func(lost scheduler.Replica, err error) {
		r.mu.Lock()
		r.lost = append(r.lost, lost.Name)
		r.mu.Unlock()
		slog.Warn("replica lost", "replica", lost.Name, "error", err.Error())
		tell(w, fmt.Sprintf("selfplay: warning: %v; %s", err, again))
	})
}

// plans describe the replicas, together where they are alike.
func (r *replicas) plans() (lines []string) {
	alike := true
	for i, e := range r.engines {
		lines = append(lines, r.names[i]+": "+e.Plan.String())
		alike = alike && e.Plan.String() == r.engines[0].Plan.String()
	}
	if alike {
		return []string{fmt.Sprintf("replicas %s, each: %s", strings.Join(r.names, ", "), r.engines[0].Plan)}
	}
	return lines
}

// settings are those of each replica, once where they are alike.
func (r *replicas) settings() map[string]string {
	all := map[string]string{"replicas": strings.Join(r.names, ",")}
	for key := range settings(r.engines[0].Plan) {
		var values []string
		for _, e := range r.engines {
			values = append(values, settings(e.Plan)[key])
		}
		if len(slices.Compact(slices.Clone(values))) == 1 {
			values = values[:1]
		}
		all[key] = strings.Join(values, ",")
	}
	return all
}

func (r *replicas) close() {
	var g errgroup.Group
	for _, e := range r.engines {
		if e != nil {
			g.Go(e.Close)
		}
	}
	g.Wait()
	for _, c := range r.codecs {
		if c != nil {
			c.Close()
		}
	}
}

// A sharedWriter is for several goroutines.
type sharedWriter struct {
	mu    sync.Mutex
	w     io.Writer
	taken func(text string) // gets what is written instead, and does not wait; nil: nobody
}

func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken != nil {
		s.taken(string(b))
		return len(b), nil
	}
	return s.w.Write(b)
}

func (s *sharedWriter) over(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.taken == nil:
		writeOver(s.w, line)
	case strings.HasSuffix(line, "\n"): // nothing else would stay
		s.taken(line)
	}
}

// divert has somebody else get what is written from now on; nil: nobody.
func (s *sharedWriter) divert(taken func(text string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = taken
}

// shared is the command's standard error, for several goroutines.
func shared(c *cobra.Command) *sharedWriter {
	s, ok := c.ErrOrStderr().(*sharedWriter)
	if !ok {
		s = &sharedWriter{w: c.ErrOrStderr()}
		c.SetErr(s)
	}
	return s
}

// tell writes a line, in place of one that shows progress if a terminal does.
func tell(w io.Writer, line string) {
	if movesCursor(w) {
		writeOver(w, line+"\n")
		return
	}
	fmt.Fprintln(w, line)
}
