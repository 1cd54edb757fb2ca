package storyboard

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A moment is something that happened to the cast (the clients, critical sections and objects that
// the storyboard is about), and that the storyboard can mark.
type moment struct {
	history.Moment
	lane lane
	kind kind
	text string
	// seq is the Seq of the event that the moment is about, 0 if there is none. weight says
	// how important the moment is.
	seq, weight int
	// comesFrom is where the moment's arrow begins; nil if the moment has no arrow.
	comesFrom *place
	// client is the client whose colour the moment has; "" if it has no client's colour. step is
	// the step of the request if the moment is about a request to the storage.
	client string
	step   trace.Step
	// lasts is the period of the state that began at the moment, such as a pause; nil if no state
	// began. isInBar says that the text is written in the bar of that state, or in the bar of the
	// client's section.
	lasts   *history.Interval
	isInBar bool
}

// A place is a moment on a lane.
type place struct {
	lane lane
	history.Moment
}

// A lane is one row of the storyboard. If client is not "", it is the row of this client.
// Otherwise it is the row of the lock service or of the storage.
type lane struct {
	role   trace.Role
	client string
}

var (
	lockLane    = lane{role: trace.RoleNode}
	storageLane = lane{role: trace.RoleStorage}
)

// clientLane returns the lane of a client.
func clientLane(name string) lane { return lane{trace.RoleClient, name} }

// A kind says what sort of thing a moment is.
type kind int

const (
	grantKind kind = iota
	pauseKind
	crashKind
	faultKind
	lapseKind
	keyLossKind
	writeKind
	readKind
	lateWriteKind
	refusalKind
	storageLossKind
	noticeKind
	failureKind
	findingKind
)

// weights are the weights of the kinds. A moment that shows the first finding (the worst
// violation) weighs more than any other. A moment that shows another finding weighs a little
// more than its kind.
var weights = map[kind]int{
	grantKind: 60, pauseKind: 70, crashKind: 69, faultKind: 68, lapseKind: 65, keyLossKind: 66, writeKind: writeWeight, readKind: 10,
	lateWriteKind: 75, refusalKind: 72, storageLossKind: 71, noticeKind: 35, failureKind: 30, findingKind: 0,
}

const (
	firstFindingWeight = 100
	otherFindingWeight = 20
	// leastWeight is the least weight of a moment that is shown. An ending (the part of the
	// storyboard in which the runs differ) shows only moments that are at least as important as a
	// write, if it has such moments.
	leastWeight = 30
	writeWeight = 50
)

// isImportant reports whether a moment is at least as important as a write.
func (m *moment) isImportant() bool { return m.weight >= writeWeight }

// isSame reports whether two moments of different runs look the same.
func (m *moment) isSame(o *moment) bool {
	return m.At == o.At && m.lane == o.lane && m.kind == o.kind && m.text == o.text
}

// A reader lists the moments of one run.
type reader struct {
	*history.History
	verdict *checks.Verdict
	cast    *cast
	moments []*moment
}

// readMoments lists the moments of a run that concern the cast, in order.
func readMoments(run story.Run, c *cast) []*moment {
	r := &reader{History: run.History, verdict: run.Verdict, cast: c}
	r.readSpells() // before readSections: a crash comes before the loss of a key at the same moment
	r.readActs()
	r.readSections()
	r.readFailures()
	r.readStorage()
	r.readFinding()
	slices.SortStableFunc(r.moments, func(a, b *moment) int {
		switch {
		case a.Before(b.Moment):
			return -1
		case b.Before(a.Moment):
			return 1
		}
		return 0
	})
	r.weigh()
	return r.moments
}

// add adds a moment.
func (r *reader) add(m moment) { r.moments = append(r.moments, &m) }

// addEvent adds a moment of the kind k at the time of an event, on the given lane.
func (r *reader) addEvent(ev *trace.Event, on lane, k kind, text string) *moment {
	r.add(moment{Moment: history.MomentOf(ev), seq: ev.Seq, lane: on, kind: k, text: text, client: on.client})
	return r.moments[len(r.moments)-1]
}

// weigh gives each moment its weight.
func (r *reader) weigh() {
	first := evidenceOf(r.verdict)
	var others []int
	for _, f := range r.verdict.Violations() {
		others = append(append(others, f.Events...), f.At)
	}
	for _, m := range r.moments {
		m.weight = weights[m.kind]
		switch {
		case slices.Contains(first, m.seq):
			m.weight += firstFindingWeight
		case slices.Contains(others, m.seq):
			m.weight += otherFindingWeight
		}
	}
}

// readFinding adds a moment for the finding that the storyboard is about, if the run has it
// and no other moment shows it.
func (r *reader) readFinding() {
	if r.cast.finding == "" {
		return
	}
	found := r.verdict.Finding(r.cast.finding)
	ev := r.Event(found.At)
	if found.Outcome != checks.Violated || ev == nil || slices.ContainsFunc(r.moments, func(m *moment) bool { return m.seq == ev.Seq }) {
		return
	}
	for _, c := range r.KeyChanges() {
		if c.Event == ev && c.Before != nil && c.Before.Owner.Client != "" {
			m := r.addEvent(ev, lockLane, keyLossKind, story.CaptionKeyLoss(c, c.Before.Owner.Client))
			if by := ev.By; by != nil && r.cast.hasClient(by.Client) {
				m.client, m.comesFrom = by.Client, r.sentBy(ev)
			}
			return
		}
	}
	on := r.laneOf(ev.Process)
	if on.role == trace.RoleClient && !r.cast.hasClient(on.client) || found.Property == checks.Progress {
		on = lockLane
	}
	r.addEvent(ev, on, findingKind, found.Property.Card().Broken)
}

// laneOf returns the lane of a process. A service passes requests on to the storage, so it
// shares the storage's lane.
func (r *reader) laneOf(process string) lane {
	switch r.Role(process) {
	case trace.RoleClient:
		return clientLane(process)
	case trace.RoleStorage, trace.RoleService:
		return storageLane
	}
	return lockLane
}

// sentBy returns the place (lane and moment) at which the command or request of an event was
// sent; nil if no client of the cast sent it.
func (r *reader) sentBy(ev *trace.Event) *place {
	if ev.By == nil || !r.cast.hasClient(ev.By.Client) {
		return nil
	}
	sent := r.Event(ev.By.Sent)
	if sent == nil {
		sent = ev
	}
	return &place{clientLane(ev.By.Client), history.MomentOf(sent)}
}
