package diagram

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// runOf returns a run for a trace written by hand, with its verdict.
func runOf(t *trace.Trace) story.Run {
	h := history.New(t)
	return story.Run{History: h, Verdict: checks.Check(h, nil), ID: "off", Title: "without fencing"}
}

func diagramOf(t *trace.Trace) *diagram { return newDiagram(runOf(t), unlimitedRoom) }

// A client is paused in its section until its lease has ended. Its key expires on every
// node during the pause, and the section of the next client overlaps its section.
func TestDiagramShowsAKeyExpireUnderAPausedClient(t *testing.T) {
	d := diagramOf(simtest.PausedHolderTrace("none"))
	if len(d.sections) != 2 || len(d.overlaps) != 1 {
		t.Fatalf("the diagram has %d sections and %d overlaps, want 2 and 1", len(d.sections), len(d.overlaps))
	}
	pause := d.bands[slices.IndexFunc(d.bands, func(b band) bool { return b.class == "pause" })]
	first, second := d.sections[0], d.sections[1]
	if pause.process != "client-1" || pause.from <= first.From.At || pause.to >= first.To.At {
		t.Errorf("%s is paused from %v to %v, want a pause of client-1 within its section, from %v to %v", pause.process, pause.from, pause.to, first.From, first.To)
	}
	if leaseEnd(first) >= first.To.At {
		t.Errorf("the lease ends at %v, want it before the end of the section at %v", leaseEnd(first), first.To)
	}
	if o := d.overlaps[0]; o.From != second.From.At || o.To != second.To.At {
		t.Errorf("the overlap goes from %v to %v, want it to be the second section, from %v to %v", o.From, o.To, second.From, second.To)
	}
	expired := 0
	for _, k := range d.keys {
		if k.owner == "client-1" && k.holding.How == history.Expired && pause.from < k.to && k.to < pause.to {
			expired++
		}
	}
	if expired != 3 {
		t.Errorf("client-1's key expires during the pause on %d nodes, want 3", expired)
	}
	var broken []string
	for _, p := range d.pennants {
		if p.property != "" {
			broken = append(broken, string(p.property))
		}
	}
	for _, p := range []checks.Property{checks.SectionExclusion, checks.WriteOrder} {
		if !slices.Contains(broken, string(p)) {
			t.Errorf("the diagram has no flag for the violation of %s, only for %v", p, broken)
		}
	}
}

// Each decision of the storage has the token that came with the request.
func TestDiagramShowsDecisionsWithTheirTokens(t *testing.T) {
	labels := func(fencing string) []string {
		var all []string
		for _, g := range diagramOf(simtest.PausedHolderTrace(fencing)).decisions {
			all = append(all, g.label+" "+g.below)
		}
		return all
	}
	if got, want := labels("none"), []string{"R v0", "R v0", "W 2 v0→1", "W 1 v1→2"}; !slices.Equal(got, want) {
		t.Errorf("the decisions without fencing are %q, want %q", got, want)
	}
	if got, want := labels("writes"), []string{"R v0", "R v0", "W 2 v0→1", "W 1 refused"}; !slices.Equal(got, want) {
		t.Errorf("the decisions with fencing are %q, want %q", got, want)
	}
}

// A message is drawn from its sending to its arrival. The end of a lost message is marked
// as lost. A message that only sets up a connection is not drawn.
func TestDiagramPairsMessages(t *testing.T) {
	s := simtest.NewScript("none", 1)
	send := func(kind trace.Kind, msg int, reply, handshake bool) trace.Event {
		ev := trace.Event{Kind: kind, Process: "client-1", Peer: "redis-1", Conn: 1, Msg: msg, Reply: reply, Handshake: handshake, Text: "SET"}
		if reply != (kind == trace.KindDeliver) {
			ev.Process, ev.Peer = ev.Peer, ev.Process
		}
		return ev
	}
	s.Then(
		send(trace.KindSend, 1, false, true), send(trace.KindDeliver, 1, false, true),
		send(trace.KindSend, 2, false, false), send(trace.KindDeliver, 2, false, false),
		send(trace.KindSend, 1, true, false), send(trace.KindHold, 1, true, false),
		send(trace.KindSend, 3, false, false), send(trace.KindLose, 3, false, false),
		send(trace.KindDeliver, 1, true, false),
	)
	var got []string
	for _, m := range diagramOf(&s.Trace).messages {
		got = append(got, fmt.Sprintf("%s to %s, %v to %v, lost %v, held %v", m.from, m.to, m.sent, m.ended, m.isLost, m.isHeld))
	}
	want := []string{
		"client-1 to redis-1, 3ms to 4ms, lost false, held false",
		"redis-1 to client-1, 5ms to 9ms, lost false, held true",
		"client-1 to redis-1, 7ms to 9ms, lost true, held false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the messages are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A crash, a partition, a node that answers with errors and a stalled storage are bands on
// the lanes of the affected processes.
func TestDiagramBands(t *testing.T) {
	s := simtest.NewScript("none", 3)
	s.Faults = []trace.FaultInfo{
		{Kind: "partition", Targets: [][]string{{"client-1"}, {"redis-1", "redis-2"}}},
		{Kind: "stall", Targets: [][]string{{"storage"}}},
	}
	s.Then(
		trace.Event{Kind: trace.KindStrike, Fault: 1},                      // 1 ms
		trace.Event{Kind: trace.KindCrash, Process: "redis-3"},             // 2 ms
		trace.Event{Kind: trace.KindFail, Process: "redis-2"},              // 3 ms
		trace.Event{Kind: trace.KindStrike, Fault: 2},                      // 4 ms
		trace.Event{Kind: trace.KindStall, Process: "storage", Fault: 2},   // 5 ms
		trace.Event{Kind: trace.KindLift, Fault: 1},                        // 6 ms
		trace.Event{Kind: trace.KindLift, Fault: 2},                        // 7 ms
		trace.Event{Kind: trace.KindRecover, Process: "redis-2"},           // 8 ms
		trace.Event{Kind: trace.KindPause, Process: "client-2", Text: "x"}, // 9 ms
		trace.Event{Kind: trace.KindHorizon},                               // 10 ms
	)
	var got []string
	for _, b := range diagramOf(&s.Trace).bands {
		got = append(got, fmt.Sprintf("%s %s %s, %v to %v", b.class, b.process, b.text, b.from, b.to))
	}
	want := []string{
		"partition client-1 cut off from redis-1 and redis-2, 1ms to 6ms",
		"partition redis-1 cut off from client-1, 1ms to 6ms",
		"partition redis-2 cut off from client-1, 1ms to 6ms",
		"down redis-3 down, 2ms to 10ms",
		"error redis-2 answers with errors, 3ms to 8ms",
		"stall storage is stalled, 5ms to 7ms",
		"pause client-2 paused, 9ms to 10ms",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the bands are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// If two faults cut off the same process, the band of each ends with its own fault.
func TestDiagramOfTwoPartitionsAtOnce(t *testing.T) {
	s := simtest.NewScript("none", 2)
	s.Faults = []trace.FaultInfo{
		{Kind: "partition", Targets: [][]string{{"client-1"}, {"redis-1"}}},
		{Kind: "partition", Targets: [][]string{{"client-1"}, {"redis-2"}}},
	}
	s.Then(
		trace.Event{Kind: trace.KindStrike, Fault: 1}, // 1 ms
		trace.Event{Kind: trace.KindStrike, Fault: 2}, // 2 ms
		trace.Event{Kind: trace.KindLift, Fault: 1},   // 3 ms
		trace.Event{Kind: trace.KindLift, Fault: 2},   // 4 ms
		trace.Event{Kind: trace.KindHorizon},          // 5 ms
	)
	var got []string
	for _, b := range diagramOf(&s.Trace).bands {
		if b.process == "client-1" {
			got = append(got, fmt.Sprintf("%s, %v to %v", b.text, b.from, b.to))
		}
	}
	if want := []string{"cut off from redis-1, 1ms to 3ms", "cut off from redis-2, 2ms to 4ms"}; !slices.Equal(got, want) {
		t.Errorf("the bands of client-1 are %q, want %q", got, want)
	}
}

// A crash ends the bar of the process's pause, and that of its attempt to acquire the lock.
func TestDiagramOfACrash(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Then(
		simtest.Begin("client-1", 1, trace.Acquire, 0),          // 1 ms
		trace.Event{Kind: trace.KindPause, Process: "client-1"}, // 2 ms
		trace.Event{Kind: trace.KindCrash, Process: "client-1"}, // 3 ms
		trace.Event{Kind: trace.KindHorizon},                    // 4 ms
	)
	d := diagramOf(&s.Trace)
	var got []string
	for _, b := range d.bands {
		got = append(got, fmt.Sprintf("%s, %v to %v", b.text, b.from, b.to))
	}
	for _, a := range d.attempts {
		got = append(got, story.DescribeAcquire(a.call, d.end()).String())
	}
	want := []string{"paused, 2ms to 3ms", "down, 3ms to 4ms", "client-1 asks for the lock from 0.001s to 0.003s, and crashes"}
	if !slices.Equal(got, want) {
		t.Errorf("the bands and the attempt are %q, want %q", got, want)
	}
}

// The bar of a key ends when the key no longer protected its lock. That is the crash in
// which the key was lost, or its expiry while its node was down. It is not the later moment
// at which the restarted node reports the loss. The picture shows the same end.
func TestDiagramOfKeysOnANodeThatIsDown(t *testing.T) {
	owner := &trace.Actor{Client: "client-1", Section: 1}
	set := trace.Event{Kind: trace.KindSet, Process: "redis-1", Key: "x", Owner: owner, By: owner, TTL: 10 * time.Second, Expires: 11 * time.Second}
	crash, restart := trace.Event{Kind: trace.KindCrash, Process: "redis-1"}, trace.Event{Kind: trace.KindRestart, Process: "redis-1"}
	key := func(kind trace.Kind) trace.Event {
		return trace.Event{Kind: kind, Process: "redis-1", Key: "x", Owner: owner}
	}
	// older is the event with which a node restores an older state of its disk, in which client-2
	// owns the key.
	older := key(trace.KindRestore)
	older.Owner = &trace.Actor{Client: "client-2", Section: 1}
	for _, c := range []struct {
		name string
		then func(*simtest.Script) // adds what happens after the key is set
		to   time.Duration         // the end of the key's bar
		want string                // how the key ended
	}{
		{"the key is lost in the crash", func(s *simtest.Script) {
			s.At(2*time.Second, crash).At(3*time.Second, restart).At(3*time.Second, key(trace.KindForget))
		}, 2 * time.Second, "lost in the crash"},
		{"the key expires while its node is down", func(s *simtest.Script) {
			s.At(2*time.Second, crash).At(20*time.Second, restart).At(20*time.Second, key(trace.KindExpire))
		}, 11 * time.Second, "it expired"},
		{"the node restarts with the key, which expires later", func(s *simtest.Script) {
			s.At(2*time.Second, crash).At(3*time.Second, restart).At(11*time.Second, key(trace.KindExpire))
		}, 11 * time.Second, "it expired"},
		{"the node does not restart", func(s *simtest.Script) {
			s.At(2*time.Second, crash).At(9*time.Second, trace.Event{Kind: trace.KindHorizon})
		}, 2 * time.Second, "the node went down, and never came back"},
		{"the node restarts with an older state of the disk", func(s *simtest.Script) {
			s.At(2*time.Second, crash).At(3*time.Second, restart).At(3*time.Second, older)
		}, 2 * time.Second, "lost in the crash, after which an older state came back"},
		{"the node restarts with the key's earlier expiry", func(s *simtest.Script) {
			s.At(2*time.Second, crash).At(3*time.Second, restart).At(3*time.Second, key(trace.KindRestore))
		}, 3 * time.Second, "it came back with the expiry that it had before it was extended"},
		{"the master of a replica changes the key's expiry", func(s *simtest.Script) {
			s.At(5*time.Second, key(trace.KindRestore))
		}, 5 * time.Second, "its master changed its expiry"},
		{"another client overwrites the key after the restart", func(s *simtest.Script) {
			s.At(2*time.Second, crash).At(3*time.Second, restart).At(5*time.Second, older)
		}, 5 * time.Second, "overwritten by client-2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := simtest.NewScript("none", 1)
			s.At(time.Second, set)
			c.then(s)
			s.At(30*time.Second, trace.Event{Kind: trace.KindHorizon})
			d := diagramOf(&s.Trace)
			if len(d.keys) == 0 {
				t.Fatal("the diagram has no key")
			}
			got := d.keys[0]
			if says := string(story.DescribeKey(got.holding, d.end())); got.to != c.to || !strings.HasSuffix(says, ": "+c.want) {
				t.Errorf("the key ends at %v: %s, want %v: %s", got.to, says, c.to, c.want)
			}
			a := newAxis(laneLabelWidth, []*diagram{d})
			bar := newFigure(d, a).Keys[0]
			if end := a.positionOf(c.to); bar.X+bar.W != end {
				t.Errorf("the bar of the key goes from %d to %d, and the key's end, %v, is at %d", bar.X, bar.X+bar.W, c.to, end)
			}
		})
	}
}

// Things for which there is no room are counted. The most important things are kept:
// messages that a fault affected, and messages to and from the storage.
func TestDiagramSaysWhatItLeavesOut(t *testing.T) {
	s := simtest.NewScript("none", 1)
	for i := range 10 {
		s.Then(
			trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Conn: 1, Msg: i + 1, Text: "PING"},
			trace.Event{Kind: trace.KindDeliver, Process: "redis-1", Peer: "client-1", Conn: 1, Msg: i + 1, Text: "PING"},
		)
	}
	s.Then(
		trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "storage", Conn: 1, Msg: 1, Text: "write"},
		trace.Event{Kind: trace.KindDeliver, Process: "storage", Peer: "client-1", Conn: 1, Msg: 1, Text: "write"},
	)
	room := unlimitedRoom
	room.messages = 4
	d := newDiagram(runOf(&s.Trace), room)
	if len(d.messages) != 4 || d.messages[3].to != "storage" {
		t.Errorf("%d messages are drawn, the last to %s; want 4, the last to storage", len(d.messages), d.messages[len(d.messages)-1].to)
	}
	if want := []string{"7 messages"}; !slices.Equal(d.leftOut, want) {
		t.Errorf("the diagram says that it leaves out %q, want %q", d.leftOut, want)
	}
	if all := diagramOf(&s.Trace); len(all.messages) != 11 || len(all.leftOut) != 0 {
		t.Errorf("with room for all messages, %d are drawn and %q is left out, want 11 and nothing", len(all.messages), all.leftOut)
	}
}

// A self-contained picture contains every colour as a value, because there is no style
// sheet of a page that could define variables.
func TestPicturesNeedNoVariables(t *testing.T) {
	page, err := os.ReadFile("../webpage/page.css")
	if err != nil {
		t.Fatal(err)
	}
	if style := paperStyle(string(page)); strings.Contains(style, "var(") || strings.Contains(style, ": ;") || !strings.Contains(style, "#") {
		t.Errorf("the style still has variables, or no colours:\n%s", style)
	}
}

// No label above the lanes covers another label.
func TestFlagsDoNotHideEachOther(t *testing.T) {
	d := diagramOf(simtest.PausedHolderTrace("none"))
	for i := range 6 {
		d.pennants = append(d.pennants, pennant{at: time.Duration(i), text: "fault: something that takes room"})
	}
	f := newFigure(d, newAxis(laneLabelWidth, []*diagram{d}))
	for i, a := range f.Pennants {
		for _, b := range f.Pennants[:i] {
			if left, right := max(a.TextX, b.TextX)-6, min(a.TextX-6+a.W, b.TextX-6+b.W); a.Y == b.Y && left < right {
				t.Errorf("the labels %q and %q overlap", a.Text, b.Text)
			}
		}
	}
}

// The labels of two bars that end at the same height do not cover each other: they are joined if
// there is room, and otherwise one is left out.
func TestBarsShareTheirLabels(t *testing.T) {
	wide, narrow := 2*textWidth("cut off from client-1, cut off from redis-1", fontSize), textWidth("cut off from client-1", fontSize)+10
	for _, test := range []struct {
		name          string
		width, x, y   int
		first, second string
		wantA, wantB  string
	}{
		{"room for both", wide, 20, 0, "cut off from client-1", "cut off from redis-1", "cut off from client-1, cut off from redis-1", ""},
		{"room for one", narrow, 20, 0, "cut off from client-1", "cut off from redis-1", "cut off from client-1", ""},
		{"equal labels", wide, 20, 0, "two clients", "two clients", "two clients", ""},
		{"beside each other", wide, 2 * wide, 0, "two clients", "two clients", "two clients", "two clients"},
		{"at another height", wide, 20, 40, "two clients", "two clients", "two clients", "two clients"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := figureBar{W: test.width, H: 20, Label: test.first}
			b := figureBar{X: test.x, Y: test.y, W: test.width, H: 20, Label: test.second}
			if a.shareLabel(&b); a.Label != test.wantA || b.Label != test.wantB {
				t.Errorf("the labels are %q and %q, want %q and %q", a.Label, b.Label, test.wantA, test.wantB)
			}
		})
	}
}

// Every effect of a fault has a band, or a reason why it has none.
func TestBandsKnowEveryEffect(t *testing.T) {
	for _, effect := range trace.Effects() {
		if look := linkBands[effect]; (look.format != "") == (look.noBandReason != "") || (look.format == "") != (look.class == "") {
			t.Errorf("a fault with the effect %s must have either a band or a reason for none, and has %+v", effect, look)
		}
	}
}
