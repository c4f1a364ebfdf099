package games

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"selfplay/locales"
)

// Cells are numbered row by row from 0; seat 0 moves first.
func TestReviewByHand(t *testing.T) {
	for _, c := range []struct {
		name, env, answers string
		want               Review
	}{
		// O 0 1 2 is the top row.
		{"a row", "TicTacToe-v0", "[0] [3] [1] [4] [2]", Review{Rows: 1}},
		{"a column of X", "TicTacToe-v0", "[0] [2] [1] [5] [3] [8]", Review{Columns: 1}},
		{"a diagonal", "TicTacToe-v0", "[2] [0] [4] [1] [6]", Review{Diagonals: 1}},
		// O has 0 1, 5 8; X 3 4 6 7. Cell 2 ends the row 0 1 2 and the column 2 5 8.
		{"row and column at once", "TicTacToe-v0", "[0] [3] [1] [4] [5] [6] [8] [7] [2]", Review{Rows: 1, Columns: 1}},
		// O has 0 2 6 8 and ends both diagonals in the middle.
		{"both diagonals", "TicTacToe-v0", "[0] [1] [2] [3] [6] [5] [8] [7] [4]", Review{Diagonals: 2}},
		{"a line, after a corrected mistake", "TicTacToe-v0", "[0] [0] [3] [1] [4] [2]", Review{Rows: 1}},
		{"lost by mistakes", "TicTacToe-v0", "[0] [0] [9]", Review{}},
		{"drawn", "TicTacToe-v0", "[0] [1] [2] [4] [3] [5] [7] [6] [8]", Review{}},
		{"not ended", "TicTacToe-v0", "[0]", Review{}},

		// 4x4: O fills row 1, X row 3.
		{"across", "SimpleTak-v0", "[4] [12] [5] [13] [6] [14] [7]", Review{Across: true}},
		{"down", "SimpleTak-v0", "[0] [1] [4] [2] [8] [3] [12]", Review{Down: true}},
		// O has 0 4 8, 13 14 15: cell 12 joins top and bottom, left and right.
		{"both", "SimpleTak-v0", "[0] [1] [4] [2] [8] [3] [13] [5] [14] [6] [15] [7] [12]", Review{Across: true, Down: true}},
		{"across a larger board", "SimpleTak-v0-medium", "[0] [5] [1] [6] [2] [7] [3] [8] [4]", Review{Across: true}},
		// Four in a row of five do not reach the edge.
		{"of another size", "SimpleTak-v0-medium", "[0] [5] [1] [6] [2] [7] [3]", Review{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := Lookup(c.env)
			if err != nil {
				t.Fatal(err)
			}
			got, err := spec.Review(1, strings.Fields(c.answers))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v %v, want %+v", got, err, c.want)
			}
		})
	}
}

// The cards that a review names are those that the players were told, in every
// round; and its moves are legal where it says a bet is faced.
func TestReviewOfKuhnPoker(t *testing.T) {
	spec, err := Lookup("KuhnPoker-v0-short")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for seed := range int64(20) {
		g, err := spec.New(locales.Embedded(), [2]string{"en", "en"}, seed)
		if err != nil {
			t.Fatal(err)
		}
		var answers []string
		var want []KuhnSpot
		for ended := false; !ended; _, ended = g.Result() {
			shown := g.Observation()
			at := strings.LastIndex(shown, "You hold the card '")
			if at < 0 {
				t.Fatalf("no card in %q", shown)
			}
			facing := strings.LastIndex(shown, "'[call]'") > strings.LastIndex(shown, "'[check]'")
			spot := KuhnSpot{Card: shown[at+len("You hold the card '")], Facing: facing}
			answer := g.(Mover).RandomAction(rng.IntN)
			if rng.IntN(9) == 0 {
				answer = "what?"
			}
			if e := g.Step(answer); !e.Invalid {
				spot.Move = strings.Trim(answer, "[]")
			}
			answers, want = append(answers, answer), append(want, spot)
		}
		got, err := spec.Review(seed, answers)
		if err != nil || !reflect.DeepEqual(got.Spots, want) {
			t.Fatalf("seed %d, %q:\n%v %v, want\n%v", seed, answers, got.Spots, err, want)
		}
	}
}

func TestReviewOfAnotherGame(t *testing.T) {
	spec, err := Lookup("TicTacToe-v0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = spec.Review(1, strings.Fields("[0] [3] [1] [4] [2] [5]"))
	if want := "ended with answer 5 of 6"; err == nil || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v, want ...%s...", err, want)
	}
}
