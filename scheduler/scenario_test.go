package scheduler

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"selfplay/games"
	"selfplay/inference"
)

var update = flag.Bool("update", false, "rewrite the traces in testdata")

// TestScenarios plays the scripts in testdata and compares what happens step by
// step with what is written there. A file holds scripts such as
//
//	# what it shows
//	play slots=2 cells=40 tokens=16
//	a: hi !oh ok
//	----
//	...the trace, up to an empty line
//
// Every line under play is a game and what the model says in it, turn by turn;
// the seats alternate. The rules refuse what begins with "!". "~" at the end
// goes on for ever. With policy=1 seat 1 is no model's but a policy's. With least
// and pool there are blocks of several sizes, and the trace shows after each step
// which slots have which: first+cells=slot, in brackets if it is cached.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			old, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			now := rerun(t, string(old))
			if *update {
				err = os.WriteFile(file, []byte(now), 0o644)
			} else if now != string(old) {
				t.Errorf("%s has changed (go test -update rewrites it):\n%s", file, now)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// rerun is the file with every trace as it comes out now.
func rerun(t *testing.T, file string) string {
	var out strings.Builder
	for _, block := range strings.SplitAfter(file, "\n\n") {
		script, _, is := strings.Cut(block, "----\n")
		out.WriteString(script)
		if is {
			out.WriteString("----\n" + trace(t, script))
			if strings.HasSuffix(block, "\n\n") {
				out.WriteString("\n")
			}
		}
	}
	return out.String()
}

// trace plays one script.
func trace(t *testing.T, script string) string {
	t.Helper()
	cfg := parse(t, script)
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out bytes.Buffer
	e := newFakeEngine(cfg.Limits, sayScript)
	blocks := cfg.Limits.Least < cfg.Limits.Cells
	for step := 1; ; step++ {
		before := known(c)
		b := c.Next()
		if b == nil {
			break
		}
		audit(t, c, e, b)
		auditReuse(t, c, e, before, b)
		fmt.Fprintf(&out, "step %d: %d tokens\n", step, b.Tokens())
		if len(b.Rows) > 0 {
			if err := e.compute(b); err != nil {
				t.Fatal(err)
			}
		}
		for _, op := range b.Copies {
			if op.Src == op.Dst {
				fmt.Fprintf(&out, "  move %d cells of slot %d from %s to %s\n", op.Cells, op.Src, blockName(op.From), blockName(op.To))
			} else {
				fmt.Fprintf(&out, "  copy %d cells of slot %d to %d\n", op.Cells, op.Src, op.Dst)
			}
		}
		for _, row := range b.Rows {
			s := &c.slots.all[row.Slot]
			what := fmt.Sprintf("prefill %d+%d of %d", row.Pos, len(row.Tokens), s.prompt)
			if row.Decode {
				what = fmt.Sprintf("decode %d", row.Pos)
			}
			if row.Sample {
				what += " -> " + tokenName(row.Token)
			}
			fmt.Fprintf(&out, "  slot %d: %s.%d %s\n", row.Slot, s.match.job.ID, len(s.match.turns), what)
		}
		if blocks {
			fmt.Fprintf(&out, "  pool: %s\n", poolNames(c))
		}
		for _, m := range c.line {
			fmt.Fprintf(&out, "  %s.%d waits\n", m.job.ID, len(m.turns))
		}
		for _, r := range finish(c, b) {
			fmt.Fprintf(&out, "  end %s:%s\n", r.Job.ID, turnNames(r.Turns))
		}
		audit(t, c, e, nil)
	}
	return out.String()
}

// parse makes a run of a script: the line with its limits, then its games.
func parse(t *testing.T, script string) Config {
	t.Helper()
	cfg := fakeConfig(inference.Limits{}, nil)
	cfg.System = func(string) string { return "S" }
	words := map[string][]string{}
	var jobs []Job
	var players [2]string
	for line := range strings.Lines(script) {
		fields := strings.Fields(line)
		switch name, isGame := strings.CutSuffix(fields[0], ":"); {
		case isGame:
			jobs = append(jobs, Job{ID: name, Game: "script"})
			words[name] = fields[1:]
		case name == "play":
			for _, field := range fields[1:] {
				setField(t, &cfg, &players, field)
			}
		case name != "#":
			t.Fatalf("what is %q?", line)
		}
	}
	for i := range jobs {
		jobs[i].Players = players
	}
	cfg.Limits = whole(cfg.Limits)
	cfg.Limits.Rows = cmp.Or(cfg.Limits.Rows, cfg.Limits.Slots)
	cfg.Jobs = slices.Values(jobs)
	cfg.New = func(j Job) (games.Game, error) { return &scriptGame{words: words[j.ID]}, nil }
	return cfg
}

func setField(t *testing.T, cfg *Config, players *[2]string, field string) {
	t.Helper()
	name, value, _ := strings.Cut(field, "=")
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatalf("%s: %v", field, err)
	}
	switch name {
	case "slots":
		cfg.Limits.Slots = n
	case "cells":
		cfg.Limits.Cells = n
	case "tokens":
		cfg.Limits.Tokens = n
	case "window":
		cfg.Limits.Window = n
	case "ring":
		cfg.Limits.Ring = n
	case "rows":
		cfg.Limits.Rows = n
	case "pool":
		cfg.Limits.Pool = n
	case "least":
		cfg.Limits.Least = n
	case "chunk":
		cfg.Chunk = n
	case "max":
		cfg.MaxTokens = n
	case "reuse":
		cfg.NoReuse = n == 0
	case "policy":
		players[n], cfg.Policies = "script", map[string]Policy{"script": scriptPolicy{}}
	default:
		t.Fatalf("what is %s?", field)
	}
}

// poolNames are the blocks of the pool in order: whose they are, or where the
// owner's game has ended or waits, in brackets.
func poolNames(c *Core) string {
	var names []string
	for at := 0; at < c.cfg.Limits.Pool; {
		i := int(c.slots.owners[at/c.cfg.Limits.Least])
		if i == none {
			at += c.cfg.Limits.Least
			continue
		}
		s := &c.slots.all[i]
		name := fmt.Sprintf("%s=%d", blockName(s.block), i)
		if s.match == nil {
			name = "(" + name + ")"
		}
		names = append(names, name)
		at += s.block.Cells
	}
	return strings.Join(names, " ")
}

func blockName(b inference.Block) string { return fmt.Sprintf("%d+%d", b.First, b.Cells) }

func tokenName(id int32) string {
	if id == tokenEnd {
		return "end"
	}
	return string(rune(id))
}

func turnNames(turns []Turn) string {
	s := ""
	for _, t := range turns {
		s += fmt.Sprintf(" %q %s", t.Completion, t.Finish)
		if t.Event.Invalid {
			s += " refused"
		}
	}
	return s
}

// sayScript says what the prompt asks for in its last line.
func sayScript(tokens []int32, _ uint64, _ float64) int32 {
	answer := slices.Index(tokens, tokenAnswer)
	prompt := fakeCodec{}.Text(tokens[slices.Index(tokens, tokenUser)+1 : answer])
	word := prompt[strings.LastIndex(prompt, "\n")+1:]
	switch n := len(tokens) - answer - 1; {
	case n < len(word) && word[n] != '~':
		return int32(word[n])
	case strings.HasSuffix(word, "~"):
		return '~'
	}
	return tokenEnd
}

// A scriptGame shows the words said so far and, in the last line, the next one.
type scriptGame struct {
	words, said []string
}

func (g *scriptGame) ToMove() int { return len(g.said) % 2 }

func (g *scriptGame) Observation() string {
	return strings.Join(g.said, " ") + "\n" + g.words[len(g.said)]
}

func (g *scriptGame) Step(action string) games.Event {
	g.said = append(g.said, action)
	return games.Event{Action: action, Invalid: action == "" || action[0] == '!'}
}

func (g *scriptGame) Result() (games.Result, bool) {
	return games.Result{}, len(g.said) == len(g.words)
}

type scriptPolicy struct{}

func (scriptPolicy) Act(g games.Game, _ func(int) int) string {
	return g.(*scriptGame).words[len(g.(*scriptGame).said)]
}
