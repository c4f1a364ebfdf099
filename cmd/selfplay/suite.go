package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"selfplay/bench"
	"selfplay/bench/cluster"
	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// planFlags say which games are planned beside those of every pair of languages.
type planFlags struct {
	suite                           string
	opponents, reasonIn, interfaces []string
	untilCI                         float64
}

func (f *planFlags) addTo(fl *pflag.FlagSet) {
	var all []string
	for _, s := range bench.Suites {
		all = append(all, s.String())
	}
	fl.StringVar(&f.suite, "suite", "", "a whole protocol by name; flags that are given win over it. "+strings.Join(all, "; "))
	fl.StringSliceVar(&f.opponents, "opponent", nil, "play the model, in both roles and every language, against builtin:random or builtin:optimal (or both) instead of against itself")
	fl.StringSliceVar(&f.reasonIn, "reason-in", nil, "languages to reason in while the interface is another: zh+fr is shown the game in zh and told to reason in fr; it plays the other languages")
	fl.StringSliceVar(&f.interfaces, "interface", nil, "with --reason-in: the languages to do so for (default: all of --langs)")
	fl.Float64Var(&f.untilCI, "until-ci", 0, "stop a pair of languages early once its margin is known to within this half-width, at 95 % whenever it stops; 0: never")
}

// applySuite fills in what the suite says, and gives its text. It yields to flags
// that were set where it was, or by what is stronger: see settings.go.
func applySuite(c *cobra.Command, f *benchFlags) (string, error) {
	if f.suite == "" {
		return "", nil
	}
	s, err := bench.FindSuite(f.suite)
	if err != nil {
		return "", usagef("--suite: %w", err)
	}
	place, _ := originOf(c, "suite")
	var beaten []string
	wins := func(flag string) bool {
		from, weaker := originOf(c, flag)
		if from >= place {
			return false
		}
		if from != builtIn {
			beaten = append(beaten, fmt.Sprintf("--%s %s (%s)", flag, cluster.Quote(weaker.text), weaker.where))
			forget(c, flag)
		}
		return true
	}
	if wins("games") {
		f.games = s.Games
	}
	if wins("langs") {
		f.langs = s.Langs
	}
	if wins("n") {
		f.n = s.N
	}
	if wins("prompt") {
		f.prompt = s.Prompt
	}
	if len(beaten) > 0 && !f.quiet {
		fmt.Fprintf(c.ErrOrStderr(), "--suite %s wins over %s\n", s.Name, strings.Join(beaten, ", "))
	}
	return s.String(), nil
}

// plan checks the flags, and fills in the part of the experiment that they are.
// The languages have been checked.
func (f *benchFlags) plan(e *bench.Experiment, who player, specs []games.Spec) error {
	for _, name := range f.opponents {
		policy, ok := builtins[name]
		if !ok {
			return usagef("--opponent %s: give builtin:random or builtin:optimal", name)
		}
		if err := (player{policy: policy, id: bench.Model{Name: name}}).canPlay("--opponent", specs); err != nil {
			return err
		}
	}
	e.Opponents = f.opponents
	if !(f.untilCI >= 0 && f.untilCI < 1) { // not a number is neither
		return usagef("--until-ci %v: give a half-width of margins from 0 (never stop early) to below 1", f.untilCI)
	}
	e.UntilCI = f.untilCI
	switch {
	case len(f.reasonIn) == 0 && len(f.interfaces) > 0:
		return usagef("--interface: it says for which languages --reason-in is; give that too")
	case len(f.reasonIn) > 0 && who.policy != nil:
		return usagef("--reason-in: %s is told nothing", who.id.Name)
	}
	return f.reasoned(e)
}

// reasoned adds a label for each interface and each other language to reason in.
func (f *benchFlags) reasoned(e *bench.Experiment) error {
	interfaces := f.interfaces
	if len(interfaces) == 0 {
		interfaces = f.langs
	}
	for _, lang := range interfaces {
		if !slices.Contains(f.langs, lang) {
			return usagef("--interface %s: it is none of --langs %s", lang, strings.Join(f.langs, ","))
		}
		for _, reason := range f.reasonIn {
			text, err := prompts.ReasonIn(reason)
			if err != nil {
				return usagef("--reason-in: %w", err)
			}
			switch {
			case reason != lang:
				e.Reasoned = append(e.Reasoned, bench.Reasoned{Label: bench.JoinLabel(lang, reason), System: text})
			case f.prompt != "conditioned": // else it is the plain label
				return usagef("--reason-in %s: with --prompt %s nobody who is shown the game in %[1]s is told to reason in it, to compare with; use --prompt conditioned, or leave %[1]s out of --interface",
					reason, cluster.Quote(f.prompt))
			}
		}
	}
	if len(f.reasonIn) > 0 && len(e.Reasoned) == 0 {
		return usagef("--reason-in %s: no --interface is another language", strings.Join(f.reasonIn, ","))
	}
	return nil
}

// policies are those of the opponents, and of the player where it is one.
func policies(who player) map[string]scheduler.Policy {
	all := map[string]scheduler.Policy{}
	for name, policy := range builtins {
		all[name] = policy
	}
	if who.policy != nil {
		all[""] = who.policy
	}
	return all
}
