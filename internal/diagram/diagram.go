package diagram

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A diagram is the content of a space-time diagram of one run: a lane for each process, and
// time from left to right. It contains what is visible and when, but no positions on the
// page.
type diagram struct {
	run     story.Run
	history *history.History
	// lanes are the names of the processes, with the clients first and the nodes last.
	lanes []string
	roles map[string]trace.Role
	// steps are the entries of the timeline, with their marks.
	steps []story.Clause

	sections  []*history.Section
	overlaps  []history.Overlap
	attempts  []attempt
	keys      []keyBar
	bands     []band
	messages  []message
	decisions []decision
	clocks    []clockMark
	pennants  []pennant

	// focus contains the Seqs of the most important events.
	focus focus
	// leftOut lists the things for which there is no room. repeated lists the things that
	// are not drawn because they only repeat what happened before. Each entry is a phrase
	// such as "12 messages".
	leftOut, repeated []string
	// moments are the times at which something is visible.
	moments []time.Duration
}

// newDiagram finds what is visible in a run. It keeps as many things as room allows.
func newDiagram(run story.Run, room Room) *diagram {
	h := run.History
	d := &diagram{run: run, history: h, roles: map[string]trace.Role{}, focus: focusOf(run.Verdict, h)}
	d.readLanes(room.lanes)
	clauses := story.Marked(story.Clauses(h, false), run.Marks())
	d.readSteps(clauses, room.steps)
	repeats := repetitions(clauses)
	d.readSections(room)
	d.readAttempts(room.attempts, repeats)
	d.readKeys(room.keys, repeats)
	d.readBands(room)
	d.readMessages(room.messages, repeats)
	d.readDecisions(room.decisions)
	d.readPennants(room.pennants)
	for i := range d.steps {
		d.addMoments(d.steps[i].At)
	}
	d.addMoments(0, d.end())
	slices.Sort(d.moments)
	d.moments = slices.Compact(d.moments)
	return d
}

// end returns when the run ended.
func (d *diagram) end() time.Duration { return d.history.Trace.End() }

// addMoments records that something is visible at these times.
func (d *diagram) addMoments(times ...time.Duration) {
	for _, at := range times {
		if at >= 0 && at < history.Forever {
			d.moments = append(d.moments, at)
		}
	}
}

// noteOmitted records that some things of a kind are not drawn. There is no room for a
// number of them (room), and others only repeat what happened before (repeated). The text
// singular is the phrase for one thing of the kind, and plural is the noun for several.
func (d *diagram) noteOmitted(room, repeated int, singular, plural string) {
	record := func(list *[]string, n int) {
		switch {
		case n == 1:
			*list = append(*list, singular)
		case n > 1:
			*list = append(*list, story.Thousands(n)+" "+plural)
		}
	}
	record(&d.leftOut, room)
	record(&d.repeated, repeated)
}

// describeOmissions says what is not drawn; "" if everything is drawn.
func (d *diagram) describeOmissions() string {
	var sentences []string
	if len(d.repeated) > 0 {
		sentences = append(sentences, "Repetitions that are drawn only once: "+story.List(d.repeated)+".")
	}
	if len(d.leftOut) > 0 {
		sentences = append(sentences, "Not drawn, for lack of room: "+story.List(d.leftOut)+". The verdict is computed from everything.")
	}
	return strings.Join(sentences, " ")
}

// laneOrder is the order of the lanes. It puts the clients, which use the lock, next to the
// storage that the lock protects.
var laneOrder = []trace.Role{trace.RoleClient, trace.RoleService, trace.RoleStorage, trace.RoleCluster, trace.RoleNode}

// readLanes orders the processes. It leaves out the nodes that take no part in the run. A
// process of which the trace gives nothing but the name has a lane too, so that its events
// are visible.
func (d *diagram) readLanes(limit int) {
	order := map[string]int{}
	idle := d.history.IdleNodes()
	for i, p := range d.history.Trace.Processes {
		d.roles[p.Name] = p.Role
		if _, known := order[p.Name]; !known && !slices.Contains(idle, p.Name) {
			order[p.Name] = i
			d.lanes = append(d.lanes, p.Name)
		}
	}
	slices.SortStableFunc(d.lanes, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(slices.Index(laneOrder, d.roles[a]), slices.Index(laneOrder, d.roles[b])),
			cmp.Compare(order[a], order[b]))
	})
	if len(d.lanes) > limit {
		d.lanes = d.busiest(limit)
	}
}

// busiest returns the lanes to keep if there are too many. It prefers the storage, and next the
// processes that are involved in a violation. Then come the remaining servers and services, and
// last the remaining clients in their order.
func (d *diagram) busiest(limit int) []string {
	weight := map[string]int{}
	for _, p := range d.lanes {
		if d.roles[p] != trace.RoleClient {
			weight[p] = 1
		}
		if d.roles[p] == trace.RoleStorage {
			weight[p] = 3
		}
	}
	for _, f := range d.run.Verdict.Findings {
		for _, seq := range f.Events {
			if ev := d.history.Event(seq); ev != nil && d.roles[ev.Process] != trace.RoleStorage {
				weight[ev.Process] = 2
			}
		}
	}
	kept := slices.Clone(d.lanes)
	slices.SortStableFunc(kept, func(a, b string) int { return weight[b] - weight[a] })
	kept = kept[:limit]
	d.noteOmitted(len(d.lanes)-limit, 0, "a process with all its events", "processes with all their events")
	return slices.DeleteFunc(slices.Clone(d.lanes), func(p string) bool { return !slices.Contains(kept, p) })
}

// hasLane reports whether a process has a lane.
func (d *diagram) hasLane(process string) bool { return slices.Contains(d.lanes, process) }

// readSteps keeps the entries of the timeline for which there is room.
func (d *diagram) readSteps(clauses []story.Clause, limit int) {
	d.steps = d.focus.keepNearest(clauses, limit)
	d.noteOmitted(len(clauses)-len(d.steps), 0, "a step of the timeline", "steps of the timeline")
}

// An eventRange is a range of events, by their Seqs, with both ends.
type eventRange struct{ first, last int }

// repetitions returns the ranges of events that only repeat what happened before.
func repetitions(clauses []story.Clause) []eventRange {
	var repeats []eventRange
	for _, e := range clauses {
		if e.IsRepetition {
			repeats = append(repeats, eventRange{e.First, e.Last})
		}
	}
	return repeats
}

// inAnyRange reports whether the event with the given Seq is in one of the ranges.
func inAnyRange(seq int, ranges []eventRange) bool {
	return slices.ContainsFunc(ranges, func(s eventRange) bool { return s.first <= seq && seq <= s.last })
}

// An attempt is a call of acquire as it is drawn.
type attempt struct {
	call     *history.Call
	client   string
	from, to time.Duration
	ok       bool
	startSeq int // the Seq of the event with which the call began
}

// readAttempts finds the calls of acquire. A call that has not ended is drawn until the end
// of the run.
func (d *diagram) readAttempts(limit int, repeats []eventRange) {
	var all []attempt
	total := 0
	for _, c := range d.history.Calls() {
		if c.Step != trace.Acquire || c.Began == nil || d.history.Lock(c.Lock).GrantsEveryone {
			continue
		}
		total++
		if inAnyRange(c.Began.Seq, repeats) {
			continue
		}
		a := attempt{call: c, client: c.Client, from: c.Began.At, to: d.end(), ok: c.OK(), startSeq: c.Began.Seq}
		if endEvent := cmp.Or(c.Crashed, c.Ended); endEvent != nil {
			a.to = endEvent.At
		}
		all = append(all, a)
	}
	succeeded := func(a attempt) int { return map[bool]int{true: 1}[a.ok] }
	d.attempts = keepHeaviest(d.focus, all, limit, succeeded, func(a attempt) int { return a.startSeq })
	for _, a := range d.attempts {
		d.addMoments(a.from, a.to)
	}
	d.noteOmitted(len(all)-len(d.attempts), total-len(all), "an attempt", "attempts")
}

// A decision is what the storage did with a request, as it is drawn: a rounded box, the
// pill, with the label in it and the text below.
type decision struct {
	process, client, label, below string
	title                         story.Raw
	at                            time.Duration
	seq                           int
	step                          trace.Step
	ok, isCheck                   bool
}

// readDecisions finds the storage's decisions. A label consists of the first letter of the
// step and the token. The text below it shows the versions of the object.
func (d *diagram) readDecisions(limit int) {
	initial := map[trace.Step]string{trace.Read: "R", trace.Write: "W", trace.Mark: "M"}
	var all []decision
	for _, ev := range d.history.StorageDecisions() {
		g := decision{process: ev.Process, client: ev.Client(), at: ev.At, seq: ev.Seq, step: ev.Step, ok: ev.OK, isCheck: ev.Kind == trace.KindCheck, title: story.DescribeDecision(ev)}
		g.label = cmp.Or(initial[ev.Step], "?")
		if g.isCheck {
			g.label = "check " + g.label
		}
		if ev.Token != 0 {
			g.label += " " + story.Token(ev.Token)
		}
		switch {
		case !ev.OK:
			g.below = "refused"
		case g.isCheck:
		case ev.Step == trace.Write:
			g.below = fmt.Sprintf("v%d→%d", ev.Replaced, ev.Version)
		case ev.Step == trace.Read:
			g.below = fmt.Sprintf("v%d", ev.Version)
		}
		all = append(all, g)
	}
	refused := func(g decision) int { return map[bool]int{false: 1}[g.ok] }
	d.decisions = keepHeaviest(d.focus, all, limit, refused, func(g decision) int { return g.seq })
	for _, g := range d.decisions {
		d.addMoments(g.at)
	}
	d.noteOmitted(len(all)-len(d.decisions), 0, "a decision of the storage", "decisions of the storage")
}

// A clockMark marks a change of a process's clock.
type clockMark struct {
	process string
	text    story.Raw
	at      time.Duration
	seq     int
}

// A pennant is a label above the lanes at an important moment. Texts for readers call it a
// flag. A vertical line, its pole, leads from the label down to the moment.
type pennant struct {
	at    time.Duration
	seq   int
	class string // fault or broken
	// property is the violated property, for a pennant of class broken.
	property checks.Property
	text     story.Raw
}

// readPennants finds the important moments: the beginnings and ends of faults, and the
// moments at which properties are violated.
func (d *diagram) readPennants(limit int) {
	var all []pennant
	for _, act := range d.history.Acts() {
		all = append(all, pennant{act.Struck.At, act.Struck.Seq, "fault", "", story.Raw(fmt.Sprintf("fault %d: %s", act.Fault, act.Struck.Text))})
		if lifted := act.Lifted; lifted != nil {
			all = append(all, pennant{lifted.At, lifted.Seq, "fault", "", story.Raw(fmt.Sprintf("fault %d ends", act.Fault))})
		}
	}
	for _, f := range d.run.Verdict.Findings {
		if ev := d.history.Event(f.At); ev != nil && f.Outcome == checks.Violated {
			all = append(all, pennant{ev.At, ev.Seq, "broken", f.Property, story.Raw("✗ " + f.Property)})
		}
	}
	slices.SortStableFunc(all, func(a, b pennant) int { return cmp.Compare(a.seq, b.seq) })
	isViolation := func(p pennant) int { return min(1, len(p.property)) }
	d.pennants = keepHeaviest(d.focus, all, limit, isViolation, func(p pennant) int { return p.seq })
	d.noteOmitted(len(all)-len(d.pennants), 0, "a fault's flag", "flags of faults")
	for _, p := range d.pennants {
		d.addMoments(p.at)
	}
}
