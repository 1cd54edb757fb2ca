package story

import (
	"testing"
	"time"
)

// Moments are truncated to a number of decimals, not rounded.
func TestMoment(t *testing.T) {
	for _, c := range []struct {
		at       time.Duration
		decimals int
		want     string
	}{
		{0, 3, "0.000s"},
		{30*time.Second + 1999*time.Microsecond, 3, "30.001s"},
		{-98 * time.Millisecond, 3, "-0.098s"},
		{90*time.Second + 5*time.Nanosecond, 9, "90.000000005s"},
	} {
		if got := Moment(c.at, c.decimals); got != c.want {
			t.Errorf("Moment(%d, %d) = %q, want %q", c.at, c.decimals, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                            "0s",
		999:                          "999ns",
		1234567:                      "1.23ms",
		30 * time.Second:             "30s",
		30*time.Second + 12345678:    "30s",
		61*time.Second + 240_000_000: "1m1.2s",
		-10 * time.Second:            "-10s",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestWaitedTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                       "0s",
		700 * time.Microsecond:                  "1ms",
		480 * time.Millisecond:                  "480ms",
		1340 * time.Millisecond:                 "1.3s",
		59*time.Second + 960*time.Millisecond:   "1m 0s",
		200 * time.Second:                       "3m 20s",
		59*time.Minute + 59900*time.Millisecond: "1h 0m",
		5*time.Hour + 12*time.Minute + 29*time.Second: "5h 12m",
		49 * time.Hour: "49h 0m",
	} {
		if got := WaitedTime(d); got != want {
			t.Errorf("WaitedTime(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	for ppb, want := range map[int64]string{
		20_000_000: "2% fast",
		-5_500_000: "0.55% slow",
		50_000:     "50 ppm fast",
		3:          "3 ppb fast",
		0:          "true",
	} {
		if got := rate(ppb); got != want {
			t.Errorf("rate(%d) = %q, want %q", ppb, got, want)
		}
	}
}

func TestProseSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Minute: "1m", 31240 * time.Millisecond: "31.2s", 1234 * time.Microsecond: "1ms", 999600 * time.Microsecond: "1s", 2 * time.Hour: "2h",
	} {
		if got := ProseSpan(d); got != want {
			t.Errorf("ProseSpan(%v) = %q, want %q", d, got, want)
		}
	}
}
