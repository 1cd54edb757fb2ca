package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const (
	fewestWitnesses = 2
	mostWitnesses   = 4
)

// witnesses chooses what must have happened for the verdict on a world to mean
// anything: what its runs show and what would not have happened without the faults.
// less are, for each fault, the runs without it, and bare those without any; a fault
// whose number, from 1, is among idle could be left out and every witness would still
// be seen.
func (t *tale) witnesses(runs []*history.History, less [][]*history.History, bare []*history.History) (chosen []trace.Witness, idle []int) {
	seen := func(w trace.Witness, in []*history.History) int {
		n := 0
		for _, h := range in {
			if history.Seen(w, h.Trace) {
				n++
			}
		}
		return n
	}
	candidates := map[string]bool{}
	var all []trace.Witness
	for _, w := range slices.Concat(t.telling(), t.failures(), t.orders()) {
		if text := w.String(); !candidates[text] && seen(w, runs) == len(runs) {
			candidates[text] = true
			all = append(all, w)
		}
	}
	covers := func(w trace.Witness, fault int) bool { return seen(w, less[fault]) == 0 }
	covered := func(fault int) bool {
		return slices.ContainsFunc(chosen, func(w trace.Witness) bool { return covers(w, fault) })
	}
	for fault := range less {
		if covered(fault) {
			continue
		}
		at := slices.IndexFunc(all, func(w trace.Witness) bool { return t.about(w, fault) && covers(w, fault) })
		if at < 0 {
			at = slices.IndexFunc(all, func(w trace.Witness) bool { return covers(w, fault) })
		}
		if at < 0 { // in one of the two runs, then
			at = slices.IndexFunc(all, func(w trace.Witness) bool { return seen(w, less[fault]) < len(less[fault]) })
		}
		if at < 0 {
			idle = append(idle, fault+1)
			continue
		}
		chosen = append(chosen, all[at])
	}
	more := func(want func(trace.Witness) bool) {
		for _, w := range all {
			if len(chosen) < fewestWitnesses && !slices.ContainsFunc(chosen, w.Equal) && want(w) {
				chosen = append(chosen, w)
			}
		}
	}
	more(func(w trace.Witness) bool { return seen(w, bare) == 0 && !says(chosen, w) })
	more(func(w trace.Witness) bool { return seen(w, bare) == 0 })
	more(func(trace.Witness) bool { return true })
	reached := func(w trace.Witness) int {
		at, _ := history.Reached(w, t.history.Trace)
		return at
	}
	slices.SortStableFunc(chosen, func(a, b trace.Witness) int { return cmp.Compare(reached(a), reached(b)) })
	return chosen[:min(len(chosen), mostWitnesses)], idle
}

// about says whether a witness speaks of what a fault acts on.
func (t *tale) about(w trace.Witness, fault int) bool {
	f := t.faults[fault]
	clauses := slices.Concat(w.Point.Clauses(), w.Other.Clauses())
	if hold, ok := f.Action.(*sim.Hold); ok {
		m, ok := clauses[0].Happening.(trace.Transit)
		return ok && m.Message == hold.Message.Message
	}
	if f.target() == trace.StorageName {
		return slices.Contains(w.Names(), trace.StorageName) || slices.ContainsFunc(clauses, func(c trace.Clause) bool {
			_, served := c.Happening.(trace.Served)
			return served
		})
	}
	return slices.Contains(w.Names(), f.target())
}

// says says whether some witness that was chosen tells of the same point. Which of
// several messages it was that arrived makes no difference.
func says(chosen []trace.Witness, w trace.Witness) bool {
	head := func(w trace.Witness) trace.Point {
		clauses := w.Point.Clauses()
		for i, c := range clauses {
			if m, ok := c.Happening.(trace.Transit); ok && m.Arrived {
				clauses[i].Nth = 0
			}
		}
		return trace.Any(clauses...)
	}
	return slices.ContainsFunc(chosen, func(c trace.Witness) bool { return head(c).Equal(head(w)) })
}

// did is the point at which a process does something.
func did(process string, verb trace.Verb) trace.Point {
	return trace.At(trace.Did{Process: process, Verb: verb})
}

// before is the witness that one point comes before another, and after that it comes
// after it.
func before(a, b trace.Point) trace.Witness {
	return trace.Witness{Point: a, Relation: trace.Before, Other: b}
}

func after(a, b trace.Point) trace.Witness {
	return trace.Witness{Point: a, Relation: trace.After, Other: b}
}

// while is the witness that a point is reached while a process is in some state.
func while(p trace.Point, process string, state trace.Relation) trace.Witness {
	return trace.Witness{Point: p, Relation: state, Process: process}
}

// telling are witnesses that tell of the faults and of what broke, the most telling
// first. Some of them may not have happened.
func (t *tale) telling() []trace.Witness {
	var all []trace.Witness
	add := func(w trace.Witness) { all = append(all, w) }
	first, second := t.rivals()
	written := func(client string) trace.Point {
		return trace.At(trace.Served{Client: client, Step: trace.Write, Answer: trace.Applied})
	}
	for i, f := range t.faults {
		switch a := f.Action.(type) {
		case *sim.Pause:
			add(while(trace.At(trace.KeysExpired{Client: first}), a.Process, trace.WhilePaused))
			for _, verb := range []trace.Verb{trace.Released, trace.Wrote, trace.Acquired} {
				add(while(did(second, verb), a.Process, trace.WhilePaused))
			}
		case *sim.CrashFault:
			crashed := did(a.Process, trace.Crashed)
			if t.isClient(a.Process) {
				add(after(did(second, trace.Acquired), crashed))
				add(after(did(second, trace.NotAcquired), crashed))
				break
			}
			add(after(crashed, did(first, trace.Acquired)))
			add(before(did(a.Process, trace.Restarted), did(second, trace.Acquired)))
			add(while(did(second, trace.Acquired), a.Process, trace.WhileDown))
		case *sim.Jump:
			jumped := trace.At(trace.ClockJumped{Process: a.Process})
			add(after(jumped, did(first, trace.Acquired)))
			add(before(trace.At(trace.KeyExpired{Client: first, Node: a.Process}), did(second, trace.Acquired)))
			add(before(jumped, did(second, trace.Acquired)))
		case *sim.Hold:
			if m, _ := t.arrived(i); m != nil {
				for _, verb := range []trace.Verb{trace.Released, trace.Wrote, trace.Acquired, trace.NotAcquired} {
					add(after(m.Arrived(0), did(second, verb)))
					add(after(m.Arrived(0), did(first, verb)))
				}
			}
		case *sim.Partition:
			for _, node := range a.From {
				for _, verb := range []trace.Verb{trace.Worked, trace.Wrote, trace.Released} {
					add(before(trace.At(trace.Holds{Client: second, Node: node}), did(first, verb)))
				}
			}
			add(trace.Witness{Point: did(a.Process, trace.NotAcquired)})
		case *sim.Stall:
			add(before(written(second), written(first)))
			add(before(did(second, trace.Released), written(first)))
		}
	}
	for _, verb := range []trace.Verb{trace.Worked, trace.Wrote, trace.Released} {
		add(before(did(second, trace.Acquired), did(first, verb)))
	}
	for i := range t.faults {
		if client := t.client(i + 1); client != "" {
			add(before(did(client, trace.GaveUp), did(other(client, first, second), trace.Acquired)))
			add(before(did(client, trace.Released), written(client)))
			add(trace.Witness{Point: did(client, trace.GaveUp)})
			write := trace.Message{Client: client, Peer: trace.StorageName, Step: trace.Write}
			add(trace.Witness{Point: write.InFlight(2)})
		}
		if m, nth := t.arrived(i); m != nil {
			add(after(m.Arrived(nth), did(second, trace.Released)))
			add(after(m.Arrived(nth), did(second, trace.Acquired)))
		}
	}
	add(before(did(second, trace.Wrote), did(first, trace.Wrote)))
	add(before(trace.At(trace.KeysExpired{Client: first}), did(first, trace.Released)))
	return all
}

// failures are witnesses about how often the rivals asked for the lock in vain.
func (t *tale) failures() []trace.Witness {
	var all []trace.Witness
	first, second := t.rivals()
	for _, client := range []string{first, second} {
		failed := trace.Did{Process: client, Verb: trace.NotAcquired}
		if n := len(t.history.Occurrences(trace.At(failed))); n > 2 {
			for _, nth := range []int{min(n, 5), n} {
				all = append(all, trace.Witness{Point: trace.Any(trace.Clause{Nth: nth, Happening: failed})})
			}
		}
	}
	return all
}

// other is the one of two clients that is not this one.
func other(client, first, second string) string {
	if client == first {
		return second
	}
	return first
}

// rivals are the two clients that got into each other's way: the one that held the
// lock first, or wanted to, and the other.
func (t *tale) rivals() (first, second string) {
	var clients []string
	for _, c := range t.history.Calls() {
		if c.Began != nil && t.cast[c.Acquisition] && !slices.Contains(clients, c.Client) {
			clients = append(clients, c.Client)
		}
	}
	for _, p := range t.history.Trace.Processes {
		if p.Role == trace.RoleClient && !slices.Contains(clients, p.Name) {
			clients = append(clients, p.Name)
		}
	}
	if len(clients) == 1 {
		return clients[0], clients[0]
	}
	return clients[0], clients[1]
}

// arrived is the message that a fault has held back, if it is one that arrived at last,
// and which of its kind it was; 0 if it was the only one.
func (t *tale) arrived(fault int) (*trace.Message, int) {
	hold, ok := t.faults[fault].Action.(*sim.Hold)
	if !ok {
		return nil, 0
	}
	held := t.held[fault+1]
	if held == nil || held.Arrived == nil {
		return nil, 0
	}
	m := hold.Message.Message
	all := t.history.Occurrences(m.Arrived(0))
	nth := slices.Index(all, held.Arrived) + 1
	switch {
	case nth == 0:
		return nil, 0
	case len(all) == 1:
		nth = 0
	}
	return &m, nth
}

// orders are witnesses about the order of any two points of the story, for faults of
// which nothing more telling can be said.
func (t *tale) orders() []trace.Witness {
	var points []trace.Point
	add := func(h trace.Happening) {
		n := len(t.history.Occurrences(trace.At(h)))
		if n > 0 {
			points = append(points, trace.At(h))
		}
		for nth := 2; nth <= min(n, 4); nth++ {
			points = append(points, trace.Any(trace.Clause{Nth: nth, Happening: h}))
		}
	}
	for _, p := range t.history.Trace.Processes {
		switch p.Role {
		case trace.RoleClient:
			for _, verb := range []trace.Verb{
				trace.Acquired, trace.Wrote, trace.Released, trace.Worked, trace.HasRead, trace.NotAcquired,
				trace.Extended, trace.GaveUp, trace.Crashed, trace.Resumed,
			} {
				add(trace.Did{Process: p.Name, Verb: verb})
			}
			add(trace.KeysExpired{Client: p.Name})
			add(trace.Served{Client: p.Name, Step: trace.Write, Answer: trace.Applied})
		case trace.RoleNode:
			for _, verb := range []trace.Verb{trace.Restarted, trace.Resumed, trace.Crashed} {
				add(trace.Did{Process: p.Name, Verb: verb})
			}
			for _, c := range t.history.Trace.Processes {
				if c.Role == trace.RoleClient {
					add(trace.KeyExpired{Client: c.Name, Node: p.Name})
					add(trace.Holds{Client: c.Name, Node: p.Name})
				}
			}
		}
	}
	var orders []trace.Witness
	for _, p := range points {
		orders = append(orders, trace.Witness{Point: p})
	}
	for i, a := range points {
		for j, b := range points {
			if i != j {
				orders = append(orders, before(a, b))
			}
		}
	}
	return orders
}
