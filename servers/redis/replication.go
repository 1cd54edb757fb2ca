package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/replicas"
	"github.com/locksim/locksim/trace"
)

// replication is a node's part in replication: a master sends its changes to its replicas,
// which acknowledge them.
type replication struct {
	*replicas.Node[update]
	n *node
	// offset counts the changes that a master has sent, or a replica has applied.
	offset int
	waits  []*waitCall
	// heard is when a master last heard of each replica whose connection it believes to be
	// open, by its own clock. To take a write it must have heard of least replicas, at most
	// maxAge ago.
	heard  map[string]time.Time
	least  int
	maxAge time.Duration
}

func (n *node) replicate() {
	r := &n.repl
	r.n, r.heard = n, map[string]time.Time{}
	r.readSettings()
	r.Node = &replicas.Node[update]{
		Host: n.host, Retry: time.Second, WantsHeartbeats: r.least > 0, FullUpdate: n.fullUpdate, Apply: n.apply,
		ReplicaHeard: func(replica string) {
			r.heard[replica] = n.host.Clock().Now()
			r.answerWaits()
		},
		ReplicaLeft: func(replica string) { delete(r.heard, replica) },
	}
}

// A waitCall is a WAIT that a client has sent.
type waitCall struct {
	peer   *peer
	enough int
	offset int
	done   bool
}

// Follow is as in [sim.Replica].
func (n *node) Follow(master string) { n.repl.Follow(n.host.Peer(master).(*node).repl.Node) }

// fullUpdate returns the whole data set.
func (n *node) fullUpdate() update {
	effects := make([]keyChange, 0, len(n.keys))
	for _, id := range n.keys.ids() {
		effects = append(effects, keyChange{id: id, entry: n.keys[id]})
	}
	return update{offset: n.repl.offset, whole: true, effects: effects}
}

// An update is what a master sends to a replica.
type update struct {
	offset  int
	whole   bool
	effects []keyChange
}

func (u update) String() string {
	if u.whole {
		return fmt.Sprintf("replicate everything (%d keys)", len(u.effects))
	}
	words := make([]string, len(u.effects))
	for i, e := range u.effects {
		verb := "set "
		if e.gone {
			verb = "delete "
		}
		words[i] = verb + e.id.String()
	}
	return "replicate " + strings.Join(words, ", ")
}

// Number is as in [replicas.Update].
func (u update) Number() int { return u.offset }

// apply applies a master's update to a replica's data.
func (n *node) apply(u update) {
	n.updateTime()
	if u.whole {
		for _, id := range n.keys.ids() {
			n.mini.DB(id.db).Del(id.name)
		}
		n.tracker.all = true
	}
	owners := map[keyID]*trace.Actor{}
	for _, e := range u.effects {
		n.tracker.names = append(n.tracker.names, e.id.name)
		if e.gone {
			n.mini.DB(e.id.db).Del(e.id.name)
			continue
		}
		n.put(e.id, e.entry)
		owners[e.id] = e.entry.owner
	}
	n.recordUpdate(owners)
	n.repl.offset = u.offset
	n.serveBlocked()
}

// recordUpdate records what an update changed. The owners are those on the master.
func (n *node) recordUpdate(owners map[keyID]*trace.Actor) {
	n.visitSuspects(func(id keyID, was entry) {
		n.host.Emit(n.goneEvent(trace.KindDelete, id, was, nil))
		delete(n.keys, id)
	}, func(id keyID, was, is entry) {
		is.owner = was.owner
		if owner, ok := owners[id]; ok {
			is.owner = owner
		}
		if !was.isLike(is) {
			n.host.Emit(n.keyEvent(trace.KindRestore, id, is))
		}
		n.recordKey(id, is)
	})
	n.disk.missed = true
	n.planExpiry()
}

// propagate sends changes to the replicas. If keys expire while the node is paused, it
// notices and sends that when it resumes.
func (r *replication) propagate(effects []keyChange) {
	r.n.host.WhenRunning(func() {
		r.offset++
		if r.HasReplicas() {
			r.Send(update{offset: r.offset, effects: slices.Clone(effects)})
		}
	})
}

func (r *replication) readOnly() bool { return r.IsReplica() }

// With these settings a master takes no writes if it has not heard of enough replicas
// recently. That limits how long two masters take writes at the same time, but does not
// prevent it: https://redis.io/docs/latest/operate/oss_and_stack/management/replication/,
// "Allow writes only with N attached replicas".
const (
	minReplicas = "min-replicas-to-write"
	maxLag      = "min-replicas-max-lag"

	usualLag      = 10 * time.Second
	errNoReplicas = "NOREPLICAS Not enough good replicas to write."
)

func checkCount(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n < 0 {
		return fmt.Errorf("%q is not a number of replicas; write one, such as 1", value)
	}
	return nil
}

func checkLag(value string) error {
	if d, err := time.ParseDuration(value); err != nil || d <= 0 {
		return fmt.Errorf("%q is not a positive time; write one, such as 10s", value)
	}
	return nil
}

// readSettings reads the node's settings, which were checked before.
func (r *replication) readSettings() {
	r.least, _ = strconv.Atoi(r.n.host.SettingValue(minReplicas))
	r.maxAge = usualLag
	if d, err := time.ParseDuration(r.n.host.SettingValue(maxLag)); err == nil {
		r.maxAge = d
	}
}

// lacksReplicas reports whether a master has not heard of enough replicas recently.
func (r *replication) lacksReplicas() bool {
	if r.least == 0 || r.IsReplica() {
		return false
	}
	good, now := 0, r.n.host.Clock().Now()
	for _, at := range r.heard {
		if now.Sub(at) <= r.maxAge {
			good++
		}
	}
	return good < r.least
}

// writes reports whether a command changes keys, judged by its name. It is false for a
// script, whose own commands are checked instead.
func (n *node) writes(name string, args []string) bool {
	_, reads := n.readOnlyCommand(name, args)
	return !reads
}

// wait serves WAIT: it answers when enough replicas have acknowledged the client's latest
// write, or at the timeout, with the number of replicas that have.
func (r *replication) wait(p *peer, args []string) {
	enough, err1 := strconv.Atoi(args[1])
	timeout, err2 := strconv.Atoi(args[2])
	switch {
	case err1 != nil:
		p.refuse(errNotAnInteger)
		return
	case err2 != nil:
		p.refuse("ERR timeout is not an integer or out of range")
		return
	case timeout < 0:
		p.refuse("ERR timeout is negative")
		return
	}
	call := &waitCall{peer: p, enough: enough, offset: p.offset}
	p.busy = true
	r.waits = append(r.waits, call)
	if timeout > 0 {
		r.n.host.Clock().AfterFunc(time.Duration(timeout)*time.Millisecond, func() {
			p.end.RunOnLoop(func() { r.answerWait(call) })
		})
	}
	r.answerWaits()
}

func (r *replication) answerWaits() {
	for _, w := range slices.Clone(r.waits) {
		if len(r.AcknowledgedBy(w.offset)) >= w.enough {
			r.answerWait(w)
		}
	}
}

func (r *replication) answerWait(w *waitCall) {
	if w.done || !r.n.host.IsUp() {
		return
	}
	w.done = true
	r.waits = slices.DeleteFunc(r.waits, func(o *waitCall) bool { return o == w })
	w.peer.mini.WriteInt(len(r.AcknowledgedBy(w.offset)))
	w.peer.mini.Flush()
	w.peer.sendReplies()
	w.peer.unblock()
}

func (r *replication) crash() {
	r.waits = nil
	clear(r.heard)
	r.Crash()
}

// Promote is as in [sim.Replica]. From now on the other replicas follow this node, as if a
// sentinel had reconfigured them, and copy its data.
func (n *node) Promote() { n.repl.Promote() }

// Demote is as in [sim.Demotable]: until all data of the new master has arrived, the node
// only refuses writes.
func (n *node) Demote() bool {
	if !n.repl.Demote() {
		return false
	}
	clear(n.repl.heard)
	return true
}
