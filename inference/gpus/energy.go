package gpus

import "time"

// A Source says where a number of joules comes from.
type Source string

// The sources of energy figures.
const (
	FromCounter Source = "counter" // the GPU's own counter
	FromPower   Source = "power"   // its power, integrated over the samples
	FromBoth    Source = "both"    // the counter, but for times when it gave no sense
)

// maxWatts is more than any GPU takes. A counter that says more has jumped.
const maxWatts = 10_000

// A meter adds up the energy that a GPU takes, sample by sample: from the
// counter between two samples that have it, or else from the mean of their power.
// The counter may be set back at any time, when the driver is loaded again; that
// interval is one without it.
type meter struct {
	last    Sample
	begun   bool
	joules  float64
	counter bool // some interval was measured so
	power   bool
}

// add takes the next sample and fills in its Joules and From.
func (m *meter) add(s *Sample) {
	if m.begun {
		m.interval(s)
	}
	m.begun, m.last = true, *s
	if s.From = m.source(); s.From != "" {
		joules := m.joules
		s.Joules = &joules
	}
}

func (m *meter) interval(s *Sample) {
	seconds := (s.At - m.last.At).Seconds()
	// The counter itself is read now and then: a second more does no harm.
	if a, b := m.last.Counter, s.Counter; a != nil && b != nil && *b >= *a &&
		float64(*b-*a) <= 1000*maxWatts*(seconds+time.Second.Seconds()) {
		m.joules += float64(*b-*a) / 1000
		m.counter = true
		return
	}
	if a, b := m.last.Power, s.Power; a != nil && b != nil {
		m.joules += (float64(*a) + float64(*b)) / 2 / 1000 * seconds
		m.power = true
	}
}

func (m *meter) source() Source {
	switch {
	case m.counter && m.power:
		return FromBoth
	case m.counter:
		return FromCounter
	case m.power:
		return FromPower
	}
	return ""
}
