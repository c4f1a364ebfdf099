package games

import (
	"math/rand/v2"
	"strings"
	"testing"

	"selfplay/locales"
)

// BenchmarkGames plays whole games by chance, every observation read.
func BenchmarkGames(b *testing.B) {
	for _, env := range Names() {
		if !strings.HasSuffix(env, "-v0") {
			continue
		}
		spec, err := Lookup(env)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(env, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			chars := 0
			b.ReportAllocs()
			for i := range b.N {
				g, err := spec.New(locales.Embedded(), [2]string{"en", "ar"}, int64(i))
				if err != nil {
					b.Fatal(err)
				}
				for {
					if _, ended := g.Result(); ended {
						break
					}
					chars += len(g.Observation())
					g.Step(g.(Mover).RandomAction(rng.IntN))
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "games/s")
			b.ReportMetric(float64(chars)/float64(b.N), "chars/game")
		})
	}
}
