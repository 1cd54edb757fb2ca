package reports

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// lockHistory is what the clients asked of one lock, as a mutex: it can be explained by
// a mutex exactly when no two sections of the lock overlapped. A client that crashes
// or gives up in its section releases nothing, but its lease will end, or never does:
// that is a release of which nobody can tell. So is a release that failed.
func lockHistory(t *trace.Trace, lock trace.LockInfo) []ednMap {
	threads := clientThreads(t)
	l := lockReader{threads: threads, lock: lock, granted: grantedByQuorum(t, lock), open: map[string]*operation{}}
	for i := range t.Events {
		l.read(&t.Events[i])
	}
	for _, o := range l.open {
		o.end(&t.Events[len(t.Events)-1], maybe, nil)
	}
	return jepsenHistory(l.operations, len(threads))
}

// lockReader follows the calls of one lock.
type lockReader struct {
	lock    trace.LockInfo
	threads map[string]int
	// granted are the acquisitions that a quorum granted, whatever their clients were
	// told.
	granted    map[trace.Actor]bool
	operations []*operation
	// open are the calls that have not returned, by client, and inside the sections
	// that have not ended.
	open   map[string]*operation
	inside []trace.Actor
}

func (l *lockReader) read(ev *trace.Event) {
	actor := trace.Actor{Client: ev.Process, Section: ev.Section}
	o := l.open[ev.Process]
	switch {
	case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && ev.Lock == l.lock.Name:
		l.begin(ev)
	case ev.Kind == trace.KindBegin && ev.Step == trace.Release && slices.Contains(l.inside, actor):
		l.leave(actor)
		l.begin(ev)
	case ev.Kind == trace.KindEnd && o != nil && o.f == keyword(ev.Step):
		delete(l.open, ev.Process)
		switch {
		case ev.OK && ev.Step == trace.Acquire:
			l.inside = append(l.inside, actor)
			fallthrough
		case ev.OK:
			o.end(ev, took, nil)
			if ev.Token > 0 {
				o.learnt = append(o.learnt, ednField{"token", ev.Token})
			}
		case ev.Step == trace.Acquire && !l.granted[actor]:
			o.end(ev, failed, nil)
		default:
			o.end(ev, maybe, nil)
		}
	case ev.Kind == trace.KindCrash || ev.Kind == trace.KindDone:
		if o != nil {
			delete(l.open, ev.Process)
			o.end(ev, maybe, nil)
		}
		for _, left := range slices.Clone(l.inside) {
			if left.Client == ev.Process {
				l.leave(left)
				l.operations = append(l.operations, &operation{
					thread: l.threads[left.Client], f: keyword(trace.Release), invoked: ev, completed: ev, outcome: maybe,
					about: ednMap{{"client", left.Client}, {"section", left.Section}},
				})
			}
		}
	}
}

func (l *lockReader) begin(ev *trace.Event) {
	if o := l.open[ev.Process]; o != nil { // of a trace that lacks its end
		o.end(ev, maybe, nil)
	}
	o := &operation{thread: l.threads[ev.Process], f: keyword(ev.Step), invoked: ev, about: aboutStep(ev)}
	l.operations = append(l.operations, o)
	l.open[ev.Process] = o
}

func (l *lockReader) leave(a trace.Actor) {
	l.inside = slices.DeleteFunc(l.inside, func(b trace.Actor) bool { return a == b })
}

// grantedByQuorum lists the acquisitions of which a quorum of the lock's nodes had a
// key at some time.
func grantedByQuorum(t *trace.Trace, lock trace.LockInfo) map[trace.Actor]bool {
	slots := map[trace.Actor]map[trace.SlotInfo]bool{}
	for i := range t.Events {
		ev := &t.Events[i]
		slot := trace.SlotInfo{Node: ev.Process, Key: ev.Key}
		if ev.Kind != trace.KindSet || ev.Owner == nil || !slices.Contains(lock.Slots, slot) {
			continue
		}
		actor := trace.Actor{Client: ev.Owner.Client, Section: ev.Owner.Section}
		if slots[actor] == nil {
			slots[actor] = map[trace.SlotInfo]bool{}
		}
		slots[actor][slot] = true
	}
	granted := map[trace.Actor]bool{}
	for actor, has := range slots {
		granted[actor] = len(has) >= lock.Quorum
	}
	return granted
}
