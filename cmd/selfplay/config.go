package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"selfplay/bench/cluster"
)

const configName = "config"

func configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   configName + " [COMMAND]",
		Short: "Show your defaults: what each flag of a command is set to, and by what",
		Long: `Show your defaults: without a command those that are set, with one all its flags.

A flag has the value that, of these, comes first:

  1. the command line
  2. the environment: SELFPLAY_ and the flag's name, as SELFPLAY_MAX_TOKENS=256;
     an empty variable says nothing
  3. the configuration file: in the section of the command, then in that of the
     command above it, then above all sections
  4. what is built in

bench --suite NAME stands right below what its own place says: on the command line
it wins over environment and file, in the file it yields to all of them.

The file is the one that --config or SELFPLAY_CONFIG names (/dev/null for none),
else selfplay/config in the folder of XDG_CONFIG_HOME or ~/.config:

  # for all commands that have such a flag
  langs = en,de,fr
  threads = 16

  [bench]
  model = ollama:qwen3:4b
  max-tokens = 1024          # a value is written as on the command line
  locales = "/data/my #1"    # in quotes where it holds " #"

  [locales list]
  json = true`,
		Example: `  selfplay config
  selfplay config bench
  SELFPLAY_N=20 selfplay config bench
  selfplay config locales list --config team.conf`,
		ValidArgsFunction: completeCommand,
		RunE: func(c *cobra.Command, args []string) error {
			file := c.Context().Value(readFile{}).(*configFile)
			of := c.Root()
			for _, name := range args {
				next := subcommand(of, name)
				if next == nil || !takesSettings(next) {
					return usagef("unknown command %q%s (see %s --help)", name, suggestion(name, commandNames(of)), of.CommandPath())
				}
				of = next
			}
			if of == c.Root() {
				return printSettings(c.OutOrStdout(), c.Root(), file)
			}
			return printFlags(c.OutOrStdout(), of, file)
		},
	}
}

func printFile(w io.Writer, file *configFile) {
	switch {
	case file.path == "":
		fmt.Fprintln(w, "file: none, since there is no home folder: name one with --config")
	case !file.exists:
		fmt.Fprintf(w, "file: %s (not there)\n", file.path)
	default:
		fmt.Fprintf(w, "file: %s\n", file.path)
	}
}

// printSettings lists what environment and file set, and for which commands.
func printSettings(out io.Writer, root *cobra.Command, file *configFile) error {
	w := &errWriter{w: out}
	printFile(w, file)
	type row struct {
		flag string
		setting
	}
	var rows []row
	of := map[row][]string{}
	walk(root, func(c *cobra.Command) {
		if !takesSettings(c) || c.HasSubCommands() {
			return
		}
		eachFlag(c, func(f *pflag.Flag) {
			if s, ok := file.setting(c, f); ok {
				r := row{f.Name, s}
				if of[r] == nil {
					rows = append(rows, r)
				}
				of[r] = append(of[r], sectionOf(c))
			}
		})
	})
	if len(rows) == 0 {
		fmt.Fprintln(w, "nothing is set: all flags have the values that are built in (selfplay config --help says how to set some)")
		return w.err
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "flag\tvalue\tset by\tfor")
	for _, r := range rows {
		commands := strings.Join(of[r], ", ")
		if len(of[r]) > 4 {
			commands = fmt.Sprintf("%d commands", len(of[r]))
		}
		fmt.Fprintf(t, "--%s\t%s\t%s\t%s\n", r.flag, cluster.Quote(r.text), r.where, commands)
	}
	t.Flush()
	return w.err
}

// printFlags lists all flags of a command.
func printFlags(out io.Writer, c *cobra.Command, file *configFile) error {
	if c.HasSubCommands() {
		return usagef("%s has no flags of its own: name one of %s", c.CommandPath(), strings.Join(commandNames(c), ", "))
	}
	w := &errWriter{w: out}
	printFile(w, file)
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "flag\tvalue\tset by")
	var fault error
	eachFlag(c, func(f *pflag.Flag) {
		if f.Hidden || !settable(f) {
			return
		}
		value, by := strings.Trim(f.DefValue, "[]"), "-"
		if value == "" {
			value = "-"
		}
		if s, ok := file.setting(c, f); ok {
			value, by = s.text, s.where
			if err := f.Value.Set(s.text); err != nil && fault == nil {
				fault = usagef("%s: %w", s.where, badValue(f, s.text, err))
			}
		}
		fmt.Fprintf(t, "--%s\t%s\t%s\n", f.Name, cluster.Quote(value), by)
	})
	t.Flush()
	if fault != nil {
		return fault
	}
	return w.err
}

// commandLine is this call, with what environment and file set and the run folder
// on it, and more flags: it does the same where these say something else.
func commandLine(c *cobra.Command, run string, more ...string) string {
	args := slices.Clone(os.Args)
	at := len(args)
	if i := slices.Index(args, "--"); i >= 0 {
		at = i
	}
	eachSetting(c, func(f *pflag.Flag, s setting) { more = append(more, "--"+f.Name+"="+s.text) })
	if from, _ := originOf(c, "run"); from == builtIn {
		more = append(more, "--run", run)
	}
	args = slices.Insert(args, at, more...)
	for i, a := range args {
		args[i] = cluster.Quote(a)
	}
	return strings.Join(args, " ")
}
