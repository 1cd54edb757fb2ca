package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// minWitnesses is how many witnesses a world gets at least, if it has that many. maxWitnesses is
// how many it gets at most.
const (
	minWitnesses = 2
	maxWitnesses = 4
)

// A rivalry is what the witnesses of a run are about: its faults, and the two clients that
// interfered with each other. first names the client that held the lock, or asked for it, before
// the other one, and second names the other one. If the run has only one client, first and second
// are the same.
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
// the world to mean anything. A witness is seen in all of the world's runs. If possible, it
// is one that would not be seen without the faults. withoutOne has, for each fault, the
// runs without it. withoutAny has the runs without any fault. idle has the numbers, from 1,
// of the faults that make no difference for any witness.
func (r *rivalry) witnesses(runs []*history.History, withoutOne [][]*history.History, withoutAny []*history.History) (chosen []trace.Witness, idle []int) {
	countSeen := func(w trace.Witness, in []*history.History) int {
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
	for _, w := range slices.Concat(r.specificWitnesses(), r.failureWitnesses(), r.orderWitnesses()) {
		if text := w.String(); !candidates[text] && countSeen(w, runs) == len(runs) {
			candidates[text] = true
			all = append(all, w)
		}
	}
	covers := func(w trace.Witness, fault int) bool { return countSeen(w, withoutOne[fault]) == 0 }
	covered := func(fault int) bool {
		return slices.ContainsFunc(chosen, func(w trace.Witness) bool { return covers(w, fault) })
	}
	for fault := range withoutOne {
		if covered(fault) {
			continue
		}
		index := slices.IndexFunc(all, func(w trace.Witness) bool { return r.concerns(w, fault) && covers(w, fault) })
		if index < 0 {
			index = slices.IndexFunc(all, func(w trace.Witness) bool { return covers(w, fault) })
		}
		if index < 0 { // otherwise a witness that is not seen in one of the two runs without the fault
			index = slices.IndexFunc(all, func(w trace.Witness) bool { return countSeen(w, withoutOne[fault]) < len(withoutOne[fault]) })
		}
		if index < 0 {
			idle = append(idle, fault+1)
			continue
		}
		chosen = append(chosen, all[index])
	}
	addWitnesses := func(want func(trace.Witness) bool) {
		for _, w := range all {
			if len(chosen) < minWitnesses && !slices.ContainsFunc(chosen, w.Equal) && want(w) {
				chosen = append(chosen, w)
			}
		}
	}
	addWitnesses(func(w trace.Witness) bool { return countSeen(w, withoutAny) == 0 && !hasPointOf(chosen, w) })
	addWitnesses(func(w trace.Witness) bool { return countSeen(w, withoutAny) == 0 })
	addWitnesses(func(trace.Witness) bool { return true })
	reached := func(w trace.Witness) int {
		index, _ := history.SeenAt(w, r.history.Trace)
		return index
	}
	slices.SortStableFunc(chosen, func(a, b trace.Witness) int { return cmp.Compare(reached(a), reached(b)) })
	return chosen[:min(len(chosen), maxWitnesses)], idle
}

// concerns reports whether a witness mentions the process or message on which a fault acts.
func (r *rivalry) concerns(w trace.Witness, fault int) bool {
	f := r.faults[fault]
	alternatives := slices.Concat(w.Point.Alternatives(), w.Other.Alternatives())
	if !f.Message.IsZero() {
		m, ok := alternatives[0].Happening.(trace.Transit)
		return ok && m.Message == f.Message.Message
	}
	if f.Target() == trace.StorageName {
		return slices.Contains(w.Names(), trace.StorageName) || slices.ContainsFunc(alternatives, func(c trace.Alternative) bool {
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
		alternatives := w.Point.Alternatives()
		for i, c := range alternatives {
			if m, ok := c.Happening.(trace.Transit); ok && m.Arrived {
				alternatives[i].Nth = 0
			}
		}
		return trace.AnyOf(alternatives...)
	}
	return slices.ContainsFunc(chosen, func(c trace.Witness) bool { return head(c).Equal(head(w)) })
}

// actionPoint returns the point at which a process does something.
func actionPoint(process string, verb trace.Verb) trace.Point {
	return trace.At(trace.Action{Process: process, Verb: verb})
}

// witnessBefore returns the witness that the point a is reached before the point b.
func witnessBefore(a, b trace.Point) trace.Witness {
	return trace.Witness{Point: a, Relation: trace.Before, Other: b}
}

// witnessAfter returns the witness that the point a is reached after the point b.
func witnessAfter(a, b trace.Point) trace.Witness {
	return trace.Witness{Point: a, Relation: trace.After, Other: b}
}

// witnessWhile returns the witness that a point is reached while a process is in some
// state, such as paused.
func witnessWhile(p trace.Point, process string, state trace.Relation) trace.Witness {
	return trace.Witness{Point: p, Relation: state, Process: process}
}

// specificWitnesses returns witnesses that can show the faults and what broke, the most
// specific first. Some of them may not have been seen in the run.
func (r *rivalry) specificWitnesses() []trace.Witness {
	var all []trace.Witness
	add := func(w trace.Witness) { all = append(all, w) }
	for i, f := range r.faults {
		if witnessesOf := effectPolicies[f.Effect].evidence.witnesses; witnessesOf != nil {
			all = append(all, witnessesOf(r, i)...)
		}
	}
	for _, verb := range []trace.Verb{trace.Worked, trace.Wrote, trace.Released} {
		add(witnessBefore(actionPoint(r.second, trace.Acquired), actionPoint(r.first, verb)))
	}
	for i := range r.faults {
		if client := r.history.ClientOf(i + 1); client != "" {
			add(witnessBefore(actionPoint(client, trace.GaveUp), actionPoint(r.rivalOf(client), trace.Acquired)))
			add(witnessBefore(actionPoint(client, trace.Released), writeApplied(client)))
			add(trace.Witness{Point: actionPoint(client, trace.GaveUp)})
			write := trace.Message{Client: client, Peer: trace.StorageName, Step: trace.Write}
			add(trace.Witness{Point: write.InFlight(2)})
		}
		if m, nth := r.heldArrival(i); m != nil {
			add(witnessAfter(m.Arrived(nth), actionPoint(r.second, trace.Released)))
			add(witnessAfter(m.Arrived(nth), actionPoint(r.second, trace.Acquired)))
		}
	}
	add(witnessBefore(actionPoint(r.second, trace.Wrote), actionPoint(r.first, trace.Wrote)))
	add(witnessBefore(trace.At(trace.KeysExpired{Client: r.first}), actionPoint(r.first, trace.Released)))
	return all
}

// An evidence is how a run shows that a fault acted. witnesses returns the witnesses of the
// fault's effect, the most specific first. If witnesses is nil, only the order of points can
// show that the fault acted, and whyNone explains why.
type evidence struct {
	witnesses func(r *rivalry, fault int) []trace.Witness
	whyNone   string
}

// evidenceOfStop shows that a process was paused, by what happened during the pause.
func (r *rivalry) evidenceOfStop(fault int) []trace.Witness {
	process := r.faults[fault].Target()
	all := []trace.Witness{witnessWhile(trace.At(trace.KeysExpired{Client: r.first}), process, trace.WhilePaused)}
	for _, verb := range []trace.Verb{trace.Released, trace.Wrote, trace.Acquired} {
		all = append(all, witnessWhile(actionPoint(r.second, verb), process, trace.WhilePaused))
	}
	return all
}

// evidenceOfDeath shows that a process was killed, by what happened afterwards. If it is a
// server, another client may have been granted the lock before or after the restart.
func (r *rivalry) evidenceOfDeath(fault int) []trace.Witness {
	process := r.faults[fault].Target()
	crashed := actionPoint(process, trace.Crashed)
	if r.history.IsClient(process) {
		return []trace.Witness{witnessAfter(actionPoint(r.second, trace.Acquired), crashed), witnessAfter(actionPoint(r.second, trace.NotAcquired), crashed)}
	}
	return []trace.Witness{
		witnessAfter(crashed, actionPoint(r.first, trace.Acquired)),
		witnessBefore(actionPoint(process, trace.Restarted), actionPoint(r.second, trace.Acquired)),
		witnessWhile(actionPoint(r.second, trace.Acquired), process, trace.WhileDown),
	}
}

// evidenceOfJump shows that a clock was set, by the grants before and after that.
func (r *rivalry) evidenceOfJump(fault int) []trace.Witness {
	process := r.faults[fault].Target()
	jumped := trace.At(trace.ClockJumped{Process: process})
	return []trace.Witness{
		witnessAfter(jumped, actionPoint(r.first, trace.Acquired)),
		witnessBefore(trace.At(trace.KeyExpired{Client: r.first, Node: process}), actionPoint(r.second, trace.Acquired)),
		witnessBefore(jumped, actionPoint(r.second, trace.Acquired)),
	}
}

// evidenceOfDrift shows that a node's clock runs fast, by a key that expires early.
func (r *rivalry) evidenceOfDrift(fault int) []trace.Witness {
	expired := trace.At(trace.KeyExpired{Client: r.first, Node: r.faults[fault].Target()})
	return []trace.Witness{
		witnessBefore(expired, actionPoint(r.second, trace.Acquired)), witnessBefore(expired, actionPoint(r.first, trace.Wrote)), witnessBefore(expired, actionPoint(r.first, trace.Released)),
	}
}

// evidenceOfMove shows that a replica was promoted, by the grants before and after that.
func (r *rivalry) evidenceOfMove(fault int) []trace.Witness {
	promoted := actionPoint(r.faults[fault].Target(), trace.WasPromoted)
	return []trace.Witness{witnessAfter(promoted, actionPoint(r.first, trace.Acquired)), witnessBefore(promoted, actionPoint(r.second, trace.Acquired))}
}

// evidenceOfCancel shows that a call was cancelled, by what the client and its rival did
// afterwards.
func (r *rivalry) evidenceOfCancel(fault int) []trace.Witness {
	client := r.faults[fault].Target()
	cancelled := actionPoint(client, trace.Cancelled)
	return []trace.Witness{
		witnessBefore(cancelled, actionPoint(r.rivalOf(client), trace.Acquired)), witnessBefore(cancelled, actionPoint(client, trace.NotAcquired)), {Point: cancelled},
	}
}

// evidenceOfHold shows that a message was held back, by what the rivals did before it
// arrived.
func (r *rivalry) evidenceOfHold(fault int) (all []trace.Witness) {
	if m, _ := r.heldArrival(fault); m != nil {
		for _, verb := range []trace.Verb{trace.Released, trace.Wrote, trace.Acquired, trace.NotAcquired} {
			all = append(all, witnessAfter(m.Arrived(0), actionPoint(r.second, verb)), witnessAfter(m.Arrived(0), actionPoint(r.first, verb)))
		}
	}
	return all
}

// evidenceOfCut shows a partition, by the rival that set its key on a node that the partition cut
// off.
func (r *rivalry) evidenceOfCut(fault int) (all []trace.Witness) {
	f := r.faults[fault]
	for _, node := range f.Others() {
		for _, verb := range []trace.Verb{trace.Worked, trace.Wrote, trace.Released} {
			all = append(all, witnessBefore(trace.At(trace.HoldsNode{Client: r.second, Node: node}), actionPoint(r.first, verb)))
		}
	}
	return append(all, trace.Witness{Point: actionPoint(f.Target(), trace.NotAcquired)})
}

// evidenceOfStall shows that the storage stalled a request, by what was done meanwhile.
func (r *rivalry) evidenceOfStall(int) []trace.Witness {
	return []trace.Witness{witnessBefore(writeApplied(r.second), writeApplied(r.first)), witnessBefore(actionPoint(r.second, trace.Released), writeApplied(r.first))}
}

// writeApplied returns the point at which the storage applies a client's write.
func writeApplied(client string) trace.Point {
	return trace.At(trace.RequestServed{Client: client, Step: trace.Write, Answer: trace.Applied})
}

// failureWitnesses returns witnesses for how often each rival has asked for the lock in
// vain.
func (r *rivalry) failureWitnesses() []trace.Witness {
	var all []trace.Witness
	for _, client := range []string{r.first, r.second} {
		failed := trace.Action{Process: client, Verb: trace.NotAcquired}
		if n := len(r.history.Occurrences(trace.At(failed))); n > 2 {
			for _, nth := range []int{min(n, 5), n} {
				all = append(all, trace.Witness{Point: trace.AnyOf(trace.Alternative{Nth: nth, Happening: failed})})
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

// heldArrival returns the message that a fault has held back; nil if the fault held none, or
// the message never arrived. It also returns the number of the message among the messages of
// its kind, from 1; 0 if it was the only one.
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

// orderWitnesses returns witnesses for points of the run, and for the order of any two of
// them. They are for faults that no more specific witness shows.
func (r *rivalry) orderWitnesses() []trace.Witness {
	var points []trace.Point
	add := func(h trace.Happening) {
		n := len(r.history.Occurrences(trace.At(h)))
		if n > 0 {
			points = append(points, trace.At(h))
		}
		for nth := 2; nth <= min(n, 4); nth++ {
			points = append(points, trace.AnyOf(trace.Alternative{Nth: nth, Happening: h}))
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
				orders = append(orders, witnessBefore(a, b))
			}
		}
	}
	return orders
}
