package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// How many witnesses a world gets, at least if there are so many, and at most.
const (
	fewestWitnesses = 2
	mostWitnesses   = 4
)

// A rivalry is what the witnesses of a run are about: its faults, and the two clients that
// interfered with each other. first is the one that held the lock first, or asked for it
// first. If the run has only one client, first and second are the same.
type rivalry struct {
	history       *history.History
	faults        []trace.FaultInfo
	first, second string
}

// rivalryIn finds the rivalry in a run, from the clients that the verdict names.
func rivalryIn(h *history.History, v *checks.Verdict) *rivalry {
	parties := v.Parties(h)
	var clients []string
	for _, c := range h.Calls() {
		if c.Began != nil && parties[c.Acquisition] && !slices.Contains(clients, c.Client) {
			clients = append(clients, c.Client)
		}
	}
	for _, p := range h.Trace.Processes {
		if p.Role == trace.RoleClient && !slices.Contains(clients, p.Name) {
			clients = append(clients, p.Name)
		}
	}
	return &rivalry{h, h.Trace.Faults, clients[0], clients[min(1, len(clients)-1)]}
}

// witnesses chooses the witnesses of a world: what must have happened for the verdict on
// the world to mean anything. A witness is seen in the world's runs, and would not be seen
// without the faults. withoutOne has, for each fault, the runs without it. withoutAny has
// the runs without any fault. idle has the numbers, from 1, of the faults that make no
// difference for any witness.
func (r *rivalry) witnesses(runs []*history.History, less [][]*history.History, bare []*history.History) (chosen []trace.Witness, idle []int) {
	seen := func(w trace.Witness, in []*history.History) int {
		n := 0
		for _, h := range in {
			if history.WasSeen(w, h.Trace) {
				n++
			}
		}
		return n
	}
	candidates := map[string]bool{}
	var all []trace.Witness
	for _, w := range slices.Concat(r.specificWitnesses(), r.failures(), r.orders()) {
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
		at := slices.IndexFunc(all, func(w trace.Witness) bool { return r.concerns(w, fault) && covers(w, fault) })
		if at < 0 {
			at = slices.IndexFunc(all, func(w trace.Witness) bool { return covers(w, fault) })
		}
		if at < 0 { // at least in one of the two runs
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
	more(func(w trace.Witness) bool { return seen(w, bare) == 0 && !hasPointOf(chosen, w) })
	more(func(w trace.Witness) bool { return seen(w, bare) == 0 })
	more(func(trace.Witness) bool { return true })
	reached := func(w trace.Witness) int {
		at, _ := history.SeenAt(w, r.history.Trace)
		return at
	}
	slices.SortStableFunc(chosen, func(a, b trace.Witness) int { return cmp.Compare(reached(a), reached(b)) })
	return chosen[:min(len(chosen), mostWitnesses)], idle
}

// concerns reports whether a witness mentions the process or message on which a fault acts.
func (r *rivalry) concerns(w trace.Witness, fault int) bool {
	f := r.faults[fault]
	clauses := slices.Concat(w.Point.Clauses(), w.Other.Clauses())
	if !f.Message.IsZero() {
		m, ok := clauses[0].Happening.(trace.Transit)
		return ok && m.Message == f.Message.Message
	}
	if f.Target() == trace.StorageName {
		return slices.Contains(w.Names(), trace.StorageName) || slices.ContainsFunc(clauses, func(c trace.Clause) bool {
			_, served := c.Happening.(trace.RequestServed)
			return served
		})
	}
	return slices.Contains(w.Names(), f.Target())
}

// hasPointOf reports whether a chosen witness has the same point as w. It overlooks the
// number of a message that arrives.
func hasPointOf(chosen []trace.Witness, w trace.Witness) bool {
	head := func(w trace.Witness) trace.Point {
		clauses := w.Point.Clauses()
		for i, c := range clauses {
			if m, ok := c.Happening.(trace.Transit); ok && m.Arrived {
				clauses[i].Nth = 0
			}
		}
		return trace.AnyOf(clauses...)
	}
	return slices.ContainsFunc(chosen, func(c trace.Witness) bool { return head(c).Equal(head(w)) })
}

// actionPoint returns the point at which a process does something.
func did(process string, verb trace.Verb) trace.Point {
	return trace.At(trace.Action{Process: process, Verb: verb})
}

// witnessBefore returns the witness that the point a is reached before the point b.
func before(a, b trace.Point) trace.Witness {
	return trace.Witness{Point: a, Relation: trace.Before, Other: b}
}

// witnessAfter returns the witness that the point a is reached after the point b.
func after(a, b trace.Point) trace.Witness {
	return trace.Witness{Point: a, Relation: trace.After, Other: b}
}

// witnessWhile returns the witness that a point is reached while a process is in some
// state, such as paused.
func while(p trace.Point, process string, state trace.Relation) trace.Witness {
	return trace.Witness{Point: p, Relation: state, Process: process}
}

// specificWitnesses returns witnesses that can show the faults and what broke, the most
// specific first. Some of them may not have been seen in the run.
func (r *rivalry) specificWitnesses() []trace.Witness {
	var all []trace.Witness
	add := func(w trace.Witness) { all = append(all, w) }
	for i, f := range r.faults {
		if shows := effectPolicies[f.Effect].evidence.witnesses; shows != nil {
			all = append(all, shows(r, i)...)
		}
	}
	for _, verb := range []trace.Verb{trace.Worked, trace.Wrote, trace.Released} {
		add(before(did(r.second, trace.Acquired), did(r.first, verb)))
	}
	for i := range r.faults {
		if client := r.history.ClientOf(i + 1); client != "" {
			add(before(did(client, trace.GaveUp), did(r.rivalOf(client), trace.Acquired)))
			add(before(did(client, trace.Released), applied(client)))
			add(trace.Witness{Point: did(client, trace.GaveUp)})
			write := trace.Message{Client: client, Peer: trace.StorageName, Step: trace.Write}
			add(trace.Witness{Point: write.InFlight(2)})
		}
		if m, nth := r.heldArrival(i); m != nil {
			add(after(m.Arrived(nth), did(r.second, trace.Released)))
			add(after(m.Arrived(nth), did(r.second, trace.Acquired)))
		}
	}
	add(before(did(r.second, trace.Wrote), did(r.first, trace.Wrote)))
	add(before(trace.At(trace.KeysExpired{Client: r.first}), did(r.first, trace.Released)))
	return all
}

// An evidence is how a run shows that a fault acted. witnesses returns the witnesses of the
// fault's effect, the most specific first. If it is nil, only the order of points can show
// that the fault acted, and whyNone explains why.
type evidence struct {
	witnesses func(r *rivalry, fault int) []trace.Witness
	whyNone   string
}

// evidenceOfStop shows that a process was paused, by what happened during the pause.
func (r *rivalry) evidenceOfStop(fault int) []trace.Witness {
	on := r.faults[fault].Target()
	all := []trace.Witness{while(trace.At(trace.KeysExpired{Client: r.first}), on, trace.WhilePaused)}
	for _, verb := range []trace.Verb{trace.Released, trace.Wrote, trace.Acquired} {
		all = append(all, while(did(r.second, verb), on, trace.WhilePaused))
	}
	return all
}

// evidenceOfDeath shows that a process was killed, by what happened afterwards. If it is a
// server, another client may have been granted the lock before or after the restart.
func (r *rivalry) evidenceOfDeath(fault int) []trace.Witness {
	on := r.faults[fault].Target()
	crashed := did(on, trace.Crashed)
	if r.history.IsClient(on) {
		return []trace.Witness{after(did(r.second, trace.Acquired), crashed), after(did(r.second, trace.NotAcquired), crashed)}
	}
	return []trace.Witness{
		after(crashed, did(r.first, trace.Acquired)),
		before(did(on, trace.Restarted), did(r.second, trace.Acquired)),
		while(did(r.second, trace.Acquired), on, trace.WhileDown),
	}
}

// evidenceOfJump shows that a clock was set, by the grants before and after that.
func (r *rivalry) evidenceOfJump(fault int) []trace.Witness {
	on := r.faults[fault].Target()
	jumped := trace.At(trace.ClockJumped{Process: on})
	return []trace.Witness{
		after(jumped, did(r.first, trace.Acquired)),
		before(trace.At(trace.KeyExpired{Client: r.first, Node: on}), did(r.second, trace.Acquired)),
		before(jumped, did(r.second, trace.Acquired)),
	}
}

// evidenceOfDrift shows that a node's clock runs fast, by a key that expires early.
func (r *rivalry) evidenceOfDrift(fault int) []trace.Witness {
	expired := trace.At(trace.KeyExpired{Client: r.first, Node: r.faults[fault].Target()})
	return []trace.Witness{
		before(expired, did(r.second, trace.Acquired)), before(expired, did(r.first, trace.Wrote)), before(expired, did(r.first, trace.Released)),
	}
}

// evidenceOfMove shows that a replica was promoted, by the grants before and after that.
func (r *rivalry) evidenceOfMove(fault int) []trace.Witness {
	promoted := did(r.faults[fault].Target(), trace.WasPromoted)
	return []trace.Witness{after(promoted, did(r.first, trace.Acquired)), before(promoted, did(r.second, trace.Acquired))}
}

// evidenceOfCancel shows that a call was cancelled, by what the client and its rival did
// afterwards.
func (r *rivalry) evidenceOfCancel(fault int) []trace.Witness {
	on := r.faults[fault].Target()
	cancelled := did(on, trace.Cancelled)
	return []trace.Witness{
		before(cancelled, did(r.rivalOf(on), trace.Acquired)), before(cancelled, did(on, trace.NotAcquired)), {Point: cancelled},
	}
}

// evidenceOfHold shows that a message was held back, by what the rivals did before it
// arrived.
func (r *rivalry) evidenceOfHold(fault int) (all []trace.Witness) {
	if m, _ := r.heldArrival(fault); m != nil {
		for _, verb := range []trace.Verb{trace.Released, trace.Wrote, trace.Acquired, trace.NotAcquired} {
			all = append(all, after(m.Arrived(0), did(r.second, verb)), after(m.Arrived(0), did(r.first, verb)))
		}
	}
	return all
}

// evidenceOfCut shows a partition, by the rival that set its key on a node beyond it.
func (r *rivalry) evidenceOfCut(fault int) (all []trace.Witness) {
	f := r.faults[fault]
	for _, node := range f.Others() {
		for _, verb := range []trace.Verb{trace.Worked, trace.Wrote, trace.Released} {
			all = append(all, before(trace.At(trace.HoldsNode{Client: r.second, Node: node}), did(r.first, verb)))
		}
	}
	return append(all, trace.Witness{Point: did(f.Target(), trace.NotAcquired)})
}

// evidenceOfStall shows that the storage stalled a request, by what was done meanwhile.
func (r *rivalry) evidenceOfStall(int) []trace.Witness {
	return []trace.Witness{before(applied(r.second), applied(r.first)), before(did(r.second, trace.Released), applied(r.first))}
}

// writeApplied returns the point at which the storage applies a client's write.
func applied(client string) trace.Point {
	return trace.At(trace.RequestServed{Client: client, Step: trace.Write, Answer: trace.Applied})
}

// failureWitnesses returns witnesses for how often each rival has asked for the lock in
// vain.
func (r *rivalry) failures() []trace.Witness {
	var all []trace.Witness
	for _, client := range []string{r.first, r.second} {
		failed := trace.Action{Process: client, Verb: trace.NotAcquired}
		if n := len(r.history.Occurrences(trace.At(failed))); n > 2 {
			for _, nth := range []int{min(n, 5), n} {
				all = append(all, trace.Witness{Point: trace.AnyOf(trace.Clause{Nth: nth, Happening: failed})})
			}
		}
	}
	return all
}

// rivalOf returns the rival of a client.
func (r *rivalry) rivalOf(client string) string {
	if client == r.first {
		return r.second
	}
	return r.first
}

// heldArrival returns the message that a fault has held back, if the message arrived in the
// end, or nil. It also returns its number among the messages of its kind; 0 if it was the
// only one.
func (r *rivalry) heldArrival(fault int) (*trace.Message, int) {
	act, m := r.history.Act(fault+1), r.faults[fault].Message.Message
	if act == nil || m.IsZero() {
		return nil, 0
	}
	held := r.history.MessageHeldBy(act)
	if held == nil || held.Arrived == nil {
		return nil, 0
	}
	all := r.history.Occurrences(m.Arrived(0))
	nth := slices.Index(all, held.Arrived) + 1
	switch {
	case nth == 0:
		return nil, 0
	case len(all) == 1:
		nth = 0
	}
	return &m, nth
}

// orderWitnesses returns witnesses for the order of any two points of the run. They are for
// faults that no more specific witness shows.
func (r *rivalry) orders() []trace.Witness {
	var points []trace.Point
	add := func(h trace.Happening) {
		n := len(r.history.Occurrences(trace.At(h)))
		if n > 0 {
			points = append(points, trace.At(h))
		}
		for nth := 2; nth <= min(n, 4); nth++ {
			points = append(points, trace.AnyOf(trace.Clause{Nth: nth, Happening: h}))
		}
	}
	for _, p := range r.history.Trace.Processes {
		switch p.Role {
		case trace.RoleClient:
			for _, verb := range []trace.Verb{
				trace.Acquired, trace.Wrote, trace.Released, trace.Worked, trace.HasRead, trace.NotAcquired,
				trace.Extended, trace.GaveUp, trace.Crashed, trace.Resumed,
			} {
				add(trace.Action{Process: p.Name, Verb: verb})
			}
			add(trace.KeysExpired{Client: p.Name})
			add(trace.RequestServed{Client: p.Name, Step: trace.Write, Answer: trace.Applied})
		case trace.RoleNode:
			for _, verb := range []trace.Verb{trace.Restarted, trace.Resumed, trace.Crashed} {
				add(trace.Action{Process: p.Name, Verb: verb})
			}
			for _, c := range r.history.Trace.Processes {
				if c.Role == trace.RoleClient {
					add(trace.KeyExpired{Client: c.Name, Node: p.Name})
					add(trace.HoldsNode{Client: c.Name, Node: p.Name})
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
