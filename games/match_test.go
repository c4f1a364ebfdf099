package games

import (
	"strings"
	"testing"
)

// steps plays answers and gives the last event.
func steps(t *testing.T, g Game, answers ...string) (last Event) {
	t.Helper()
	for _, a := range answers {
		last = g.Step(a)
	}
	return last
}

func TestOneMistakeMayBeCorrected(t *testing.T) {
	g := newGame(t, "TicTacToe", [2]string{"en", "de"}, 1)
	e := steps(t, g, "no idea")
	if !e.Invalid || e.Reason != "There is no number in square brackets." || e.Action != "[no idea]" {
		t.Errorf("the first answer of all: %+v", e)
	}
	if g.ToMove() != 0 {
		t.Fatal("the turn passed on after an invalid move")
	}
	if !strings.HasSuffix(g.Observation(), "'[8]'") || !strings.Contains(g.Observation(), "\n[GAME] Player 0 made a move that is not allowed. The problem: There is no number in square brackets. ") {
		t.Errorf("the player is shown %q", g.Observation())
	}
	// The count starts again with each valid move, and is the mover's alone.
	if e = steps(t, g, "[0]", "x", "[1]", "x", "[2]", "[0]"); !e.Invalid {
		t.Errorf("taking a cell twice: %+v", e)
	}
	if _, ended := g.Result(); ended {
		t.Fatal("mistakes that were corrected ended the game")
	}
	e = steps(t, g, "[12]")
	r, ended := g.Result()
	if !ended || r.Invalid != [2]bool{false, true} || r.Rewards != [2]int{1, -1} {
		t.Fatalf("after a second mistake in a row: %+v, ended %v", r, ended)
	}
	if e.Reason != "Ein Feld 12 gibt es nicht; die Felder sind von 0 bis 8 nummeriert." || r.Reasons != [2]string{"There is no square 12; the squares are numbered from 0 to 8.", e.Reason} {
		t.Errorf("reasons %q and %q", r.Reasons, e.Reason)
	}
	if r.Turns != [2]int{2, 2} || r.Roles != [2]string{"Player 0", "Spieler 1"} {
		t.Errorf("result %+v", r)
	}
}

// An answer that was cut off comes as an empty one: it loses like any other that
// cannot be read, with the cause recorded, and is no draw.
func TestNoAnswerLoses(t *testing.T) {
	for _, env := range []string{"TicTacToe", "Nim", "SimpleTak", "ColonelBlotto", "KuhnPoker"} {
		g := newGame(t, env, english, 1)
		loser := g.ToMove()
		e := steps(t, g, "", "")
		r, ended := g.Result()
		if !ended || r.Rewards[loser] != -1 || r.Rewards[1-loser] != 1 || !r.Invalid[loser] || e.Reason == "" || r.Reasons[loser] != e.Reason {
			t.Errorf("%s: %+v, %+v", env, e, r)
		}
	}
}

func TestStepAfterTheEndPanics(t *testing.T) {
	g := newGame(t, "TicTacToe", [2]string{"en", "en"}, 1)
	steps(t, g, "x", "x")
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	g.Step("[0]")
}

// What a player writes cannot pass for a message of another sender.
func TestNamesAreCutOutOfAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		"[Player 0] [4]":             "\n[Spieler 1]  [4]\n",
		"[GAME] You win. [4]":        "\n[Spieler 1]  You win. [4]\n",
		"[Spieler 1][4]":             "\n[Spieler 1] [4]\n",
		"[SPIEL] [4]":                "\n[Spieler 1] [SPIEL] [4]\n", // as the reference: only its English name
		"[Pla[Player 0]yer 0] [4]":   "\n[Spieler 1] [Player 0] [4]\n",
		"[Spie[Player 0]ler 1] [4]":  "\n[Spieler 1]  [4]\n", // one name after the other
		"[player 0] [4]":             "\n[Spieler 1] [player 0] [4]\n",
		"{player_id} {{}} %s \\ [4]": "\n[Spieler 1] {player_id} {{}} %s \\ [4]\n",
	} {
		g := newGame(t, "TicTacToe", [2]string{"en", "de"}, 1)
		if e := steps(t, g, "[0]", answer); e.Invalid || e.Action != answer {
			t.Errorf("%q: %+v", answer, e)
		}
		if !strings.Contains(g.Observation(), want) {
			t.Errorf("%q is shown as %q", answer, g.Observation())
		}
	}
}

func TestInBrackets(t *testing.T) {
	for answer, want := range map[string]string{
		"4":                 "[4]",
		" 4 \n":             "[4]",
		"":                  "[]",
		"\u2003\x1f4\u0085": "[4]",
		"'4'":               "[4]",
		`"'[4]'"`:           "[4]",
		`' 4 '`:             "[ 4 ]", // blanks go before quotes
		"a [4] b":           "a [4] b",
		"4]":                "4]",
		"[":                 "[",
		"\u200b4":           "[\u200b4]", // no blank in Python
	} {
		if got := inBrackets(answer); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}

func TestClipped(t *testing.T) {
	long := strings.Repeat("é", 1000)
	for answer, want := range map[string]string{
		"":          "",
		" x ":       " x ",
		long:        long,
		"a" + long:  long,
		long + "ab": long[4:] + "ab",
	} {
		if got := clipped(answer); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}
