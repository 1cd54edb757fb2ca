package locktest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// findEvent returns the first event of a trace for which matches is true, or nil.
func findEvent(t *trace.Trace, matches func(*trace.Event) bool) *trace.Event {
	for i := range t.Events {
		if matches(&t.Events[i]) {
			return &t.Events[i]
		}
	}
	return nil
}

// isEventOf returns a function that is true for the events of one kind of one process.
func isEventOf(kind trace.Kind, process string) func(*trace.Event) bool {
	return func(ev *trace.Event) bool { return ev.Kind == kind && ev.Process == process }
}

// isMessage returns a function that is true for the messages of one step between client-1
// and redis-1.
func isMessage(kind trace.Kind, step trace.Step, reply bool) func(*trace.Event) bool {
	at, peer := "client-1", "redis-1"
	if reply != (kind == trace.KindDeliver) {
		at, peer = peer, at
	}
	return func(ev *trace.Event) bool {
		return ev.Kind == kind && ev.Step == step && ev.Reply == reply && ev.Process == at && ev.Peer == peer
	}
}

// Each trouble does what its title says. A trouble is something that the suite makes go
// wrong with a message.
func TestTroubles(t *testing.T) {
	patient := newSubjectOn(t, 1, constructorOf(t, "single")) // this lock waits for each answer as long as it takes
	hasty := newSubjectOn(t, 1, mutantConstructor(t, "quorum"))
	five := newSubjectOn(t, 5, constructorOf(t, "redlock"))
	for _, c := range []struct {
		story, world string
		check        func(*testing.T, *trace.Trace) // fails the test unless the trace shows what the trouble is meant to do
	}{
		{"lost-request/acquire", "overrun,client-1,redis-1,1", func(t *testing.T, tr *trace.Trace) {
			lost := findEvent(tr, isMessage(trace.KindLose, trace.Acquire, false))
			arrived := findEvent(tr, isMessage(trace.KindDeliver, trace.Acquire, false))
			if lost == nil || arrived == nil || arrived.Seq < lost.Seq {
				t.Errorf("the lost request is %+v, the first that arrived is %+v; want a loss before the arrival", lost, arrived)
			}
		}},
		{"lost-reply/acquire", "overrun,client-1,redis-1,1", func(t *testing.T, tr *trace.Trace) {
			set := findEvent(tr, isEventOf(trace.KindSet, "redis-1"))
			lost := findEvent(tr, isMessage(trace.KindLose, trace.Acquire, true))
			if set == nil || lost == nil || lost.Seq < set.Seq {
				t.Errorf("the key was set at %+v, the reply was lost at %+v; want the loss after the set", set, lost)
			}
		}},
		{"late-request/release", "overrun,client-1,redis-1,2,1.2-ttl", func(t *testing.T, tr *trace.Trace) {
			held := findEvent(tr, isEventOf(trace.KindHold, "client-1"))
			later := func(kind trace.Kind) *trace.Event {
				return findEvent(tr, func(ev *trace.Event) bool {
					return held != nil && isMessage(kind, trace.Release, false)(ev) && ev.Conn == held.Conn && ev.Msg == held.Msg
				})
			}
			sent, arrived := later(trace.KindSend), later(trace.KindDeliver)
			if sent == nil || arrived == nil || arrived.At-sent.At < ttls(1.2) || arrived.At-sent.At > ttls(1.21) {
				t.Errorf("the request was sent at %+v and arrived at %+v; want 1.2 TTLs between them", sent, arrived)
			}
		}},
		{"late-request/release", "steady,client-2,redis-1,1,until-own-next", func(t *testing.T, tr *trace.Trace) {
			held := findEvent(tr, func(ev *trace.Event) bool { return ev.Kind == trace.KindHold && ev.Process == "client-2" })
			again := findEvent(tr, func(ev *trace.Event) bool {
				return ev.Kind == trace.KindSet && held != nil && ev.Seq > held.Seq && ev.Owner.Client == "client-2"
			})
			lifted := findEvent(tr, func(ev *trace.Event) bool { return ev.Kind == trace.KindLift })
			if held == nil || again == nil || lifted == nil || lifted.At != again.At {
				t.Errorf("the request was held at %+v and released at %+v, and the client set its next key at %+v; want the release at that time", held, lifted, again)
			}
		}},
		{"late-reply/acquire", "steady,client-1,redis-1,1,until-another", func(t *testing.T, tr *trace.Trace) {
			next := findEvent(tr, func(ev *trace.Event) bool {
				return ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK
			})
			arrived := findEvent(tr, isMessage(trace.KindDeliver, trace.Acquire, true))
			if next == nil || next.Process == "client-1" || arrived == nil || arrived.Seq < next.Seq {
				t.Errorf("the first grant is %+v, the reply to client-1 arrived at %+v; want first a grant to another client", next, arrived)
			}
		}},
		{"silence/extend", "steady,client-1,redis-1,2,request", func(t *testing.T, tr *trace.Trace) {
			sent := findEvent(tr, func(ev *trace.Event) bool { return ev.Kind == trace.KindStrike })
			heard := findEvent(tr, func(ev *trace.Event) bool {
				return sent != nil && ev.Seq > sent.Seq && ev.Kind == trace.KindDeliver && (ev.Process == "client-1" && ev.Peer == "redis-1" || ev.Process == "redis-1" && ev.Peer == "client-1")
			})
			if sent == nil || heard == nil || heard.At-sent.At < ttls(1.5) || heard.At-sent.At > ttls(1.51) {
				t.Errorf("the silence began at %+v and the next message arrived at %+v; want 1.5 TTLs between them", sent, heard)
			}
		}},
		{"errors/extend", "steady,client-1,redis-1,2", func(t *testing.T, tr *trace.Trace) {
			var said []string
			for i := range tr.Events {
				if ev := &tr.Events[i]; isMessage(trace.KindDeliver, trace.Extend, true)(ev) {
					said = append(said, ev.Text)
				}
			}
			// The first reply only says that the node does not know the script.
			if len(said) < 2 || !strings.HasPrefix(said[1], "LOADING") {
				t.Errorf("the replies to the extend are %q, want an error LOADING as the second", said)
			}
		}},
		{"node-down/work", "steady,client-1,redis-1,1", func(t *testing.T, tr *trace.Trace) {
			crash := findEvent(tr, isEventOf(trace.KindCrash, "redis-1"))
			back := findEvent(tr, isEventOf(trace.KindRestart, "redis-1"))
			forgot := findEvent(tr, isEventOf(trace.KindForget, "redis-1"))
			if crash == nil || back == nil || back.At-crash.At < ttls(0.3) || forgot != nil {
				t.Errorf("redis-1 crashed at %+v, restarted at %+v and forgot %+v; want at least 0.3 TTLs between them, and nothing forgotten", crash, back, forgot)
			}
		}},
		{"node-silent/acquire/minority", "steady,client-1,1", func(t *testing.T, tr *trace.Trace) {
			for node, silent := range map[string]bool{"redis-1": true, "redis-2": true, "redis-3": false} {
				paused, resumed := findEvent(tr, isEventOf(trace.KindPause, node)), findEvent(tr, isEventOf(trace.KindResume, node))
				if (paused != nil) != silent || resumed != nil {
					t.Errorf("%s was paused at %+v and resumed at %+v; want paused: %v, and never resumed", node, paused, resumed, silent)
				}
			}
		}},
		{"cancelled/release", "overrun,client-1,redis-1,2,request", func(t *testing.T, tr *trace.Trace) {
			cancelled := findEvent(tr, isEventOf(trace.KindCancel, "client-1"))
			if cancelled == nil || cancelled.Step != trace.Release {
				t.Errorf("the cancelled call is %+v, want release", cancelled)
			}
		}},
		{"pause/extend", "steady,client-1,redis-1,2,before,until-another-left", func(t *testing.T, tr *trace.Trace) {
			paused := findEvent(tr, isEventOf(trace.KindPause, "client-1"))
			began := findEvent(tr, func(ev *trace.Event) bool {
				return ev.Kind == trace.KindBegin && ev.Step == trace.Extend && ev.Process == "client-1"
			})
			left := findEvent(tr, func(ev *trace.Event) bool {
				return ev.Kind == trace.KindEnd && ev.Step == trace.Release && ev.Process != "client-1"
			})
			if paused == nil || left == nil || began == nil || paused.Seq > left.Seq || left.Seq > began.Seq {
				t.Errorf("client-1 was paused at %+v, another client released at %+v and client-1 began extend at %+v; want this order", paused, left, began)
			}
		}},
		{"killed/acquire", "steady,client-1,redis-1,1,reply", func(t *testing.T, tr *trace.Trace) {
			killed := findEvent(tr, isEventOf(trace.KindCrash, "client-1"))
			granted := findEvent(tr, func(ev *trace.Event) bool { return ev.Kind == trace.KindEnd && ev.OK && ev.Process == "client-1" })
			if killed == nil || granted != nil {
				t.Errorf("killed %+v, granted %+v", killed, granted)
			}
		}},
	} {
		t.Run(c.story+"/"+c.world, func(t *testing.T) {
			st, ok := findTestCase(c.story)
			if !ok {
				t.Fatal("there is no such test case")
			}
			s := patient
			if strings.HasSuffix(c.world, "until-own-next") { // a lock waits in its call here, and so never reaches this point
				s = hasty
			}
			if strings.HasSuffix(c.story, "/minority") {
				s = five
			}
			worlds, notApplicable, err := st.worlds(s, 1)
			if err != nil || notApplicable != "" {
				t.Fatal(err, notApplicable)
			}
			i := slices.IndexFunc(worlds, func(w world) bool { return w.name == c.world })
			if i < 0 {
				var names []string
				for _, w := range worlds {
					names = append(names, w.name)
				}
				t.Fatalf("%s has no world %s; it has %s", c.story, c.world, strings.Join(names, " "))
			}
			tr, err := sim.Run(worlds[i].config)
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, tr)
		})
	}
}

// The worlds of a test case have different names, by which a replay line can select them.
func TestWorldsHaveNames(t *testing.T) {
	for _, c := range []struct {
		kind  string
		nodes int
	}{{"single", 1}, {"redlock", 5}} {
		s := newSubjectOn(t, c.nodes, constructorOf(t, c.kind))
		for _, st := range sweepCases() {
			worlds, _, err := st.worlds(s, 1)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, w := range worlds {
				if seen[w.name] || strings.ContainsAny(w.name, " '\"") {
					t.Errorf("%s: the name %q is not unique, or needs quotes", st.name, w.name)
				}
				seen[w.name] = true
			}
		}
	}
}

// Some troubles are tried on one node and on several, in test cases of their own. The
// address of a world in one of these test cases is not mistaken for one in the other.
func TestParseAddressOfTrouble(t *testing.T) {
	for text, want := range map[string]address{
		"lost-reply/acquire/steady,client-1,redis-2,1":        {"lost-reply/acquire", "steady,client-1,redis-2,1", 1},
		"lost-reply/acquire/majority/brisk,client-1,1 seed 7": {"lost-reply/acquire/majority", "brisk,client-1,1", 7},
		"pause/work/overrun,client-1,redis-1,1,until-another": {"pause/work", "overrun,client-1,redis-1,1,until-another", 1},
		"undisturbed/steady": {undisturbedName, "steady", 1},
	} {
		if got, err := parseAddress(text); err != nil || got != want {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// With every number of nodes, a trouble strikes one node, a majority, or all nodes. A
// permanent trouble strikes a minority.
func TestExtents(t *testing.T) {
	var five []sending
	for i := range 5 {
		five = append(five, sending{trace.NthMessage{Message: trace.Message{Peer: Config{System: "redis"}.node(i)}}, Config{System: "redis"}.node(i)})
	}
	for _, c := range []struct {
		extent extent
		of     int
		want   [][]string
	}{
		{extents[0], 1, [][]string{{"redis-1"}}},
		{extents[0], 2, [][]string{{"redis-1"}, {"redis-2"}}},
		{extents[0], 5, [][]string{{"redis-1"}, {"redis-3"}, {"redis-5"}}},
		{extents[1], 1, nil},
		{extents[1], 4, [][]string{{"redis-1", "redis-2", "redis-3"}}},
		{extents[1], 5, [][]string{{"redis-1", "redis-2", "redis-3"}}},
		{extents[2], 5, [][]string{{"redis-1", "redis-2", "redis-3", "redis-4", "redis-5"}}},
		{minorityExtent, 1, nil},
		{minorityExtent, 2, nil},
		{minorityExtent, 3, [][]string{{"redis-1"}}},
		{minorityExtent, 5, [][]string{{"redis-1", "redis-2"}}},
		{clientExtent, 1, [][]string{{"redis-1"}}},
		{clientExtent, 5, [][]string{{"redis-3"}, {"redis-5"}}},
		{extents[0], 0, nil},
		{clientExtent, 0, nil},
	} {
		var got [][]string
		for _, struck := range c.extent.choose(five[:c.of]) {
			got = append(got, injection{sendings: struck}.nodes())
		}
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%q of %d: got %v, want %v", c.extent.name, c.of, got, c.want)
		}
	}
}

// ttls returns exact multiples of the TTL.
func TestTTLs(t *testing.T) {
	for n, want := range map[float64]time.Duration{1: ttl, 0.06: 600 * time.Millisecond, 1.15: 11500 * time.Millisecond, 2.3: 23 * time.Second} {
		if got := ttls(n); got != want {
			t.Errorf("ttls(%v) = %v, want %v", n, got, want)
		}
	}
}

// For every effect that a fault can have, the suite has a trouble with that effect, or
// gives a reason for having none. Each trouble has the effect that it declares.
func TestTroublesCoverEveryEffect(t *testing.T) {
	of := map[trace.Effect]int{}
	for _, trouble := range troubles {
		of[trouble.effect]++
	}
	for _, effect := range trace.Effects() {
		if (of[effect] > 0) == (effectsWithoutTrouble[effect] != "") {
			t.Errorf("%d troubles with faults that %s, and the reason for none is %q", of[effect], effect, effectsWithoutTrouble[effect])
		}
	}
	s := newSubjectOn(t, 1, constructorOf(t, "single"))
	worlds := 0
	for _, trouble := range troubles {
		for _, step := range trouble.steps() {
			for _, e := range trouble.extents() {
				all, _, err := sweepCase(trouble, step, e).worlds(s, 1)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range all {
					worlds++
					for _, f := range w.config.Faults {
						if f.Effect() != trouble.effect {
							t.Errorf("the trouble %s declares faults that %s, and has a fault that %s", trouble.name, trouble.effect, f.Effect())
						}
					}
				}
			}
		}
	}
	if worlds < 100 {
		t.Errorf("there were %d worlds, want at least 100", worlds)
	}
}
