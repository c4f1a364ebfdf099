package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"selfplay/inference"
)

func TestRunFails(t *testing.T) {
	limits := whole(inference.Limits{Slots: 2, Cells: 200, Tokens: 30})
	for _, test := range []struct {
		name, want string
		edit       func(*Config)
	}{
		{"deal", "game g7 (broken): no such game", func(cfg *Config) {
			jobs := makeJobs(20)
			jobs[7].Game = "broken"
			cfg.Jobs = slices.Values(jobs)
		}},
		{"player", `game g3 (fake): no player is called "nobody"`, func(cfg *Config) {
			jobs := makeJobs(20)
			jobs[3].Players[1] = "nobody"
			cfg.Jobs = slices.Values(jobs)
		}},
		{"prompt", `game g5 (fake): no token for "unspeakable"`, func(cfg *Config) {
			jobs := makeJobs(20)
			jobs[5].Langs[0] = "unspeakable"
			cfg.Jobs = slices.Values(jobs)
		}},
		{"empty prompt", "game g0 (fake): the prompt has no tokens", func(cfg *Config) { cfg.Codec = emptyCodec{} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := fakeConfig(limits, makeJobs(20))
			test.edit(&cfg)
			c, err := NewCore(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			e := newFakeEngine(limits, byHash)
			for b := c.Next(); b != nil; b = c.Next() {
				if len(b.Rows) > 0 {
					if c.Err() != nil {
						t.Fatal("work for the engine after the run has failed")
					}
					if err := e.compute(b); err != nil {
						t.Fatal(err)
					}
				}
				finish(c, b)
			}
			if c.Err() == nil || c.Err().Error() != test.want {
				t.Errorf("got %v, want %s", c.Err(), test.want)
			}
		})
	}
}

type emptyCodec struct{ fakeCodec }

func (emptyCodec) Prompt(string, string) ([]int32, bool, error) { return nil, false, nil }

// Games that ended before a run failed are handed out all the same.
func TestFailureKeepsEndedGames(t *testing.T) {
	jobs := makeJobs(10)
	jobs[9].Game = "broken"
	cfg := Config{New: newFakeGame, Jobs: slices.Values(jobs), Policies: map[string]Policy{"": Random{}}}
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ended := 0
	for b := c.Next(); b != nil; b = c.Next() {
		ended += len(finish(c, b))
	}
	if ended != 9 || c.Err() == nil {
		t.Errorf("%d games, %v", ended, c.Err())
	}
}

func TestConfigIsChecked(t *testing.T) {
	good := fakeConfig(inference.Limits{Slots: 1, Cells: 2, Tokens: 1}, nil)
	for name, edit := range map[string]func(*Config){
		"jobs":   func(c *Config) { c.Jobs = nil },
		"new":    func(c *Config) { c.New = nil },
		"codec":  func(c *Config) { c.Codec = nil },
		"slots":  func(c *Config) { c.Limits.Slots = 0 },
		"cells":  func(c *Config) { c.Limits.Cells = 1 },
		"tokens": func(c *Config) { c.Limits.Tokens = 0 },
		"rows":   func(c *Config) { c.Limits.Rows = 0 },
		"least":  func(c *Config) { c.Limits.Least = 0 },
		"pool":   func(c *Config) { c.Limits.Pool = 0 },
		"uneven": func(c *Config) { c.Limits.Pool, c.Limits.Cells = 6, 3 }, // blocks of 2 and 4
		"max":    func(c *Config) { c.MaxTokens = -1 },
		"chunk":  func(c *Config) { c.Chunk = -1 },
	} {
		cfg := good
		edit(&cfg)
		if _, err := NewCore(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	c, err := NewCore(good)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Next() != nil || c.Err() != nil {
		t.Error("a run without jobs is not over at once")
	}
}

func TestMisuseIsFound(t *testing.T) {
	c, err := NewCore(fakeConfig(inference.Limits{Slots: 1, Cells: 200, Tokens: 100}, makeJobs(1)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	panics := func(f func()) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = errors.New(fmt.Sprint(r))
			}
		}()
		f()
		return nil
	}
	b := c.Next()
	if panics(func() { c.Next() }) == nil {
		t.Error("Next twice")
	}
	if panics(func() { c.Done(&inference.Batch{}) }) == nil {
		t.Error("Done of a foreign batch")
	}
	c.Done(b)
	if panics(func() { c.Done(b) }) == nil {
		t.Error("Done twice")
	}
	for c.Unsettled() == 0 { // every turn is one token
		b = c.Next()
		b.Rows[0].Token = tokenEnd
		c.Done(b)
	}
	if b = c.Next(); b != nil {
		t.Fatal("a single game goes on while its turn is not settled")
	}
	c.Settle()
	b = c.Next()
	b.Rows[0].Token = tokenEnd
	c.over = append(c.over, nil)
	if panics(func() { c.Done(b) }) == nil {
		t.Error("Done before Settle")
	}
}
