package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"selfplay/inference"
	"selfplay/inference/files"
	"selfplay/inference/gpus"
)

// The chat that the doctor shows and has answered, and the answer's length.
const (
	doctorSystem = "You are a helpful assistant."
	doctorUser   = "What is the capital of France? Answer in one sentence."
	doctorTokens = 24
)

// A checkup is what the doctor finds, in the order in which it is printed.
type checkup struct {
	Program  map[string]string      `json:"program"` // what it is made of, and the versions
	Machine  inference.Machine      `json:"machine"`
	NVML     gpuCheck               `json:"nvml"`
	Folders  []folder               `json:"folders"`
	Warnings []string               `json:"warnings"`
	Model    *inference.Description `json:"model,omitempty"`
	Plan     *inference.Plan        `json:"plan,omitempty"`
	Working  uint64                 `json:"working_set_bytes,omitempty"`
	Answer   *answer                `json:"answer,omitempty"`
	Among    *among                 `json:"among,omitempty"`
	Problem  string                 `json:"problem,omitempty"` // that the model cannot run, and why
}

// A folder that the program uses, with the room on its disk in bytes.
type folder struct {
	Use   string `json:"use"`
	Path  string `json:"path"`
	There bool   `json:"exists"`
	Free  uint64 `json:"free_bytes"`
}

// An answer is the model's to a question, alone, without any chance.
type answer struct {
	Text    string  `json:"text"`
	Prompt  int     `json:"prompt_tokens"`
	Tokens  int     `json:"completion_tokens"`
	Read    float64 `json:"prompt_tok_per_s"`
	Written float64 `json:"completion_tok_per_s,omitempty"`
}

// among is how far logits are from those computed alone, on GPUs. On CPUs they are
// the same, which games depend on and tests make sure of.
type among struct {
	Slots      int     `json:"slots"`
	Difference float64 `json:"largest_logit_difference"`
}

func doctorCommand() *cobra.Command {
	var model string
	var asJSON bool
	var device deviceFlags
	c := &cobra.Command{
		Use:   "doctor [--model M]",
		Short: "Say what this machine can run, what a model is, and whether it runs",
		Example: `  # what this machine can run
  selfplay doctor
  # whether a model runs, what it is, and how it is asked
  selfplay doctor --model model.gguf
  selfplay doctor --model ollama:qwen3:4b --device gpu --json`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			w := c.OutOrStdout()
			if asJSON {
				w = io.Discard
			}
			d := &checkup{}
			err := d.run(c, w, model, &device)
			if asJSON {
				if err != nil {
					d.Problem = err.Error()
				}
				if jsonErr := printJSON(c.OutOrStdout(), d); jsonErr != nil {
					return jsonErr
				}
			}
			return err
		},
	}
	c.Flags().StringVar(&model, "model", "", modelFlag)
	device.addTo(c.Flags(), false)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return c
}

func (d *checkup) run(c *cobra.Command, w io.Writer, model string, device *deviceFlags) error {
	if err := device.check(); err != nil {
		return err
	}
	var who player
	var o inference.Options
	var problem error // with the model; what the machine is comes first
	if model != "" {
		var at *site
		if who, at, problem = whatAndWhere(c, model, device); problem == nil {
			defer at.close()
			at.here(&o)
		}
	}
	if movesCursor(c.ErrOrStderr()) {
		o.Progress = loading(c.ErrOrStderr())
	}
	d.Program, d.Machine, d.Folders = programVersions(), inference.Inspect(), folders()
	d.NVML = checkGPUs(gpus.Find)
	d.Warnings = append(warnings(d.Machine), d.NVML.warnings()...)
	d.printMachine(w)
	if problem == nil && d.Machine.Fault != "" {
		problem = errors.New(d.Machine.Fault)
	}
	if problem != nil {
		return problem
	}
	if model != "" {
		if err := d.checkModel(w, who, o); err != nil {
			return err
		}
	}
	if len(d.Warnings) > 0 {
		line(w, "ok", "but see the warnings above")
	} else {
		line(w, "ok", "")
	}
	return nil
}

// whatAndWhere finds the model and what it is to be computed on.
func whatAndWhere(c *cobra.Command, model string, device *deviceFlags) (who player, at *site, err error) {
	if who, err = choosePlayer(c, model, false); err != nil {
		return who, nil, err
	}
	if who.policy != nil {
		return who, nil, usagef("--model %s: it has no model file to look into", model)
	}
	at, err = device.choose(c.ErrOrStderr(), who.path, inference.Options{})
	return who, at, err
}

// checkModel prints each finding when it has it: loading takes a while.
func (d *checkup) checkModel(w io.Writer, who player, o inference.Options) (err error) {
	if d.Model, err = inference.Describe(who.path, doctorSystem, doctorUser); err != nil {
		return err
	}
	d.printModel(w, who.id.Name)
	m, err := inference.Open(who.path, o)
	if err != nil {
		return err
	}
	defer m.Close()
	d.Plan = &m.Plan
	if d.Working, err = m.WorkingSet(); err != nil {
		return err
	}
	d.printPlan(w)
	if d.Answer, err = ask(m); err != nil {
		return err
	}
	d.printAnswer(w)
	if len(m.Plan.Devices) > 0 {
		d.Among = &among{}
		if d.Among.Slots, d.Among.Difference, err = m.Among(); err != nil {
			return err
		}
		d.printAmong(w)
	}
	return nil
}

// programVersions are those of the program, of Go, and of the modules that
// compute and tokenize.
func programVersions() map[string]string {
	v := map[string]string{"selfplay": version, "go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			switch m.Path {
			case "github.com/ollama/ollama", "github.com/daulet/tokenizers", "github.com/NVIDIA/go-nvml":
				v[filepath.Base(m.Path)] = m.Version
			}
		}
	}
	return v
}

func folders() []folder {
	list := []folder{{Use: "temp", Path: os.TempDir()}}
	if f, err := files.New(); err == nil {
		list = append(list, folder{Use: "cache", Path: f.Cache})
		for _, store := range f.Ollama {
			list = append(list, folder{Use: "ollama", Path: store})
		}
	}
	for i := range list {
		free, err := inference.DiskFree(list[i].Path)
		list[i].There, list[i].Free = err == nil, free
	}
	return list
}

func warnings(m inference.Machine) []string {
	list := kernelWarnings(m)
	if m.NoGPU != "" {
		list = append(list, m.NoGPU)
	}
	return list
}

// kernelWarnings say how far the kernels are from what the CPU can do.
func kernelWarnings(m inference.Machine) []string {
	list := []string{}
	if m.Fault != "" { // which is why there are none but the program's
		return list
	}
	if len(m.Lacking) > 0 {
		list = append(list, fmt.Sprintf("the runtime was compiled for %s, which this CPU does not have: it may crash; build on this machine", strings.Join(m.Lacking, ", ")))
	}
	if len(m.Unused) > 0 {
		list = append(list, fmt.Sprintf("the runtime was compiled without %s, which this CPU has: it is slower than it could be; build with make build on this machine, or keep the lib folder of a release beside its bin", strings.Join(m.Unused, ", ")))
	}
	return list
}

// ask has the model answer a simple question.
func ask(m *inference.Model) (*answer, error) {
	ids, _, err := m.Codec.Prompt(doctorSystem, doctorUser)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // as whoever drives an engine does
	defer runtime.UnlockOSThread()
	var steps []inference.Step
	var took [3]time.Duration // the first is slower: the weights are touched for the first time
	for i, n := range []int{1, 1, doctorTokens} {
		start := time.Now()
		if steps, err = m.Greedy(ids, n, 1); err != nil {
			return nil, err
		}
		took[i] = time.Since(start)
	}
	var written []int32
	for _, s := range steps {
		written = append(written, s.ID)
	}
	a := &answer{Text: m.Codec.Show(written), Prompt: len(ids), Tokens: len(steps), Read: float64(len(ids)) / took[1].Seconds()}
	if took[2] > took[1] {
		a.Written = float64(len(steps)-1) / (took[2] - took[1]).Seconds()
	}
	return a, nil
}
