package checks

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
)

// The scripts are traces written by hand; see [script]. "period" is the period of
// the schedule for which a client asks for the lock.
func TestOncePerPeriod(t *testing.T) {
	const minutely = `
		schedule every=60s periods=2
		0s  it begins period=1`
	judgeAll(t, OncePerPeriod, []judgement{
		{name: "a client runs the job and releases, and another runs it again", want: Violated,
			reasonParts: []string{"c2 ran the job for period 1 at 4s, and c1 had run it at 2s", "did not work at the same time"}, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			2s  c1 writes x=0>1
			2s  c1 releases
			3s  c2 acquires rank=2 ends=33s period=1
			4s  c2 writes x=1>2 <--
			4s  c2 releases`},
		{name: "the second client runs the job for the next period", want: Holds, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			2s  c1 writes x=0>1
			2s  c1 releases
			3s  c2 acquires rank=2 ends=33s period=2
			4s  c2 writes x=1>2
			4s  c2 releases`},
		{name: "the second client runs the job for the first period, after the next one has begun", want: Violated, reasonParts: []string{"period 1 at 1m2s"}, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			2s  c1 writes x=0>1
			2s  c1 releases
			60s it begins period=2
			61s c2 acquires rank=2 ends=91s period=1
			62s c2 writes x=1>2 <--`},
		{name: "the second client only reads", want: Holds, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			2s  c1 writes x=0>1
			2s  c1 releases
			3s  c2 acquires rank=2 ends=33s period=1
			4s  c2 reads x=1
			4s  c2 releases`},
		{name: "the second client's write is refused", want: Holds, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			2s  c1 writes x=0>1
			3s  c2 acquires rank=2 ends=33s period=1
			4s  c2 is-refused`},
		{name: "the second client only writes to the record of runs", want: Holds, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			2s  c1 writes x=0>1
			2s  c1 releases
			3s  c2 acquires rank=2 ends=33s period=1
			4s  c2 writes runs=0>1`},
		{name: "one section writes twice", want: Holds, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			2s  c1 writes x=0>1
			3s  c1 writes x=1>2`},
		{name: "one client runs the job twice", want: Violated, reasonParts: []string{"c1 (section 2) ran the job for period 1 at 5s"}, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			2s  c1 writes x=0>1
			3s  c1 releases
			4s  c1 acquires rank=2 ends=34s period=1
			5s  c1 writes x=1>2 <--`},
		{name: "two jobs, each under its own lock", want: Holds, script: minutely + `
			lock M ttl=30s
			0s  c1 acquires rank=1 period=1
			2s  c1 writes x=0>1
			3s  c2 acquires rank=1 lock=M period=1
			4s  c2 writes y=0>1`},
		{name: "the storage loses the first run's write before any client knows of it", want: Holds, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			1s  c1 sends message=1
			2s  c1 lands message=1 x=0>1
			3s  c1 crashes
			3s  storage reverts x=1>0
			31s c2 acquires rank=2 ends=61s period=1
			32s c2 writes x=0>1`},
		{name: "two clients run the job at the same time, after the first lease has ended", want: Violated, blame: BlameInherent, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			31s c2 acquires rank=2 ends=61s period=1
			32s c2 writes x=0>1
			33s c2 releases
			34s c1 writes x=1>2 <--`},
		{name: "two clients run the job at the same time, because the lock was granted twice", want: Violated, blame: BlameLock, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=1
			1s  c2 acquires rank=2 ends=31s period=1
			2s  c2 writes x=0>1
			3s  c2 releases
			4s  c1 writes x=1>2 <--`},
		{name: "of several periods the first violation is reported", want: Violated, reasonParts: []string{"for period 2"}, script: minutely + `
			0s  c1 acquires rank=1 ends=30s period=2
			1s  c1 writes x=0>1
			1s  c1 releases
			2s  c2 acquires rank=2 ends=32s period=2
			3s  c2 writes x=1>2 <--
			3s  c2 releases
			4s  c1 acquires rank=3 ends=34s period=1
			5s  c1 writes x=2>3
			5s  c1 releases
			6s  c2 acquires rank=4 ends=36s period=1
			7s  c2 writes x=3>4`},
		{name: "a world without a schedule", want: NotApplicable, script: `
			0s  c1 acquires rank=1 ends=30s
			2s  c1 writes x=0>1
			2s  c1 releases
			3s  c2 acquires rank=2 ends=33s
			4s  c2 writes x=1>2`},
	})
}

// A job that has been run twice has done harm, even if the sections do not overlap.
func TestJobRunTwiceIsUnsafe(t *testing.T) {
	v := Check(history.New(parseScript(t, `
		schedule every=60s periods=1
		0s  it begins period=1
		0s  c1 acquires rank=1 ends=30s period=1
		1s  c1 reads x=0
		2s  c1 writes x=0>1
		2s  c1 releases
		3s  c2 acquires rank=2 ends=33s period=1
		4s  c2 reads x=1
		4s  c2 writes x=1>2
		5s  c2 releases`).trace), nil)
	if got := violated(v); v.Verdict != Unsafe || !slices.Equal(got, []Property{OncePerPeriod}) {
		t.Errorf("the verdict is %s with the violations %v, want unsafe with once-per-period", v.Verdict, got)
	}
}

// violated returns the properties whose violations count.
func violated(v *Verdict) []Property {
	var all []Property
	for _, f := range v.Violations() {
		all = append(all, f.Property)
	}
	return all
}

// A period is missed if it has begun and no section has run the job for it.
func TestMissedPeriods(t *testing.T) {
	for _, test := range []struct {
		name, story string
		want        []int
		reason      string // "" for any
	}{
		{"the job is run after its period has begun", `
			0s  it begins period=1
			0s  c1 acquires rank=1 period=1
			1s  c1 writes x=0>1`, nil, ""},
		{"the job is run before its period begins", `
			0s  c1 acquires rank=1 period=1
			1s  c1 writes x=0>1
			5s  it begins period=1`, nil, ""},
		{"the period has not begun when the run ends", `
			0s  c1 calls period=1`, nil, ""},
		{"no client asks for the lock", `
			0s  it begins period=1
			1s  c1 is-done`, []int{1}, "no client has run the job for period 1, which began at 0s"},
		{"a client writes to the record of runs, and crashes before it runs the job", `
			0s  it begins period=1
			0s  c1 acquires rank=1 period=1
			1s  c1 writes runs=0>1
			2s  c1 crashes
			3s  c2 acquires rank=2 period=1
			3s  c2 is-refused object=runs
			4s  c2 releases`, []int{1}, "no client has run the job for period 1, which began at 0s; c1 had begun it: its client crashed"},
		{"the job is run for the second period only", `
			0s  it begins period=1
			60s it begins period=2
			61s c1 acquires rank=1 period=2
			62s c1 writes x=0>1`, []int{1}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Check(history.New(parseScript(t, "schedule every=60s periods=2\n"+test.story).trace), nil)
			var got []int
			for _, m := range v.Missed {
				got = append(got, m.Period)
				if test.reason != "" && sentence(m.Reason) != test.reason {
					t.Errorf("period %d: the reason is %q, want %q", m.Period, m.Reason, test.reason)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the missed periods are %v, want %v", got, test.want)
			}
			if v.Finding(OncePerPeriod).Outcome != Holds {
				t.Errorf("once-per-period is %s, want holds: a missed period is no violation", v.Finding(OncePerPeriod).Outcome)
			}
		})
	}
}

// A client that asks for the lock in a period whose job has been run already is denied
// nothing.
func TestProgressOfJobs(t *testing.T) {
	const kept = `
		schedule every=60s periods=2
		0s  it begins period=1
		0s  c1 acquires rank=1 period=1
		1s  c1 writes x=0>1`
	judgeAll(t, Progress, []judgement{
		{name: "the client that has run the job crashes and leaves its lock", want: NotApplicable, reasonParts: []string{"the job was run for each period"}, script: kept + `
			2s  fault-1 strikes instant
			2s  c1 crashes
			3s  c2 calls period=1
			4s  c2 fails
			5s  c2 is-done`},
		{name: "the client that was to run the job crashes and leaves its lock", want: Violated, script: `
			schedule every=60s periods=2
			0s  it begins period=1
			0s  c1 acquires rank=1 period=1
			2s  fault-1 strikes instant
			2s  c1 crashes
			3s  c2 calls period=1
			4s  c2 fails
			5s  c2 is-done <--`},
		{name: "the lock that a crashed client left blocks the next period too", want: Violated, script: kept + `
			2s  fault-1 strikes instant
			2s  c1 crashes
			3s  c2 calls period=1
			4s  c2 fails
			60s it begins period=2
			61s c2 calls period=2
			62s c2 fails
			63s c2 is-done <--`},
		{name: "another client runs the job in the next period", want: Holds, script: kept + `
			2s  fault-1 strikes instant
			2s  c1 crashes
			3s  c2 calls period=1
			4s  c2 fails
			60s it begins period=2
			61s c2 acquires rank=2 period=2
			62s c2 writes x=1>2
			63s c2 releases`},
		{name: "a client crashes and leaves its lock, in a world without a schedule", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  fault-1 strikes instant
			2s  c1 crashes
			3s  c2 calls
			4s  c2 fails
			5s  c2 is-done <--`},
	})
}

// If running a job twice does no harm, the verdict reports how much work was in vain.
func TestRepeatedPeriods(t *testing.T) {
	const twice = `
		0s  it begins period=1
		0s  c1 acquires rank=1 ends=30s period=1
		2s  c1 writes x=0>1
		2s  c1 releases
		3s  c2 acquires rank=2 ends=33s period=1
		5s  c2 writes x=1>2
		6s  c2 writes x=2>3
		7s  c2 releases
		10s c1 acquires rank=3 ends=40s period=2
		12s c1 writes x=3>4
		12s c1 releases`
	v := Check(history.New(parseScript(t, "schedule every=60s periods=2 repeatable"+twice).trace), nil)
	if f := v.Finding(OncePerPeriod); f.Outcome != NotApplicable || v.Verdict != Safe {
		t.Errorf("a repeatable job: the verdict is %s and once-per-period %s, want safe and not applicable", v.Verdict, f.Outcome)
	}
	if len(v.Repeated) != 1 || v.Repeated[0].Period != 1 || v.Repeated[0].Runs != 2 || v.Repeated[0].Wasted != 3*time.Second {
		t.Errorf("the repeated periods are %+v, want period 1 with two runs and 3s wasted", v.Repeated)
	}
	v = Check(history.New(parseScript(t, "schedule every=60s periods=2"+twice).trace), nil)
	if f := v.Finding(OncePerPeriod); f.Outcome != Violated || len(v.Repeated) != 0 {
		t.Errorf("a job that must not be repeated: the repeated periods are %+v and once-per-period is %s, want none and violated", v.Repeated, f.Outcome)
	}
}
