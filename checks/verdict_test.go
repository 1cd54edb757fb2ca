package checks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

const (
	// good is a run in which every property holds; bad is a run that violates data
	// properties. They are traces written by hand; see [script].
	good = `
		0s  c1 acquires rank=1 ends=30s
		1s  c1 reads x=0
		2s  c1 writes x=0>1
		3s  c1 releases`
	bad = `
		0s  c1 acquires rank=1 ends=30s
		1s  c1 reads x=0
		40s c2 acquires rank=2 ends=70s
		41s c2 reads x=0
		42s c2 writes x=0>1
		43s c2 releases
		60s c1 writes x=1>2
		61s c1 releases`
)

// outcomes returns the outcome of each property of a verdict.
func outcomes(v *Verdict) map[Property]Outcome {
	all := map[Property]Outcome{}
	for _, f := range v.Findings {
		all[f.Property] = f.Outcome
	}
	return all
}

// witness parses a witness.
func witness(t *testing.T, text string) trace.Witness {
	t.Helper()
	w, err := trace.ParseWitness(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestVerdict(t *testing.T) {
	v := Check(history.New(parseScript(t, good).trace), []trace.Witness{witness(t, "c1 released")})
	if v.Verdict != Safe || len(v.Reasons) != 0 || len(v.Torn) != 0 || v.RanOn {
		t.Errorf("the verdict of a good run is %+v, want safe without reasons and torn sections", v)
	}
	if want := []WitnessResult{{"c1 released", true}}; !slices.Equal(v.Witnesses, want) {
		t.Errorf("the witnesses are %v, want %v", v.Witnesses, want)
	}
	got := outcomes(v)
	for _, p := range JudgedProperties(v) {
		want := Holds
		if p == TokenOrder || p == ReleaseAnswer {
			want = NotApplicable
		}
		if got[p] != want {
			t.Errorf("in a good run %s is %s, want %s", p, got[p], want)
		}
	}

	v = Check(history.New(parseScript(t, bad).trace), nil)
	if v.Verdict != Unsafe {
		t.Errorf("the verdict of a bad run is %s, want %s", v.Verdict, Unsafe)
	}
	got = outcomes(v)
	broken := []Property{SectionExclusion, GrantOrder, WriteOrder, NoLostUpdate, SerialSections}
	for _, p := range Properties() {
		if violated := got[p] == Violated; violated != slices.Contains(broken, p) {
			t.Errorf("in a bad run %s is %s, want violated only for %v", p, got[p], broken)
		}
	}
}

// A violated property that is not about the data makes no run unsafe.
func TestOnlyTheDataDecides(t *testing.T) {
	v := Check(history.New(parseScript(t, `
		0s  c1 acquires rank=1 ends=30s
		10s c2 acquires rank=2 ends=40s`).trace), nil)
	if v.Finding(LeaseExclusion).Outcome != Violated || v.Verdict != Safe {
		t.Errorf("lease-exclusion is %s and the verdict %s, want violated and safe", v.Finding(LeaseExclusion).Outcome, v.Verdict)
	}
}

// Without ranks of the grants, write-order cannot be judged, so the data cannot be called
// safe.
func TestUnknownDataMakesTheVerdictUnknown(t *testing.T) {
	v := Check(history.New(parseScript(t, `
		0s c1 acquires
		1s c1 writes x=0>1
		2s c1 releases`).trace), nil)
	if v.Finding(WriteOrder).Outcome != Unknown || v.Finding(SerialSections).Outcome != Holds || v.Verdict != Undecided {
		t.Errorf("write-order is %s and the verdict %s, want both unknown", v.Finding(WriteOrder).Outcome, v.Verdict)
	}
}

// In an inconclusive run no property holds, but violated properties stay violated.
func TestInconclusiveRun(t *testing.T) {
	for _, test := range []struct {
		name, story string
		witnesses   []trace.Witness
		reason      string
	}{
		{"a good run without its witness", good, []trace.Witness{witness(t, "c9 released"), witness(t, "c1 released")}, `the run is inconclusive: the witness "c9 released" did not happen`},
		{"a bad run without its witness", bad, []trace.Witness{witness(t, "c9 released")}, `the run is inconclusive: the witness "c9 released" did not happen`},
		{"a good run with a fault that did not act", "idle its point was never reached" + good, nil, "fault 1 (pause c1) did not act as the scenario says: its point was never reached"},
		{"a bad run with a fault that did not act", "idle its point was never reached" + bad, nil, "fault 1 (pause c1) did not act as the scenario says: its point was never reached"},
		{"a good run with a doubt", "doubt the lock ignores the client's clock" + good, nil, "the lock ignores the client's clock"},
		{"a bad run with a doubt", "doubt the lock ignores the client's clock" + bad, nil, "the lock ignores the client's clock"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := parseScript(t, test.story).trace
			undoubted := *tr
			undoubted.Faults, undoubted.Doubts = nil, nil
			certainOutcomes := outcomes(Check(history.New(&undoubted), nil))
			v := Check(history.New(tr), test.witnesses)
			if v.Verdict != Undecided || len(v.Reasons) != 1 || sentence(v.Reasons[0]) != test.reason {
				t.Errorf("the verdict is %s because %q, want unknown because %q", v.Verdict, v.Reasons, test.reason)
			}
			for p, certainOutcome := range certainOutcomes {
				want := certainOutcome
				if certainOutcome == Holds {
					want = Unknown
				}
				f := v.Finding(p)
				if f.Outcome != want {
					t.Errorf("%s is %s, want %s", p, f.Outcome, want)
				}
				if certainOutcome == Holds && sentence(f.Reason) != test.reason {
					t.Errorf("%s is unknown because %q, want %q", p, f.Reason, test.reason)
				}
			}
		})
	}
}

// The two checkers of the storage's history never disagree, so the test constructs a
// disagreement.
func TestADisagreementMakesTheVerdictUnknown(t *testing.T) {
	for outcome, want := range map[Outcome]Outcome{Holds: Unknown, Violated: Violated} {
		v := &Verdict{Findings: []Finding{{Property: SerialSections, Outcome: outcome}, {Property: WriteOrder, Outcome: Holds}}}
		porcupines := serial
		if outcome == Holds {
			porcupines = notSerial
		}
		v.crossCheck(porcupines)
		v.decide()
		if v.Verdict != Undecided || v.Findings[0].Outcome != want || v.Findings[1].Outcome != Unknown {
			t.Errorf("serial-sections is %s, and porcupine disagrees: got the verdict %+v, want unknown", outcome, v)
		}
	}
}

// want is what is torn in the only section of c1; "" means that the section is not torn.
func TestTornSections(t *testing.T) {
	for _, test := range []struct{ name, story, want string }{
		{"one of two writes was refused", `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 is-refused
			3s c1 releases`, "1 of its writes took effect, and the storage refused 1"},
		{"the only write was sent twice and refused once", `
			0s c1 acquires rank=1
			1s c1 sends message=1
			2s c1 lands message=1 x=0>1
			3s c1 resends message=1
			4s c1 hears-a-refusal
			5s c1 releases`, ""},
		{"two writes were applied, the second after a refusal", `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 sends message=1
			3s c1 hears-a-refusal
			4s c1 resends message=1
			5s c1 lands message=1 x=1>2
			6s c1 releases`, ""},
		{"the first of two writes was applied twice, the second refused", `
			0s c1 acquires rank=1
			1s c1 sends message=1
			1s c1 lands message=1 x=0>1
			1s c1 lands message=1 x=1>2
			1s c1 hears x=1>2
			2s c1 is-refused
			3s c1 releases`, "1 of its writes took effect, and the storage refused 1"},
		{"the first of two writes was applied twice, the second never arrived", `
			0s c1 acquires rank=1
			1s c1 sends message=1
			1s c1 lands message=1 x=0>1
			1s c1 lands message=1 x=1>2
			2s c1 sends message=2
			3s c1 releases`, "of its 2 writes only 1 took effect"},
		{"the only write was refused", `
			0s c1 acquires rank=1
			2s c1 is-refused
			3s c1 releases`, ""},
		{"the client crashed after a write", `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 crashes`, "it wrote, and never released the lock: its client crashed"},
		{"the client crashed before any write", `
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c1 crashes`, ""},
		{"the client crashed, and its write arrived afterwards", `
			0s c1 acquires rank=1
			1s c1 sends message=1
			2s c1 crashes
			3s c1 lands message=1 x=0>1`, "it wrote, and never released the lock: its client crashed"},
		{"the client crashed after the only write that it had planned", `
			plans c1 writes=1
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 crashes`, ""},
		{"the client crashed, and the last write that it had planned arrived afterwards", `
			plans c1 writes=2
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			1s c1 sends message=1
			2s c1 crashes
			3s c1 lands message=1 x=1>2`, ""},
		{"the client crashed after one of two writes that it had planned", `
			plans c1 writes=2
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 crashes`, "it wrote, and never released the lock: its client crashed"},
		{"the client crashed, and the second of its two writes was lost", `
			plans c1 writes=2
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			1s c1 sends message=1
			2s c1 crashes`, "it wrote, and never released the lock: its client crashed"},
		{"the client crashed after one of two planned writes, which arrived twice", `
			plans c1 writes=2
			0s c1 acquires rank=1
			1s c1 sends message=1
			1s c1 lands message=1 x=0>1
			1s c1 lands message=1 x=1>2
			2s c1 crashes`, "it wrote, and never released the lock: its client crashed"},
		{"the client gave up after a write", `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 is-done`, "it wrote, and never released the lock: its client gave up"},
		{"one of two writes never arrived", `
			0s c1 acquires rank=1
			1s c1 writes x=0>1
			2s c1 sends message=1
			3s c1 releases`, "of its 2 writes only 1 took effect"},
		{"both a read and a write succeeded", good, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Check(history.New(parseScript(t, test.story).trace), nil)
			var got, want []string
			for _, torn := range v.Torn {
				got = append(got, fmt.Sprintf("%s, section %d: %v", torn.Client, torn.Section, sentence(torn.Reason)))
			}
			if test.want != "" {
				want = []string{"c1, section 1: " + test.want}
			}
			if !slices.Equal(got, want) {
				t.Errorf("the torn sections are %q, want %q", got, want)
			}
			if test.want != "" && v.Verdict == Unsafe {
				t.Error("a torn section makes the verdict unsafe")
			}
		})
	}
}

func TestProperties(t *testing.T) {
	want := strings.Fields(`lease-exclusion section-exclusion token-order grant-order
		write-order no-lost-update serial-sections once-per-period release-ownership progress release-answer`)
	want = append(want, "panic", "hang", "goroutine leak", "endless retry", "cannot be made", "conformance",
		"claim: extends", "claim: notifies", "claim: tokens", "claim: tells at release",
		"growing traffic", "traffic after release", "key left behind", "own key in the way", "release fails")
	data := strings.Fields(`write-order no-lost-update serial-sections once-per-period`)
	var got, gotData []string
	for _, p := range Properties() {
		got = append(got, string(p))
		if p.IsData() {
			gotData = append(gotData, string(p))
		}
		if p.Title() == "" || strings.Contains(p.Title(), "\n") {
			t.Errorf("%s has the title %q", p, p.Title())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the properties are %v, want %v", got, want)
	}
	if !slices.Equal(gotData, data) {
		t.Errorf("the data properties are %v, want %v", gotData, data)
	}
	if p := Property("no-such-property"); p.Title() != "" || p.IsData() {
		t.Errorf("a property that does not exist is a data property or has the title %q", p.Title())
	}
}

func TestAnEmptyTrace(t *testing.T) {
	v := Check(history.New(&trace.Trace{}), nil)
	if v.Verdict != Safe || len(v.Findings) != len(Properties())-1-len(PropertiesOf(SubjectMisconduct)) {
		t.Errorf("the verdict of an empty trace is %s with %d findings, want safe with a finding for each property that is judged", v.Verdict, len(v.Findings))
	}
	if f := v.Finding(OncePerPeriod); f.Outcome != NotApplicable || f.Reason.Code != Code(noSchedule) || slices.Contains(JudgedProperties(v), OncePerPeriod) {
		t.Errorf("once-per-period in a trace without a schedule: got %+v, want not applicable", f)
	}
	if f := v.Finding(Hang); f.Outcome != NotApplicable || f.Reason.Code != Code(noMisconduct) || slices.Contains(JudgedProperties(v), Hang) {
		t.Errorf("hang in a trace in which nobody looked for it: got %+v, want not applicable", f)
	}
}
