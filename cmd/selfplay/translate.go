package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"selfplay/bench/asking"
	"selfplay/bench/cluster"
	"selfplay/bench/translate"
	"selfplay/inference"
	"selfplay/locales"
)

// translateFlags are the flags of `selfplay locales translate` as given.
type translateFlags struct {
	model, lang, name, locales, out, candidates string
	games                                       []string
	seeds                                       int
	dryRun                                      bool
	askFlags
}

func localesTranslateCommand() *cobra.Command {
	f := &translateFlags{}
	c := &cobra.Command{
		Use:   "translate --lang LANG --model M",
		Short: "Translate the English strings into a language, check each text, and leave in English what fails",
		Example: `  # all games into Swahili; the same command goes on where it stopped
  selfplay locales translate --lang sw --model ollama:qwen3:4b --out swahili
  # how much is to be done, and by about how many tokens?
  selfplay locales translate --lang sw --model m.gguf --games Nim --dry-run
  # what another translator made, through the same checks
  selfplay locales translate --lang sw --candidates sw.jsonl --out swahili`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return runTranslate(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.lang, "lang", "", "language to translate into: a code such as sw, yue or pt-BR")
	fl.StringVar(&f.name, "name", "", "its English name, which the model is told (default: by the code)")
	fl.StringVar(&f.model, "model", "", fileFlag)
	fl.StringVar(&f.candidates, "candidates", "", `file with texts of another translator, in place of a model: lines {"game": ..., "key": ..., "lang": ..., "text": ...}`)
	fl.StringSliceVar(&f.games, "games", nil, "games, as the folders are called (default: all of --locales)")
	fl.StringVar(&f.locales, "locales", "", localesFlag)
	fl.StringVar(&f.out, "out", "", "folder that gets the files; what is finished there is not asked again (default: locales-LANG)")
	fl.IntVar(&f.seeds, "seeds", translate.MostSeeds, "how often a text is asked for before it stays in English, at most 4")
	fl.BoolVar(&f.dryRun, "dry-run", false, "count what is to be done, and do nothing")
	f.askFlags.addTo(c)
	return c
}

func runTranslate(c *cobra.Command, f *translateFlags) error {
	t, err := f.translator()
	if err != nil {
		return err
	}
	if f.dryRun && !exists(f.out) { // nothing is made
		dir, err := os.MkdirTemp("", "selfplay-dry-run-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		f.out = dir
	}
	if f.candidates != "" {
		return f.take(c, t)
	}
	who, err := f.askFlags.model(c, f.model)
	if err != nil {
		return err
	}
	if t.Folder, err = translate.OpenFolder(f.out); err != nil {
		return err
	}
	defer t.Folder.Close()
	if err := t.Folder.Check(f.lang, t.Texts); err != nil {
		return err
	}
	t.By = who.id.Name
	if f.dryRun {
		return f.count(c.OutOrStdout(), t, who)
	}
	ctx, stop := interruptible(c)
	defer stop()
	terms, texts := t.Rest()
	if len(terms)+len(texts) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %d of %d texts and %d terms are to be translated into %s\n", f.out, len(texts), len(t.Texts), len(terms), t.Name)
		err = f.with(ctx, c, who, f.seeds, func(a asking.Asker) error {
			t.Ask = a
			return t.Run(ctx)
		})
	} else {
		err = t.Run(ctx) // what is copied
	}
	if err != nil {
		return stopped(ctx, c, f.out, err)
	}
	return finishTranslation(c.OutOrStdout(), t)
}

// translator checks what is asked for, as far as it needs no model.
func (f *translateFlags) translator() (*translate.Translator, error) {
	if f.lang == "" {
		return nil, usagef("--lang is missing: give a code such as sw, yue or pt-BR")
	}
	if (f.model == "") == (f.candidates == "") {
		return nil, usagef("give either --model or --candidates")
	}
	if len(f.name) > 60 || strings.ContainsFunc(f.name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil, usagef("--name %q: give a plain name such as Swahili", f.name)
	}
	if f.seeds < 1 || f.seeds > translate.MostSeeds {
		return nil, usagef("--seeds %d: give 1 to %d", f.seeds, translate.MostSeeds)
	}
	if err := f.askFlags.check(); err != nil {
		return nil, err
	}
	if f.lang == "en" || !isLangCode(f.lang) {
		return nil, usagef("--lang %s: give the code of another language than English, such as sw, yue or pt-BR", cluster.Quote(f.lang))
	}
	name := f.name
	if name == "" {
		var err error
		if name, err = translate.NameOf(f.lang); err != nil {
			return nil, usagef("--lang: %w: give --name, or another code", err)
		}
	}
	set, err := openLocales(f.locales)
	if err != nil {
		return nil, err
	}
	games, err := chosenGames(set, f.games)
	if err != nil {
		return nil, err
	}
	texts, err := translate.TextsOf(set, games)
	if err != nil {
		return nil, err
	}
	f.out = cmp.Or(f.out, "locales-"+f.lang)
	return &translate.Translator{Lang: f.lang, Name: name, Texts: texts, Seeds: f.seeds}, nil
}

// isLangCode says whether a code can be a file's name.
func isLangCode(code string) bool {
	return len(code) <= 20 && strings.Trim(code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == "" && code[0] != '-'
}

// chosenGames are the set's games, or those of them that are named.
func chosenGames(set *locales.Set, named []string) ([]string, error) {
	all := set.Games()
	if len(named) == 0 {
		return all, nil
	}
	for i, game := range named {
		if !slices.Contains(all, game) {
			return nil, usagef("--games %s: %s has no such game: choose from %s", cluster.Quote(game), set.Name(), strings.Join(all, ", "))
		}
		if slices.Contains(named[:i], game) {
			return nil, usagef("--games: %s is given twice", game)
		}
	}
	return slices.DeleteFunc(all, func(game string) bool { return !slices.Contains(named, game) }), nil
}

// take puts candidates through the checks.
func (f *translateFlags) take(c *cobra.Command, t *translate.Translator) error {
	if f.dryRun {
		return usagef("--dry-run: candidates take no tokens; it is for --model")
	}
	file, err := os.Open(f.candidates)
	if err != nil {
		return usagef("--candidates: %w", err)
	}
	defer file.Close()
	candidates, err := translate.ReadCandidates(file)
	if err != nil {
		return fmt.Errorf("--candidates %s: %w", f.candidates, err)
	}
	if !slices.ContainsFunc(candidates, func(one translate.Candidate) bool { return one.Lang == f.lang }) {
		return fmt.Errorf("--candidates %s has no text in %s: give another file or --lang", f.candidates, f.lang)
	}
	if t.Folder, err = translate.OpenFolder(f.out); err != nil {
		return err
	}
	defer t.Folder.Close()
	if err := t.Folder.Check(f.lang, t.Texts); err != nil {
		return err
	}
	t.By = filepath.Base(f.candidates)
	unknown, late, err := t.Take(candidates)
	if err != nil {
		return err
	}
	if unknown > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "selfplay: warning: %s: %d texts are of other games or keys than those asked for\n", f.candidates, unknown)
	}
	if late > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "selfplay: warning: %s: texts that have another translation in %s, which stays: %d; choose a new --out for these\n", f.candidates, f.out, late)
	}
	return finishTranslation(c.OutOrStdout(), t)
}

// stopped says what is kept where work did not end by itself.
func stopped(ctx context.Context, c *cobra.Command, dir string, err error) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("stopped (%w)", ctx.Err())
	} else if !errors.As(err, new(unfinished)) {
		return err
	}
	fmt.Fprintln(c.ErrOrStderr(), "resume with the same command")
	return fmt.Errorf("%w: what is finished is kept in %s", err, dir)
}

// count tells what is to be done. Each text is taken to be asked for once. What answers
// take is guessed, and the glossary, which is not known yet, stands in no prompt.
func (f *translateFlags) count(w io.Writer, t *translate.Translator, who player) error {
	codec, err := inference.OpenCodec(who.path)
	if err != nil {
		return err
	}
	defer codec.Close()
	terms, texts := t.Rest()
	finished, copied := 0, 0
	for _, text := range t.Texts {
		switch {
		case t.Folder.Finished(t.Lang, text):
			finished++
		case text.Empty():
			copied++
		}
	}
	read, written := 0, 0
	for _, q := range append(terms, texts...) {
		ids, _, err := codec.Prompt(q.System, q.User)
		if err != nil {
			return err
		}
		read += len(ids)
	}
	for _, answer := range t.Expected() {
		ids, err := codec.Encode(answer)
		if err != nil {
			return err
		}
		written += len(ids)
	}
	_, err = fmt.Fprintf(w, "%s: %d texts: %d finished, %d without words, %d to be translated, after %d terms\n"+
		"about %d tokens to read and %d to write, if each is good at once; up to %d times that if none is, and more with thinking\n",
		t.Name, len(t.Texts), finished, copied, len(texts), len(terms), read, written, t.Seeds)
	return err
}

// finishTranslation writes files and record, and what became of the texts.
func finishTranslation(w io.Writer, t *translate.Translator) error {
	if err := t.Folder.Write(t.Lang, t.Texts); err != nil {
		return err
	}
	res, err := t.Folder.Finish(t.Lang, t.Name, today())
	if err != nil {
		return err
	}
	return printTranslated(w, t.Folder.Dir, res)
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// printTranslated writes what became of a language.
func printTranslated(w io.Writer, dir string, res translate.Result) error {
	r := res.Record
	fmt.Fprintf(w, "%s in %s: %d of %d texts in the language (%d of them without words), %d in English; tier %s\n", r.Name, dir, r.Translated, r.Texts, res.Copied, r.English, r.Tier)
	if res.Terms > 0 {
		fmt.Fprintf(w, "glossary: %d of %d terms\n", res.Terms-res.Unnamed, res.Terms)
	}
	if len(res.Reasons) > 0 {
		fmt.Fprintln(w, "why texts stay in English (one may have several reasons):")
		kinds := slices.SortedFunc(maps.Keys(res.Reasons), func(a, b string) int {
			return cmp.Or(cmp.Compare(res.Reasons[b], res.Reasons[a]), cmp.Compare(a, b))
		})
		for _, kind := range kinds {
			fmt.Fprintf(w, "%8d %s\n", res.Reasons[kind], kind)
		}
	}
	if len(r.Flagged) > 0 {
		fmt.Fprintf(w, "faults remain in %s: see selfplay locales check %s\n", strings.Join(r.Flagged, ", "), cluster.Quote(dir))
	}
	if res.Review != "" {
		fmt.Fprintln(w, res.Review)
	}
	_, err := fmt.Fprintf(w, "every answer and why it was refused: %s\n", filepath.Join(dir, translate.LogName))
	return err
}
