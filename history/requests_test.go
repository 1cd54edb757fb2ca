package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/trace"
)

// requestsOf returns a history from a string of events. B and E begin and end client-1's
// write of x, and b and e its read. W and R are executions of these by the storage. w is a
// write that only the storage reports. With L the storage loses everything. A number after
// W or R is the event with which the request was sent.
func requestsOf(letters string) *History {
	var events []trace.Event
	version := 0
	for word := range strings.FieldsSeq(letters) {
		ev := trace.Event{Process: "client-1", Section: 1, Step: trace.Write, Object: "x"}
		if strings.ContainsAny(word[:1], "beR") {
			ev.Step = trace.Read
		}
		switch word[:1] {
		case "B", "b":
			ev.Kind = trace.KindBegin
		case "E", "e":
			ev.Kind, ev.OK, ev.Version = trace.KindEnd, true, version
		case "L":
			ev, version = trace.Event{Kind: trace.KindRevert, Process: trace.StorageName, Object: "x", Replaced: version}, 0
		default:
			ev.Kind, ev.Process, ev.Peer, ev.OK = trace.KindServe, trace.StorageName, "client-1", true
			ev.By = &trace.Actor{Client: "client-1", Section: 1}
			fmt.Sscan(word[1:], &ev.By.Sent)
			if word[:1] == "w" {
				ev.Section, ev.By.Section = 0, 0
			}
			if ev.Version = version; ev.Step == trace.Write {
				ev.Replaced = version
				version++
				ev.Version = version
			}
		}
		events = append(events, ev)
	}
	return New(traceOf(events...))
}

// An execution belongs to the request that was sent for it, however late it comes. A write
// that the storage lost before any client knew of it does not count as executed. A request is
// written as its step, its first event and the events of its executions; "of nobody" is one
// that only the storage reports. The letters are explained at [requestsOf].
func TestRequests(t *testing.T) {
	for story, want := range map[string]string{
		"B W E":           "write 1: [2]",
		"B E":             "write 1: []",
		"B W W E":         "write 1: [2 3]",
		"B E B W3 W1 E":   "write 1: [5], write 3: [4]",
		"b R e B W E":     "read 1: [2], write 4: [5]",
		"w b R e":         "write 1 of nobody: [1], read 2: [3]",
		"B w E":           "write 1: [], write 2 of nobody: [2]",
		"B W L":           "write 1: []",
		"B W E L":         "write 1: [2]",
		"B W b R e L":     "write 1: [2], read 3: [4]",
		"B W L B W4 E":    "write 1: [], write 4: [5]",
		"B W1 B W3 L":     "write 1: [], write 3: []",
		"B W1 B W3 E L":   "write 1: [2], write 3: [4]",
		"B W1 b R3 B W L": "write 1: [], read 3: [4], write 5: []", // no client learnt the version that was read
	} {
		var got []string
		for _, r := range requestsOf(story).Requests() {
			var executions []int
			for _, ev := range r.Executions {
				executions = append(executions, ev.Seq)
			}
			words := fmt.Sprintf("%s %d: %v", r.Step, r.FirstEvent().Seq, executions)
			if r.Call == nil {
				words = fmt.Sprintf("%s %d of nobody: %v", r.Step, r.FirstEvent().Seq, executions)
			}
			got = append(got, words)
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s: the requests are %s, want %s", story, got, want)
		}
	}
}

// A version number that is used again names the later version, but only after that version
// was made.
func TestVersionAt(t *testing.T) {
	h := requestsOf("B W E L B W E")
	var got []int
	for seq := range 9 {
		made := 0
		if v := h.VersionAt("x", 1, seq); v != nil {
			made = v.Made.Seq
		}
		got = append(got, made)
	}
	if want := []int{0, 0, 0, 2, 2, 2, 2, 6, 6}; !slices.Equal(got, want) {
		t.Errorf("at the events 0 to 8, version 1 of x was made by the events %v, want %v (0 is none)", got, want)
	}
	if h.VersionAt("x", 0, 9) != nil || h.VersionAt("y", 1, 9) != nil {
		t.Error("VersionAt finds version 0 of x, or version 1 of y, which no client wrote")
	}
}

// The storage's decisions are its answers and its checks of tokens.
func TestDecisions(t *testing.T) {
	h := New(traceOf(
		trace.Event{Kind: trace.KindBegin, Process: "client-1", Step: trace.Write},
		trace.Event{Kind: trace.KindCheck, Process: trace.StorageName, Step: trace.Write, OK: true},
		trace.Event{Kind: trace.KindServe, Process: trace.StorageName, Step: trace.Write},
		trace.Event{Kind: trace.KindEnd, Process: "client-1", Step: trace.Write},
		trace.Event{Kind: trace.KindObject, Process: trace.StorageName, Object: "x"},
	))
	for name, c := range map[string]struct {
		got  []*trace.Event
		want []int
	}{
		"decisions": {h.StorageDecisions(), []int{2, 3}},
		"served":    {h.ServedRequests(), []int{3}},
		"objects":   {h.FinalObjects(), []int{5}},
	} {
		var got []int
		for _, ev := range c.got {
			got = append(got, ev.Seq)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: the events are %v, want %v", name, got, c.want)
		}
	}
}
