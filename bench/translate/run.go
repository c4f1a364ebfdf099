package translate

import (
	"context"
	"fmt"

	"selfplay/bench/asking"
	"selfplay/locales/mask"
	"selfplay/locales/verify"
)

// MostSeeds is how often a text is asked for at most.
const MostSeeds = 4

// A Translator translates texts into one language and keeps them in a folder.
type Translator struct {
	Folder *Folder
	Lang   string
	Name   string // of the language, in English
	Texts  []Text
	By     string // the model's name
	Seeds  int    // how often a text is asked for, at most MostSeeds
	Ask    asking.Asker
}

// open are the terms and texts that are not finished.
func (t *Translator) open() (terms, texts []Text) {
	for _, term := range t.terms() {
		if _, ok := t.Folder.entry(t.Lang, term); !ok {
			terms = append(terms, term)
		}
	}
	for _, text := range t.Texts {
		if !t.Folder.Finished(t.Lang, text) && !text.Empty() {
			texts = append(texts, text)
		}
	}
	return terms, texts
}

// Rest is what remains to be asked, with the first question of each. Terms come
// first, since they stand in the prompts of the texts.
func (t *Translator) Rest() (terms, texts []asking.Question) {
	openTerms, openTexts := t.open()
	r := t.round()
	return r.questions(openTerms), r.questions(openTexts)
}

// Expected has, for each of these questions, a text about as long as the answer will
// be: a translation is taken to have twice the tokens of the English text.
func (t *Translator) Expected() (answers []string) {
	terms, texts := t.open()
	for _, text := range append(terms, texts...) {
		masked := mask.Mask(text.English).Text
		answers = append(answers, openMark+masked+masked+closeMark)
	}
	return answers
}

// Run asks for what remains until all is finished, or ctx ends. Files are written
// by Folder.Write.
func (t *Translator) Run(ctx context.Context) error {
	if err := t.copy(); err != nil {
		return err
	}
	terms, texts := t.open()
	for _, part := range [][]Text{terms, texts} {
		if len(part) == 0 {
			continue
		}
		r := t.round() // with the glossary as it is now
		if err := t.Ask(ctx, r.questions(part), r.answered); err != nil {
			return err
		}
	}
	return nil
}

// copy finishes texts without prose.
func (t *Translator) copy() error {
	for _, text := range t.Texts {
		if _, ok := t.Folder.entry(t.Lang, text); ok || !text.Empty() {
			continue
		}
		if err := t.Folder.add(Entry{Lang: t.Lang, Game: text.Game, Key: text.Key, English: text.English, Copied: true, By: t.By}); err != nil {
			return err
		}
	}
	return nil
}

// terms are those of all games, as texts without a key.
func (t *Translator) terms() (all []Text) {
	for game, texts := range byGame(t.Texts) {
		for _, term := range termsOf(texts) {
			all = append(all, Text{Game: game, English: term})
		}
	}
	return all
}

// byGame goes through texts, which stand in the order of their games.
func byGame(texts []Text) func(yield func(string, []Text) bool) {
	return func(yield func(string, []Text) bool) {
		for from := 0; from < len(texts); {
			to := from
			for to < len(texts) && texts[to].Game == texts[from].Game {
				to++
			}
			if !yield(texts[from].Game, texts[from:to]) {
				return
			}
			from = to
		}
	}
}

// A round is one pass over texts, all with the same glossaries.
type round struct {
	*Translator
	script     string
	glossaries map[string]Glossary
	open       map[string]*attempt // by a question's ID
}

// An attempt is a text that is being translated.
type attempt struct {
	text  Text
	check *checker // nil: a term
	tries []Try
}

func (t *Translator) round() *round {
	r := &round{Translator: t, script: verify.Of(t.Lang).Script(), glossaries: make(map[string]Glossary), open: make(map[string]*attempt)}
	for _, term := range t.terms() {
		if e, ok := t.Folder.entry(t.Lang, term); ok && e.Text != "" {
			r.glossaries[term.Game] = append(r.glossaries[term.Game], Term{term.English, e.Text})
		}
	}
	return r
}

// question asks for a text, again if a is not nil.
func (r *round) question(text Text, a *attempt) asking.Question {
	if a == nil {
		a = &attempt{text: text}
		if text.Key != "" {
			a.check = newChecker(text, r.Lang)
			a.check.glossary = r.glossaries[text.Game]
		}
	}
	var last *Try
	if n := len(a.tries); n > 0 {
		last = &a.tries[n-1]
	}
	q := asking.Question{ID: fmt.Sprintf("%s/%s/%s/%d", r.Lang, text.Game, text.Key, len(a.tries)+1), System: system(r.Name, r.script)}
	if a.check == nil {
		q.ID = fmt.Sprintf("%s/%s/term %s/%d", r.Lang, text.Game, text.English, len(a.tries)+1)
		q.User = termPrompt(text.Game, text.English, last)
	} else {
		q.User = a.check.prompt(last)
	}
	r.open[q.ID] = a
	return q
}

func (r *round) questions(texts []Text) (all []asking.Question) {
	for _, text := range texts {
		all = append(all, r.question(text, nil))
	}
	return all
}

// answered finishes a text, or asks for it again.
func (r *round) answered(q asking.Question, answer asking.Answer) (*asking.Question, error) {
	a := r.open[q.ID]
	delete(r.open, q.ID)
	try := Try{Seed: len(a.tries) + 1, Answer: answer.Text}
	var text string
	if a.check != nil {
		text, try.Faults = a.check.answered(answer)
	} else {
		text, try.Faults = r.term(a.text.English, answer)
	}
	a.tries = append(a.tries, try)
	if len(try.Faults) > 0 {
		if len(a.tries) < r.Seeds {
			again := r.question(a.text, a)
			return &again, nil
		}
		text = ""
	}
	return nil, r.Folder.add(Entry{Lang: r.Lang, Game: a.text.Game, Key: a.text.Key, English: a.text.English, Text: text, By: r.By, Tries: a.tries})
}

// term checks the answer to what a term is called.
func (r *round) term(english string, answer asking.Answer) (string, []Fault) {
	if answer.Cut != "" {
		return "", []Fault{{kindCut, answer.Cut}}
	}
	called, ok := marked(answer.Text)
	if !ok {
		return "", []Fault{{kindCut, openMark + " was not closed"}}
	}
	return called, checkTerm(verify.Of(r.Lang), english, called)
}
