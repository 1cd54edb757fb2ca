package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/trace"
)

// A tale is what happened in one run, as people would tell it: who got the lock, what
// went wrong, who got in meanwhile and whose write landed when. It leaves out whoever
// has no part in what broke.
type tale struct {
	trace   *trace.Trace
	verdict *checks.Verdict
	faults  []Fault
	nodes   []string // those on which a lock is kept
	// cast are the acquisitions that have a part in it, and last is the event after
	// which there is nothing to tell.
	cast map[actor]bool
	last int

	clauses  []clause
	standing map[actor][]string       // where each one's keys stand
	ended    map[actor]bool           // its acquire has returned
	latest   map[string]int           // by client: its latest section
	began    map[actor]int            // how many clauses there were when its step began
	stopped  map[string]time.Duration // by process: since when it is paused or down
	expired  []*trace.Event           // that have not been told
	early    map[int]bool             // by Seq: a key expired before its time
	foreign  []*trace.Event           // that have not been told
	late     []*trace.Event           // that have not been told
	due      map[place]time.Duration  // by key: when it is to expire, in true time
	held     map[message]bool         // that a fault has held back
	heldBack map[string]bool          // by client: such a request is at the storage now
	resent   map[actor]bool           // it has sent a request again
}

// A message is one of a trace, as its sender knows it.
type message struct {
	from, to  string
	conn, msg int
}

// messageOf is the message that an event is about.
func messageOf(ev *trace.Event) message {
	if ev.Kind == trace.KindDeliver {
		return message{ev.Peer, ev.Process, ev.Conn, ev.Msg}
	}
	return message{ev.Process, ev.Peer, ev.Conn, ev.Msg}
}

// A place is a key on a node.
type place struct{ node, key string }

// An actor is one acquisition of one client.
type actor struct {
	client  string
	section int
}

// A clause is the smallest part of a story: "client-2" "gets the lock".
type clause struct {
	subject, does string
	// when is a clause that goes before it, such as just before its write.
	when string
	// fault says that it is a fault.
	fault bool
	// leads says that it goes into one sentence with what comes next, and follows with
	// what came before.
	leads, follows bool
}

func newTale(tr *trace.Trace, verdict *checks.Verdict, faults []Fault) *tale {
	t := &tale{
		trace: tr, verdict: verdict, faults: faults,
		cast: map[actor]bool{}, standing: map[actor][]string{}, ended: map[actor]bool{},
		latest: map[string]int{}, began: map[actor]int{}, stopped: map[string]time.Duration{},
		early: map[int]bool{}, due: map[place]time.Duration{}, held: map[message]bool{}, heldBack: map[string]bool{}, resent: map[actor]bool{},
	}
	for _, l := range tr.Locks {
		for _, slot := range l.Slots {
			if !slices.Contains(t.nodes, slot.Node) {
				t.nodes = append(t.nodes, slot.Node)
			}
		}
	}
	t.castings()
	for i := range tr.Events {
		if tr.Events[i].Seq <= t.last {
			t.event(&tr.Events[i])
		}
	}
	t.flush()
	return t
}

func (t *tale) add(c clause) { t.clauses = append(t.clauses, c) }

// say adds a clause about a process, after what has been put off.
func (t *tale) say(subject, format string, args ...any) {
	t.flush()
	t.add(clause{subject: subject, does: fmt.Sprintf(format, args...)})
}

// event tells an event, or puts it off, or leaves it out.
func (t *tale) event(ev *trace.Event) {
	who := actor{ev.Process, ev.Section}
	switch ev.Kind {
	case trace.KindStrike:
		t.strike(ev)
	case trace.KindPause:
		t.stopped[ev.Process] = ev.At
	case trace.KindResume:
		if t.isClient(ev.Process) {
			t.say(ev.Process, "wakes up")
		}
	case trace.KindCrash:
		t.stopped[ev.Process] = ev.At
	case trace.KindRestart:
		t.restart(ev)
	case trace.KindRanOn:
		t.say(ev.Process, "runs on all the same")
	case trace.KindSet, trace.KindTouch, trace.KindDelete, trace.KindExpire, trace.KindForget, trace.KindRestore:
		t.key(ev)
	case trace.KindBegin:
		t.latest[ev.Process] = ev.Section
		t.began[who] = len(t.clauses)
	case trace.KindEnd:
		if t.cast[who] {
			t.stepEnd(ev)
		}
		t.ended[who] = t.ended[who] || ev.Step == trace.Acquire
	case trace.KindAgain:
		if t.cast[who] && ev.Step == trace.Write && !t.resent[who] {
			t.say(ev.Process, "gets no answer")
			t.say(ev.Process, "sends its write again")
			t.resent[who] = true
		}
	case trace.KindLift:
		if ev.Fault >= 1 && ev.Fault <= len(t.faults) && t.faults[ev.Fault-1].Kind == "stall" {
			t.heldBack[t.faults[ev.Fault-1].Target] = true
		}
	case trace.KindHold:
		t.held[messageOf(ev)] = true
	case trace.KindDeliver:
		if t.held[messageOf(ev)] && ev.Process == trace.StorageName {
			t.heldBack[ev.Peer] = true
		}
	case trace.KindServe:
		if by := (actor{ev.Client(), ev.Section}); t.cast[by] && ev.Step == trace.Write {
			t.write(ev, by)
		}
	case trace.KindLost:
		if t.cast[who] {
			t.say(ev.Process, "learns that its lease is lost")
		}
	}
}

// strike tells of a fault. One of the start of the run needs no time.
func (t *tale) strike(ev *trace.Event) {
	if ev.Fault < 1 || ev.Fault > len(t.faults) {
		return
	}
	t.flush()
	f := t.faults[ev.Fault-1]
	subject, does := f.happens()
	if f.Kind == "crash" && f.For == 0 && !t.isClient(f.Target) {
		does += " and stays down"
	}
	if who := t.client(ev.Fault); who != "" && t.cast[actor{who, t.latest[who]}] && !t.ended[actor{who, t.latest[who]}] {
		t.add(clause{subject: who, does: "asks for the lock"})
	}
	when := f.strikes(subject)
	if n := len(t.clauses); n > 0 && hasJust(t.clauses[n-1], f.When) {
		when = "then"
	}
	t.add(clause{subject: subject, does: does, when: when, fault: true})
}

// hasJust says whether a point is reached with what a clause tells.
func hasJust(c clause, point string) bool {
	did := map[string]string{"read": "reads", "wrote": "writes", "released": "releases", "acquired": "gets the lock"}
	client, verb, _ := strings.Cut(point, " ")
	return c.subject == client && did[verb] != "" && strings.HasPrefix(c.does, did[verb])
}

// during says whether one fault strikes while another, which is no mere moment, lasts.
// Both are counted from 0.
func (t *tale) during(fault, other int) bool {
	lasts := false
	for i := range t.trace.Events {
		switch ev := &t.trace.Events[i]; {
		case ev.Kind == trace.KindStrike && ev.Fault == other+1:
			lasts = !ev.Instant
		case ev.Kind == trace.KindLift && ev.Fault == other+1:
			lasts = false
		case ev.Kind == trace.KindStrike && ev.Fault == fault+1:
			return lasts
		}
	}
	return false
}

// restart tells what a server comes back with.
func (t *tale) restart(ev *trace.Event) {
	var lost, older []string
	for i := ev.Seq; i < len(t.trace.Events); i++ {
		o := &t.trace.Events[i]
		if o.At > ev.At {
			break
		}
		if o.Process != ev.Process || o.Owner == nil {
			continue
		}
		switch key := o.Owner.Client + "'s key"; {
		case o.Kind == trace.KindForget && !slices.Contains(lost, key):
			lost = append(lost, key)
		case o.Kind == trace.KindRestore && !slices.Contains(older, key):
			older = append(older, key)
		}
	}
	does := fmt.Sprintf("is back after %s", roughly(ev.At-t.stopped[ev.Process]))
	if len(lost) > 0 {
		does += " without " + list(lost)
	}
	if len(older) > 0 {
		does += " with an older copy of " + list(older)
	}
	t.say(ev.Process, "%s", does)
}

// write tells what the storage made of a write, and what that broke.
func (t *tale) write(ev *trace.Event, by actor) {
	t.flush()
	held := t.heldBack[by.client]
	delete(t.heldBack, by.client)
	over := t.harm(ev)
	late := held || len(t.clauses) > t.began[by] && (over != "" || !t.resent[by])
	write := by.client + "'s write"
	if held && t.resent[by] {
		write = by.client + "'s first request"
	}
	switch {
	case !ev.OK:
		t.say(trace.StorageName, "refuses %s", write)
	case late:
		t.say(write, "%s", strings.TrimSpace("lands "+over))
	case !t.resent[by]:
		t.say(by.client, "%s", strings.TrimSpace("writes "+over))
	}
}

// harm is what a write did if it is the one that broke something, or "".
func (t *tale) harm(ev *trace.Event) string {
	broke := func(p checks.Property) (checks.Finding, bool) {
		f := t.verdict.Finding(p)
		return f, f.Outcome == checks.Violated && f.At == ev.Seq
	}
	if f, ok := broke(checks.NoLostUpdate); ok && t.stale(f) != nil {
		if len(f.Events) == 2 {
			return fmt.Sprintf("over %s update, which is lost", t.ofOther(ev, t.at(f.Events[0])))
		}
		return "what it has computed from an old version"
	}
	if f, ok := broke(checks.WriteOrder); ok {
		return fmt.Sprintf("over that of %s, whose grant is newer", t.at(f.Events[0]).Client())
	}
	if f, ok := broke(checks.GrantOrder); ok {
		return fmt.Sprintf("although %s has the lock by then", t.at(f.Events[0]).Process)
	}
	return ""
}

// ofOther is whose an earlier write was: client-2's, or its own newer one.
func (t *tale) ofOther(write, earlier *trace.Event) string {
	switch {
	case earlier.Client() != write.Client():
		return earlier.Client() + "'s"
	case earlier.Section == write.Section:
		return "its own newer"
	}
	return "its own"
}

// stepEnd tells what came of a client's step.
func (t *tale) stepEnd(ev *trace.Event) {
	who := actor{ev.Process, ev.Section}
	switch {
	case ev.Step == trace.Acquire && ev.OK && ev.Ungranted:
		t.say(ev.Process, "goes ahead though no node has granted it the lock")
	case ev.Step == trace.Acquire && ev.OK:
		t.flush()
		t.add(clause{subject: ev.Process, does: "gets the lock" + t.on(t.standing[who]), when: t.despite(ev)})
	case ev.Step == trace.Acquire:
		if gravest(t.verdict) != checks.Progress { // else the end of the story tells of all attempts
			t.say(ev.Process, "fails to get the lock")
		}
	case ev.Step == trace.Read && ev.OK:
		t.say(ev.Process, "reads")
	case ev.Step == trace.Extend && !ev.OK:
		t.say(ev.Process, "fails to extend its lease")
	case ev.Step == trace.Extend && t.shows(ev.Seq):
		t.say(ev.Process, "extends its lease")
	case ev.Step == trace.Release:
		t.say(ev.Process, "releases")
	case ev.Step.AtStorage() && !ev.OK && !ev.Refused:
		t.say(ev.Process, "gives up on its %s", ev.Step)
	}
}

// shows says whether an event shows one of the violations.
func (t *tale) shows(seq int) bool {
	return slices.ContainsFunc(t.broken(), func(f checks.Finding) bool { return f.At == seq || slices.Contains(f.Events, seq) })
}

// despite says whose lease or section a grant falls into, if that is what broke.
func (t *tale) despite(ev *trace.Event) string {
	for _, p := range []checks.Property{checks.LeaseExclusion, checks.SectionExclusion} {
		f := t.verdict.Finding(p)
		if f.Outcome != checks.Violated || len(f.Events) != 2 || f.Events[1] != ev.Seq {
			continue
		}
		holder := t.at(f.Events[0]).Process
		switch {
		case p == checks.LeaseExclusion:
			return fmt.Sprintf("although %s's lease has not ended", holder)
		case gravity(gravest(t.verdict)) > gravity(checks.GrantOrder):
			return fmt.Sprintf("while %s is still in its section", holder)
		}
	}
	return ""
}

// on says on which of several nodes a lock is held.
func (t *tale) on(nodes []string) string {
	nodes = t.ordered(nodes)
	if len(t.nodes) < 2 || len(nodes) == len(t.nodes) || len(nodes) == 0 {
		return ""
	}
	return " on " + list(nodes)
}

func (t *tale) ordered(nodes []string) []string {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(t.nodes, a), slices.Index(t.nodes, b)), cmp.Compare(a, b))
	})
	return slices.Compact(nodes)
}
