// Package static asks a model the questions of published multiple-choice sets,
// Belebele and Global MMLU, in several languages, and counts the right answers.
// The questions come from files of the user's.
//
// # Answers
//
// An answer is never generated: each of the letters A to D, with a space in front,
// is scored by its log-probability behind the text of the question, and the
// likeliest one is the answer, the first one of equals. The text is plain, without
// a chat template, and begins with the token that the model's tokenizer puts in
// front of a document, if it puts one. So does the LM evaluation harness
// (lm-evaluation-harness 0.4.13) unless it is told otherwise; 0.4.9.1 leaves that
// token away for all models but Gemma. What a question has that reads like a control
// token stays text here. testdata/harness.py has the harness make its prompts,
// accuracies and standard errors of made-up questions, and tests hold ours against
// them.
//
// # Files
//
// Belebele (facebook/belebele on the Hugging Face hub) has data/LANG.jsonl with
// 900 lines for each language, LANG a FLORES-200 code such as arb_Arab. A line is an
// object of texts: link, flores_passage, question, mc_answer1 to mc_answer4,
// correct_answer_num "1" to "4", dialect, ds, and the number question_number.
//
// Global MMLU (CohereLabs/Global-MMLU, before that CohereForAI/Global-MMLU) has
// LANG/test-00000-of-00001.parquet with 14,042 rows and LANG/dev-... with 285, five
// of each of 57 subjects. Columns are texts: sample_id, subject, subject_category,
// question, option_a to option_d, answer "A" to "D", some on cultural sensitivity,
// and the truth value is_annotated. The smaller CohereLabs/Global-MMLU-Lite has the
// same columns; the harness asks it in another way (examples drawn at random, from
// a category and not a subject), which this package does not. Both sets are read as
// JSON lines and as Parquet, of the hub's conversions too.
//
// A choice may be null, as what reads "None" becomes in some tables. It is asked as
// None, as the harness writes it. How many were is told.
//
// # Prompts
//
// Global MMLU is the harness's task global_mmlu_full_LANG with 5 shots. The five
// are the first ones of the subject in the split dev, each with its answer and an
// empty line behind it; there is no other instruction. "Answer:" is English in
// every language, as are the letters. What a language reaches is the share of right
// answers among all its questions, whatever their subject, as in the harness's group
// global_mmlu_full_LANG; the mean in which subjects count alike stands beside it.
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
// # Scores
//
// Standard errors are the harness's: of a mean, the deviation of a sample of n (its
// divisor n-1) over the root of n; of several subjects, pooled by their sizes; of the
// mean in which subjects count alike, the root of the sum of their squares over their
// number. The harness's acc_norm is its acc here, as letters are equally long.
//
// Where a question with its examples is longer than the contexts that the model
// was trained on, its beginning is cut off, as the harness does it; how many
// were cut is reported.
package static
