package sim

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A watcher makes the world call do each time that its point is reached. A point is a condition in
// the course of a run, such as "client-1 acquired".
type watcher struct {
	point *history.Recogniser
	do    func()
}

// onPoint makes the world call do each time that a point is reached. If the point has a delay,
// do is called when the delay ends, and each function in planned when the delay begins. onPoint
// must be called before the first event.
func (w *World) onPoint(p trace.Point, do func(), planned ...func()) {
	for _, c := range p.Alternatives() {
		act := do
		if c.Delay > 0 {
			act = func() {
				for _, plan := range planned {
					plan()
				}
				w.schedule(w.now()+c.Delay, do)
			}
		}
		if _, ok := c.Happening.(trace.Start); ok {
			w.schedule(0, act)
			continue
		}
		w.watchers = append(w.watchers, &watcher{history.Recognise(trace.AnyOf(c), w.trace), act})
	}
}

// watch passes an event to all watchers. If the event reaches the point of a watcher, the loop
// calls the watcher's do in the next runDueActions.
func (w *World) watch(ev *trace.Event) {
	for _, watcher := range w.watchers {
		if watcher.point.See(ev) {
			w.dueActions = append(w.dueActions, watcher.do)
		}
	}
}

// arm prepares all faults and clients to wait for their points.
func (w *World) arm() {
	for i, f := range w.cfg.Faults {
		w.armFault(i+1, f)
	}
	for _, p := range w.processes {
		if p.actor != nil {
			p.actor.arm()
		}
	}
}
