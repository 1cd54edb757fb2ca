package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A request is something that a goroutine of a process asks of the world. The loop admits
// requests one at a time, in an order that does not depend on which goroutine came first.
type request struct {
	process *process
	class   class
	// rank and sub order the requests of one process and class. For I/O, rank is the index
	// of the peer's process, and sub is the number of the connection. words order requests
	// of goroutines that are going to send something; they are what the goroutine will
	// send.
	rank, sub int
	words     []string
	// admit does what the request asks for. It runs on the loop.
	admit func()
	// round is the number, from 1, of the loop's round in which a goroutine began to make
	// the request. Only goroutines of one round run at the same time. 0 is the current
	// round.
	round int
	// abandon, if set, is called instead of admit when the world ends.
	abandon func()
}

// class orders the requests of one process.
type class int

const (
	classStep class = iota
	classTurn       // a goroutine waits for its turn to send: see process.turn
	classDial
	classWrite
	classClose
	classResult // a goroutine receives the result of its I/O
	classTimer
	classDue   // a goroutine that a timer has woken waits until all timers of the moment have fired: see process.woken
	classWoken // the same goroutine then waits for a moment of its own
)

func (r *request) compare(o *request) int {
	if c := cmp.Or(
		cmp.Compare(r.process.index, o.process.index),
		cmp.Compare(r.class, o.class),
		cmp.Compare(r.rank, o.rank),
		cmp.Compare(r.sub, o.sub),
	); c != 0 {
		return c
	}
	return cmp.Or(r.compareWords(o), cmp.Compare(r.round, o.round))
}

// compareWords compares what two goroutines of one process are going to send.
func (r *request) compareWords(o *request) int { return r.process.w.names.compare(r.words, o.words) }

// post hands requests to the loop. Any goroutine may call it.
func (w *World) post(rs ...*request) {
	w.disturb()
	w.io.Lock()
	w.postLocked(rs...)
	w.io.Unlock()
}

// await posts a request that calls do, and waits until the moment of the request has ended,
// or the world ends. The loop must not call it.
func (w *World) await(r *request, do func()) {
	done := make(chan struct{})
	r.admit = func() {
		do()
		w.afterMoment(func() { close(done) })
	}
	r.abandon = func() { close(done) }
	w.post(r)
	<-done
}

// disturb disturbs the scheduler, in tests.
func (w *World) disturb() {
	if w.cfg.Disturb != nil {
		w.cfg.Disturb()
	}
}

func (w *World) postLocked(rs ...*request) {
	if !w.ended {
		// A round of many clients can take long, so each request counts as a sign of life.
		// Their number in one round is limited.
		w.watchdog.moves.Add(int64(len(rs)))
		for _, r := range rs {
			r.round = cmp.Or(r.round, w.round)
		}
		w.requests = append(w.requests, rs...)
		w.rouse()
		return
	}
	for _, r := range rs {
		if r.abandon != nil {
			r.abandon()
		}
	}
}

// rouse ends the loop's sleep.
func (w *World) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// admit admits the pending requests, and reports whether there were any. As soon as a
// request has woken a goroutine, the remaining requests wait until that goroutine waits
// again. Requests of a process that does not run wait until it runs. Those of a crashed
// process wait forever.
func (w *World) admit() bool {
	w.io.Lock()
	select {
	case <-w.wake:
	default:
	}
	if len(w.requests) == 0 {
		w.io.Unlock()
		return false
	}
	requests := w.requests
	w.requests, w.admitted = w.admitted, nil
	w.io.Unlock()
	defer func() {
		clear(requests)
		w.admitted = requests[:0]
	}()

	slices.SortStableFunc(requests, (*request).compare)
	for i, r := range requests {
		p := r.process
		if !p.canAct() && r.class != classTimer {
			p.waiting = append(p.waiting, r)
			continue
		}
		w.watchdog.moves.Add(1) // progress: a client can start any number of goroutines, and each can make a request
		r.admit()
		w.noteRace(r, requests[i+1:])
		if w.settle() || w.stopError != nil {
			w.io.Lock()
			w.requests = append(w.requests, requests[i+1:]...)
			w.io.Unlock()
			return true
		}
	}
	return true
}

// noteRace adds a doubt to a run in which goroutines of one process used two connections to
// one peer at the same time. Chance decided which goroutine got which connection, and no
// order of the requests can undo that. It also adds a doubt if two goroutines were going to
// send the same command.
func (w *World) noteRace(r *request, others []*request) {
	if r.process.role != trace.RoleClient {
		return
	}
	switch r.class {
	case classTurn, classWoken, classDial, classWrite:
	default:
		return
	}
	for _, o := range others {
		if o.process != r.process || o.class != r.class || o.rank != r.rank {
			return // they have an order, and so have all that follow
		}
		if o.round != r.round {
			continue
		}
		switch {
		case (r.class == classTurn || r.class == classWoken) && r.compareWords(o) == 0:
			w.doubt(fmt.Sprintf("two goroutines of %s were about to send the same command at the same moment, and chance decided which was first: replays may differ", r.process.name))
			return // a doubt is recorded once, and there may be as many requests as goroutines
		case r.class == classDial, r.class == classWrite:
			w.doubt(fmt.Sprintf("%s used two connections to %s at the same moment, and chance decided which of its goroutines got which: replays may differ", r.process.name, w.processes[r.rank].name))
			return
		}
	}
}

// doubt records a reason why the run is inconclusive.
func (w *World) doubt(why string) {
	if !slices.Contains(w.trace.Doubts, why) {
		w.trace.Doubts = append(w.trace.Doubts, why)
	}
}

// afterMoment makes the loop call do once the current moment has had all its effects on the
// world. All goroutines are woken in this way: they must not see a world in which half of a
// moment has happened.
func (w *World) afterMoment(do func()) { w.wakeUps = append(w.wakeUps, do) }

// act runs the faults that strike or end, and the clients that start, at the points of the
// scenario that have just been reached.
func (w *World) act() {
	for len(w.reached) > 0 {
		do := w.reached[0]
		w.reached = w.reached[1:]
		do()
	}
}

// settle ends a moment, and reports whether it has woken any goroutine.
func (w *World) settle() (woke bool) {
	w.act()
	for len(w.wakeUps) > 0 {
		woke = true
		wakeUps := w.wakeUps
		w.wakeUps, w.done = w.done, nil
		for _, do := range wakeUps {
			do()
		}
		clear(wakeUps)
		w.done = wakeUps[:0]
	}
	return woke
}
