package main

import (
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"selfplay/inference"
)

// build says what this program is made of, and how.
type build struct {
	Versions map[string]string `json:"versions"` // of the program, of Go, of modules
	Features []string          `json:"features"` // of the CPU, that the runtime was compiled for
	CUDA     string            `json:"cuda"`     // the runtime's CUDA library; "": there is none
	Looked   []string          `json:"looked"`   // the folders where it is looked for
	Flags    map[string]string `json:"flags"`    // of the Go and C compilers
}

func versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Say what this program is made of: versions, CPU features, CUDA library, build flags",
		Example: `  selfplay version
  selfplay version --json`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			b := thisBuild()
			if asJSON {
				return printJSON(c.OutOrStdout(), b)
			}
			return b.print(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return c
}

// thisBuild looks for nothing but files: no GPU is asked, which takes seconds.
func thisBuild() build {
	b := build{Versions: programVersions(), Flags: map[string]string{}}
	b.Features = inference.CPUFeatures()
	b.CUDA, b.Looked = inference.CUDALibrary()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "-") || strings.HasPrefix(s.Key, "CGO_") || strings.HasPrefix(s.Key, "GO") {
			if s.Value != "" {
				b.Flags[s.Key] = s.Value
			}
		}
	}
	return b
}

func (b build) print(out io.Writer) error {
	w := &errWriter{w: out}
	v := b.Versions
	line(w, "program", fmt.Sprintf("selfplay %s, %s", v["selfplay"], v["go"]))
	line(w, "modules", fmt.Sprintf("ollama %s, tokenizers %s, go-nvml %s", v["ollama"], v["tokenizers"], v["go-nvml"]))
	line(w, "cpu", "the runtime was compiled for "+strings.Join(b.Features, " "))
	cuda := b.CUDA
	if cuda == "" {
		cuda = "no CUDA library in " + strings.Join(b.Looked, " or ")
	}
	line(w, "cuda", cuda)
	var flags []string
	for _, key := range slices.Sorted(maps.Keys(b.Flags)) {
		flags = append(flags, key+"="+b.Flags[key])
	}
	line(w, "build", strings.Join(flags, "\n"))
	return w.err
}
