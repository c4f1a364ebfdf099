// Package translate makes a language out of the English texts of the games, with
// a model and without anyone who reads that language: it asks for one text at a
// time, checks what comes, has judges look at what passes, and measures the judges.
//
// # A text's way
//
// What must survive is hidden (package mask), the model is told what the text is
// for, what the signs stand for, and the glossary of its game. Its answer is
// refused if
//
//	cut        it has no end, or its thinking has none
//	sentinel   a sign is missing, there too often, or braces were added
//	...        package verify has a finding of that kind, an error or a warning
//	example    the game's own rules refuse an answer that it shows, or miss one
//	term       a term of the glossary is called by another word
//
// A refused text is asked for again and told why, each time with draws of its own.
// After the last try it stays in English, with all reasons written down. Texts
// without a word of prose are copied.
//
// # The folder
//
// The files lie as <Game>/<lang>.json beside common/<lang>.json, with the English
// ones. All that is known of how they came about is in three logs of JSON lines,
// which only grow: translated.jsonl (Entry), judged.jsonl (Verdict) and back.jsonl
// (Back). Files and the confidence record follow from these alone, so that
// whatever is stopped goes on where it was, and what is finished is never asked
// again.
//
// # Judges
//
// A judge sees the English text and its translation as they are, and writes a
// reason and a verdict in two lines. An answer of any other form counts as "not
// faithful", and is counted apart. A text of which any judge says so goes back to
// English. Fidelity is the share of the others before that; it takes two judges
// that have seen all translations of the language. To be rid of a judge, remove its
// lines.
//
// How well a judge sees is measured on pairs that are known to be good, and on the
// same ones with a fault put in (see Kinds): Calibrate.
package translate
