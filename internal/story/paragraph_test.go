package story

import (
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// A paragraph can be made from a trace alone.
func TestParagraph(t *testing.T) {
	// read returns the history and the verdict of a run without or with fencing.
	read := func(fencing string) (*history.History, *checks.Verdict) {
		tr := simtest.PausedHolderTrace(fencing)
		tr.Faults = []trace.FaultInfo{{
			Kind: "pause", Effect: trace.StopsProcess, Targets: [][]string{{"client-1"}},
			Trigger: when("client-1 read"), Duration: 30 * time.Second,
			Phrases: trace.Phrases{Subject: "{target}", Predicate: "pauses{lasting}", Noun: "a pause of {target}"},
		}}
		h := history.New(tr)
		return h, checks.Check(h, nil)
	}
	unfencedHistory, unfenced := read("none")
	fencedHistory, fenced := read("writes")
	const beginning = "client-1 gets the lock and reads. Then it pauses for 30s. "
	const lost = beginning + "Its keys expire, and client-2 gets the lock, reads, writes and releases. Then client-1 wakes up and writes over client-2's update, which is lost."
	panics := *unfencedHistory.Trace
	panics.Ending = &trace.Ending{Rule: trace.ConductPanic, Why: "oh no"}
	p := NewParagraph(unfencedHistory, unfenced)
	for name, text := range map[string]struct{ got, want Raw }{
		"title":     {p.Title(fenced, 100), "client-1 pauses once it has read, and an update is lost"},
		"paragraph": {p.Text(), lost},
		"why":       {p.Why(unfenced, fenced), "the pause outlasts client-1's lease, and the storage does not check the write"},
		"lesson":    {p.Lesson(unfenced, fenced, fencedHistory), "The leases never overlapped: no lock with leases that expire can prevent this. A storage that checks fencing tokens keeps the data intact."},
		"paragraph with fencing": {NewParagraph(fencedHistory, fenced).Text(), beginning +
			"Then its keys expire, and while client-1 is still in its section, client-2 gets the lock."},
		"paragraph of a panic":    {NewParagraph(history.New(&panics), unfenced).Text(), lost + " The lock panics."},
		"paragraph without trace": {NewFaultsParagraph(unfencedHistory.Trace.Faults, trace.ConductHang).Text(), "Once it has read, client-1 pauses for 30s."},
		"title without trace":     {NewFaultsParagraph(unfencedHistory.Trace.Faults, trace.ConductHang).Title(nil, 100), "client-1 pauses once it has read, and the lock hangs"},
	} {
		if text.got != text.want {
			t.Errorf("the %s is\n%s\nwant\n%s", name, text.got, text.want)
		}
	}
}
