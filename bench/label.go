package bench

import "strings"

// A label is what a game's seat plays in, as Job.Langs, the tables and the pages
// have it: a language, such as zh, or one with another to reason in, such as
// zh+fr. The second is the intervention on the language of the reasoning: the
// game is shown in zh, as ever, and the model told to reason in fr.

// SplitLabel gives a label's interface, the language that the game is shown in,
// and the language that the model is told to reason in, "" for a plain one.
func SplitLabel(label string) (lang, reason string) {
	lang, reason, _ = strings.Cut(label, "+")
	return lang, reason
}

// InterfaceOf is the language in which a game is shown to a seat with this label.
func InterfaceOf(label string) string {
	lang, _ := SplitLabel(label)
	return lang
}

// isPlain reports whether a label names no other language to reason in.
func isPlain(label string) bool {
	_, reason := SplitLabel(label)
	return reason == ""
}

// JoinLabel is the label of an interface and a language to reason in.
func JoinLabel(lang, reason string) string { return lang + "+" + reason }

// Interfaces are the languages in which a game is shown to its two seats.
func Interfaces(labels [2]string) (langs [2]string) {
	for i, label := range labels {
		langs[i] = InterfaceOf(label)
	}
	return langs
}
