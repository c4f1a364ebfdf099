package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"selfplay/bench/cluster"
)

const rootExamples = `  # a short experiment on a model file: two games in two languages
  selfplay bench --model model.gguf --games TicTacToe,Nim --langs en,de --n 20
  # the paper's protocol for one model; the same command goes on where it stopped
  selfplay bench --suite paper --model ollama:qwen3:4b --run runs/paper
  # what was measured, as tables and as a page
  selfplay report runs/paper --html report.html
  # without any model: does the whole path work here?
  selfplay bench --model builtin:random --games Nim --n 20`

// helpWidth is that of the narrowest terminal that people use.
const helpWidth = 80

// flagGroup is the annotation with the title that a flag stands under in the help.
const flagGroup = "selfplay_group"

// group puts flags of a command under a title. Titles stand in the order of the
// calls, and flags that are put nowhere come last.
func group(c *cobra.Command, title string, flags ...string) {
	for _, name := range flags {
		annotate(c.Flags().Lookup(name), flagGroup, title)
	}
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[flagGroup] += title + "\n"
	c.Flags().SortFlags = false
}

// helpful gives all commands the same help.
func helpful(root *cobra.Command) {
	root.SetUsageFunc(func(c *cobra.Command) error { return usage(c.OutOrStderr(), c) })
	root.SetHelpCommand(&cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "Show what a command does, as --help does",
		Example:           "  selfplay help bench\n  selfplay help locales check",
		ValidArgsFunction: completeCommand,
		RunE: func(c *cobra.Command, args []string) error {
			of := c.Root()
			for _, name := range args {
				next := subcommand(of, name)
				if next == nil {
					return usagef("unknown command %q%s (see %s --help)", name, suggestion(name, commandNames(of)), of.CommandPath())
				}
				of = next
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	})
}

func usage(out io.Writer, c *cobra.Command) error {
	w := &errWriter{w: out}
	if c.HasSubCommands() {
		fmt.Fprintf(w, "Usage:\n  %s COMMAND [flags]\n", c.CommandPath())
	} else {
		fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
	}
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				described(w, "  "+sub.Name(), sub.Short, 14)
			}
		}
	}
	titles, groups := flagGroups(c)
	for _, title := range titles {
		fmt.Fprintf(w, "\n%s:\n", title)
		for _, f := range groups[title] {
			described(w, "  "+flagName(f), flagText(f), 22)
		}
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help says more of a command.\n", c.CommandPath())
	}
	return w.err
}

// described writes a name and what it is, which begins at that column and goes on
// below itself.
func described(w io.Writer, name, text string, column int) {
	if len(name)+2 > column {
		fmt.Fprintln(w, name)
		name = ""
	}
	line := fmt.Sprintf("%-*s", column, name)
	end := len(line)
	for _, word := range breakable(text) {
		if end > column && end+len(strings.TrimRight(word, " ")) > helpWidth {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line, end = strings.Repeat(" ", column), column
		}
		line += word
		end = len(line)
	}
	fmt.Fprintln(w, line)
}

// breakable cuts a text where a line may end: after spaces, and after the commas of
// what is longer than a line.
func breakable(text string) (parts []string) {
	for _, word := range strings.SplitAfter(text, " ") {
		if len(word) <= helpWidth/2 {
			parts = append(parts, word)
			continue
		}
		parts = append(parts, strings.SplitAfter(word, ",")...)
	}
	return parts
}

// flagName is a flag with a word for its value.
func flagName(f *pflag.Flag) string {
	words := map[string]string{"int": "N", "int64": "N", "float64": "X", "stringSlice": "LIST", "string": "TEXT", "stringArray": "TEXT"}
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if word, ok := words[f.Value.Type()]; ok {
		name += " " + word
	}
	return name
}

// flagText is what a flag does, and what it is where nothing sets it.
func flagText(f *pflag.Flag) string {
	value := strings.Trim(f.DefValue, "[]")
	if value == "" || value == "false" || strings.Contains(f.Usage, "(default") || f.Value.Type() != "string" && value == "0" {
		return f.Usage
	}
	return fmt.Sprintf("%s (default %s)", f.Usage, value)
}

// flagGroups are the flags that a command's help shows, by title, and the titles in
// order.
func flagGroups(c *cobra.Command) (titles []string, groups map[string][]*pflag.Flag) {
	titles = strings.Split(strings.TrimSuffix(c.Annotations[flagGroup], "\n"), "\n")
	rest, common := "Flags", "Flags of all commands"
	if titles[0] == "" {
		titles = nil
	} else {
		rest = "Other flags"
	}
	groups = map[string][]*pflag.Flag{}
	eachFlag(c, func(f *pflag.Flag) {
		title := rest
		if grouped := f.Annotations[flagGroup]; grouped != nil {
			title = grouped[0]
		} else if f.Name == "help" || f == c.Root().PersistentFlags().Lookup(f.Name) {
			title = common
		}
		if !f.Hidden {
			groups[title] = append(groups[title], f)
		}
	})
	for _, title := range []string{rest, common} {
		if len(groups[title]) > 0 {
			titles = append(titles, title)
		}
	}
	return titles, groups
}

// errWriter keeps the first error.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) Write(b []byte) (int, error) {
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
	return len(b), e.err
}

// flagError says what is wrong with a flag in this program's words.
func flagError(c *cobra.Command, err error) error {
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var known []string
		eachFlag(c, func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		near := suggestion("--"+unknown.GetSpecifiedName(), known)
		return usagef("%w%s (see %s --help)", err, near, c.CommandPath())
	}
	if mended := valueError(err); mended != err {
		return usageError{mended}
	}
	return usagef("%w (see %s --help)", err, c.CommandPath())
}

// valueError says what is wrong with a flag's value, and what to give.
func valueError(err error) error {
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		return badValue(invalid.GetFlag(), invalid.GetValue(), invalid.Unwrap())
	}
	if lacking := (*pflag.ValueRequiredError)(nil); errors.As(err, &lacking) {
		return fmt.Errorf("--%s needs a value: %s", lacking.GetFlag().Name, lacking.GetFlag().Usage)
	}
	return err
}

// badValue is the error of a value that a flag refuses.
func badValue(f *pflag.Flag, value string, cause error) error {
	give := ""
	switch f.Value.Type() {
	case "int", "int64":
		give = "give a whole number, such as 100"
	case "float64":
		give = "give a number, such as 0.1"
	case "bool":
		give = "give true or false"
	default:
		return fmt.Errorf("--%s %s: %w", f.Name, cluster.Quote(value), cause)
	}
	if errors.Is(cause, strconv.ErrRange) {
		give = "the number is too large"
	}
	return fmt.Errorf("--%s %s: %s", f.Name, cluster.Quote(value), give)
}

// explain adds to an error of a command where the settings that it names come from,
// if it is not the command line.
func explain(c *cobra.Command, err error) error {
	eachSetting(c, func(f *pflag.Flag, s setting) {
		if names(err.Error(), "--"+f.Name) && !strings.Contains(err.Error(), s.where) {
			err = fmt.Errorf("%w (--%s is set by %s)", err, f.Name, s.where)
		}
	})
	return err
}

// names says whether a text names a flag, and not one whose name is longer.
func names(text, flag string) bool {
	for {
		_, rest, ok := strings.Cut(text, flag)
		if !ok {
			return false
		}
		if rest == "" || rest[0] != '-' && (rest[0] < 'a' || rest[0] > 'z') {
			return true
		}
		text = rest
	}
}
