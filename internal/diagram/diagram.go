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
	run     Run
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
	shown []time.Duration
}

// newDiagram finds what is visible in a run. It keeps as many things as room allows.
func newDiagram(run Run, room Room) *diagram {
	h := run.History
	d := &diagram{run: run, history: h, roles: map[string]trace.Role{}, focus: focusOf(run.Verdict, h)}
	d.readLanes(room.lanes)
	told := story.Marked(story.Clauses(h, false), run.marks())
	d.readSteps(told, room.steps)
	again := repetitions(told)
	d.readSections(room)
	d.readAttempts(room.attempts, again)
	d.readKeys(room.keys, again)
	d.readBands(room)
	d.readMessages(room.messages, again)
	d.readDecisions(room.decisions)
	d.readPennants(room.pennants)
	for i := range d.steps {
		d.show(d.steps[i].At)
	}
	d.show(0, d.end())
	slices.Sort(d.shown)
	d.shown = slices.Compact(d.shown)
	return d
}

// end returns when the run ended.
func (d *diagram) end() time.Duration { return d.history.Trace.End() }

// addMoments records that something is visible at these times.
func (d *diagram) show(times ...time.Duration) {
	for _, at := range times {
		if at >= 0 && at < history.Forever {
			d.shown = append(d.shown, at)
		}
	}
}

// noteOmitted records that some things of a kind are not drawn. There is no room for a
// number of them (room), and others only repeat what happened before (repeated). The text
// singular is the phrase for one thing of the kind, and plural is the noun for several.
func (d *diagram) noteOmitted(room, repeated int, one, several string) {
	note := func(where *[]string, n int) {
		switch {
		case n == 1:
			*where = append(*where, one)
		case n > 1:
			*where = append(*where, story.Thousands(n)+" "+several)
		}
	}
	note(&d.leftOut, room)
	note(&d.repeated, repeated)
}

// describeOmissions says what is not drawn; "" if everything is.
func (d *diagram) leftOutWords() string {
	var words []string
	if len(d.repeated) > 0 {
		words = append(words, "Repetitions that are drawn only once: "+story.List(d.repeated)+".")
	}
	if len(d.leftOut) > 0 {
		words = append(words, "Not drawn, for lack of room: "+story.List(d.leftOut)+". The verdict is computed from everything.")
	}
	return strings.Join(words, " ")
}

// laneOrder is the order of the lanes. It puts the clients, which use the lock, next to the
// storage that the lock protects.
var laneOrder = []trace.Role{trace.RoleClient, trace.RoleService, trace.RoleStorage, trace.RoleCluster, trace.RoleNode}

// readLanes orders the processes. It leaves out the nodes that take no part in the run. A
// process of which the trace gives nothing but the name has a lane too, so that its events
// are visible.
func (d *diagram) readLanes(most int) {
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
	if len(d.lanes) > most {
		d.lanes = d.busiest(most)
	}
}

// busiest returns the lanes to keep if there are too many. It prefers the storage, and next
// the processes that are involved in a violation. Then come the other servers and services,
// and last the first of the other clients.
func (d *diagram) busiest(most int) []string {
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
	kept = kept[:most]
	d.noteOmitted(len(d.lanes)-most, 0, "a process with all its events", "processes with all their events")
	return slices.DeleteFunc(slices.Clone(d.lanes), func(p string) bool { return !slices.Contains(kept, p) })
}

// hasLane reports whether a process has a lane.
func (d *diagram) drawn(process string) bool { return slices.Contains(d.lanes, process) }

// readSteps keeps the entries of the timeline for which there is room.
func (d *diagram) readSteps(told []story.Clause, most int) {
	d.steps = d.focus.nearest(told, most)
	d.noteOmitted(len(told)-len(d.steps), 0, "a step of the timeline", "steps of the timeline")
}

// An eventRange is a range of events, by their Seqs, with both ends.
type stretch struct{ first, last int }

// repetitions returns the ranges of events that only repeat what happened before.
func repetitions(told []story.Clause) []stretch {
	var again []stretch
	for _, e := range told {
		if e.IsRepetition {
			again = append(again, stretch{e.First, e.Last})
		}
	}
	return again
}

// inAnyRange reports whether the event with the given Seq is in one of the ranges.
func within(seq int, stretches []stretch) bool {
	return slices.ContainsFunc(stretches, func(s stretch) bool { return s.first <= seq && seq <= s.last })
}

// An attempt is a call of acquire as it is drawn.
type attempt struct {
	of       *history.Call
	client   string
	from, to time.Duration
	ok       bool
	begun    int // the Seq of the event with which the call began
}

// readAttempts finds the calls of acquire. A call that has not ended is drawn until the end
// of the run.
func (d *diagram) readAttempts(most int, again []stretch) {
	var all []attempt
	total := 0
	for _, c := range d.history.Calls() {
		if c.Step != trace.Acquire || c.Began == nil || d.history.Lock(c.Lock).GrantsEveryone {
			continue
		}
		total++
		if within(c.Began.Seq, again) {
			continue
		}
		a := attempt{of: c, client: c.Client, from: c.Began.At, to: d.end(), ok: c.OK(), begun: c.Began.Seq}
		if last := cmp.Or(c.Crashed, c.Ended); last != nil {
			a.to = last.At
		}
		all = append(all, a)
	}
	got := func(a attempt) int { return map[bool]int{true: 1}[a.ok] }
	d.attempts = keepHeaviest(d.focus, all, most, got, func(a attempt) int { return a.begun })
	for _, a := range d.attempts {
		d.show(a.from, a.to)
	}
	d.noteOmitted(len(all)-len(d.attempts), total-len(all), "an attempt", "attempts")
}

// A decision is what the storage did with a request, as it is drawn: a rounded box, the
// pill, with the label in it and the text below.
type decision struct {
	process, client, label, below string
	words                         story.Raw
	at                            time.Duration
	seq                           int
	step                          trace.Step
	ok, checked                   bool
}

// readDecisions finds the storage's decisions. A label consists of the first letter of the
// step and the token. The text below it shows the versions of the object.
func (d *diagram) readDecisions(most int) {
	initial := map[trace.Step]string{trace.Read: "R", trace.Write: "W", trace.Mark: "M"}
	var all []decision
	for _, ev := range d.history.StorageDecisions() {
		g := decision{process: ev.Process, client: ev.Client(), at: ev.At, seq: ev.Seq, step: ev.Step, ok: ev.OK, checked: ev.Kind == trace.KindCheck, words: story.DescribeDecision(ev)}
		g.label = cmp.Or(initial[ev.Step], "?")
		if g.checked {
			g.label = "check " + g.label
		}
		if ev.Token != 0 {
			g.label += " " + story.Token(ev.Token)
		}
		switch {
		case !ev.OK:
			g.below = "refused"
		case g.checked:
		case ev.Step == trace.Write:
			g.below = fmt.Sprintf("v%d→%d", ev.Replaced, ev.Version)
		case ev.Step == trace.Read:
			g.below = fmt.Sprintf("v%d", ev.Version)
		}
		all = append(all, g)
	}
	refused := func(g decision) int { return map[bool]int{false: 1}[g.ok] }
	d.decisions = keepHeaviest(d.focus, all, most, refused, func(g decision) int { return g.seq })
	for _, g := range d.decisions {
		d.show(g.at)
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
func (d *diagram) readPennants(most int) {
	var all []pennant
	for _, act := range d.history.Acts() {
		all = append(all, pennant{act.Struck.At, act.Struck.Seq, "fault", "", story.Raw(fmt.Sprintf("fault %d: %s", act.Fault, act.Struck.Text))})
		if over := act.Lifted; over != nil {
			all = append(all, pennant{over.At, over.Seq, "fault", "", story.Raw(fmt.Sprintf("fault %d ends", act.Fault))})
		}
	}
	for _, f := range d.run.Verdict.Findings {
		if ev := d.history.Event(f.At); ev != nil && f.Outcome == checks.Violated {
			all = append(all, pennant{ev.At, ev.Seq, "broken", f.Property, story.Raw("✗ " + f.Property)})
		}
	}
	slices.SortStableFunc(all, func(a, b pennant) int { return cmp.Compare(a.seq, b.seq) })
	broke := func(p pennant) int { return min(1, len(p.property)) }
	d.pennants = keepHeaviest(d.focus, all, most, broke, func(p pennant) int { return p.seq })
	d.noteOmitted(len(all)-len(d.pennants), 0, "a fault's flag", "flags of faults")
	for _, p := range d.pennants {
		d.show(p.at)
	}
}
