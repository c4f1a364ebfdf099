package bench

import (
	"strings"
	"testing"

	"selfplay/prompts"
	"selfplay/scheduler"
)

func TestIdentify(t *testing.T) {
	for _, c := range []struct {
		text   string
		script Script
		lang   string
	}{
		{"I think the best move is the centre, because it is part of four lines. \\boxed{[4]}", Latin, "en"},
		{"Ich nehme das mittlere Feld, weil es zu vier Linien gehört und der Gegner dann nicht gewinnen kann. \\boxed{[4]}", Latin, "de"},
		{"Voy a jugar en el centro porque es la mejor casilla para ganar y bloquear las líneas del rival.", Latin, "es"},
		{"Je vais jouer au centre, car cette case est sur quatre lignes et il ne peut pas les bloquer.", Latin, "fr"},
		{"Saya akan memilih petak tengah kerana ia lebih baik untuk menang dan pemain lawan tidak boleh menghalang.", Latin, "ms"},
		{"سألعب في الخانة الوسطى لأنها تقع على أربعة خطوط. \\boxed{[4]}", Arabic, "ar"},
		{"אני בוחר במשבצת האמצעית כי היא נמצאת על ארבעה קווים. \\boxed{[4]}", Hebrew, "he"},
		{"我选择中间的格子,因为它在四条线上。\\boxed{[4]}", Han, "zh"},

		{"OKAY THE CENTRE IS FREE AND IT IS THE BEST OF THEM", Latin, "en"},     // capital letters
		{"我需要计算 nim-sum:3 XOR 4 XOR 5 = 2,所以应该拿走两个。", Han, "zh"},                // foreign terms within
		{"סכום nim הוא 2, לכן המהלך הטוב הוא לקחת שניים מהערימה", Hebrew, "he"}, // mixed
		{"Okay, the user wants 选择 so I should take the one that is in the middle", Latin, "en"},
		{"Tic Tac Toe centre corner edge middle", Latin, ""}, // no small words
		{"[4]", "", ""}, {"", "", ""}, {"\\boxed{[cooperate]}", "", ""}, {"\\boxed{\\text{\\mathrm{\\operatorname{4}}}}", "", ""},
		{"\xff\xfe\x80", "", ""}, // no text at all
	} {
		if script, lang := identify(c.text); script != c.script || lang != c.lang {
			t.Errorf("%q: %q %q, want %q %q", c.text, script, lang, c.script, c.lang)
		}
	}
}

func TestWritten(t *testing.T) {
	const english, german, hebrew = "I take the one that is in the middle of the board.", "Ich nehme das Feld in der Mitte und nicht den Rand.", "אני בוחר במשבצת האמצעית כי היא טובה"
	for _, c := range []struct {
		asked, text string
		want        AnswerCounts
	}{
		{"en", english, AnswerCounts{Told: 1}},
		{"de", english, AnswerCounts{Told: 1, OtherLanguage: 1}},
		{"he", german, AnswerCounts{Told: 1, OtherScript: 1, OtherLanguage: 1}},
		{"de", hebrew, AnswerCounts{Told: 1, OtherScript: 1, OtherLanguage: 1}},
		{"he", hebrew, AnswerCounts{Told: 1}},
		{"de", "Tic Tac Toe centre corner edge", AnswerCounts{}}, // Latin as asked, but whose?
		{"he", "Tic Tac Toe centre corner edge", AnswerCounts{Told: 1, OtherScript: 1, OtherLanguage: 1}},
		{"en", "[4]", AnswerCounts{}},
		{"tlh", english, AnswerCounts{}}, // a language that is not known
	} {
		var got AnswerCounts
		if got.written(c.asked, c.text); got != c.want {
			t.Errorf("asked %s, %q: %+v, want %+v", c.asked, c.text, got, c.want)
		}
	}
}

// What answers are held against is what the label names, else what the run's system
// prompt names, else the interface.
func TestWrittenAsAsked(t *testing.T) {
	const french = "Je prends la case qui est au milieu pour gagner."
	inFrench, err := prompts.ReasonIn("fr")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ system, label, want string }{
		{prompts.LanguageConditioned, "de", "de"}, {prompts.Default, "de", "de"}, {"", "de", "de"},
		{inFrench, "de", "fr"}, {inFrench, "fr", "fr"}, {inFrench, "de+en", "en"}, {prompts.LanguageConditioned, "de+fr", "fr"},
	} {
		e := Experiment{Games: []string{"Nim-v0"}, Langs: []string{"de", "en"}, N: 1, System: c.system}
		col := newCollector(e)
		err := col.add(scheduler.Record{Job: scheduler.Job{Game: "Nim-v0", Langs: [2]string{c.label, "en"}}, Turns: []scheduler.Turn{{Completion: french}}})
		if err != nil {
			t.Fatal(err)
		}
		want := AnswerCounts{Turns: 1, Told: 1, OtherLanguage: oneIf(c.want != "fr")}
		if got := col.rep.ByLang[c.label]; got != want || e.ReasonsIn(c.label) != c.want {
			t.Errorf("%s told %q: %+v, want %+v; %s", c.label, c.system, got, want, e.ReasonsIn(c.label))
		}
		var text strings.Builder
		col.report().writingTable(&text)
		if said := strings.Contains(text.String(), "asked: fr, by the system prompt"); said != (c.system == inFrench) {
			t.Errorf("%q:\n%s", c.system, text.String())
		}
	}
}

func FuzzIdentify(f *testing.F) {
	f.Add("I think the best move is \\boxed{[4]}")
	f.Add("\\é\xffסכום nim 你")
	f.Fuzz(func(t *testing.T, text string) {
		script, lang := identify(text)
		if script == "" && lang != "" || lang != "" && writtenIn[lang].script != script {
			t.Errorf("%q: script %q, language %q", text, script, lang)
		}
	})
}
