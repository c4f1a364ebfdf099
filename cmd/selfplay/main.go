// Command selfplay plays two-player text games of a language model against
// itself, each side in its own language, and reports what the language did.
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

var version = "unknown" // set by the linker

const gcPercent = 200

// A usageError is a mistake on the command line: exit code 2.
type usageError struct{ error }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

func main() {
	// The runtime logs its own loading; what matters of it comes as errors.
	slog.SetLogLoggerLevel(slog.LevelError)
	// Go's own memory is small beside the model's, and while its collector runs
	// the runtime's threads, one a core, wait for each other.
	debug.SetGCPercent(gcPercent)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: 0 done, 1 failed, 2 wrong usage.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "selfplay",
		Short:         "Play text games of a language model against itself, in any language",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.Args = cobra.ArbitraryArgs
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("unknown command %q: see selfplay --help", args[0])
		}
		return c.Help()
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.AddCommand(benchCommand(), tuneCommand(), reportCommand(), exportCommand(), mergeCommand(), evalCommand(), modelsCommand(), localesCommand(), doctorCommand(), debugCommand(), replicaCommand(), guardCommand())
	root.CompletionOptions.HiddenDefaultCmd = true
	err := root.Execute()
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "selfplay:", err)
	if usage := (usageError{}); errors.As(err, &usage) {
		return 2
	}
	return 1
}

// asUsage marks cobra's own complaints about arguments as wrong usage.
func asUsage(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		if err := args(c, a); err != nil {
			return usageError{err}
		}
		return nil
	}
}
