package runs

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// hashBehaviour returns a hash by which a search recognizes runs in which practically the
// same happened. The hash covers what the clients, the nodes and the storage did, but not
// when, nor which of several nodes did it. A slot is one place where the lock keeps a
// grant, and a quorum of slots makes a grant. The hash covers:
//
//   - how each step of each client ended;
//   - on how many slots a grant was kept, how many of them the client lost while it used the
//     grant, and why;
//   - which client's write the storage applied after which other write, and what it refused.
//
// Equal entries in a row count as one.
//
// spare is the smallest number of slots beyond the quorum that a client had while it used
// the lock. If it is below zero, a client had lost the lock.
func hashBehaviour(h *history.History) (id uint64, spare int) {
	b := &observer{
		history: h, spare: math.MaxInt, quorum: h.Trace.Locks[0].Quorum,
		steps: map[string][]string{}, keyCount: map[string]int{}, inSection: map[string]bool{},
	}
	if last := h.Last(); last != nil {
		b.eventQueue().RunUntil(last.Seq)
	}
	sum := fnv.New64a()
	for _, p := range h.Trace.Processes {
		if p.Role == trace.RoleClient {
			fmt.Fprintf(sum, "%s: %s\n", p.Name, strings.Join(b.steps[p.Name], ", "))
		}
	}
	fmt.Fprintf(sum, "storage: %s\n", strings.Join(b.storageEvents, ", "))
	if b.spare == math.MaxInt {
		b.spare = 0
	}
	return sum.Sum64(), b.spare
}

// An observer collects the behaviour of one run.
type observer struct {
	history *history.History
	// steps has an entry for each thing that happened to a client, in order.
	steps map[string][]string
	// keyCount is on how many slots each client's key is stored.
	keyCount map[string]int
	// inSection has the clients that hold the lock, as far as they know. storageEvents has
	// an entry for each request that the storage served.
	inSection     map[string]bool
	storageEvents []string
	// quorum is how many slots make a grant. spare is the smallest number of slots beyond the
	// quorum that any client had.
	quorum, spare int
}

// eventQueue returns the events of the run that belong to its behaviour. For each event the
// queue calls a method of the observer.
func (b *observer) eventQueue() *history.EventQueue {
	queue := new(history.EventQueue)
	for _, c := range b.history.KeyChanges() {
		if !c.Touch {
			queue.Add(c.Event, func() { b.applyChange(c) })
		}
	}
	for _, c := range b.history.Calls() {
		if c.Step == trace.Release {
			queue.Add(c.Began, func() { b.leaveSection(c.Client) })
		}
		queue.Add(c.Ended, func() { b.addCall(c.Ended) })
	}
	for _, s := range b.history.Spells() {
		if s.State == history.Down {
			queue.Add(s.Began, func() {
				b.leaveSection(s.Process)
				b.addStep(s.Process, "crash")
			})
		}
	}
	for _, s := range b.history.Sections() {
		queue.Add(s.Lost, func() { b.addStep(s.Client, string(s.Lost.Kind)) })
	}
	for _, ev := range b.history.SessionEvents() {
		if ev.Kind == trace.KindExpireSession {
			queue.Add(ev, func() { b.addStep(ev.Peer, string(ev.Kind)) })
		}
	}
	for _, ev := range b.history.RanOnEvents() {
		queue.Add(ev, func() { b.addStep(ev.Process, string(ev.Kind)) })
	}
	for _, ev := range slices.Concat(b.history.ServedRequests(), b.history.Reverts()) {
		queue.Add(ev, func() { b.addServed(ev) })
	}
	return queue
}

// applyChange counts a change of a client's key on a slot.
func (b *observer) applyChange(c history.Change) {
	if c.Before != nil {
		b.loseKey(c)
	}
	if c.After != nil {
		b.keyCount[c.After.Owner.Client]++
	}
}

// addServed records how the storage served a request.
func (b *observer) addServed(ev *trace.Event) {
	entry := fmt.Sprintf("%s %s %s %v after %d", ev.Kind, ev.Client(), ev.Step, ev.OK, ev.Replaced)
	if len(b.storageEvents) < maxEntries {
		b.storageEvents = append(b.storageEvents, entry)
	}
}

// maxEntries limits how many entries a behaviour has for one process.
const maxEntries = 40

// addStep adds an entry to what happened to a client, unless it repeats the last one.
func (b *observer) addStep(client, entry string) {
	steps := b.steps[client]
	if len(steps) < maxEntries && (len(steps) == 0 || steps[len(steps)-1] != entry) {
		b.steps[client] = append(steps, entry)
	}
}

// addCall records how a client's step ended.
func (b *observer) addCall(ev *trace.Event) {
	entry := fmt.Sprintf("%s %v", ev.Step, ev.OK)
	if ev.Refused {
		entry += " refused"
	}
	if ev.Step == trace.Acquire && ev.OK {
		b.inSection[ev.Process] = true
		entry += fmt.Sprintf(" on %d", b.useKeys(ev.Process))
		for _, other := range b.othersInSection(ev.Process) {
			entry += " with " + other
		}
		if ev.Ungranted {
			entry += " ungranted"
		}
	}
	b.addStep(ev.Process, entry)
}

// othersInSection returns the other clients that are in their critical sections.
func (b *observer) othersInSection(client string) []string {
	var names []string
	for name, isInSection := range b.inSection {
		if isInSection && name != client {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// leaveSection records that a client stops using the lock, and how many keys the client has at
// that moment.
func (b *observer) leaveSection(client string) {
	if b.inSection[client] {
		delete(b.inSection, client)
		b.addStep(client, fmt.Sprintf("leaves %d", b.keyCount[client]))
	}
}

// useKeys returns how many keys a client has at a moment at which it relies on them, and
// updates spare.
func (b *observer) useKeys(client string) int {
	n := b.keyCount[client]
	b.spare = min(b.spare, n-b.quorum)
	return n
}

// loseKey records that a client loses a key while it uses the lock. A key that expired on
// time does not count for spare, because its client must not rely on it any longer.
func (b *observer) loseKey(c history.Change) {
	client := c.Before.Owner.Client
	b.keyCount[client]--
	cause := ""
	switch c.Before.How {
	case history.Overwritten, history.Replaced:
		if c.After.Owner.Client == client {
			return
		}
		cause = "overwritten"
	case history.Removed:
		cause = "deleted"
		if by := c.Event.By; by != nil && by.Client != client {
			cause = "taken"
		}
	case history.Expired:
		cause = "expire"
	case history.Forgotten:
		cause = "forget"
	case history.Dropped:
		cause = "drop"
	}
	if !b.inSection[client] {
		return
	}
	remaining := b.keyCount[client]
	if c.Before.How != history.Expired || c.At < c.DueBefore-time.Millisecond {
		remaining = b.useKeys(client)
	}
	b.addStep(client, fmt.Sprintf("loses one to %s, has %d", cause, remaining))
}
