package history

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/trace"
)

// Each witness is seen in the runs of yes, and not seen in the runs of no. A run is a word;
// each letter is one of the events below, and _ is a run without events.
func TestWitnessSeen(t *testing.T) {
	events := map[rune]trace.Event{
		'P': {Kind: trace.KindPause, Process: "client-1"},
		'R': {Kind: trace.KindResume, Process: "client-1"},
		'C': {Kind: trace.KindCrash, Process: "redis-1"},
		'U': {Kind: trace.KindRestart, Process: "redis-1"},
		'1': {Kind: trace.KindEnd, Process: "client-1", Step: trace.Write, OK: true},
		'2': {Kind: trace.KindEnd, Process: "client-2", Step: trace.Write, OK: true},
		'f': {Kind: trace.KindEnd, Process: "client-2", Step: trace.Write},
	}
	for _, test := range []struct{ witness, yes, no string }{
		{"client-2 wrote", "2 12 P2", "_ 1 f P"},
		{"client-2 wrote, 2nd time", "22 212", "2 12 2f"},
		{"client-2 wrote while client-1 was paused", "P2 P2R PRP2", "2 2P PR2 PRP PRPR2 Pf P1"},
		{"client-2 wrote while redis-1 was down", "C2 CUC2", "2 CU2 2C P2"},
		{"client-1 wrote before client-2 wrote", "12 112 1P2 212", "21 1 2 11 22 1f _"},
		{"client-1 wrote after client-2 wrote", "21 2P1 121", "12 1 2 f1 _"},
		{"client-2 wrote or client-1 wrote", "1 2", "f P"},
	} {
		w, err := trace.ParseWitness(test.witness)
		if err != nil {
			t.Fatal(err)
		}
		for want, stories := range map[bool]string{true: test.yes, false: test.no} {
			for story := range strings.FieldsSeq(stories) {
				tr := &trace.Trace{}
				for _, what := range story {
					if ev, ok := events[what]; ok {
						tr.Events = append(tr.Events, ev)
					}
				}
				if WasSeen(w, tr) != want {
					t.Errorf("%q in the run %s: seen is %v, want %v", w, story, !want, want)
				}
			}
		}
	}
}

// The event of a witness is the one that completes it.
func TestWitnessReached(t *testing.T) {
	tr := &trace.Trace{Events: []trace.Event{
		{Seq: 1, Kind: trace.KindPause, Process: "client-1"},
		{Seq: 2, Kind: trace.KindEnd, Process: "client-2", Step: trace.Write, OK: true},
		{Seq: 3, Kind: trace.KindResume, Process: "client-1"},
		{Seq: 4, Kind: trace.KindEnd, Process: "client-1", Step: trace.Write, OK: true},
		{Seq: 5, Kind: trace.KindEnd, Process: "client-2", Step: trace.Write, OK: true},
	}}
	for text, want := range map[string]int{
		"client-2 wrote":                             2,
		"client-2 wrote, 2nd time":                   5,
		"client-2 wrote while client-1 was paused":   2,
		"client-1 wrote after client-2 wrote":        4,
		"client-1 resumed before client-2 wrote":     5,
		"client-1 wrote before client-1 was refused": 0,
	} {
		w, err := trace.ParseWitness(text)
		if err != nil {
			t.Fatal(err)
		}
		if event, seen := SeenAt(w, tr); event != want || seen != (want > 0) {
			t.Errorf("%q is reached with event %d, %v; want %d", text, event, seen, want)
		}
	}
}
