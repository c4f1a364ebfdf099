package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestComplete asks as the shells' scripts do.
func TestComplete(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("OLLAMA_MODELS", filepath.Join(dir, "store"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("HOME", dir)
	for _, name := range []string{"runs/one/run.json", "runs/two/run.json", "runs/other/notes", "hf/config.json", "models/a.gguf", "models/notes.txt", ".hidden/run.json"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const noFiles, noSpace = ":4", ":6"
	for _, c := range []struct {
		line string // the last word is being typed
		want string // what is offered; "" for nothing
		how  string
	}{
		{"ben", "bench", ":4"},
		{"completion ", "bash zsh fish", noFiles},
		{"completion bash ", "", noFiles},
		{"repor", "report", noFiles},
		{"bench --weights ", "auto file bf16", noFiles},
		{"bench --cache q", "q8_0", noFiles},
		{"bench --device g", "gpu", noFiles},
		{"doctor --device ", "auto cpu gpu", noFiles},
		{"bench --suite ", "paper", noFiles},
		{"bench --prompt reason-in:f", "reason-in:fr", noFiles},
		{"bench --prompt c", "conditioned", noFiles},
		{"bench --opponent builtin:o", "builtin:optimal", noFiles},
		{"bench --opponent builtin:optimal,", "builtin:optimal,builtin:random", noFiles},
		{"bench --games Ni", "Nim Nim-v0 Nim-v0-medium Nim-v0-large", noFiles},
		{"bench --games Nim,Kuhn", "Nim,KuhnPoker Nim,KuhnPoker-v0 Nim,KuhnPoker-v0-short Nim,KuhnPoker-v0-medium Nim,KuhnPoker-v0-long Nim,KuhnPoker-v0-extreme", noFiles},
		{"bench --langs en,z", "en,zh", noFiles},
		{"bench --langs en,e", "en,es", noFiles},
		{"eval belebele --langs f", "fr", noFiles},
		{"eval b", "belebele", noFiles},
		{"export --format ", "jsonl csv parquet", noFiles},
		{"export --table t", "turns", noFiles},
		{"replay --cause ", "invalid refused defaulted truncated length context", noFiles},
		{"replay --winner ", "0 1 draw", noFiles},
		{"replay --lang e", "en es", noFiles},
		{"replay --game Nim-v0-", "Nim-v0-medium Nim-v0-large", noFiles},
		{"play --game Ni", "Nim Nim-v0 Nim-v0-medium Nim-v0-large", noFiles},
		{"play --lang z", "zh", noFiles},
		{"play --other-lang a", "ar", noFiles},
		{"play --seat ", "0 1", noFiles},
		{"slurm runs/t", "runs/two", noFiles},
		{"bench --model builtin:", "builtin:optimal builtin:random", noFiles},
		{"bench --model synthetic:qwen3-t", "synthetic:qwen3-tiny", noFiles},
		{"bench --model synthetic:qwen3-tiny:q4", "synthetic:qwen3-tiny:q4_0 synthetic:qwen3-tiny:q4_1 synthetic:qwen3-tiny:q4_k", noFiles},
		{"bench --model mod", "models/", noSpace},
		{"bench --model models/", "models/a.gguf", noFiles},
		{"bench --model ~/models/", "~/models/a.gguf", noFiles},
		{"bench --model h", "hf", noFiles},
		{"report ru", "runs/", noSpace},
		{"report runs/", "runs/one runs/other/ runs/two", noSpace},
		{"report runs/one runs/t", "runs/two", noFiles},
		{"report .h", ".hidden", noFiles},
		{"export runs/one ", "", noFiles},
		{"merge --out new runs/o", "runs/one runs/other/", noSpace},
		{"bench --run runs/t", "runs/two/", noSpace},
		{"locales check mo", "models/", noSpace},
		{"config lo", "locales", noFiles},
		{"config locales ", "calibrate check import judge list translate", noFiles},
		{"help locales l", "list", noFiles},
		{"models --log-level w", "warn", noFiles},
		{"report --html ", "", ":0"}, // files
	} {
		words := strings.Split(c.line, " ")
		r := selfplay("", append([]string{"__complete"}, words...)...)
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		how := lines[len(lines)-1]
		var got []string
		for _, line := range lines[:len(lines)-1] {
			value, _, _ := strings.Cut(line, "\t") // a command has its description behind
			got = append(got, value)
		}
		if r.code != 0 || strings.Join(got, " ") != c.want || how != c.how {
			t.Errorf("%s: code %d, offers %q %s, want %q %s", c.line, r.code, got, how, c.want, c.how)
		}
	}
}

// TestCompletionScripts: a broken configuration is no trouble of a shell that starts.
func TestCompletionScripts(t *testing.T) {
	t.Setenv("SELFPLAY_CONFIG", "/nowhere/config")
	for shell, want := range map[string]string{"bash": "__start_selfplay", "zsh": "#compdef selfplay", "fish": "complete -c selfplay"} {
		if r := selfplay("", "completion", shell); r.code != 0 || r.stderr != "" || !strings.Contains(r.stdout, want) {
			t.Errorf("%s: code %d, %s, %d bytes without %q", shell, r.code, r.stderr, len(r.stdout), want)
		}
	}
	if r := selfplay("", "__complete", "bench", "--suite", ""); r.code != 0 || !strings.HasPrefix(r.stdout, "paper\n") {
		t.Errorf("code %d, %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestCompleteModels offers what selfplay models lists.
func TestCompleteModels(t *testing.T) {
	path := inStores(t)
	for typed, want := range map[string]string{"ol": "ollama:small:latest", path[:len(path)-3]: path} {
		if r := selfplay("", "__complete", "tune", "--model", typed); r.code != 0 || r.stdout != want+"\n:4\n" {
			t.Errorf("%s: code %d, %s%s", typed, r.code, r.stdout, r.stderr)
		}
	}
}
