// Package prompts holds what is said to the model and how its answer becomes
// an action: system prompts, thinking removed, the boxed answer taken. It is
// the same for every language.
package prompts

import "fmt"

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

// ReasonIn is the system prompt of the intervention on the language of the
// reasoning: the game keeps its language, the model is told to reason in this
// one. It is LanguageConditioned with the language named.
func ReasonIn(lang string) (string, error) {
	name, ok := languageNames[lang]
	if !ok {
		return "", fmt.Errorf("prompts: no English name is known for the language %q to reason in; choose one of en, ar, de, es, fr, he, ms, zh", lang)
	}
	return `You are a competitive game player. Make sure you read the game instructions carefully, reason in ` + name + `, and put your final answer within \boxed{}.`, nil
}
