package live

import (
	"math/rand/v2"
	"testing"
	"time"
)

// What is told of the time that is left holds the true one about as often as it
// says, where games end one by one and where they end in waves.
func TestPaceCovers(t *testing.T) {
	for _, c := range []struct {
		name  string
		wave  int           // games that end together
		mean  time.Duration // between them
		asked time.Duration
	}{
		{"one by one", 1, 3 * time.Second, 4 * time.Minute},
		{"fast", 1, 40 * time.Millisecond, 20 * time.Second},
		{"in waves", 16, 30 * time.Second, 20 * time.Minute},
		{"for long", 4, 5 * time.Second, 3 * time.Hour},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		held, known := 0, 0
		const runs = 400
		for range runs {
			var p Pace
			at, ended := time.Duration(0), 0
			next := func() { at += time.Duration(rng.ExpFloat64() * float64(c.mean)) }
			for next(); at <= c.asked; next() {
				for range c.wave {
					p.Add(at)
					ended++
				}
			}
			l := p.Left(c.asked, 10*ended)
			for left := 10 * ended; ; next() {
				if left -= c.wave; left <= 0 {
					break
				}
			}
			if l.Known {
				known++
				if took := at - c.asked; l.Low <= took && (l.High == 0 || took <= l.High) {
					held++
				}
			}
		}
		share := float64(held) / float64(known)
		t.Logf("%s: %.3f of %d", c.name, share, known)
		if known < runs*9/10 || share < 0.90 || share > 0.995 {
			t.Errorf("%s: the interval holds %.3f of %d times", c.name, share, known)
		}
	}
}

func TestPaceLeft(t *testing.T) {
	var p Pace
	if l := p.Left(time.Minute, 5); l.Known {
		t.Errorf("without a game: %+v", l)
	}
	p = Pace{}
	p.Add(time.Second)
	if l := p.Left(2*time.Second, 5); l.Known { // too short to tell
		t.Errorf("after two seconds: %+v", l)
	}
	l := p.Left(time.Minute, 5)
	if !l.Known || l.High != 0 || l.Low > 5*time.Minute || l.Mean != 5*time.Minute {
		t.Errorf("after one game in a minute: %+v", l)
	}
	if l := p.Left(time.Minute, 0); l.Known {
		t.Errorf("nothing is left: %+v", l)
	}
	// However even games come, two of many rates are possible.
	p = Pace{}
	for at := time.Duration(0); at < time.Hour; at += time.Second {
		p.Add(at)
	}
	if l := p.Left(time.Hour, 3600); l.Mean.Round(time.Minute) != time.Hour || l.Low >= l.Mean || l.High <= l.Mean || l.High > l.Mean*12/10 {
		t.Errorf("an hour of a game a second: %+v", l)
	}
	if n := len(p.counts); n > mostStretches || n < mostStretches/2 {
		t.Errorf("%d stretches", n)
	}
	sum := 0
	for _, c := range p.counts {
		sum += c
	}
	if sum != 3600 {
		t.Errorf("%d games of 3600 are left in the stretches", sum)
	}
}
