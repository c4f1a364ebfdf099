// Command selfplay plays two-player text games of a language model against
// itself, each side in its own language, and reports what the language did.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"selfplay/bench/cluster"
	"selfplay/bench/screen"
)

var version = "unknown" // set by the linker

const gcPercent = 200

// A usageError is a mistake on the command line: exit code 2.
type usageError struct{ error }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

func main() {
	// The runtime logs its own loading; what matters of it comes as errors.
	slog.SetLogLoggerLevel(slog.LevelError)
	log.SetOutput(&door{w: os.Stderr})
	// Go's own memory is small beside the model's, and while its collector runs
	// the runtime's threads, one a core, wait for each other.
	debug.SetGCPercent(gcPercent)
	stops.begin()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: 0 done, 1 failed, 2 wrong usage.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(&door{w: stdout})
	root.SetErr(&door{w: stderr})
	var logged logs
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := applySettings(c); err != nil {
			return err
		}
		return logged.open(c, args)
	}
	c, err := stops.unlessStopped(root.ExecuteC)
	code := 0
	if err != nil {
		code = 1
		if c != nil {
			err = explain(c, err)
		}
		if usage := (usageError{}); errors.As(err, &usage) {
			code = 2
		}
		// A context has tokens in this program, and nobody cancels one.
		err = errors.New(strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted"))
		tell(stderr, "selfplay: "+screen.Harmless(err.Error()))
	}
	logged.close(code, err)
	return code
}

// rootCommand is the tree of all commands. What they have in common is added to
// each of them in the end.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "selfplay",
		Short:         "Play text games of a language model against itself, in any language",
		Example:       rootExamples,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(benchCommand(), tuneCommand(), reportCommand(), exportCommand(), replayCommand(), playCommand(), mergeCommand(), slurmCommand(), evalCommand(), modelsCommand(), localesCommand(), doctorCommand(), debugCommand(), replicaCommand(), guardCommand())
	root.AddCommand(configCommand(), completionCommand(), versionCommand())
	root.PersistentFlags().String("config", "", "file of your defaults (default: selfplay/config in the user's folder for configuration); see selfplay config")
	logFlags(root)
	refuseUnknown(root)
	helpful(root)
	completeAll(root)
	return root
}

// asUsage marks cobra's complaints about arguments as wrong usage, and says what to
// write.
func asUsage(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		if args(c, a) == nil && !slices.Contains(a, "") {
			return nil
		}
		got := "no arguments"
		if len(a) > 0 {
			got = "the arguments"
		}
		for _, word := range a {
			got += " " + cluster.Quote(word)
		}
		return usagef("%s got %s: write %s", sectionOf(c), got, c.UseLine())
	}
}
