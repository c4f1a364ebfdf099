package bench

import (
	"math"
	"math/rand/v2"
	"testing"

	"selfplay/scheduler"
)

func matrixOf(tallies map[[2]string]Tally) Matrix {
	m := Matrix{}
	for langs, t := range tallies {
		for rewards, n := range map[[2]int]int{{1, -1}: t.Wins0, {-1, 1}: t.Wins1, {0, 0}: t.Draws} {
			for range n {
				m.add(Outcome{Job: scheduler.Job{Langs: langs}, Rewards: rewards})
			}
		}
	}
	return m
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// Three languages, ten games a direction, worked out by hand:
//
//	en:ar  (en,ar) 7-2-1  (ar,en) 4-5-1  en won 7+5, lost 2+4: (12-6)/20 =  0.30
//	en:zh  (en,zh) 3-3-4  (zh,en) 6-1-3  en won 3+1, lost 3+6: ( 4-9)/20 = -0.25
//	ar:zh  (ar,zh) 0-10-0 (zh,ar) 5-5-0  ar won 0+5, lost 10+5:(5-15)/20 = -0.50
//
//	mu(en) = (0.30-0.25)/2 = 0.025   mu(ar) = (-0.30-0.50)/2 = -0.40
//	mu(zh) = (0.25+0.50)/2 = 0.375   gap = 0.375+0.40 = 0.775
//	first mover in en: 6-1-3: (6-1)/10 = 0.5
func TestMetricsByHand(t *testing.T) {
	m := matrixOf(map[[2]string]Tally{
		{"en", "ar"}: {7, 2, 1}, {"ar", "en"}: {4, 5, 1},
		{"en", "zh"}: {3, 3, 4}, {"zh", "en"}: {6, 1, 3},
		{"ar", "zh"}: {0, 10, 0}, {"zh", "ar"}: {5, 5, 0},
		{"en", "en"}: {6, 1, 3},
	})
	langs := []string{"en", "ar", "zh"}
	for _, c := range []struct {
		a, b string
		want float64
	}{{"en", "ar", 0.30}, {"ar", "en", -0.30}, {"en", "zh", -0.25}, {"ar", "zh", -0.50}, {"zh", "ar", 0.50}} {
		if got, ok := m.Margin(c.a, c.b); !ok || !near(got, c.want) {
			t.Errorf("Margin(%s,%s) = %v %v, want %v", c.a, c.b, got, ok, c.want)
		}
	}
	var means []float64
	for i, want := range []float64{0.025, -0.40, 0.375} {
		mu, ok := m.MeanMargin(langs[i], langs)
		if !ok || !near(mu, want) {
			t.Errorf("mu(%s) = %v %v, want %v", langs[i], mu, ok, want)
		}
		means = append(means, mu)
	}
	if gap, ok := Gap(means); !ok || !near(gap, 0.775) {
		t.Errorf("gap %v %v, want 0.775", gap, ok)
	}
	if v, ok := m.FirstMover("en"); !ok || v != 0.5 {
		t.Errorf("first mover %v %v, want 0.5", v, ok)
	}
}

// Where no game speaks, there is no value: never a zero, never NaN.
func TestMetricsMissing(t *testing.T) {
	m := matrixOf(map[[2]string]Tally{{"en", "ar"}: {1, 0, 0}, {"en", "en"}: {1, 0, 0}})
	if _, ok := m.Margin("en", "zh"); ok {
		t.Error("a margin without games")
	}
	if _, ok := m.Margin("en", "en"); ok {
		t.Error("a margin of a language over itself")
	}
	if _, ok := m.FirstMover("ar"); ok {
		t.Error("a first mover's margin without games")
	}
	if _, ok := m.MeanMargin("zh", []string{"en", "ar", "zh"}); ok {
		t.Error("a mean margin without games")
	}
	if mu, ok := m.MeanMargin("en", []string{"en", "ar", "zh"}); !ok || mu != 1 {
		t.Errorf("mean over the pair played: %v %v, want 1", mu, ok)
	}
	if _, ok := Gap([]float64{1}); ok {
		t.Error("a gap of one language")
	}
}

// One direction played more often than the other, as in a run cut short: the
// margin counts games, not directions.
func TestMarginPoolsGames(t *testing.T) {
	m := matrixOf(map[[2]string]Tally{{"a", "b"}: {3, 0, 0}, {"b", "a"}: {1, 0, 0}})
	if v, _ := m.Margin("a", "b"); v != 0.5 { // (3-1)/4
		t.Errorf("margin %v, want 0.5", v)
	}
}

func TestMarginProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	langs := []string{"a", "b", "c", "d"}
	for range 200 {
		m := Matrix{}
		for _, a := range langs {
			for _, b := range langs {
				m[[2]string{a, b}] = Tally{rng.IntN(4), rng.IntN(4), rng.IntN(4)}
			}
		}
		sum := 0.0
		for _, a := range langs {
			for _, b := range langs {
				ab, ok1 := m.Margin(a, b)
				ba, ok2 := m.Margin(b, a)
				if ok1 != ok2 || ab != -ba || ab < -1 || ab > 1 {
					t.Fatalf("Margin(%s,%s) = %v, reversed %v", a, b, ab, ba)
				}
				sum += ab
			}
		}
		if !near(sum, 0) {
			t.Fatalf("all margins sum to %v, want 0", sum)
		}
	}
}
