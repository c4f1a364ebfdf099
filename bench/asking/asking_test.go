package asking

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"selfplay/bench"
	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// A policy answers in place of a model.
type policy func(user string, intn func(int) int) string

func (p policy) Act(g games.Game, intn func(int) int) string { return p(g.Observation(), intn) }

// by asks a policy through the scheduler.
func by(p policy, most int) Asker {
	return Of(func(cfg scheduler.Config) bench.Player {
		cfg.Policies[""] = p
		return bench.OnEngine(cfg, nil)
	}, 1, 0, most, nil)
}

func some(n int) (all []Question) {
	for i := range n {
		all = append(all, Question{ID: fmt.Sprint("q", i, "/1"), System: "s", User: fmt.Sprint(i)})
	}
	return all
}

// TestFurther: questions that come of answers are asked like the others, until none
// comes, and before those that wait.
func TestFurther(t *testing.T) {
	answers := make(map[string]string)
	var order []string
	echo := policy(func(user string, _ func(int) int) string { return "<think>hm</think> said " + user })
	err := by(echo, 3)(t.Context(), some(200), func(q Question, a Answer) (*Question, error) {
		if answers[q.ID] != "" {
			t.Errorf("%s is answered twice", q.ID)
		}
		answers[q.ID] = a.Text
		order = append(order, q.ID)
		if name, ok := strings.CutSuffix(q.ID, "/1"); ok && strings.HasSuffix(name, "7") {
			return &Question{ID: name + "/2", User: "again " + q.User}, nil
		}
		return nil, nil
	})
	if err != nil || len(answers) != 220 || answers["q7/1"] != "said 7" || answers["q7/2"] != "said again 7" {
		t.Errorf("%v, %d answers, %q", err, len(answers), answers["q7/2"])
	}
	if slices.Index(order, "q7/2") > slices.Index(order, "q197/1") {
		t.Errorf("asked in the order %v", order)
	}
	if err := by(echo, 1)(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
}

// TestDraws: the ID of a question decides the draws, not what is asked beside it.
func TestDraws(t *testing.T) {
	dice := policy(func(_ string, intn func(int) int) string { return fmt.Sprint(intn(1 << 30)) })
	collect := func(questions []Question) map[string]string {
		got := make(map[string]string)
		if err := by(dice, 1)(t.Context(), questions, func(q Question, a Answer) (*Question, error) {
			got[q.ID] = a.Text
			return nil, nil
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	all := some(20)
	one, few := collect(all), collect(all[5:7])
	if one["q5/1"] != few["q5/1"] || one["q5/1"] == one["q6/1"] {
		t.Errorf("%s alone, %s among others, %s the next", few["q5/1"], one["q5/1"], one["q6/1"])
	}
}

// TestStops: an error of whoever takes the answers stops it, and so does the end of
// the context; nothing is told after that.
func TestStops(t *testing.T) {
	echo := policy(func(user string, _ func(int) int) string { return user })
	broken, told := errors.New("the disk is full"), 0
	err := by(echo, 1)(t.Context(), some(500), func(Question, Answer) (*Question, error) {
		if told++; told == 3 {
			return nil, broken
		}
		return nil, nil
	})
	if err != broken || told != 3 {
		t.Errorf("%v after %d", err, told)
	}
	ctx, stop := context.WithCancel(t.Context())
	told = 0
	err = by(echo, 1)(ctx, some(500), func(Question, Answer) (*Question, error) {
		if told++; told == 3 {
			stop()
		}
		return nil, nil
	})
	if !errors.Is(err, context.Canceled) || told >= 500 {
		t.Errorf("%v after %d", err, told)
	}
	if err := by(echo, 1)(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAnswerOf(t *testing.T) {
	for _, test := range []struct {
		turn scheduler.Turn
		want Answer
	}{
		{scheduler.Turn{Completion: " a\n", Finish: scheduler.FinishStop, CompletionTokens: 2}, Answer{Text: "a", Written: 2}},
		{scheduler.Turn{Completion: "hm</think>\na", Finish: scheduler.FinishStop}, Answer{Text: "a"}},
		{scheduler.Turn{Completion: "a [THINK]x[/THINK] b", Finish: scheduler.FinishStop}, Answer{Text: "a  b"}},
		{scheduler.Turn{Completion: `\boxed{a}`, Finish: scheduler.FinishStop, Status: prompts.Boxed}, Answer{Text: `\boxed{a}`}},
		{scheduler.Turn{Completion: "<think>a", Finish: scheduler.FinishStop}, Answer{Cut: "the thinking did not end"}},
		{scheduler.Turn{Completion: "a", Finish: scheduler.FinishStop, Status: prompts.Truncated}, Answer{Text: "a", Cut: "the thinking did not end"}},
		{scheduler.Turn{Completion: "a", Finish: scheduler.FinishLength, CompletionTokens: 3}, Answer{Text: "a", Written: 3, Cut: "the answer was cut off after 3 tokens"}},
		{scheduler.Turn{Completion: "a", Finish: scheduler.FinishContext, CompletionTokens: 3}, Answer{Text: "a", Written: 3, Cut: "the context was full before the answer ended"}},
		{scheduler.Turn{Finish: scheduler.FinishContext, PromptTokens: 9}, Answer{Cut: "the prompt of 9 tokens does not fit the context"}},
	} {
		if got := answerOf(test.turn); got != test.want {
			t.Errorf("%+v: %+v, want %+v", test.turn, got, test.want)
		}
	}
}

// A line of the tests' logs.
type line struct{ N int }

func (l line) check() error {
	if l.N < 0 {
		return errors.New("N is negative")
	}
	return nil
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if lines, err := ReadLog(path, line.check); err != nil || lines != nil {
		t.Errorf("%v %v", lines, err)
	}
	l, lines, err := OpenLog(path, line.check)
	if err != nil || len(lines) != 0 {
		t.Fatalf("%v %v", lines, err)
	}
	for n := range 3 {
		if err := l.Add(line{n}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := OpenLog(path, line.check); err == nil || !strings.Contains(err.Error(), "being written by another process") {
		t.Errorf("opened twice: %v", err)
	}
	if lines, err := ReadLog(path, line.check); err != nil || len(lines) != 3 {
		t.Errorf("%v %v", lines, err)
	}
	l.Close()
	data, _ := os.ReadFile(path)
	os.WriteFile(path, append(data, `{"N":`+strings.Repeat(" ", 50)...), 0o644) // cut off, and longer than what comes next
	if l, lines, err = OpenLog(path, line.check); err != nil || !slices.Equal(lines, []line{{0}, {1}, {2}}) {
		t.Fatalf("%v %v", lines, err)
	}
	l.Add(line{3})
	l.Close()
	if whole, _ := os.ReadFile(path); string(whole) != string(data)+"{\"N\":3}\n" {
		t.Errorf("%q", whole) // what was cut off is gone
	}
	if l, lines, err = OpenLog(path, line.check); err != nil || len(lines) != 4 {
		t.Fatalf("%v %v", lines, err)
	}
	l.Close()
	for text, want := range map[string]string{
		"{\"N\":1}\nx\n":          "is damaged in line 2 (no such JSON object",
		"{\"N\":1}\n{\"N\":-1}\n": "is damaged in line 2 (N is negative)",
	} {
		os.WriteFile(path, []byte(text), 0o644)
		if _, _, err := OpenLog(path, line.check); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, _, err := OpenLog(t.TempDir(), line.check); err == nil {
		t.Error("a folder is a log")
	}
}

// What lies under a log's name may be no file, or another's: nobody waits for it, and
// nothing is cut off.
func TestNoLog(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("/dev/zero", at("device")), os.WriteFile(at("precious"), []byte("precious"), 0o600), os.Symlink("precious", at("link")),
		os.WriteFile(at("holes"), []byte("{\"N\":1}\n"), 0o600), os.Truncate(at("holes"), 1<<30),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"pipe": "not a file", "device": "", "link": "symbolic links", "holes": "is damaged: line 2 has more than"} {
		_, _, err := OpenLog(at(name), line.check)
		if err == nil || !strings.Contains(err.Error(), at(name)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "link" {
			continue
		}
		if _, err := ReadLog(at(name), line.check); err == nil || !strings.Contains(err.Error(), at(name)) {
			t.Errorf("%s is read: %v", name, err)
		}
	}
	if text, _ := os.ReadFile(at("precious")); string(text) != "precious" {
		t.Errorf("the file holds %q", text)
	}
	l, _, err := OpenLog(at("texts"), func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Add(strings.Repeat("x", mostLine)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a line that could not be read again: %v", err)
	}
}

// FuzzLog: whatever a file holds is read or refused, and reads the same once more.
func FuzzLog(f *testing.F) {
	f.Add([]byte("{\"N\":1}\n{\"N\":2}\n{"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		l, lines, err := OpenLog(path, line.check)
		if err != nil {
			return
		}
		if err := l.Add(line{7}); err != nil {
			t.Fatal(err)
		}
		l.Close()
		again, err := ReadLog(path, line.check)
		if err != nil || !slices.Equal(again, append(lines, line{7})) {
			t.Errorf("%v: %v, then %v", err, lines, again)
		}
	})
}
