// Package prompts holds what is said to the model and how its answer becomes
// an action: system prompts, thinking removed, the boxed answer taken. It is
// the same for every language.
package prompts

import (
	"fmt"
	"strings"
)

// The system prompts are the experiment's fixed stimuli: published sentences,
// in English whatever the language of the game.
const (
	// Default leaves the language of the reasoning to the model.
	Default = `You are a competitive game player. Make sure you read the game instructions carefully, and put your final answer within \boxed{}.`

	// LanguageConditioned is the main experiment's.
	LanguageConditioned = `You are a competitive game player. Make sure you read the game instructions carefully, reason in the language provided, and put your final answer within \boxed{}.`
)

// languageNames are how ReasonIn calls the languages of the experiment.
var languageNames = map[string]string{
	"en": "English",
	"ar": "Arabic",
	"de": "German",
	"es": "Spanish",
	"fr": "French",
	"he": "Hebrew",
	"ms": "Malay",
	"zh": "Chinese",
}

// What stands before and after the name of a language in ReasonIn.
const (
	beforeName = `You are a competitive game player. Make sure you read the game instructions carefully, reason in `
	afterName  = `, and put your final answer within \boxed{}.`
)

// ReasonIn is the system prompt of the intervention on the language of the
// reasoning: the game keeps its language, the model is told to reason in this
// one. It is LanguageConditioned with the language named.
func ReasonIn(lang string) (string, error) {
	name, ok := languageNames[lang]
	if !ok {
		return "", fmt.Errorf("prompts: no English name is known for the language %q to reason in; choose one of en, ar, de, es, fr, he, ms, zh", lang)
	}
	return beforeName + name + afterName, nil
}

// ReasonsIn is the language that a system prompt names to reason in, "" if it is
// none of ReasonIn's.
func ReasonsIn(system string) string {
	rest, begins := strings.CutPrefix(system, beforeName)
	name, ends := strings.CutSuffix(rest, afterName)
	if begins && ends {
		for lang, called := range languageNames {
			if called == name {
				return lang
			}
		}
	}
	return ""
}
