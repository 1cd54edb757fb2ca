package sim

import (
	"strings"
	"testing"
)

func TestParseWitness(t *testing.T) {
	for text, names := range map[string]string{
		"client-1's keys expired":                                 "client-1",
		"client-1's keys expired while client-1 was paused":       "client-1 client-1",
		"storage applied client-2's write while redis-1 was down": "client-2 redis-1",
		"client-1 acquired before client-2 acquired":              "client-1 client-2",
		"client-1 wrote after client-2 wrote, 2nd time":           "client-1 client-2",
		" client-1  paused ":                                      "client-1",
	} {
		w, err := ParseWitness(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		same(t, "written again", w.String(), strings.Join(strings.Fields(text), " "))
		same(t, "names", strings.Join(w.Names(), " "), names)
	}
	for _, bad := range []string{
		"", "client-1", "client-1 paused while client-1 was asleep", "client-1 paused while client-1", "client-1 paused while client-1's was paused",
		"before client-1 paused", "client-1 paused before", "client-1 paused before lunch", "client-1 paused after", "nothing while client-1 was paused",
	} {
		if w, err := ParseWitness(bad); err == nil {
			t.Errorf("%q was read as %q", bad, w)
		}
	}
}

// What a witness says of a run.
func TestWitnessSeen(t *testing.T) {
	events := map[rune]Event{
		'P': {Kind: KindPause, Process: "client-1"},
		'R': {Kind: KindResume, Process: "client-1"},
		'C': {Kind: KindCrash, Process: "redis-1"},
		'U': {Kind: KindRestart, Process: "redis-1"},
		'1': {Kind: KindEnd, Process: "client-1", Step: Write, OK: true},
		'2': {Kind: KindEnd, Process: "client-2", Step: Write, OK: true},
		'f': {Kind: KindEnd, Process: "client-2", Step: Write},
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
		w, err := ParseWitness(test.witness)
		if err != nil {
			t.Fatal(err)
		}
		for want, stories := range map[bool]string{true: test.yes, false: test.no} {
			for story := range strings.FieldsSeq(stories) {
				trace := &Trace{}
				for _, what := range story {
					if ev, ok := events[what]; ok {
						trace.Events = append(trace.Events, ev)
					}
				}
				if w.Seen(trace) != want {
					t.Errorf("%q in the story %s: seen is %v", w, story, !want)
				}
			}
		}
	}
}

// A witness is reached with the event that completes it.
func TestWitnessReached(t *testing.T) {
	trace := &Trace{Events: []Event{
		{Seq: 1, Kind: KindPause, Process: "client-1"},
		{Seq: 2, Kind: KindEnd, Process: "client-2", Step: Write, OK: true},
		{Seq: 3, Kind: KindResume, Process: "client-1"},
		{Seq: 4, Kind: KindEnd, Process: "client-1", Step: Write, OK: true},
		{Seq: 5, Kind: KindEnd, Process: "client-2", Step: Write, OK: true},
	}}
	for text, want := range map[string]int{
		"client-2 wrote":                             2,
		"client-2 wrote, 2nd time":                   5,
		"client-2 wrote while client-1 was paused":   2,
		"client-1 wrote after client-2 wrote":        4,
		"client-1 resumed before client-2 wrote":     5,
		"client-1 wrote before client-1 was refused": 0,
	} {
		w, err := ParseWitness(text)
		if err != nil {
			t.Fatal(err)
		}
		if event, seen := w.Reached(trace); event != want || seen != (want > 0) {
			t.Errorf("%q is reached with event %d, %v; want %d", text, event, seen, want)
		}
	}
}

func FuzzParseWitness(f *testing.F) {
	for _, s := range []string{
		"client-1's keys expired while client-1 was paused", "client-1 wrote after client-2 wrote", "5s after client-1 paused before client-2 paused",
		" while ", " before ", "a b while c was down", "client-1 paused while 's was paused",
	} {
		f.Add(s)
	}
	trace := &Trace{Events: []Event{{Kind: KindPause, Process: "client-1"}, {Kind: KindDone, Process: "client-1"}}}
	f.Fuzz(func(t *testing.T, s string) {
		w, err := ParseWitness(s)
		if err != nil {
			return
		}
		again, err := ParseWitness(w.String())
		if err != nil || again.String() != w.String() || again.Seen(trace) != w.Seen(trace) {
			t.Errorf("%q was read as %q, and that as %q, %v", s, w, again, err)
		}
	})
}
