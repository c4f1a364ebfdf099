package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"selfplay/bench/cluster"
)

// What a flag is set to, the strongest first: the command line; the environment,
// SELFPLAY_ and the flag's name; the configuration file, in the command's section,
// then above all sections; what is built in.
//
// A suite stands right below what its own place says: given on the command line it
// wins over environment and file, given in the file it yields to them all. See
// applySuite.

// An origin is a place that a flag's value comes from.
type origin int

const (
	builtIn origin = iota
	inFile
	inEnvironment
	onCommandLine
)

// A setting is a flag's value that the environment or the file gives.
type setting struct {
	text  string
	from  origin
	where string // the variable, or file and line
}

// The annotations of a flag that keep its setting.
const (
	settingText  = "selfplay_setting_text"
	settingWhere = "selfplay_setting_where"
	settingFrom  = "selfplay_setting_from"
)

const variablePrefix = "SELFPLAY_"

// variableOf is the environment variable that sets a flag.
func variableOf(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settable says whether environment and file may set a flag at all.
func settable(f *pflag.Flag) bool {
	return f.Name != "help" && f.Name != "version" && f.Name != "config"
}

// takesSettings says whether a command has defaults of the user's. Those that other
// programs run, a shell or this one, are what the command line says and no more.
func takesSettings(c *cobra.Command) bool {
	return !c.Hidden && c.Name() != "completion" && c.Name() != "help"
}

// readFile is what a command's context has the *configFile under that was read for it.
type readFile struct{}

// applySettings sets the flags that the command line leaves open as the user's
// environment and file say, and says so.
func applySettings(c *cobra.Command) error {
	defer trimLists(c)
	if !takesSettings(c) {
		return nil
	}
	file, err := openConfig(c)
	if err != nil {
		return err
	}
	if err := file.apply(c); err != nil {
		return err
	}
	if c.Name() == configName { // which shows it: a pipe is read only once
		c.SetContext(context.WithValue(c.Context(), readFile{}, file))
		return nil
	}
	warnOfVariables(c)
	if quiet := c.Flags().Lookup("quiet"); quiet != nil && quiet.Value.String() == "true" {
		return nil
	}
	var said []string
	eachSetting(c, func(f *pflag.Flag, s setting) {
		said = append(said, fmt.Sprintf("--%s %s (%s)", f.Name, cluster.Quote(s.text), s.where))
	})
	if len(said) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "settings: %s\n", strings.Join(said, ", "))
	}
	return nil
}

// trimLists takes off the spaces that people write behind commas: en, de.
func trimLists(c *cobra.Command) {
	c.Flags().Visit(func(f *pflag.Flag) {
		list, ok := f.Value.(pflag.SliceValue)
		if !ok || f.Value.Type() != "stringSlice" {
			return
		}
		values := list.GetSlice()
		for i, value := range values {
			values[i] = strings.TrimSpace(value)
		}
		list.Replace(values)
	})
}

// apply sets the flags of a command.
func (file *configFile) apply(c *cobra.Command) (err error) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		s, ok := file.setting(c, f)
		if !ok || f.Changed || err != nil {
			return
		}
		if err = c.Flags().Set(f.Name, s.text); err != nil {
			err = usagef("%s: %w", s.where, valueError(err))
			return
		}
		annotate(f, settingText, s.text)
		annotate(f, settingWhere, s.where)
		annotate(f, settingFrom, fmt.Sprint(int(s.from)))
	})
	return err
}

// setting is what environment and file say of a command's flag. An empty variable
// says nothing.
func (file *configFile) setting(c *cobra.Command, f *pflag.Flag) (setting, bool) {
	if !settable(f) {
		return setting{}, false
	}
	if text := os.Getenv(variableOf(f.Name)); text != "" {
		return setting{text, inEnvironment, variableOf(f.Name)}, true
	}
	if e, ok := file.find(c, f.Name); ok {
		return setting{e.value, inFile, e.where(file.path)}, true
	}
	return setting{}, false
}

// originOf says where a flag's value comes from, and what the setting is if it
// is one.
func originOf(c *cobra.Command, flag string) (origin, setting) {
	f := c.Flags().Lookup(flag)
	if f == nil || !f.Changed {
		return builtIn, setting{}
	}
	if text := f.Annotations[settingText]; text != nil {
		from := inFile
		if f.Annotations[settingFrom][0] == fmt.Sprint(int(inEnvironment)) {
			from = inEnvironment
		}
		return from, setting{text[0], from, f.Annotations[settingWhere][0]}
	}
	return onCommandLine, setting{}
}

// eachSetting calls do for each flag that environment or file set.
func eachSetting(c *cobra.Command, do func(*pflag.Flag, setting)) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if _, s := originOf(c, f.Name); s.from != builtIn {
			do(f, s)
		}
	})
}

// forget takes a setting back that something else wins over.
func forget(c *cobra.Command, flag string) {
	f := c.Flags().Lookup(flag)
	delete(f.Annotations, settingText)
	f.Changed = false
}

// warnOfVariables names variables that look like settings and are none.
func warnOfVariables(c *cobra.Command) {
	var known []string
	walk(c.Root(), func(c *cobra.Command) {
		eachFlag(c, func(f *pflag.Flag) {
			if settable(f) || f.Name == "config" {
				known = append(known, variableOf(f.Name))
			}
		})
	})
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, variablePrefix) {
			continue
		}
		if near := nearest(name, known, len(variablePrefix)); near != "" && near != name {
			fmt.Fprintf(c.ErrOrStderr(), "selfplay: warning: %s sets nothing: did you mean %s?\n", name, near)
		}
	}
}
