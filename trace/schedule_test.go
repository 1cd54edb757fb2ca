package trace

import (
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	s := Schedule{First: 5 * time.Second, Every: time.Minute, Periods: 2}
	for at, want := range map[time.Duration]int{
		-time.Hour:         0,
		0:                  0,
		5*time.Second - 1:  0,
		5 * time.Second:    1,
		65*time.Second - 1: 1,
		65 * time.Second:   2,
		time.Hour:          60,
		1 << 62:            MaxPeriods + 1,
	} {
		if got := s.PeriodAt(at); got != want {
			t.Errorf("%v is in period %d, want %d", at, got, want)
		}
	}
	for period := 1; period <= s.Periods; period++ {
		if at := s.PeriodStart(period); s.PeriodAt(at) != period || s.PeriodAt(at-1) != period-1 {
			t.Errorf("period %d begins at %v, which is in period %d, after a nanosecond in period %d", period, at, s.PeriodAt(at), s.PeriodAt(at-1))
		}
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []Schedule{{}, {Every: time.Minute}, {Periods: 1}, {First: -1, Every: 1, Periods: 1}, {Every: 1, Periods: MaxPeriods + 1}} {
		if bad.Check() == nil {
			t.Errorf("Check of %+v returns no error", bad)
		}
	}
}
