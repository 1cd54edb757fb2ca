package explore

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// behaviour tells runs apart by what the clients, the nodes and the storage did, but
// not by when, and not by which of several nodes it was: by how each step of each
// client ended, on how many slots a grant stood and how many of them it lost while it
// was used and to what, which write came after whose, and what the storage refused.
// The same thing many times is told as several times.
//
// spare is how many more slots than its quorum whoever used the lock had at least, while
// it did: below zero it had lost the lock.
func behaviour(t *trace.Trace) (id uint64, spare int) {
	b := &beholder{spare: math.MaxInt, quorum: t.Locks[0].Quorum,
		steps: map[string][]string{}, holds: map[string]map[string]time.Duration{}, inside: map[string]bool{}}
	for i := range t.Events {
		b.see(&t.Events[i])
	}
	h := fnv.New64a()
	for _, p := range t.Processes {
		if p.Role == trace.RoleClient {
			fmt.Fprintf(h, "%s: %s\n", p.Name, strings.Join(b.steps[p.Name], ", "))
		}
	}
	fmt.Fprintf(h, "storage: %s\n", strings.Join(b.served, ", "))
	if b.spare == math.MaxInt {
		b.spare = 0
	}
	return h.Sum64(), b.spare
}

// A beholder watches a run.
type beholder struct {
	// steps is what happened to each client, in order.
	steps map[string][]string
	// holds has the nodes and keys on which a client's key stands, and until when.
	holds  map[string]map[string]time.Duration
	inside map[string]bool
	served []string
	// spare is the least that anybody had beyond quorum.
	quorum, spare int
}

func (b *beholder) see(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindSet, trace.KindRestore, trace.KindTouch:
		if ev.Owner == nil {
			return
		}
		if ev.Prior != nil && ev.Prior.Client != ev.Owner.Client {
			b.lose(ev.Prior.Client, ev, "overwritten")
		}
		at := b.holds[ev.Owner.Client]
		if at == nil {
			at = map[string]time.Duration{}
			b.holds[ev.Owner.Client] = at
		}
		at[ev.Process+" "+ev.Key] = ev.At + ev.TTL
	case trace.KindDelete:
		if ev.Owner == nil {
			return
		}
		if ev.By != nil && ev.By.Client != ev.Owner.Client {
			b.lose(ev.Owner.Client, ev, "taken")
			return
		}
		b.lose(ev.Owner.Client, ev, "deleted")
	case trace.KindExpire, trace.KindForget:
		if ev.Owner != nil {
			b.lose(ev.Owner.Client, ev, string(ev.Kind))
		}
	case trace.KindEnd:
		b.end(ev)
	case trace.KindBegin:
		if ev.Step == trace.Release {
			b.leave(ev.Process)
		}
	case trace.KindCrash:
		b.leave(ev.Process)
		b.tell(ev.Process, "crash")
	case trace.KindLost, trace.KindRanOn:
		b.tell(ev.Process, string(ev.Kind))
	case trace.KindServe, trace.KindRevert:
		word := fmt.Sprintf("%s %s %s %v after %d", ev.Kind, ev.Client(), ev.Step, ev.OK, ev.Replaced)
		if len(b.served) < most {
			b.served = append(b.served, word)
		}
	}
}

// most bounds what a behaviour tells of one process: what comes after it is more of
// the same.
const most = 40

// tell adds to what happened to a client.
func (b *beholder) tell(client, word string) {
	told := b.steps[client]
	if len(told) < most && (len(told) == 0 || told[len(told)-1] != word) {
		b.steps[client] = append(told, word)
	}
}

func (b *beholder) end(ev *trace.Event) {
	word := fmt.Sprintf("%s %v", ev.Step, ev.OK)
	if ev.Refused {
		word += " refused"
	}
	if ev.Step == trace.Acquire && ev.OK {
		b.inside[ev.Process] = true
		word += fmt.Sprintf(" on %d", b.rely(ev.Process))
		for _, other := range b.others(ev.Process) {
			word += " with " + other
		}
		if ev.Ungranted {
			word += " ungranted"
		}
	}
	b.tell(ev.Process, word)
}

// others are the clients that are inside besides one.
func (b *beholder) others(client string) []string {
	var names []string
	for name, in := range b.inside {
		if in && name != client {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (b *beholder) leave(client string) {
	if b.inside[client] {
		delete(b.inside, client)
		b.tell(client, fmt.Sprintf("leaves %d", len(b.holds[client])))
	}
}

// rely is how many keys a client has, now that it relies on them.
func (b *beholder) rely(client string) int {
	n := len(b.holds[client])
	b.spare = min(b.spare, n-b.quorum)
	return n
}

// lose is a client that loses a key, which matters while it relies on it. One whose time
// was up it had no right to rely on.
func (b *beholder) lose(client string, ev *trace.Event, how string) {
	place := ev.Process + " " + ev.Key
	due := b.holds[client][place]
	delete(b.holds[client], place)
	if !b.inside[client] {
		return
	}
	has := len(b.holds[client])
	if ev.Kind != trace.KindExpire || ev.At < due-time.Millisecond {
		has = b.rely(client)
	}
	b.tell(client, fmt.Sprintf("loses one to %s, has %d", how, has))
}
