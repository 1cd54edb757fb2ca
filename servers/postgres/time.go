package postgres

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A timestamp is a time in microseconds since the year 2000, as PostgreSQL stores it. The
// session's time zone is always UTC.
type stamp int64

// The timestamps that are not times.
const (
	plusInfinity  stamp = math.MaxInt64 // 'infinity'
	minusInfinity stamp = math.MinInt64 // '-infinity'
)

var year2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// timestampOf converts a time to a timestamp; nanoseconds are cut off.
func stampOf(t time.Time) stamp { return stamp(floorDiv(int64(t.Sub(year2000)), 1000)) }

// floorDiv returns a/b, rounded down; b must be positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (s stamp) isFinite() bool { return s != plusInfinity && s != minusInfinity }

// time converts a finite timestamp to a time.
func (s stamp) time() time.Time {
	return year2000.AddDate(0, 0, int(floorDiv(int64(s), day))).Add(time.Duration(int64(s)-floorDiv(int64(s), day)*day) * time.Microsecond)
}

func (s stamp) String() string {
	switch s {
	case plusInfinity:
		return "infinity"
	case minusInfinity:
		return "-infinity"
	}
	return s.time().Format("2006-01-02 15:04:05.999999+00")
}

// The limits of a timestamp.
var (
	firstStamp = stamp(-211_813_488_000_000_000) // 4714-11-24 BC
	lastStamp  = stamp(9_223_371_331_200_000_000)
)

// checkRange returns the timestamp. It raises an error if PostgreSQL cannot store it.
func (s stamp) checkRange() stamp {
	if s.isFinite() && (s < firstStamp || s > lastStamp) {
		raise(errStampRange)
	}
	return s
}

var (
	errStampRange = newError(timeOutOfRange, "timestamp out of range")
	errSpanRange  = newError(timeOutOfRange, "interval out of range")
)

// timestampLayouts are the forms in which a time can be written.
var stampLayouts = []string{
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02",
}

// parseTimestamp parses a time. It ignores a time zone in the text unless zoned is true.
func parseStamp(text string, zoned bool) (stamp, bool) {
	switch strings.ToLower(text) {
	case "infinity":
		return plusInfinity, true
	case "-infinity":
		return minusInfinity, true
	case "epoch":
		return stampOf(time.Unix(0, 0)), true
	}
	text = strings.Replace(text, "T", " ", 1)
	for _, layout := range stampLayouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 1800 && t.Year() < 2200 {
			if _, offset := t.Zone(); !zoned {
				t = t.Add(time.Duration(offset) * time.Second)
			}
			return stampOf(t.Round(time.Microsecond)), true
		}
	}
	return 0, false
}

// An interval is a length of time. Its fields are in the order in which the protocol sends
// them. Months and days are kept apart, because their lengths vary.
type span struct {
	micros       int64
	days, months int32
}

const (
	second = int64(1_000_000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// normalize returns the interval as days and microseconds, with days of 24 hours and months
// of 30 days.
func (s span) normalize() (days, micros int64) {
	days = int64(s.months)*30 + int64(s.days) + floorDiv(s.micros, day)
	return days, s.micros - floorDiv(s.micros, day)*day
}

// compare orders two intervals by their normalized lengths.
func (s span) compare(o span) int {
	days, micros := s.normalize()
	others, left := o.normalize()
	return cmp.Or(cmp.Compare(days, others), cmp.Compare(micros, left))
}

func (s span) negated() span {
	return spanOf(-int64(s.months), -int64(s.days), -s.micros, s.micros == math.MinInt64)
}

// intervalOf makes an interval. It raises an error if a part is too large for its field, or
// if overflows is true.
func spanOf(months, days, micros int64, overflows bool) span {
	if overflows || months != int64(int32(months)) || days != int64(int32(days)) {
		raise(errSpanRange)
	}
	return span{micros, int32(days), int32(months)}
}

func (s span) add(o span) span {
	sum := s.micros + o.micros
	return spanOf(int64(s.months)+int64(o.months), int64(s.days)+int64(o.days), sum, (sum > s.micros) != (o.micros > 0) && o.micros != 0)
}

// multiply returns the interval times f. A fraction of a month becomes days, and a fraction
// of a day becomes hours.
func (s span) multiply(f float64) span {
	months := float64(s.months) * f
	days := float64(s.days)*f + (months-math.Trunc(months))*30
	micros := math.RoundToEven(float64(s.micros)*f + (days-math.Trunc(days))*float64(day))
	if math.IsNaN(f) || math.Abs(months) > math.MaxInt32 || math.Abs(days) > math.MaxInt32 || math.Abs(micros) >= math.MaxInt64 {
		raise(errSpanRange)
	}
	return span{int64(micros), int32(days), int32(months)}
}

// add returns the time plus an interval.
func (s stamp) add(d span) stamp {
	if !s.isFinite() {
		return s
	}
	if d.months != 0 {
		t := s.time()
		first := time.Date(t.Year(), t.Month()+time.Month(d.months), 1, 0, 0, 0, 0, time.UTC)
		if year := first.Year(); year < 1 || year > 290_000 {
			raise(errStampRange)
		}
		last := first.AddDate(0, 1, -1).Day()
		days := floorDiv(first.AddDate(0, 0, min(t.Day(), last)-1).Unix()-year2000.Unix(), day/second)
		s = stamp(days*day + int64(s) - floorDiv(int64(s), day)*day)
	}
	sum := float64(s) + float64(d.days)*float64(day) + float64(d.micros)
	if sum < float64(firstStamp) || sum > float64(lastStamp) {
		raise(errStampRange)
	}
	return (s + stamp(int64(d.days)*day+d.micros)).checkRange()
}

// sub returns the interval from o to s.
func (s stamp) sub(o stamp) span {
	raiseIf(!s.isFinite() || !o.isFinite(), timeOutOfRange, "cannot subtract infinite timestamps")
	micros := int64(s - o)
	return span{days: int32(micros / day), micros: micros % day}
}

func (s span) String() string {
	var parts []string
	add := func(n int32, one string) {
		if n != 0 {
			if n != 1 {
				one += "s"
			}
			parts = append(parts, fmt.Sprint(n, " ", one))
		}
	}
	add(s.months/12, "year")
	add(s.months%12, "mon")
	add(s.days, "day")
	if s.micros != 0 || len(parts) == 0 {
		sign, m := "", uint64(s.micros)
		if s.micros < 0 {
			sign, m = "-", -m
		} else if s.days < 0 || s.months < 0 {
			sign = "+"
		}
		text := fmt.Sprintf("%s%02d:%02d:%02d", sign, m/uint64(hour), m/uint64(minute)%60, m/uint64(second)%60)
		if rest := m % uint64(second); rest != 0 {
			text += strings.TrimRight(fmt.Sprintf(".%06d", rest), "0")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// units are the lengths of the units of an interval, each in months, days or microseconds.
var units = map[string]struct{ months, days, micros float64 }{
	"microsecond": {0, 0, 1}, "us": {0, 0, 1}, "millisecond": {0, 0, 1e3}, "ms": {0, 0, 1e3},
	"second": {0, 0, 1e6}, "sec": {0, 0, 1e6}, "s": {0, 0, 1e6}, "": {0, 0, 1e6},
	"minute": {0, 0, 60e6}, "min": {0, 0, 60e6}, "m": {0, 0, 60e6}, "hour": {0, 0, 3600e6}, "h": {0, 0, 3600e6}, "hr": {0, 0, 3600e6},
	"day": {0, 1, 0}, "d": {0, 1, 0}, "week": {0, 7, 0}, "w": {0, 7, 0},
	"month": {1, 0, 0}, "mon": {1, 0, 0}, "year": {12, 0, 0}, "y": {12, 0, 0},
}

// parseInterval parses an interval that is written as numbers with units, or as hours,
// minutes and seconds with colons, or as both. It does not know the forms of ISO 8601. It
// returns false if it cannot parse the text.
func parseSpan(text string) (sum span, some bool) {
	for rest := strings.TrimSpace(strings.ToLower(text)); rest != ""; rest = strings.TrimLeft(rest, " ") {
		n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("+-0123456789.:", r) })
		if n < 0 {
			n = len(rest)
		}
		number := rest[:n]
		rest = strings.TrimLeft(rest[n:], " ")
		var part span
		var ok bool
		if strings.Contains(number, ":") {
			part, ok = parseClock(number)
		} else {
			m := strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
			if m < 0 {
				m = len(rest)
			}
			part, ok = parseUnit(number, rest[:m])
			rest = rest[m:]
		}
		if !ok {
			return span{}, false
		}
		sum, some = sum.add(part), true
	}
	return sum, some
}

// parseUnit parses a number with a unit.
func parseUnit(number, unit string) (span, bool) {
	u, known := units[unit]
	if !known {
		u, known = units[strings.TrimSuffix(unit, "s")]
	}
	f, err := strconv.ParseFloat(number, 64)
	if !known || err != nil || unit == "" && number == "" {
		return span{}, false
	}
	return span{int64(u.micros), int32(u.days), int32(u.months)}.multiply(f), true
}

// parseClock parses hours, minutes and seconds with colons.
func parseClock(text string) (span, bool) {
	sign := int64(1)
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		text, sign = rest, -1
	}
	parts := strings.Split(strings.TrimPrefix(text, "+"), ":")
	if len(parts) > 3 {
		return span{}, false
	}
	var micros int64
	for i, part := range parts {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil || f < 0 || i > 0 && f >= 60 || f > 1e6 || i < 2 && f != math.Trunc(f) {
			return span{}, false
		}
		micros += int64(math.RoundToEven(f * float64([]int64{hour, minute, second}[i])))
	}
	return span{micros: sign * micros}, true
}
