package bench

import (
	"encoding/json"
	"math"
)

// add counts more.
func (s *Share) add(count, of int) {
	s.Count += count
	s.Of += of
}

// Value is the share; false if it is of nothing.
func (s Share) Value() (float64, bool) {
	return float64(s.Count) / float64(max(1, s.Of)), s.Of > 0
}

// Interval is Wilson's for a proportion, which holds for few cases and for
// shares near 0 and 1. It takes the cases to be independent.
func (s Share) Interval() (Interval, bool) {
	if s.Of == 0 {
		return Interval{}, false
	}
	n := float64(s.Of)
	p := float64(s.Count) / n
	middle := (p + z95*z95/(2*n)) / (1 + z95*z95/n)
	half := z95 / (1 + z95*z95/n) * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n))
	return Interval{max(0, middle-half), min(1, middle+half)}, true
}

// MarshalJSON adds the share and its interval.
func (s Share) MarshalJSON() ([]byte, error) {
	out := struct {
		Count int       `json:"count"`
		Of    int       `json:"of"`
		Share *float64  `json:"share,omitempty"`
		CI    *Interval `json:"ci,omitempty"`
	}{Count: s.Count, Of: s.Of}
	if v, ok := s.Value(); ok {
		ci, _ := s.Interval()
		out.Share, out.CI = &v, &ci
	}
	return json.Marshal(out)
}
