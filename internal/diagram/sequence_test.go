package diagram

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// statements returns the declarations of a diagram's participants, and the statements after
// them.
func statements(t *testing.T, tr *trace.Trace) (participants, body string) {
	t.Helper()
	diagram := Sequence(runOf(tr), "by-hand", "A story")
	var drawn, declared strings.Builder
	for line := range strings.Lines(diagram) {
		line = strings.TrimPrefix(line, "  ")
		switch word, _, _ := strings.Cut(line, " "); word {
		case "sequenceDiagram\n", "title", "accTitle:", "accDescr:":
		case "participant", "actor":
			declared.WriteString(line)
		default:
			drawn.WriteString(line)
		}
	}
	return declared.String(), drawn.String()
}

// A step is one arrow to the process that receives the request and one arrow back, however
// many messages it took. An event of a process is a note on its lifeline. Sections are bars
// on the lifelines of their clients, in a frame while two of them overlap.
func TestMermaidDrawsStepsAndSections(t *testing.T) {
	participants, got := statements(t, addRequests(simtest.PausedHolderTrace("writes")))
	if want := "participant p1 as 3 nodes\nactor p2 as client-1\nactor p3 as client-2\nparticipant p4 as storage\n"; participants != want {
		t.Errorf("the participants are\n%swant\n%s", participants, want)
	}
	contains(t, got,
		"p2->>p1: 0.001s asks for the lock\n",
		"p1-->>p2: 0.005s gets the lock on all 3 nodes#58;<br/>token 1, lease until 30.001s\n",
		"activate p2\n",
		"p2->>p4: 0.006s sends its read\n",
		"p4-->>p2: 0.007s answers client-1's read of x#58;<br/>version 0\n",
		"Note over p2: 0.010s is paused (fault 1)\n",
		"Note over p1,p4: ⋮ 30s pass\n",
		"Note over p1: 30.002s client-1's key expired on all<br/>3 nodes\n",
		"p1-->>p3: 30.009s gets the lock",
		"Note over p3: ✗ violates section-exclusion\n",
		"activate p3\n",
		"rect rgba(213, 94, 0, 0.15)\n",
		"Note over p2,p3: client-1 and client-2 are<br/>in their critical sections<br/>at the same time\n",
		"end\n",
		"deactivate p3\n",
		"p4--xp2: 30.024s refuses client-1's write of x#58;<br/>token 1 is older than token 2",
		"deactivate p2\n",
		"Note over p1,p4: safe. The storage refused",
	)
}

// addRequests adds to a trace the messages with which clients ask the nodes to acquire or
// release the lock.
func addRequests(t *trace.Trace) *trace.Trace {
	var events []trace.Event
	for _, ev := range t.Events {
		events = append(events, ev)
		if ev.Kind == trace.KindBegin && (ev.Step == trace.Acquire || ev.Step == trace.Release) {
			for _, slot := range t.Locks[0].Slots {
				events = append(events, trace.Event{At: ev.At, Kind: trace.KindSend, Process: ev.Process, Peer: slot.Node, Section: ev.Section, Step: ev.Step})
			}
		}
	}
	for i := range events {
		events[i].Seq = i + 1
	}
	t.Events = events
	return t
}

// In these diagrams p1 is the three nodes, p2 is client-1, and p4 is the storage.
func TestMermaidDrawsFailures(t *testing.T) {
	fails := trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Acquire, Text: "taken"}
	late := trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Write, Text: "no answer within 5s"}
	serve := trace.Event{Kind: trace.KindServe, Process: "storage", Peer: "client-1", Section: 1, Step: trace.Write, OK: true, Object: "x", Version: 1}
	send := trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Section: 1, Step: trace.Acquire}
	hold := trace.Event{Kind: trace.KindHold, Process: "client-1", Peer: "storage", Section: 1, Step: trace.Write}
	sent := hold
	sent.Kind = trace.KindSend
	strike := trace.Event{Kind: trace.KindStrike, Fault: 1, Text: "partition"}

	for name, test := range map[string]struct {
		events []trace.Event
		want   string
	}{
		"a client that does not get the lock": {
			[]trace.Event{simtest.Begin("client-1", 1, trace.Acquire, 0), send, fails},
			"p2->>p1: 0.001s asks for the lock\np1--xp2: 0.003s fails to get the lock: taken\n",
		},
		"a lock that sends no request": {
			[]trace.Event{simtest.Begin("client-1", 1, trace.Acquire, 0), fails},
			"Note over p2: 0.002s fails to get the lock: taken\n",
		},
		"an answer that does not arrive": {
			[]trace.Event{simtest.Begin("client-1", 1, trace.Write, 7), serve, strike, late},
			"p2->>p4: 0.001s sends its write (token 7)\n" +
				"Note over p4: 0.002s applies client-1's write of x#58;<br/>version 0 → 1\n" +
				"Note over p2,p4: 0.003s fault 1 strikes: partition\n" +
				"Note over p2: 0.004s stops waiting for the answer to<br/>its write: no answer within 5s\n",
		},
		"a message that is held back": {
			[]trace.Event{simtest.Begin("client-1", 1, trace.Write, 7), sent, hold},
			"p2->>p4: 0.001s sends its write (token 7)\n" +
				"Note over p2,p4: 0.003s network holds back<br/>client-1's write request<br/>to storage\n",
		},
		"a crash of one of several nodes": {
			[]trace.Event{{Kind: trace.KindCrash, Process: "redis-2", Text: "kill"}},
			"Note over p1: 0.001s redis-2: crashes: the process<br/>is killed\n",
		},
	} {
		s := simtest.NewScript("none", 3)
		s.Faults = []trace.FaultInfo{{Text: "partition"}}
		_, got := statements(t, &s.Then(test.events...).Trace)
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: the statements are\n%swant them to begin with\n%s", name, got, test.want)
		}
	}
}

// A process that takes no part in the run has no lifeline.
func TestMermaidDrawsOnlyProcessesThatTakePart(t *testing.T) {
	crash := trace.Event{Kind: trace.KindCrash, Process: "client-2", Text: "kill"}
	participants, _ := statements(t, &simtest.NewScript("none", 3).Then(crash).Trace)
	if want := "actor p3 as client-2\n"; participants != want {
		t.Errorf("the participants are\n%swant\n%s", participants, want)
	}
}

// If a timeline exceeds Mermaid's limit, the diagram leaves out clauses, but no violations.
func TestMermaidSaysWhatItLeavesOut(t *testing.T) {
	s := simtest.NewScript("none", 1)
	for section := range 1000 {
		s.Acquires("client-2", section+1, uint64(section+1), "redis-1").Releases("client-2", section+1, "redis-1")
	}
	s.Acquires("client-1", 1, 1001, "redis-1").Acquires("client-2", 1001, 1002, "redis-1")
	_, got := statements(t, &s.Trace)
	if len(got) < 40_000 || len(got) > 50_000 {
		t.Errorf("the diagram has %d characters, want 40,000 to 50,000, which is the most that Mermaid draws", len(got))
	}
	if begun, ended := strings.Count(got, "\nactivate"), strings.Count(got, "\ndeactivate"); begun != ended {
		t.Errorf("%d sections begin and %d end", begun, ended)
	} else if granted := strings.Count(got, "gets the lock"); begun > granted {
		t.Errorf("%d sections begin, but the diagram has only %d grants", begun, granted)
	}
	contains(t, got, "gets the lock on redis-1: token<br/>1,", "✗ violates lease-exclusion", " moments left out, because Mermaid cannot draw more\n")
}

func TestMermaidEscape(t *testing.T) {
	for text, want := range map[string]string{
		"version 1 → 2, (token 1)": "version 1 → 2, (token 1)",
		"a;b#c":                    "a#59;b#35;c",
		"#35;":                     "#35;35#59;",
		"<b>&amp;</b>":             "#60;b#62;#38;amp#59;#60;/b#62;",
		"%%{init}%%":               "#37;#37;#123;init#125;#37;#37;",
		"p1->>p2: x":               "p1-#62;#62;p2#58; x",
		"told at once: x":          "told at once: x",
		"wrap: x":                  "wrap#58; x",
		"ends in style:":           "ends in style#58;",
		"a¶ßb":                     "a#182;ßb",
		"ﬂ°°60¶ß":                  "#64258;°°60#182;ß",
	} {
		if got := mermaidEscape(text); got != want {
			t.Errorf("%q is escaped as %q, want %q", text, got, want)
		}
	}
}

// mermaidLines breaks a text into lines. The first number limits the characters of the text, the
// second those of a line.
func TestMermaidLines(t *testing.T) {
	if got, want := mermaidLines("one two three", 100, 8), "one two<br/>three"; got != want {
		t.Errorf("the text is broken into %q, want %q", got, want)
	}
	if got, want := mermaidLines("abcdefghij", 100, 4), "abcd<br/>efgh<br/>ij"; got != want {
		t.Errorf("the text is broken into %q, want %q", got, want)
	}
	if got, want := mermaidLines("abcdefghij", 5, 8), "abcd…"; got != want {
		t.Errorf("the text is broken into %q, want %q", got, want)
	}
	if got, want := mermaidLines("a\nb\u202e", 50, 20), `a b#92;u202e`; got != want {
		t.Errorf("the text is broken into %q, want %q", got, want)
	}
}

// contains fails the test unless a text contains the parts in this order.
func contains(t *testing.T, got string, parts ...string) {
	t.Helper()
	rest := got
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("%q is not there, or not in its place, in\n%s", part, got)
		}
		rest = after
	}
}
