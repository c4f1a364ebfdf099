package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// walk calls do for a command and all below it.
func walk(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		walk(sub, do)
	}
}

// eachFlag calls do for the flags that a command takes, those of all commands too.
func eachFlag(c *cobra.Command, do func(*pflag.Flag)) {
	c.NonInheritedFlags().VisitAll(do)
	c.InheritedFlags().VisitAll(do)
}

func annotate(f *pflag.Flag, key, text string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = []string{text}
}

func subcommand(c *cobra.Command, name string) *cobra.Command {
	for _, sub := range c.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

// commandNames are those below a command that people may call: bench, debug trace.
func commandNames(c *cobra.Command) (names []string) {
	walk(c, func(sub *cobra.Command) {
		if sub != c && !sub.Hidden && !sub.Parent().Hidden {
			names = append(names, strings.TrimPrefix(sub.CommandPath(), c.CommandPath()+" "))
		}
	})
	return names
}

// refuseUnknown has every command that only groups others show its help when it is
// called alone, and refuse a word that is none of them.
func refuseUnknown(root *cobra.Command) {
	walk(root, func(c *cobra.Command) {
		if !c.HasSubCommands() {
			return
		}
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q%s (see %s --help)", args[0], suggestion(args[0], commandNames(c)), c.CommandPath())
			}
			return c.Help()
		}
	})
}

// suggestion is the question after what is near a name; "" if nothing is.
func suggestion(name string, known []string) string {
	if near := nearest(name, known, 0); near != "" {
		return fmt.Sprintf(": did you mean %s?", near)
	}
	return ""
}

// nearest is the known name that one was probably meant to be: one of two whose
// beginning it is, or a few letters away; "" if none is. The first letters, which
// all have, say nothing.
func nearest(name string, known []string, common int) string {
	word := func(s string) string { return strings.ToLower(strings.ReplaceAll(s[min(common, len(s)):], "_", "-")) }
	if name = word(name); name == "" {
		return ""
	}
	best, least := "", max(1, len(name)/4)+1
	for _, k := range known {
		d := distance(name, word(k))
		if len(name) > 1 && strings.HasPrefix(word(k), name) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the letters to put in, take out, change or swap with the next to
// make one word of the other.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}
