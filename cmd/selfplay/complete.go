package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"selfplay/bench"
	"selfplay/bench/cluster"
	"selfplay/bench/translate"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/inference/files"
	"selfplay/locales"
)

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Write a script that has a shell complete commands, flags and their values",
		Long: `Write a script that has a shell complete commands, flags and their values:
games, languages, models, run folders. Once for all new shells:

  bash   selfplay completion bash >~/.local/share/bash-completion/completions/selfplay
         (needs the package bash-completion, and that folder)
  zsh    selfplay completion zsh >"${fpath[1]}/_selfplay"
         (needs autoload -U compinit; compinit in ~/.zshrc)
  fish   selfplay completion fish >~/.config/fish/completions/selfplay.fish`,
		Example: `  # for this shell alone
  source <(selfplay completion bash)
  # in fish
  selfplay completion fish | source`,
		Args: asUsage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			root, w := c.Root(), stdout(c)
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(w, true)
			case "zsh":
				return root.GenZshCompletion(w)
			case "fish":
				return root.GenFishCompletion(w, true)
			}
			return usagef("%s: give bash, zsh or fish", cluster.Quote(args[0]))
		},
	}
}

// A values function gives what may stand for a flag or an argument of which the
// beginning is typed.
type values func(c *cobra.Command, typed string) []string

// flagValues are those of flags, which mean the same in all commands, by name. A
// flag of one command alone may stand before it. Other flags name files.
var flagValues = map[string]values{
	"model":         modelNames,
	"games":         listOf(gameNames),
	"langs":         listOf(langNames),
	"reason-in":     listOf(langNames),
	"interface":     listOf(langNames),
	"suite":         suiteNames,
	"prompt":        promptNames,
	"opponent":      listOf(func(*cobra.Command, string) []string { return policyNames() }),
	"weights":       oneOf("auto", "file", "bf16"),
	"cache":         oneOf(string(inference.CacheF16), string(inference.CacheQ8)),
	"think":         oneOf("auto", "on", "off"),
	"device":        oneOf("auto", "cpu", "gpu"),
	"gpus":          oneOf("all"),
	"game":          gameNames,
	"other-lang":    langNames,
	"seat":          oneOf("0", "1"),
	"winner":        oneOf("0", "1", bench.Draw),
	"cause":         causeNames,
	"export format": oneOf(bench.FormatJSONL, bench.FormatCSV, bench.FormatParquet),
	"export table":  oneOf(bench.TableGames, bench.TableTurns),
	"paper-model":   func(*cobra.Command, string) []string { return bench.PaperModels() },
	"run":           dirNames,
	"csv":           dirNames,
	"figures":       dirNames,
	"data":          dirNames,
	"merge out":     dirNames,
	"log-level":     oneOf("debug", "info", "warn", "error"),

	"play lang":       langNames,
	"replay lang":     langNames,
	"translate games": listOf(folderNames),
	"translate lang":  codes,
	"translate out":   dirNames,
	"judge langs":     listOf(codes),
}

// argumentValues are those of arguments, by the word that stands for them in the
// usage of a command.
var argumentValues = map[string]values{
	"RUN": runFolders,
	"DIR": dirNames,
}

// completeAll has all commands complete what the tables above know.
func completeAll(root *cobra.Command) {
	root.CompletionOptions.DisableDefaultCmd = true
	walk(root, func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			of, ok := flagValues[c.Name()+" "+f.Name]
			if !ok {
				of, ok = flagValues[f.Name]
			}
			if ok {
				c.RegisterFlagCompletionFunc(f.Name, of.complete) // fails if the command has its own
			}
		})
		if of := argumentsOf(c); len(of) > 0 && c.ValidArgsFunction == nil && c.ValidArgs == nil {
			c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				if len(args) < len(of) {
					return of[len(args)].complete(c, args, typed)
				}
				if last := of[len(of)-1]; strings.Contains(c.Use, "...") {
					return last.complete(c, args, typed)
				}
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		}
	})
}

// argumentsOf reads the values of a command's arguments out of its usage, one after
// the other.
func argumentsOf(c *cobra.Command) (all []values) {
	words := strings.Fields(c.Use)[1:]
	for i := 0; i < len(words) && words[i] != "<"; i++ {
		word := strings.TrimSuffix(strings.Trim(words[i], "[]"), "...")
		switch {
		case strings.HasPrefix(word, "-"):
			i++ // with its value
		case strings.Contains(word, "|"):
			all = append(all, oneOf(strings.Split(word, "|")...))
		case argumentValues[word] != nil:
			all = append(all, argumentValues[word])
		default:
			all = append(all, oneOf())
		}
	}
	return all
}

// complete is what cobra asks for. A value that may go on gets no space behind it.
func (v values) complete(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	var found []string
	for _, value := range v(c, typed) {
		if !strings.HasPrefix(value, typed) || slices.Contains(found, value) {
			continue
		}
		found = append(found, value)
		if strings.HasSuffix(value, "/") || strings.HasSuffix(value, ":") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	return found, directive
}

// completeCommand completes the words of a command as an argument.
func completeCommand(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	of := c.Root()
	for _, name := range args {
		if of = subcommand(of, name); of == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
	var names []string
	for _, sub := range of.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return oneOf(names...).complete(c, args, typed)
}

func oneOf(list ...string) values {
	return func(*cobra.Command, string) []string { return list }
}

// listOf completes the last of several with commas between, by what is not among
// them yet.
func listOf(of values) values {
	return func(c *cobra.Command, typed string) (all []string) {
		at := strings.LastIndexByte(typed, ',') + 1
		have := strings.Split(typed[:at], ",")
		for _, value := range of(c, typed[at:]) {
			if !slices.Contains(have, value) {
				all = append(all, typed[:at]+value)
			}
		}
		return all
	}
}

func gameNames(*cobra.Command, string) []string {
	return append(defaultGames(), games.Names()...)
}

// langNames are the languages of --locales, which may be on the line.
func langNames(c *cobra.Command, _ string) (all []string) {
	set := locales.Embedded()
	if f := c.Flags().Lookup("locales"); f != nil && f.Value.String() != "" {
		other, err := locales.Open(f.Value.String())
		if err != nil {
			return nil
		}
		set = other
	}
	list, err := set.List()
	if err != nil {
		return nil
	}
	for _, l := range list.Langs {
		all = append(all, l.Lang)
	}
	return all
}

// folderNames are the games of --locales as their folders are called.
func folderNames(c *cobra.Command, _ string) []string {
	set, err := openLocales(c.Flag("locales").Value.String())
	if err != nil {
		return nil
	}
	return set.Games()
}

// codes are those of languages that texts can be translated into.
func codes(*cobra.Command, string) []string { return translate.Codes() }

func suiteNames(*cobra.Command, string) (all []string) {
	for _, s := range bench.Suites {
		all = append(all, s.Name)
	}
	return all
}

func causeNames(*cobra.Command, string) (all []string) {
	for _, c := range bench.Causes {
		all = append(all, c.Name)
	}
	return all
}

func promptNames(*cobra.Command, string) []string {
	all := []string{"default", "conditioned"}
	for _, lang := range paperLangs { // those that are known by an English name
		all = append(all, "reason-in:"+lang)
	}
	return all
}

func policyNames() (all []string) {
	for name := range builtins {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// modelNames are all that --model takes: what lies in the cache and in Ollama's
// store, files and folders from what is typed on, players and shapes.
func modelNames(_ *cobra.Command, typed string) []string {
	all := policyNames()
	shapes, types := inference.SyntheticNames()
	for _, shape := range shapes {
		all = append(all, shape)
		if strings.HasPrefix(typed, shape+":") {
			for _, t := range types {
				all = append(all, shape+":"+t)
			}
		}
	}
	if f, err := files.New(); err == nil {
		found, _ := f.List()
		for _, l := range found {
			if l.Error == "" {
				all = append(all, l.Model)
			}
		}
	}
	return append(all, entries(typed, func(path string, dir bool) string {
		switch {
		case dir && exists(filepath.Join(path, "config.json")):
			return path
		case dir:
			return path + "/"
		case strings.EqualFold(filepath.Ext(path), ".gguf"):
			return path
		}
		return ""
	})...)
}

// dirNames are those from what is typed on.
func dirNames(_ *cobra.Command, typed string) []string {
	return entries(typed, func(path string, dir bool) string {
		if !dir {
			return ""
		}
		return path + "/"
	})
}

// runFolders are folders that hold a run, and those on the way to one.
func runFolders(_ *cobra.Command, typed string) []string {
	return entries(typed, func(path string, dir bool) string {
		switch {
		case dir && exists(filepath.Join(path, "run.json")):
			return path
		case dir:
			return path + "/"
		}
		return ""
	})
}

// entries gives what show makes of each entry of the folder that is typed so far;
// hidden ones only once their dot is typed.
func entries(typed string, show func(path string, dir bool) string) (all []string) {
	at := strings.LastIndexByte(typed, '/') + 1
	dir := typed[:at]
	read := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok { // the shell has not replaced it yet
		home, _ := os.UserHomeDir()
		read = filepath.Join(home, rest)
	}
	list, err := os.ReadDir(filepath.Join(read, "."))
	if err != nil {
		return nil
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(typed[at:], ".") || strings.ContainsAny(e.Name(), "\n\r\t") {
			continue
		}
		real := filepath.Join(read, e.Name())
		info, err := os.Stat(real)
		if err != nil {
			continue
		}
		if text := show(real, info.IsDir()); text != "" {
			all = append(all, dir+strings.TrimPrefix(text, real[:len(real)-len(e.Name())]))
		}
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
