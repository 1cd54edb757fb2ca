package checks

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
)

// In each script two sections overlapped and left the data intact; want is the reason. The
// scripts are traces written by hand; see [script]. Similar scripts follow each other and have
// different reasons.
func TestSafeOverlaps(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name, story string
		want        SafeOverlap
	}{
		{"neither client writes", `
			0s c1 acquires rank=1 ends=30s
			1s c1 reads x=0
			31s c2 acquires rank=2 ends=60s
			32s c2 reads x=0
			33s c2 releases
			34s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: NeitherWrote}},
		{"the first client writes nothing", `
			0s c1 acquires rank=1 ends=30s
			1s c1 reads x=0
			31s c2 acquires rank=2 ends=60s
			32s c2 reads x=0
			33s c2 writes x=0>1
			34s c2 releases
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: WroteNothing, Section: "c1", Other: "c2"}},
		{"the first client is notified of its loss and writes nothing", `
			0s c1 acquires rank=1 ends=30s
			30s c1 is-told-it-is-lost
			31s c2 acquires rank=2 ends=60s
			33s c2 reads x=0
			33s c2 writes x=0>1
			34s c2 releases
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: WroteNothing, Section: "c1", Other: "c2", Cause: NotifiedOfLoss, CausedAt: 30 * s}},
		{"the first client is notified of its loss after its section", `
			0s c1 acquires rank=1 ends=30s
			31s c2 acquires rank=2 ends=60s
			33s c2 reads x=0
			33s c2 writes x=0>1
			34s c2 releases
			35s c1 releases
			36s c1 is-told-it-is-lost`,
			SafeOverlap{Entered: 31 * s, Reason: WroteNothing, Section: "c1", Other: "c2"}},
		{"the first client's check fails, and it writes nothing", `
			0s c1 acquires rank=1 ends=30s
			31s c2 acquires rank=2 ends=60s
			32s c2 reads x=0
			33s c2 writes x=0>1
			34s c1 fails-its-check
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: WroteNothing, Section: "c1", Other: "c2", Cause: CheckFailed, CausedAt: 34 * s}},
		{"the first client's extend fails, and it writes nothing", `
			0s c1 acquires rank=1 ends=30s
			29s c1 asks-to-extend
			31s c2 acquires rank=2 ends=60s
			32s c2 reads x=0
			33s c2 writes x=0>1
			34s c1 fails-to-extend
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: WroteNothing, Section: "c1", Other: "c2", Cause: ExtendFailed, CausedAt: 34 * s}},
		{"the lock's own renewal fails, which the first client does not learn", `
			0s c1 acquires rank=1 ends=30s
			31s c2 acquires rank=2 ends=60s
			32s c2 reads x=0
			33s c2 writes x=0>1
			34s c1 fails-to-extend
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: WroteNothing, Section: "c1", Other: "c2"}},
		{"the first client sent a write that never arrived", `
			0s c1 acquires rank=1 ends=30s
			29s c1 sends message=1
			30s c1 is-told-it-is-lost
			31s c2 acquires rank=2 ends=60s
			32s c2 reads x=0
			33s c2 writes x=0>1
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: WroteNothing, Section: "c1", Other: "c2"}},
		{"the second client crashes before it writes", `
			0s c1 acquires rank=1 ends=30s
			1s c1 reads x=0
			31s c2 acquires rank=2 ends=60s
			32s c2 reads x=0
			33s c2 crashes
			34s c1 writes x=0>1
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: WroteNothing, Section: "c2", Other: "c1", Cause: ClientCrashed, CausedAt: 33 * s}},
		{"the first client writes before the second enters its section", `
			0s c1 acquires rank=1 ends=30s
			1s c1 reads x=0
			2s c1 writes x=0>1
			31s c2 acquires rank=2 ends=60s
			32s c2 reads x=1
			33s c2 writes x=1>2
			34s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: WroteBefore, Section: "c1", Other: "c2", Last: Access{"write", "x", 2 * s}}},
		{"the first client writes before the second reads", `
			0s c1 acquires rank=1 ends=30s
			1s c1 reads x=0
			31s c2 acquires rank=2 ends=60s
			32s c1 writes x=0>1
			33s c2 reads x=1
			34s c2 writes x=1>2
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: DoneBefore, Section: "c1", Other: "c2", Last: Access{"write", "x", 32 * s}, Next: Access{"read", "x", 33 * s}}},
		{"the second client writes before the first reads", `
			0s c1 acquires rank=1 ends=30s
			31s c2 acquires rank=2 ends=60s
			32s c2 reads x=0
			33s c2 writes x=0>1
			34s c1 reads x=1
			35s c1 writes x=1>2
			36s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: DoneBefore, Section: "c2", Other: "c1", Last: Access{"write", "x", 33 * s}, Next: Access{"read", "x", 34 * s}}},
		{"the second client's first read is never answered", `
			0s c1 acquires rank=1 ends=30s
			1s c1 reads x=0
			31s c2 acquires rank=2 ends=60s
			31s c2 is-shown x=0
			32s c1 writes x=0>1
			33s c2 reads x=1
			34s c2 writes x=1>2
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: EquivalentToSerial}},
		{"the clients use different objects", `
			0s c1 acquires rank=1 ends=30s
			1s c1 reads x=0
			31s c2 acquires rank=2 ends=60s
			32s c2 reads y=0
			33s c1 writes x=0>1
			34s c2 writes y=0>1
			35s c1 releases`,
			SafeOverlap{Entered: 31 * s, Reason: OtherObjects}},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed := parseScript(t, c.story)
			v := Check(history.New(parsed.trace), nil)
			if v.Verdict != Safe || v.Finding(SectionExclusion).Outcome != Violated {
				t.Fatalf("the verdict is %s and %s is %s, want safe and violated", v.Verdict, SectionExclusion, v.Finding(SectionExclusion).Outcome)
			}
			c.want.First, c.want.Second = "c1", "c2"
			got, more := SafeOverlaps(history.New(parsed.trace), 5)
			if want := []SafeOverlap{c.want}; !slices.Equal(got, want) || more != 0 {
				t.Errorf("\ngot  %+v, and %d more\nwant %+v", got, more, want)
			}
		})
	}
}

// SafeOverlaps explains only a limited number of overlaps, and counts the others.
func TestManySafeOverlaps(t *testing.T) {
	text := "0s c1 acquires rank=1 ends=1s\n"
	for i := range 5 {
		text += fmt.Sprintf("%ds c%d acquires rank=%d ends=60s\n%ds c%d releases\n", 2*i+2, i+2, i+2, 2*i+3, i+2)
	}
	parsed := parseScript(t, text+"60s c1 releases")
	got, more := SafeOverlaps(history.New(parsed.trace), 2)
	if len(got) != 2 || more != 3 || got[0].Second != "c2" || got[1].Second != "c3" {
		t.Errorf("got %+v, and %d more; want the overlaps with c2 and c3, and 3 more", got, more)
	}
}
