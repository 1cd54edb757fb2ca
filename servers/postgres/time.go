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
type timestamp int64

// PostgreSQL's infinite timestamps.
const (
	plusInfinity  timestamp = math.MaxInt64 // 'infinity'
	minusInfinity timestamp = math.MinInt64 // '-infinity'
)

var year2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// timestampOf converts a time to a timestamp; nanoseconds are cut off.
func timestampOf(t time.Time) timestamp { return timestamp(floorDiv(int64(t.Sub(year2000)), 1000)) }

// floorDiv returns a/b, rounded down; b must be positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (s timestamp) isFinite() bool { return s != plusInfinity && s != minusInfinity }

// time converts a finite timestamp to a time.
func (s timestamp) time() time.Time {
	return year2000.AddDate(0, 0, int(floorDiv(int64(s), day))).Add(time.Duration(int64(s)-floorDiv(int64(s), day)*day) * time.Microsecond)
}

func (s timestamp) String() string {
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
	firstTimestamp = timestamp(-211_813_488_000_000_000) // 4714-11-24 BC
	lastTimestamp  = timestamp(9_223_371_331_200_000_000)
)

// checkRange returns the timestamp. It raises an error if PostgreSQL cannot store it.
func (s timestamp) checkRange() timestamp {
	if s.isFinite() && (s < firstTimestamp || s > lastTimestamp) {
		raise(errTimestampRange)
	}
	return s
}

var (
	errTimestampRange = newError(timeOutOfRange, "timestamp out of range")
	errIntervalRange  = newError(timeOutOfRange, "interval out of range")
)

// timestampLayouts are the forms in which a time can be written.
var timestampLayouts = []string{
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02",
}

// parseTimestamp parses a time. It ignores a time zone in the text unless zoned is true.
func parseTimestamp(text string, zoned bool) (timestamp, bool) {
	switch strings.ToLower(text) {
	case "infinity":
		return plusInfinity, true
	case "-infinity":
		return minusInfinity, true
	case "epoch":
		return timestampOf(time.Unix(0, 0)), true
	}
	text = strings.Replace(text, "T", " ", 1)
	for _, layout := range timestampLayouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 1800 && t.Year() < 2200 {
			if _, offset := t.Zone(); !zoned {
				t = t.Add(time.Duration(offset) * time.Second)
			}
			return timestampOf(t.Round(time.Microsecond)), true
		}
	}
	return 0, false
}

// An interval is a length of time. Its fields are in the order in which the protocol sends
// them. Months and days are kept apart, because their lengths vary.
type interval struct {
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
func (s interval) normalize() (days, micros int64) {
	days = int64(s.months)*30 + int64(s.days) + floorDiv(s.micros, day)
	return days, s.micros - floorDiv(s.micros, day)*day
}

// compare orders two intervals by their normalized lengths.
func (s interval) compare(o interval) int {
	days, micros := s.normalize()
	otherDays, otherMicros := o.normalize()
	return cmp.Or(cmp.Compare(days, otherDays), cmp.Compare(micros, otherMicros))
}

func (s interval) negate() interval {
	return intervalOf(-int64(s.months), -int64(s.days), -s.micros, s.micros == math.MinInt64)
}

// intervalOf makes an interval. It raises an error if a part is too large for its field, or
// if overflows is true.
func intervalOf(months, days, micros int64, overflows bool) interval {
	if overflows || months != int64(int32(months)) || days != int64(int32(days)) {
		raise(errIntervalRange)
	}
	return interval{micros, int32(days), int32(months)}
}

func (s interval) add(o interval) interval {
	sum := s.micros + o.micros
	return intervalOf(int64(s.months)+int64(o.months), int64(s.days)+int64(o.days), sum, (sum > s.micros) != (o.micros > 0) && o.micros != 0)
}

// multiply returns the interval times f. A fraction of a month becomes days, and a fraction
// of a day becomes hours.
func (s interval) multiply(f float64) interval {
	months := float64(s.months) * f
	days := float64(s.days)*f + (months-math.Trunc(months))*30
	micros := math.RoundToEven(float64(s.micros)*f + (days-math.Trunc(days))*float64(day))
	if math.IsNaN(f) || math.Abs(months) > math.MaxInt32 || math.Abs(days) > math.MaxInt32 || math.Abs(micros) >= math.MaxInt64 {
		raise(errIntervalRange)
	}
	return interval{int64(micros), int32(days), int32(months)}
}

// add returns the time plus an interval.
func (s timestamp) add(d interval) timestamp {
	if !s.isFinite() {
		return s
	}
	if d.months != 0 {
		t := s.time()
		first := time.Date(t.Year(), t.Month()+time.Month(d.months), 1, 0, 0, 0, 0, time.UTC)
		if year := first.Year(); year < 1 || year > 290_000 {
			raise(errTimestampRange)
		}
		last := first.AddDate(0, 1, -1).Day()
		days := floorDiv(first.AddDate(0, 0, min(t.Day(), last)-1).Unix()-year2000.Unix(), day/second)
		s = timestamp(days*day + int64(s) - floorDiv(int64(s), day)*day)
	}
	sum := float64(s) + float64(d.days)*float64(day) + float64(d.micros)
	if sum < float64(firstTimestamp) || sum > float64(lastTimestamp) {
		raise(errTimestampRange)
	}
	return (s + timestamp(int64(d.days)*day+d.micros)).checkRange()
}

// sub returns the interval from o to s.
func (s timestamp) sub(o timestamp) interval {
	raiseIf(!s.isFinite() || !o.isFinite(), timeOutOfRange, "cannot subtract infinite timestamps")
	micros := int64(s - o)
	return interval{days: int32(micros / day), micros: micros % day}
}

func (s interval) String() string {
	var parts []string
	add := func(n int32, unit string) {
		if n != 0 {
			if n != 1 {
				unit += "s"
			}
			parts = append(parts, fmt.Sprint(n, " ", unit))
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
func parseInterval(text string) (sum interval, found bool) {
	for rest := strings.TrimSpace(strings.ToLower(text)); rest != ""; rest = strings.TrimLeft(rest, " ") {
		n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("+-0123456789.:", r) })
		if n < 0 {
			n = len(rest)
		}
		number := rest[:n]
		rest = strings.TrimLeft(rest[n:], " ")
		var part interval
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
			return interval{}, false
		}
		sum, found = sum.add(part), true
	}
	return sum, found
}

// parseUnit parses a number with a unit.
func parseUnit(number, unit string) (interval, bool) {
	u, known := units[unit]
	if !known {
		u, known = units[strings.TrimSuffix(unit, "s")]
	}
	f, err := strconv.ParseFloat(number, 64)
	if !known || err != nil || unit == "" && number == "" {
		return interval{}, false
	}
	return interval{int64(u.micros), int32(u.days), int32(u.months)}.multiply(f), true
}

// parseClock parses hours, minutes and seconds with colons.
func parseClock(text string) (interval, bool) {
	sign := int64(1)
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		text, sign = rest, -1
	}
	parts := strings.Split(strings.TrimPrefix(text, "+"), ":")
	if len(parts) > 3 {
		return interval{}, false
	}
	var micros int64
	for i, part := range parts {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil || f < 0 || i > 0 && f >= 60 || f > 1e6 || i < 2 && f != math.Trunc(f) {
			return interval{}, false
		}
		micros += int64(math.RoundToEven(f * float64([]int64{hour, minute, second}[i])))
	}
	return interval{micros: sign * micros}, true
}
