package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"selfplay/inference"
)

func TestDoctor(t *testing.T) {
	r := selfplay("", "doctor", "--model", "synthetic:qwen3-tiny:q8_0")
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	at := 0
	for _, want := range []string{
		`program   selfplay unknown, go1\.\S+, ollama v0\.24\.0, tokenizers v1\.24\.0`,
		`cpu       .+, \d+ cores`,
		`          the runtime was compiled for .+`,
		`memory    [\d.]+ [MG]B free of [\d.]+ [MG]B, .*control.group.*`,
		`gpu       no GPU: computing on the CPU`,
		`temp      /.+: [\d.]+ [MG]B free`,
		`cache     /.+selfplay: .+`,
		`ollama    /.+: .+`,
		``,
		`model     synthetic:qwen3-tiny:q8_0`,
		`          qwen3 of 2 layers, 1\.31 million parameters; tensors: 15 Q8_0 \(1\.31 million\), 9 F32 \(0\.00 million\)`,
		`          context of 8192 tokens, vocabulary of 512; no token in front of a prompt; a turn ends with \[0 <\|end\|>\]`,
		`chat      \[1 <\|start\|>\]system`,
		`          You are a helpful assistant\.\[0 <\|end\|>\]`,
		`          \[1 <\|start\|>\]user`,
		`          What is the capital of France\? Answer in one sentence\.\[0 <\|end\|>\]`,
		`          \[1 <\|start\|>\]assistant`,
		`thinking  the template has no switch for it`,
		`plan      weights 1 MB \(as in the file\), cache 128 MB \(f16, 131072 tokens for 64 slots of at most 2048\), 512 tokens a step, \d+ threads?`,
		`          1\.0 KB of cache a token, working set [\d.]+ MB; memory has room for \d+ tokens`,
		`answer    .*`,
		`          108 tokens read at [\d.]+ tokens/s.*`,
		`ok.*`,
	} {
		// Warnings, and an answer of several lines, may stand between.
		m := regexp.MustCompile(`(?m)^` + want + `$`).FindStringIndex(r.stdout[at:])
		if m == nil {
			t.Fatalf("no line %s in what follows here:\n%s\nof\n%s", want, r.stdout[at:], r.stdout)
		}
		at += m[1]
	}
	if rest := strings.TrimSpace(r.stdout[at:]); rest != "" {
		t.Errorf("after the last line: %s", rest)
	}
}

func TestDoctorJSON(t *testing.T) {
	r := selfplay("", "doctor", "--model", "synthetic:gemma4-tiny", "--json")
	var d checkup
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil || r.code != 0 || strings.Count(r.stdout, "\n") != 1 {
		t.Fatalf("code %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
	}
	if d.Problem != "" || d.Model.Architecture != "gemma4" || d.Plan.Slots != 64 || d.Working == 0 ||
		d.Answer.Prompt != 108 || d.Answer.Tokens < 1 || d.Answer.Tokens > doctorTokens || !strings.Contains(r.stdout, `[1 <|start|>]user`) {
		t.Errorf("%s", r.stdout)
	}
}

// TestDoctorOfBroken: what is wrong is one line, and the exit code says so.
func TestDoctorOfBroken(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.gguf")
	if err := os.WriteFile(text, []byte("no model\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model string
		code  int
		says  string
	}{
		{text, 1, text + ": not a GGUF file"},
		{filepath.Join(dir, "none.gguf"), 1, "no such file"},
		{"builtin:random", 2, "--model builtin:random"},
		{"synthetic:qwen3-5b", 2, "qwen3-4b"},
	} {
		r := selfplay("", "doctor", "--model", c.model)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) || strings.Count(r.stderr, "\n") != 1 || strings.Contains(r.stdout, "\nok") {
			t.Errorf("%s: code %d, %s%s", c.model, r.code, r.stdout, r.stderr)
		}
		r = selfplay("", "doctor", "--json", "--model", c.model)
		var d checkup
		if err := json.Unmarshal([]byte(r.stdout), &d); err != nil || r.code != c.code || !strings.Contains(d.Problem, c.says) || d.Machine.Cores < 1 {
			t.Errorf("%s: code %d, %v: %s", c.model, r.code, err, r.stdout)
		}
	}
}

// TestForeignLibraries: kernels that are not of this program's release are refused
// in one line, by the doctor and by what computes, here or in replicas.
func TestForeignLibraries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lib", "ollama")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "libggml-cpu-haswell.so")
	if err := os.Symlink(program, path); err != nil { // a whole file of that kind, at least
		t.Fatal(err)
	}
	bench := []string{"bench", "--model", "synthetic:qwen3-tiny", "--games", "Nim", "--langs", "en", "--n", "1", "--quiet", "--run", filepath.Join(t.TempDir(), "run")}
	for _, args := range [][]string{{"doctor"}, {"doctor", "--model", "synthetic:qwen3-tiny"}, bench, append(bench, "--replicas", "2")} {
		c := child(args...)
		c.Env = append(c.Env, "OLLAMA_LIBRARY_PATH="+dir)
		var stdout, stderr strings.Builder
		c.Stdout, c.Stderr = &stdout, &stderr
		err := c.Run()
		if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != 1 {
			t.Errorf("%q: %v", args, err)
		}
		if said := stderr.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, path+" is not of this program's release, which has ollama v0.24.0 in it") {
			t.Errorf("%q: %s", args, said)
		}
		if strings.Contains(stdout.String(), "\nok") {
			t.Errorf("%q: %s", args, stdout.String())
		}
	}
}

func TestLine(t *testing.T) {
	var b strings.Builder
	line(&b, "chat", "one\n\x1b[2Jtwo\n\n")
	line(&b, "ok", "")
	if want := "chat      one\n          \uFFFD[2Jtwo\nok\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestWarnings(t *testing.T) {
	gpu := []inference.GPU{{Name: "CUDA0"}}
	for _, c := range []struct {
		m    inference.Machine
		want []string // in each warning
	}{
		{inference.Machine{}, nil},
		{inference.Machine{Unused: []string{"AVX2", "AVX512"}}, []string{"without AVX2, AVX512, which this CPU has"}},
		{inference.Machine{Lacking: []string{"AVX512_BF16"}}, []string{"compiled for AVX512_BF16, which this CPU does not have"}},
		{inference.Machine{Unused: []string{"AVX2"}, Fault: "libggml-cpu-avx2.so is not whole"}, nil},
		{inference.Machine{NoGPU: "libggml-cuda.so needs the NVIDIA driver"}, []string{"needs the NVIDIA driver"}},
		{inference.Machine{Libraries: []string{"/x/lib/ollama/libggml-cuda.so"}, GPUs: gpu}, nil},
	} {
		got := warnings(c.m)
		if len(got) != len(c.want) {
			t.Errorf("%+v: %q", c.m, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%q lacks %q", got[i], c.want[i])
			}
		}
	}
}

// TestSyntheticBench plays games with a made-up model.
func TestSyntheticBench(t *testing.T) {
	for _, model := range []string{"synthetic:qwen3-tiny", "synthetic:mistral3-tiny:q4_0", "synthetic:gemma4-tiny"} {
		r := selfplay("", "bench", "--model", model, "--games", "Nim,TicTacToe", "--langs", "en,de", "--n", "1", "--max-tokens", "8", "--threads", "1", "--slots", "4",
			"--run", filepath.Join(t.TempDir(), "run"), "--json", "--quiet")
		var sum struct{ Games, Turns int }
		if err := json.Unmarshal([]byte(r.stdout), &sum); err != nil || r.code != 0 || sum.Games != 12 || sum.Turns < 12 {
			t.Errorf("%s: code %d, %v: %s%s", model, r.code, err, r.stdout, r.stderr)
		}
	}
	r := selfplay(`{"text": "the"}`, "debug", "tokenize", "--model", "synthetic:llama-tiny")
	if r.code != 0 || strings.TrimSpace(r.stdout) != `{"prompt":"the","ids":[260]}` {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}
