package live

import (
	"fmt"
	"strconv"
	"time"

	"selfplay/bench/screen"
)

// short is a count in at most four characters: 999, 1.2k, 12k, 1.2M.
func short(n int) string {
	units := []string{"", "k", "M", "G"}
	v := float64(n)
	for i, unit := range units {
		switch {
		case i == 0 && n < 1000:
			return strconv.Itoa(n)
		case i > 0 && v < 9.95:
			return fmt.Sprintf("%.1f%s", v, unit)
		case i > 0 && v < 999.5:
			return fmt.Sprintf("%.0f%s", v, unit)
		}
		v /= 1000
	}
	return "many"
}

// shorter is a count in at most three characters: 999, 1k, 12k, .2M.
func shorter(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 99_500:
		return fmt.Sprintf("%.0fk", float64(n)/1000)
	case n < 950_000:
		return fmt.Sprintf(".%.0fM", float64(n)/100_000)
	}
	return fmt.Sprintf("%.0fM", float64(n)/1e6)
}

// perSecond is a rate with three digits that count.
func perSecond(v float64) string {
	if v >= 100 {
		return screen.Thousands(int(v + 0.5))
	}
	return fmt.Sprintf("%.3g", v)
}

// clock is a time as a stop watch shows it.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s%3600/60, s%60)
}

// percent is a share of all; "" of nothing.
func percent(part, all int) string {
	if all == 0 {
		return ""
	}
	p := 100 * float64(part) / float64(all)
	if part > 0 && p < 9.95 {
		return fmt.Sprintf("%.1f%%", p)
	}
	return fmt.Sprintf("%.0f%%", p)
}

// margin is one in four characters: +.50, -1.0, 0.
func margin(v float64) string {
	s := fmt.Sprintf("%+.2f", v)
	switch {
	case s == "+0.00" || s == "-0.00":
		return ".00"
	case s[1] == '1':
		return s[:4]
	}
	return s[:1] + s[2:]
}
