package live

import (
	"math"
	"time"
)

// A Pace counts when games ended, in stretches of time of equal length: at first
// short ones, and whenever there are mostStretches, half as many twice as long. What
// is known of the time that the rest takes is how much these differ.
type Pace struct {
	span   time.Duration
	counts []int
}

const (
	firstSpan      = 500 * time.Millisecond
	mostStretches  = 32
	leastStretches = 8 // to tell anything from
)

// Left is how long the rest of a run may take; Known: something can be told. High
// is 0 if there is no telling how long at most.
type Left struct {
	Known           bool
	Mean, Low, High time.Duration
}

// Add counts a game that ended at a time.
func (p *Pace) Add(at time.Duration) {
	p.reach(at)
	p.counts[int(at/p.span)]++
}

// reach makes the stretch that at lies in.
func (p *Pace) reach(at time.Duration) {
	if p.span == 0 {
		p.span = firstSpan
	}
	for int(at/p.span) >= mostStretches {
		for i := range p.counts {
			n := p.counts[i]
			p.counts[i] = 0
			p.counts[i/2] += n
		}
		p.counts = p.counts[:(len(p.counts)+1)/2]
		p.span *= 2
	}
	for len(p.counts) <= int(at/p.span) {
		p.counts = append(p.counts, 0)
	}
}

// Left is how long n more games take from now on, if they come as those before did.
// The interval is one that holds such a time with 95 %: with stretches of length d
// in which games ended at a mean rate r, with the standard deviation s, r is known
// to s/√k from the k stretches so far, and the mean of a time t to come differs from
// it by s/√(t/d) besides. Times are r's, turned over. That stretches which follow
// each other are alike, as at the start, where no game ends for a while, makes s
// larger, and the interval wider.
func (p *Pace) Left(now time.Duration, n int) Left {
	p.reach(now)
	whole := p.counts[:int(now/p.span)] // the last one is not over
	k := float64(len(whole))
	sum, squares := 0.0, 0.0
	for _, c := range whole {
		sum += float64(c)
		squares += float64(c) * float64(c)
	}
	if len(whole) < leastStretches || sum == 0 || n <= 0 {
		return Left{}
	}
	mean := sum / k
	stretches := float64(n) / mean
	deviation := math.Sqrt(max(0, squares-sum*mean)/(k-1) + mean/k) // never none, however even
	half := student(k-1) * deviation / mean * math.Sqrt(1/k+1/stretches)
	l := Left{Known: true, Mean: p.times(stretches), Low: p.times(stretches / (1 + half))}
	if half < 0.9 {
		l.High = p.times(stretches / (1 - half))
	}
	return l
}

func (p *Pace) times(stretches float64) time.Duration {
	return time.Duration(min(stretches*float64(p.span), math.MaxInt64/2))
}

// student is the 97.5 % quantile of Student's distribution, to 0.02 from 7 degrees
// of freedom on.
func student(degrees float64) float64 { return 1.96 + 2.8/degrees }
