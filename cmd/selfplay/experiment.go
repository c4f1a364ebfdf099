package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"selfplay/bench"
	"selfplay/bench/cluster"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/locales"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// check refuses what is wrong whatever the model and the games are.
func (f *benchFlags) check() error {
	switch {
	case len(f.games) == 0:
		return usagef("--games is empty: name at least one")
	case len(f.langs) == 0:
		return usagef("--langs is empty: name at least one")
	case f.n < 1:
		return usagef("--n %d: give at least 1", f.n)
	case f.maxTokens < 0 || f.context < 0 || f.slots < 0 || f.pool < 0 || f.chunk < 0 || f.threads < 0:
		return usagef("--max-tokens, --context, --slots, --pool, --chunk and --threads must not be negative")
	case f.cache != string(inference.CacheF16) && f.cache != string(inference.CacheQ8):
		return usagef("--cache %s: give f16 or q8_0", cluster.Quote(f.cache))
	}
	kinds := []inference.Weights{inference.WeightsAuto, inference.WeightsFile, inference.WeightsBF16}
	if !slices.Contains(kinds, inference.Weights(f.weights)) {
		return usagef("--weights %s: give auto, file or bf16", cluster.Quote(f.weights))
	}
	if err := checkThink(f.think); err != nil {
		return err
	}
	return f.deviceFlags.check()
}

// experiment checks the flags that say what is played.
func experiment(f *benchFlags, who player, set *locales.Set) (bench.Experiment, error) {
	e := bench.Experiment{
		Langs: f.langs, N: f.n, Seed: f.seed, Model: who.id,
		Locales: bench.Locales{Source: set.Name()},
	}
	if err := f.check(); err != nil {
		return e, err
	}
	var rules []string // the games whose strings are needed
	var specs []games.Spec
	for _, name := range f.games {
		spec, err := games.Lookup(name)
		if err != nil {
			return e, usagef("--games: %w", err)
		}
		e.Games = append(e.Games, spec.ID)
		specs = append(specs, spec)
		if !slices.Contains(rules, spec.Game) {
			rules = append(rules, spec.Game)
		}
	}
	if err := who.canPlay("--model", specs); err != nil {
		return e, err
	}
	if err := checkLangs(set, rules, f.langs); err != nil {
		return e, err
	}
	if err := f.plan(&e, who, specs); err != nil {
		return e, err
	}
	var err error
	if e.Shard, f.shardFrom, err = parseShard(f.shard, os.Getenv); err != nil {
		return e, err
	}
	if err := e.Plan().Validate(); err != nil {
		return e, usageError{err}
	}
	if f.replicas > 1 && who.policy != nil {
		return e, usagef("--replicas %d: %s has no model to load", f.replicas, who.id.Name)
	}
	if e.Locales.SHA256, err = set.Hash(rules, f.langs); err != nil {
		return e, err
	}
	if who.policy == nil { // a built-in policy is not prompted
		if e.System, err = systemPrompt(f.prompt); err != nil {
			return e, err
		}
		e.MaxTokens, e.Context = f.maxTokens, f.context
		if f.cache != string(inference.CacheF16) {
			e.Cache = f.cache
		}
		if f.think != "auto" {
			e.Think = f.think
		}
		e.Temperature, e.TopK, e.TopP = 1, inference.TopK, inference.TopP
	}
	return e, nil
}

// checkLangs refuses languages that a game has no strings in.
func checkLangs(set *locales.Set, rules, langs []string) error {
	for _, game := range rules {
		have := set.Langs(game)
		for _, lang := range langs {
			if !slices.Contains(have, lang) {
				return usagef("--langs: %s has no strings for %s in %q: choose from %s, or name a folder with --locales", set.Name(), game, lang, strings.Join(have, ", "))
			}
		}
	}
	return nil
}

func systemPrompt(name string) (string, error) {
	switch {
	case name == "default":
		return prompts.Default, nil
	case name == "conditioned":
		return prompts.LanguageConditioned, nil
	case strings.HasPrefix(name, "reason-in:"):
		text, err := prompts.ReasonIn(strings.TrimPrefix(name, "reason-in:"))
		if err != nil {
			return "", usagef("--prompt: %w", err)
		}
		return text, nil
	}
	return "", usagef("--prompt %s: give default, conditioned, or reason-in:LANG", cluster.Quote(name))
}

// promptName is how --prompt names the experiment's system prompt; "" if it has none.
func promptName(f *benchFlags, e bench.Experiment) string {
	if e.System == "" {
		return ""
	}
	return f.prompt
}

func openLocales(dir string) (*locales.Set, error) {
	if dir == "" {
		return locales.Embedded(), nil
	}
	set, err := locales.Open(dir)
	if err != nil {
		return nil, usagef("--locales: %w", err)
	}
	return set, nil
}

// dealer starts the games of a plan.
func dealer(set *locales.Set) func(scheduler.Job) (games.Game, error) {
	return func(j scheduler.Job) (games.Game, error) {
		spec, err := games.Lookup(j.Game)
		if err != nil {
			return nil, err
		}
		return spec.New(set, bench.Interfaces(j.Langs), j.Seed)
	}
}

// defaultRun names a folder after the experiment, so that the same command
// finds it again.
func defaultRun(e bench.Experiment) string {
	return filepath.Join("runs", folderName(e.Model.Name, e.Whole()))
}

// folderName is of a model, and of what it does.
func folderName(model string, settings any) string {
	data, _ := json.Marshal(settings) // plain strings and numbers cannot fail
	sum := sha256.Sum256(data)
	name := strings.TrimSuffix(strings.NewReplacer(":", "-", "/", "-").Replace(model), ".gguf")
	return name + "-" + hex.EncodeToString(sum[:4])
}
