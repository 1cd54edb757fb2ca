package sim

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A watcher waits for a point in the story.
type watcher struct {
	point *history.Recogniser
	do    func()
}

// onPoint calls do each time a point is reached. If the point has a delay, it calls each
// function in planned at the beginning of the delay. It must be called before the first
// event.
func (w *World) onPoint(p trace.Point, do func(), planned ...func()) {
	for _, c := range p.Clauses() {
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

// watch shows an event to all watchers. A watcher whose point it reaches acts when the loop
// calls act.
func (w *World) watch(ev *trace.Event) {
	for _, watcher := range w.watchers {
		if watcher.point.See(ev) {
			w.reached = append(w.reached, watcher.do)
		}
	}
}

// arm sets up everything that waits for a point.
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
