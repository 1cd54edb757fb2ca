package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A request is something that a goroutine of a process wants the loop to do, such as to send bytes
// or to close a connection. The loop admits a request by doing what the goroutine wants. It admits
// requests one at a time, in an order that does not depend on which goroutine was first. A round of
// the loop begins when every goroutine waits.
type request struct {
	process *process
	class   class
	// rank, then subRank, then words order the requests of one process and class. For I/O, rank is
	// the index of the process at the other end, and subRank is the number of the connection. words
	// are the words of the command that the goroutine will send next; they are set only for
	// requests that wait for a turn to send.
	rank, subRank int
	words         []string
	// admit does what the goroutine wants. The loop calls it.
	admit func()
	// round is the number, from 1, of the loop's round in which the goroutine began the
	// call that led to the request; 0 means the current round. Only goroutines of the same
	// round run at the same time, so only their order may depend on chance.
	round int
	// abandon, if set, is called instead of admit when the world ends.
	abandon func()
}

// class is the purpose of a request. Requests of one process are ordered by class, in the
// order of these constants.
type class int

const (
	classStep class = iota
	classTurn       // a goroutine waits for its turn to send; see process.awaitTurn
	classDial
	classWrite
	classClose
	classResult     // a goroutine continues with the result of its I/O
	classTimer      // a check of the deadline of a read
	classTimerFired // a goroutine that a timer has woken waits until all timers that are due have fired; see process.awaitTurnAfterTimer
	classAfterTimer // the same goroutine then waits for its turn to send, in a moment of its own
)

// compare returns the order in which the loop admits two requests.
func (r *request) compare(o *request) int {
	return cmp.Or(r.comparePlace(o), r.compareWords(o), cmp.Compare(r.round, o.round))
}

// comparePlace is the part of compare whose result never changes. The result of compareWords can
// change, because random words get names in the trace.
func (r *request) comparePlace(o *request) int {
	return cmp.Or(
		cmp.Compare(r.process.index, o.process.index),
		cmp.Compare(r.class, o.class),
		cmp.Compare(r.rank, o.rank),
		cmp.Compare(r.subRank, o.subRank),
	)
}

// compareWords compares the commands that two goroutines of one process are going to send.
// It returns 0 if they cannot be distinguished.
func (r *request) compareWords(o *request) int { return r.process.w.names.compare(r.words, o.words) }

// post passes requests to the loop. Any goroutine may call it.
func (w *World) post(rs ...*request) {
	w.disturb()
	w.ioMutex.Lock()
	w.postLocked(rs...)
	w.ioMutex.Unlock()
}

// await posts a request that calls do, and waits until the moment of the request (see
// [World.afterMoment]) has ended, or the world ends. The loop must not call await, because it would
// wait for itself.
func (w *World) await(r *request, do func()) {
	done := make(chan struct{})
	finish := func() { close(done) }
	r.admit = func() {
		if do != nil {
			do()
		}
		w.afterMoment(finish)
	}
	r.abandon = finish
	w.post(r)
	<-done
}

// disturb calls [Config.Disturb], with which tests vary the order of goroutines.
func (w *World) disturb() {
	if w.cfg.Disturb != nil {
		w.cfg.Disturb()
	}
}

// postLocked is post for a caller that has locked ioMutex.
func (w *World) postLocked(rs ...*request) {
	if !w.ended {
		// A round with many clients can take long, so each request counts as progress. A
		// round has a limited number of requests, so a stuck world is still detected.
		w.watchdog.steps.Add(int64(len(rs)))
		for _, r := range rs {
			r.round = cmp.Or(r.round, w.round)
		}
		w.requests = append(w.requests, rs...)
		w.wakeLoop()
		return
	}
	for _, r := range rs {
		if r.abandon != nil {
			r.abandon()
		}
	}
}

// wakeLoop ends the loop's sleep.
func (w *World) wakeLoop() {
	select {
	case w.awaken <- struct{}{}:
	default:
	}
}

// admit admits the posted requests, and reports whether there were any, and whether one has woken a
// goroutine or ended the run. Then admit returns, and the remaining requests are admitted in a later
// round, when that goroutine waits again. The requests of a paused process wait until it resumes, and
// those of a crashed process wait forever. Checks of deadlines do not wait.
func (w *World) admit() (admitted, woke bool) {
	w.ioMutex.Lock()
	select {
	case <-w.awaken:
	default:
	}
	posted := w.requests
	w.requests, w.spareRequests = w.spareRequests, nil
	w.ioMutex.Unlock()
	w.admissible = insertSorted(w.admissible, posted)
	clear(posted)
	w.spareRequests = posted[:0]
	if len(w.admissible) == 0 {
		return false, false
	}

	for i := range w.admissible {
		w.sortTied(i)
		r := w.admissible[i]
		p := r.process
		if !p.canAct() && r.class != classTimer {
			p.waiting = append(p.waiting, r)
			continue
		}
		w.watchdog.steps.Add(1) // each request counts as progress, because a client can have any number of goroutines with a request each
		r.admit()
		w.recordRaces(r, w.admissible[i+1:])
		if w.endMoment() || w.stopError != nil {
			w.admissible = slices.Delete(w.admissible, 0, i+1)
			return true, true
		}
	}
	clear(w.admissible)
	w.admissible = w.admissible[:0]
	return true, false
}

// sortTied sorts those admissible requests, from index i on, that differ from each other only
// in their words. It is called before each request is admitted: in the meantime, random words
// of the requests may have got names in the trace, by which they can be compared.
func (w *World) sortTied(i int) {
	first, end := w.admissible[i], i+1
	if i > 0 && first.comparePlace(w.admissible[i-1]) == 0 {
		return // it was sorted with the one before
	}
	for end < len(w.admissible) && first.comparePlace(w.admissible[end]) == 0 {
		end++
	}
	slices.SortStableFunc(w.admissible[i:end], (*request).compare)
}

// insertSorted inserts requests into a sorted slice, and returns the result. Requests that compare
// equal keep their order, and follow those of the slice. Only the new requests are sorted. If a
// thousand clients have a request each, and each admitted request leads to a new one, the thousand
// must not be sorted again each time.
func insertSorted(sorted, requests []*request) []*request {
	slices.SortStableFunc(requests, (*request).compare)
	end := len(sorted) // where those that are not moved yet end
	sorted = append(sorted, requests...)
	for i, r := range slices.Backward(requests) {
		at, _ := slices.BinarySearchFunc(sorted[:end], r, func(o, r *request) int {
			if o.compare(r) > 0 {
				return 1
			}
			return -1
		})
		copy(sorted[at+i+1:], sorted[at:end])
		sorted[at+i] = r
		end = at
	}
	return sorted
}

// recordRaces adds a doubt to the run if the order of its events depended on chance. This happens
// in two cases. Goroutines of one process used two connections to one peer at the same time, so
// chance decided which goroutine used which connection. Or two goroutines were going to send the
// same command, so their requests cannot be put in order. others are the requests that the loop
// admits after r.
func (w *World) recordRaces(r *request, others []*request) {
	if r.process.role != trace.RoleClient {
		return
	}
	switch r.class {
	case classTurn, classAfterTimer, classDial, classWrite:
	default:
		return
	}
	for _, o := range others {
		if o.process != r.process || o.class != r.class || o.rank != r.rank {
			return // the classes or ranks differ, so the order of r and all later requests is fixed
		}
		if o.round != r.round {
			continue
		}
		switch {
		case (r.class == classTurn || r.class == classAfterTimer) && r.compareWords(o) == 0:
			w.addDoubt(fmt.Sprintf("two goroutines of %s were about to send the same command at the same moment, and chance decided which was first: replays may differ", r.process.name))
			return // the other pairs would give the same doubt, and there may be very many of them
		case r.class == classDial, r.class == classWrite:
			w.addDoubt(fmt.Sprintf("%s used two connections to %s at the same moment, and chance decided which of its goroutines got which: replays may differ", r.process.name, w.processes[r.rank].name))
			return
		}
	}
}

// addDeviation records that something which the configuration describes did not happen:
// in an unscripted run as a deviation, and otherwise as a doubt, which makes the verdict unknown.
func (w *World) addDeviation(text string) {
	if !w.cfg.Unscripted {
		w.addDoubt(text)
		return
	}
	w.trace.Deviations = append(w.trace.Deviations, text)
}

// addDoubt records a reason why the run is inconclusive.
func (w *World) addDoubt(why string) {
	if !slices.Contains(w.trace.Doubts, why) {
		w.trace.Doubts = append(w.trace.Doubts, why)
	}
}

// afterMoment makes the loop call do at the end of the current moment. A moment is one admitted
// request or one timer, with all that it leads to at once. All goroutines are woken in this way,
// because they must not see the world in the middle of a moment.
func (w *World) afterMoment(do func()) { w.wakeUps = append(w.wakeUps, do) }

// runDueActions runs the actions that the latest events trigger: faults strike or end, and
// clients start.
func (w *World) runDueActions() {
	for len(w.dueActions) > 0 {
		do := w.dueActions[0]
		w.dueActions = w.dueActions[1:]
		do()
	}
}

// endMoment ends a moment, and reports whether it has woken any goroutine.
func (w *World) endMoment() (woke bool) {
	w.runDueActions()
	for len(w.wakeUps) > 0 {
		woke = true
		wakeUps := w.wakeUps
		w.wakeUps, w.spareWakeUps = w.spareWakeUps, nil
		for _, do := range wakeUps {
			do()
		}
		clear(wakeUps)
		w.spareWakeUps = wakeUps[:0]
	}
	return woke
}
