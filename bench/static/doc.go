// Package static asks a model the questions of published multiple-choice sets,
// Belebele and Global MMLU, in several languages, and counts the right answers.
// The questions come from files of the user's.
//
// An answer is never generated: each of the letters A to D, with a space in front,
// is scored by its log-probability behind the text of the question, and the
// likeliest one is the answer, the first one of equals. The text is plain, without
// a chat template, and begins with the token that the model's tokenizer puts in
// front of a document, if it puts one. So does the LM evaluation harness
// (lm-evaluation-harness 0.4.13) unless it is told otherwise.
//
// Global MMLU is the harness's task global_mmlu_full_LANG with 5 shots. The five
// are the first ones of the subject in the split dev, each with its answer and an
// empty line behind it; there is no other instruction. "Answer:" is English in
// every language, as are the letters. What a language reaches is the share of right
// answers among all its questions, whatever their subject.
//
// Belebele is asked with its authors' template for models that are not
// instructed: the passage behind "P:", the question behind "Q:", the choices
// behind "A:" to "D:", then "Answer:", and the likeliest letter counts. Without
// shots this is the harness's task belebele_LANG as it comes. With shots the
// authors take examples from an English training set that is not among the set's
// files; the harness takes the first other questions of the same language, and so
// does this package. Instructed models are given an instruction by the authors, and
// their answers are generated and read by rules that differ from model to model:
// this depends on how a model likes to put things, where the letters' probabilities
// do not.
//
// Standard errors are the harness's: of a mean within each subject, pooled.
//
// Where a question with its examples is longer than the contexts that the model
// was trained on, its beginning is cut off, as the harness does it; how many
// were cut is reported.
package static
