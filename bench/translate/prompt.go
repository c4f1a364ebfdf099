package translate

import (
	"fmt"
	"strings"

	"selfplay/locales"
	"selfplay/locales/mask"
)

// system is what the model is told before each text of a language.
func system(name, script string) string {
	if script != "" {
		name += ", in the " + script + " script"
	}
	return "You translate the texts of computer games from English into " + name + ". " +
		"Write as one writes to a player: plain, complete and exact. Keep every number, condition and amount. " +
		"Keep line breaks. Signs such as " + mask.Sentinel(1) + " stand for what is put in later: write each exactly as often as the English text has it, wherever the language wants it. " +
		"Answer with " + openMark + ", the translation and " + closeMark + ", and nothing else."
}

// about says which game a text or term belongs to.
func about(game string) string {
	if game == locales.Common {
		return "These words are shown in all games.\n"
	}
	return "The game is called " + game + ".\n"
}

// prompt asks for one text. What prompts of a game share comes first.
func (c *checker) prompt(last *Try) string {
	var b strings.Builder
	b.WriteString(about(c.text.Game))
	if len(c.glossary) > 0 {
		b.WriteString("Always call these the same, with the endings that the sentence wants:\n")
		for _, t := range c.glossary {
			fmt.Fprintf(&b, "- %s: %s\n", t.English, t.Called)
		}
	}
	fmt.Fprintf(&b, "The text is %s.\n", roleOf(c.text.Key))
	if len(c.masked.Slots) > 0 {
		b.WriteString("The signs in it:\n")
	}
	for i, s := range c.masked.Slots {
		fmt.Fprintf(&b, "- %s is %s\n", mask.Sentinel(i+1), explained(s))
	}
	if last != nil {
		b.WriteString("An earlier translation was refused:\n")
		if last.Answer != "" && len(last.Answer) <= 2*len(c.text.English)+400 {
			fmt.Fprintf(&b, "%s\n", last.Answer)
		}
		for _, f := range last.Faults {
			fmt.Fprintf(&b, "- %s\n", c.hidden(f.What))
		}
		b.WriteString("Translate anew, without these faults.\n")
	}
	fmt.Fprintf(&b, "The English text:\n%s", c.masked.Text)
	return b.String()
}

// hidden puts signs for the pieces that a fault names, since the model is to
// write those.
func (c *checker) hidden(what string) string {
	for i, s := range c.masked.Slots {
		if len(s.Text) > 2 {
			what = strings.ReplaceAll(what, s.Text, mask.Sentinel(i+1))
		}
	}
	return what
}

// explained says what a sign stands for.
func explained(s mask.Slot) string {
	switch s.Kind {
	case mask.Placeholder:
		return "a value: " + strings.ReplaceAll(strings.Trim(s.Text, "{}"), "_", " ")
	case mask.Action, mask.Code, mask.Command:
		return fmt.Sprintf("%q, which a player writes in an answer", s.Text)
	case mask.Label:
		return fmt.Sprintf("%q, a card, piece or field", s.Text)
	case mask.Art:
		return "a drawing"
	}
	return fmt.Sprintf("%q", s.Text)
}

// termPrompt asks what a term is called.
func termPrompt(game, term string, last *Try) string {
	text := about(game) + "The text is a name in it, of the game, a role, a mark or a thing. Give the one word or few words that a player of it would use; where there is none, write the name in the letters of the language.\n"
	if last != nil {
		text += "An earlier translation was refused:\n"
		for _, f := range last.Faults {
			text += "- " + f.What + "\n"
		}
	}
	return text + "The English text:\n" + term
}
