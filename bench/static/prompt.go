package static

import (
	"fmt"
	"slices"
	"strings"
)

// Prompts gives the text behind which the letters are scored for the question of a
// row: solved examples, if any, and the question up to where its answer begins. It
// is made when it is asked for, since all of them with their examples are large.
// Examples are the first ones of the same subject.
func (b *Benchmark) Prompts(d *Data, shots int) (func(row int) string, error) {
	switch {
	case shots == 0:
		return func(row int) string { return b.prompt(&d.Questions[row]) }, nil
	case b.examples == nil:
		return b.amongQuestions(d.Questions, shots)
	}
	bySubject := map[string]string{}
	count := map[string]int{}
	for i := range d.Examples {
		q := &d.Examples[i]
		if count[q.Subject]++; count[q.Subject] <= shots {
			bySubject[q.Subject] += b.solved(q)
		}
	}
	for i := range d.Questions {
		if subject := d.Questions[i].Subject; count[subject] < shots {
			return nil, fmt.Errorf("%d examples of %s are wanted, and %s has %d: give fewer --shots", shots, subject, d.examplesFrom, count[subject])
		}
	}
	return func(row int) string {
		q := &d.Questions[row]
		return bySubject[q.Subject] + b.prompt(q)
	}, nil
}

// solved is a question with its answer, as an example.
func (b *Benchmark) solved(q *Question) string {
	return b.prompt(q) + " " + letters[q.Answer:q.Answer+1] + "\n\n"
}

// amongQuestions takes the first of the questions themselves as examples, but
// for the one that is asked, and what equals it.
func (b *Benchmark) amongQuestions(questions []Question, shots int) (func(row int) string, error) {
	equal := map[Question]int{}
	for _, q := range questions {
		if equal[q]++; len(questions)-equal[q] < shots {
			return nil, fmt.Errorf("%d examples are wanted, and there are %d questions: give fewer --shots", shots, len(questions))
		}
	}
	return func(row int) string {
		var text strings.Builder
		for k, found := 0, 0; found < shots; k++ {
			if questions[k] != questions[row] {
				text.WriteString(b.solved(&questions[k]))
				found++
			}
		}
		return text.String() + b.prompt(&questions[row])
	}, nil
}

// A Codec turns text into a model's tokens. *inference.Codec is one.
type Codec interface {
	Document(text string) ([]int32, error)
}

// An encoder makes prompts tokens. Prompt and letter are encoded together, and the
// letter's tokens are those behind as many as the prompt alone has.
type encoder struct {
	codec Codec
	tail  [][]int32 // of each letter, behind the last line of any prompt
}

func newEncoder(c Codec) (*encoder, error) {
	e := &encoder{codec: c}
	line, err := c.Document("\nAnswer:")
	if err != nil {
		return nil, err
	}
	e.tail, err = e.letters("\nAnswer:", line, len(letters))
	return e, err
}

// letters are the tokens of the first n letters behind a prompt.
func (e *encoder) letters(prompt string, context []int32, n int) (all [][]int32, err error) {
	for _, letter := range letters[:n] {
		whole, err := e.codec.Document(prompt + " " + string(letter))
		if err != nil {
			return nil, err
		}
		if len(whole) <= len(context) {
			return nil, fmt.Errorf("the tokenizer makes no token of the answer %c behind a question: such a model cannot be scored", letter)
		}
		all = append(all, whole[len(context):])
	}
	return all, nil
}

// encode gives what is scored behind a prompt: each letter, with a space in
// front. Long prompts take their time: where the first letter is what it is behind
// the prompt's last line alone, so are the others. Of a text longer than room
// tokens the beginning is cut off, and cut is how many tokens that is.
func (e *encoder) encode(prompt string, room int) (t Text, cut int, err error) {
	if t.Context, err = e.codec.Document(prompt); err != nil {
		return t, 0, err
	}
	first, err := e.letters(prompt, t.Context, 1)
	if err != nil {
		return t, 0, err
	}
	if t.Choices = e.tail; !slices.Equal(first[0], e.tail[0]) {
		if t.Choices, err = e.letters(prompt, t.Context, len(letters)); err != nil {
			return t, 0, err
		}
	}
	if cut = t.cells() - room; cut <= 0 {
		return t, 0, nil
	}
	if cut >= len(t.Context) {
		return t, 0, fmt.Errorf("contexts of %d tokens are too short for any question", room)
	}
	t.Context = t.Context[cut:]
	return t, cut, nil
}
