package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"selfplay/bench/cluster"
)

// A configFile is what the user's file says: lines `flag = value`, in sections
// that are named after commands.
type configFile struct {
	path    string
	exists  bool
	entries []configEntry
}

// A configEntry is a line of it. Above all sections the section is "".
type configEntry struct {
	section, key, value string
	line                int
}

func (e configEntry) where(path string) string { return fmt.Sprintf("%s:%d", path, e.line) }

// mostConfig is far more bytes than any such file has.
const mostConfig = 1 << 20

// openConfig reads the file that --config names, or SELFPLAY_CONFIG, or the one in
// the user's folder, which need not be there.
func openConfig(c *cobra.Command) (*configFile, error) {
	path, named := os.Getenv(variableOf("config")), variableOf("config")
	if f := c.Flags().Lookup("config"); f.Changed {
		path, named = f.Value.String(), "--config"
		if path == "" {
			return nil, usagef("--config is empty: name a file, or /dev/null for none")
		}
	}
	file := &configFile{path: path}
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return file, nil // no home: no file
		}
		file.path, named = filepath.Join(dir, "selfplay", "config"), ""
	}
	data, err := readConfig(file.path)
	if named == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		return file, nil
	}
	if err != nil {
		if named == "" {
			named = "the configuration file"
		}
		return nil, usagef("%s: %w", named, err)
	}
	file.exists = true
	if file.entries, err = parseConfig(data); err == nil {
		err = checkConfig(file.entries)
	}
	if fault := (lineFault{}); errors.As(err, &fault) {
		return nil, usagef("%s:%d: %w", file.path, fault.line, fault.error)
	}
	return file, err
}

func readConfig(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostConfig+1))
	if err == nil && len(data) > mostConfig {
		err = fmt.Errorf("%s is no configuration file: it has more than %d bytes", path, mostConfig)
	}
	return data, err
}

// A lineFault is what is wrong with a line.
type lineFault struct {
	line int
	error
}

// parseConfig reads lines. Blank ones and those that begin with # say nothing, nor
// does what follows a # behind a space, unless the value stands in quotes.
func parseConfig(data []byte) (entries []configEntry, err error) {
	section, n := "", 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\uFEFF"))) {
		n++
		fault := func(format string, a ...any) error { return lineFault{n, fmt.Errorf(format, a...)} }
		text := strings.TrimSpace(string(line))
		switch {
		case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
			return nil, fault("this is no text")
		case text == "" || text[0] == '#':
			continue
		case text[0] == '[':
			name, rest, ok := strings.Cut(text[1:], "]")
			if rest = strings.TrimSpace(rest); !ok || rest != "" && rest[0] != '#' {
				return nil, fault("a section is [COMMAND], such as [bench]")
			}
			section = strings.Join(strings.Fields(name), " ")
			if section == "" {
				return nil, fault("the section names no command")
			}
			continue
		}
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fault("%s: write flag = value", cluster.Quote(text))
		}
		e := configEntry{section: section, key: strings.TrimSpace(key), line: n}
		if e.value, err = configValue(strings.TrimSpace(value)); err != nil {
			return nil, fault("%s: %w", e.key, err)
		}
		same := func(o configEntry) bool { return o.section == e.section && o.key == e.key }
		if i := slices.IndexFunc(entries, same); i >= 0 {
			return nil, fault("%s is given twice: line %d has it too", e.key, entries[i].line)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// configValue takes quotes and a comment off a value.
func configValue(text string) (string, error) {
	if strings.HasPrefix(text, `"`) {
		quote, err := strconv.QuotedPrefix(text)
		rest := strings.TrimSpace(strings.TrimPrefix(text, quote))
		if err != nil || rest != "" && rest[0] != '#' {
			return "", fmt.Errorf("the value %s has no closing quote, or more behind it", cluster.Quote(text))
		}
		return strconv.Unquote(quote)
	}
	for i, r := range text {
		if r == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			text = strings.TrimSpace(text[:i])
			break
		}
	}
	if text == "" {
		return "", errors.New(`there is no value: give one, "" for an empty one, or leave the line out`)
	}
	return text, nil
}

// checkConfig has each entry set the flags that it is for, in a tree of commands
// that nothing runs: so faults of all sections come to light whatever is run.
func checkConfig(entries []configEntry) error {
	if len(entries) == 0 {
		return nil
	}
	root := rootCommand()
	for _, e := range entries {
		if err := checkEntry(root, e); err != nil {
			return lineFault{e.line, err}
		}
	}
	return nil
}

func checkEntry(root *cobra.Command, e configEntry) (err error) {
	of := root
	for _, name := range strings.Fields(e.section) {
		if of = subcommand(of, name); of == nil || !takesSettings(of) {
			return fmt.Errorf("[%s] is no command%s", e.section, suggestion(e.section, commandNames(root)))
		}
	}
	found := false
	var known []string
	walk(of, func(c *cobra.Command) {
		if !takesSettings(c) {
			return
		}
		eachFlag(c, func(f *pflag.Flag) {
			if !settable(f) {
				return
			}
			known = append(known, f.Name)
			if f.Name != e.key {
				return
			}
			found = true
			if setErr := f.Value.Set(e.value); setErr != nil && err == nil {
				err = badValue(f, e.value, setErr)
			}
		})
	})
	if !found && of == root {
		return fmt.Errorf("no command has a flag --%s%s", e.key, suggestion(e.key, known))
	}
	if !found {
		return fmt.Errorf("selfplay %s has no flag --%s%s", e.section, e.key, suggestion(e.key, known))
	}
	return err
}

// find is what the file says of a command's flag: in the command's section, in
// that of the command above it, or above all sections.
func (file *configFile) find(c *cobra.Command, key string) (configEntry, bool) {
	for ; c != nil; c = c.Parent() {
		section := sectionOf(c)
		for _, e := range file.entries {
			if e.section == section && e.key == key {
				return e, true
			}
		}
	}
	return configEntry{}, false
}

// sectionOf is a command's name without the program's; "" is the program itself.
func sectionOf(c *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), c.Root().Name()))
}
