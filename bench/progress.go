package bench

import (
	"fmt"
	"io"
	"math"
	"time"

	"selfplay/bench/screen"
	"selfplay/inference/gpus"
	"selfplay/scheduler"
)

// progressEvery keeps a log short.
const progressEvery = 10 * time.Second

// A progressLine shows how far a run is, with a new line now and then.
type progressLine struct {
	w       io.Writer            // nil: silent
	before  int                  // games that had ended before
	planned int                  // of the whole run
	gpus    func() []gpus.Sample // the newest; nil: none are watched
	log     runLog

	shown time.Duration // when it was written last, on the clock of Progress.Elapsed
}

func (l *progressLine) update(p scheduler.Progress) {
	if p.Elapsed-l.shown >= progressEvery {
		l.show(p)
	}
}

func (l *progressLine) show(p scheduler.Progress) {
	l.shown = p.Elapsed
	if l.w != nil {
		fmt.Fprintln(l.w, l.text(p)) // an error of the screen is no reason to stop a run
	}
}

// text is the line. Rates are means since the start of this session.
func (l *progressLine) text(p scheduler.Progress) string {
	ended := l.before + p.Ended
	line := fmt.Sprintf("%s of %s games, %d%%", screen.Thousands(ended), screen.Thousands(l.planned), 100*ended/l.planned)
	seconds := p.Elapsed.Seconds()
	if seconds <= 0 {
		return line
	}
	if p.CompletionTokens+p.PrefillTokens > 0 { // long before the first game ends
		read, written := screen.Thousands(int(float64(p.PrefillTokens)/seconds)), screen.Thousands(int(float64(p.CompletionTokens)/seconds))
		line += fmt.Sprintf(", %s playing, %s tokens/s read, %s written", screen.Thousands(p.Live()), read, written)
	}
	if p.Lost > 0 {
		line += fmt.Sprintf(", %d of %d replicas lost", p.Lost, p.Replicas)
	}
	line += l.gpuText()
	if p.Ended == 0 {
		return line
	}
	perS := float64(p.Ended) / seconds
	line += fmt.Sprintf(", %.3g games/s", perS)
	if left := l.planned - ended; left > 0 {
		line += fmt.Sprintf(", %s left", screen.Roughly(time.Duration(min(float64(left)/perS*1e9, math.MaxInt64/2))))
	}
	return line
}

// gpuText is the mean utilization and the power of all GPUs that tell it.
func (l *progressLine) gpuText() string {
	if l.gpus == nil {
		return ""
	}
	var util, count, watts float64
	samples := l.gpus()
	for _, s := range samples {
		if s.Util != nil {
			util += float64(*s.Util)
			count++
		}
		if s.Power != nil {
			watts += float64(*s.Power) / 1000
		}
	}
	text := ", gpu"
	if len(samples) > 1 {
		text = ", gpus"
	}
	if count > 0 {
		text += fmt.Sprintf(" %.0f%%", util/count)
	}
	switch {
	case watts >= 1000:
		text += fmt.Sprintf(" %.1f kW", watts/1000)
	case watts > 0:
		text += fmt.Sprintf(" %.0f W", watts)
	case count == 0:
		return ""
	}
	return text
}
