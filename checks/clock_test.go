package checks

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
)

// A lock declares the end of a lease as a reading of its client's clock. That reading is
// converted to true time, with the changes of the clock before and after the declaration
// taken into account. The scripts are traces written by hand; see [script]. "shows" sets the
// readings of a process's clocks; ppb is how much they run fast, in billionths.
func TestDeclaredEndInTrueTime(t *testing.T) {
	for _, test := range []struct {
		name, story string
		want        time.Duration
	}{
		{"clocks that the trace does not mention keep true time", `
			10s c1 acquires rank=1 ends=40s`, 40 * time.Second},
		{"a wall clock that is ahead", `
			0s  c1 shows wall=100s monotonic=0s
			10s c1 acquires rank=1 ends=140s`, 40 * time.Second},
		{"a lease that ends by the monotonic clock", `
			0s  c1 shows wall=100s monotonic=7s
			10s c1 acquires rank=1 ends=47s monotonic`, 40 * time.Second},
		{"another process's clock is ahead", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			11s c2 shows wall=99s monotonic=0s`, 40 * time.Second},

		{"the wall clock jumps forward, not far enough", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			20s c1 shows wall=25s monotonic=20s`, 35 * time.Second},
		{"the wall clock jumps past the end", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			20s c1 shows wall=60s monotonic=20s`, 20 * time.Second},
		{"the wall clock jumps past the end and back: the first time counts", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			20s c1 shows wall=60s monotonic=20s
			21s c1 shows wall=21s monotonic=21s`, 20 * time.Second},
		{"the wall clock jumps back", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			20s c1 shows wall=5s monotonic=20s`, 55 * time.Second},
		{"the wall clock jumps back in the nanosecond of the end", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			40s c1 shows wall=5s monotonic=20s`, 40 * time.Second},
		{"the wall clock jumps, and the lease ends by the monotonic clock", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s monotonic
			20s c1 shows wall=60s monotonic=20s`, 40 * time.Second},
		{"the wall clock jumps forward and back before the lease", `
			0s  c1 shows wall=0s monotonic=0s
			5s  c1 shows wall=99s monotonic=5s
			6s  c1 shows wall=6s monotonic=6s
			10s c1 acquires rank=1 ends=40s`, 40 * time.Second},

		{"a clock that runs a quarter too fast", `
			0s  c1 shows wall=0s monotonic=0s ppb=250000000
			10s c1 acquires rank=1 ends=50s`, 40 * time.Second},
		{"a clock that runs half too slow", `
			0s  c1 shows wall=0s monotonic=0s ppb=-500000000
			10s c1 acquires rank=1 ends=35s monotonic`, 70 * time.Second},
		{"a clock that loses a billionth: the end is rounded up", `
			0s  c1 shows wall=0s monotonic=0s ppb=-1
			10s c1 acquires rank=1 ends=30s`, 30*time.Second + 31}, // 30.000000030s is not enough: 30.00000003 × (1 − 1e-9) < 30s
		{"the drift begins within the lease", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			20s c1 shows wall=20s monotonic=20s ppb=-500000000`, 60 * time.Second},

		{"the machine is suspended: the monotonic clock stops", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s monotonic
			20s c1 shows wall=20s monotonic=20s halted
			80s c1 shows wall=80s monotonic=20s`, 100 * time.Second},
		{"the machine is suspended: the wall clock jumps when it resumes", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			20s c1 shows wall=20s monotonic=20s halted
			80s c1 shows wall=80s monotonic=20s`, 80 * time.Second},
		{"the machine is suspended for good", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			20s c1 shows wall=20s monotonic=20s halted`, history.Never.At},

		{"the end had passed when acquire returned", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=5s`, 10 * time.Second},
		{"the end had passed when extend returned", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=20s
			50s c1 extends ends=45s`, 45 * time.Second},
		{"the clock had jumped past the end before extend returned", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=20s
			30s c1 shows wall=50s monotonic=30s
			50s c1 extends ends=45s`, 30 * time.Second},
		{"the clock had jumped past the end and back before extend returned", `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=20s
			30s c1 shows wall=50s monotonic=30s
			31s c1 shows wall=31s monotonic=31s
			50s c1 extends ends=45s`, 45 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := history.New(parseScript(t, test.story).trace)
			if got := h.Sections()[0].Lease.End().At; got != test.want {
				t.Errorf("the lease ends at %v, want %v", got, test.want)
			}
		})
	}
}

// The client's clock does not matter to a lock that reads true time.
func TestLeaseOfATrueTimeLock(t *testing.T) {
	for readsTrueTime, want := range map[bool]time.Duration{false: 20 * time.Second, true: 40 * time.Second} {
		tr := parseScript(t, `
			0s  c1 shows wall=0s monotonic=0s
			10s c1 acquires rank=1 ends=40s
			20s c1 shows wall=60s monotonic=20s`).trace
		tr.Locks[0].TrueTime = readsTrueTime
		if got := history.New(tr).Sections()[0].Lease.End().At; got != want {
			t.Errorf("the lock reads true time: %v; the lease ends at %v, want %v", readsTrueTime, got, want)
		}
	}
}

// A jump of a clock ends a lease. The lease overlaps with everything that came before the
// jump and with nothing after it, even within the same nanosecond.
func TestJumpEndsALeaseWithinTheNanosecond(t *testing.T) {
	const before = `
		0s  c1 shows wall=0s monotonic=0s
		10s c1 acquires rank=1 ends=40s
		20s c2 acquires rank=2 ends=50s
		20s c1 shows wall=60s monotonic=20s`
	const after = `
		0s  c1 shows wall=0s monotonic=0s
		10s c1 acquires rank=1 ends=40s
		20s c1 shows wall=60s monotonic=20s
		20s c2 acquires rank=2 ends=50s`
	for story, want := range map[string]Outcome{before: Violated, after: Holds} {
		if got := Check(history.New(parseScript(t, story).trace), nil).Finding(LeaseExclusion).Outcome; got != want {
			t.Errorf("%s\nlease-exclusion is %s, want %s", story, got, want)
		}
	}
}
