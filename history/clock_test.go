package history

import (
	"math"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// timeOf finds the first true time at which a clock shows a reading, whatever the clock's
// rate is.
func TestTimeOfInvertsTheClock(t *testing.T) {
	change := func(at time.Duration, reading int64, ppb int64) *trace.Event {
		return &trace.Event{At: at, Seq: 1, Clocks: &trace.Clocks{Wall: reading, RatePPB: ppb}}
	}
	for _, ppb := range []int64{0, 1, -1, 20_000_000, -20_000_000, 999_999_999, -999_999_999} {
		s := clockOf([]*trace.Event{change(0, 1_700_000_000_000_000_000, ppb)}, fakeclock.Wall)[0]
		for _, at := range []time.Duration{0, 1, 999, time.Second, time.Hour + 7, 1000 * time.Hour} {
			value := s.readingAt(at)
			first := at
			if value > s.startReading {
				var reached bool
				if first, reached = s.timeOf(value); !reached {
					t.Fatalf("at %d ppb timeOf finds no time for the reading at %v", ppb, at)
				}
			}
			if first > at || s.readingAt(first) < value || first > 0 && value > s.startReading && s.readingAt(first-1) >= value {
				t.Errorf("at %d ppb the clock shows %d at %v; timeOf returns %v, want the first such time", ppb, value, at, first)
			}
		}
	}
	slow := clockOf([]*trace.Event{change(0, 0, -999_999_999)}, fakeclock.Wall)[0]
	if at, reached := slow.timeOf(math.MaxInt64); reached {
		t.Errorf("a clock that runs at a billionth of its rate reaches the largest reading at %v, want never", at)
	}
}
