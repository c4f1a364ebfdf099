package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// checked is what a test reads of the file that bench/gpu/check.sh leaves.
type checked struct {
	Mode     string  `json:"mode"`
	Problem  *string `json:"problem"`
	Finished *string `json:"finished"`
	Steps    []struct {
		Name    string `json:"name"`
		Status  string `json:"status"`
		Problem string `json:"problem"`
		Result  struct {
			Largest float64 `json:"largest_difference"`
			Steps   int     `json:"steps"`
			Games   int     `json:"games"`
		} `json:"result"`
		Speeds struct {
			Written float64 `json:"decode_tok_per_s"`
			Share   float64 `json:"of_bandwidth"`
			Decode  []struct {
				Slots int     `json:"slots"`
				Rate  float64 `json:"tok_per_s"`
			} `json:"decode"`
		} `json:"speeds"`
	} `json:"steps"`
}

// checkScript prepares the check for a GPU box, with this test as the program.
func checkScript(out string, args ...string) *exec.Cmd {
	c := exec.Command("../../bench/gpu/check.sh", append([]string{"--program", os.Args[0], "--out", out}, args...)...)
	c.Env = append(os.Environ(), asProgram+"=1", "PYTHONDONTWRITEBYTECODE=1", "TMPDIR="+filepath.Dir(out)) // where a killed one leaves its folder
	return c
}

func readChecked(t *testing.T, file string) (c checked) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGPUCheck runs the whole check on the CPU.
func TestGPUCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "check.json")
	out, err := checkScript(file, "--cpu").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := readChecked(t, file)
	if c.Mode != "cpu" || c.Problem != nil || c.Finished == nil {
		t.Errorf("%+v", c)
	}
	var names []string
	for _, s := range c.Steps {
		names = append(names, s.Name)
		if s.Status != "ok" {
			t.Errorf("%s: %s: %s", s.Name, s.Status, s.Problem)
		}
		what, _, _ := strings.Cut(s.Name, " ")
		switch r, v := s.Result, s.Speeds; {
		case what == "logits" && (r.Largest != 0 || r.Steps < 3): // a CPU beside itself
			t.Errorf("%s: %+v", s.Name, r)
		case what == "tune" && (len(v.Decode) == 0 || v.Decode[0].Rate <= 0):
			t.Errorf("%s: %+v", s.Name, v)
		case what == "bench" && (r.Games < 2 || v.Written <= 0 || v.Share <= 0):
			t.Errorf("%s: %+v %+v", s.Name, r, v)
		}
	}
	const want = "doctor,logits synthetic:qwen3-tiny,logits synthetic:llama-tiny,logits synthetic:mistral3-tiny,logits synthetic:gemma4-tiny," +
		"bench synthetic:qwen3-tiny 2,tune synthetic:qwen3-tiny,bench synthetic:qwen3-tiny 4"
	if got := strings.Join(names, ","); got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
}

// Stopped or killed in the middle, the check leaves a file that says how far it
// came.
func TestGPUCheckCutOff(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		file := filepath.Join(t.TempDir(), "check.json")
		c := checkScript(file, "--cpu")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() && !strings.Contains(lines.Text(), "== logits") {
		}
		c.Process.Signal(signal)
		for lines.Scan() {
		}
		if err := c.Wait(); err == nil {
			t.Errorf("%v: the check says that all is well", signal)
		}
		r := readChecked(t, file)
		if len(r.Steps) < 2 || r.Steps[0].Status != "ok" {
			t.Errorf("%v: %+v", signal, r)
		}
		if term := signal == syscall.SIGTERM; term != (r.Finished != nil) || term != (r.Problem != nil && *r.Problem == "cut off by SIGTERM") {
			t.Errorf("%v: %+v", signal, r)
		}
	}
}

// The script's own functions, and its refusals.
func TestGPUCheckScript(t *testing.T) {
	c := exec.Command("python3", "../../bench/gpu/results_test.py")
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	file := filepath.Join(t.TempDir(), "check.json")
	for want, args := range map[string][]string{
		"is not there: make build":  {"--out", file, "--program", "/nowhere"},
		"--out /nowhere/check.json": {"--out", "/nowhere/check.json"},
		"more than half a minute":   {"--minutes", "0"},
		"in a checkout make cuda":   {"--build"},
	} {
		c := exec.Command("../../bench/gpu/check.sh", args...)
		c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		out, _ := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code != 2 || !strings.Contains(string(out), want) {
			t.Errorf("%v: exit code %d, want 2 and %q:\n%s", args, code, want, out)
		}
	}
}
