package prompts

// Status says how an action was found in a completion.
type Status string

const (
	Boxed     Status = "boxed"     // the last non-empty \boxed{...}
	Raw       Status = "raw"       // no box: the text itself
	Truncated Status = "truncated" // thinking that never ended: there is no answer
)

// An Answer is a completion taken apart.
type Answer struct {
	Action   string
	Thinking string
	Status   Status
}
