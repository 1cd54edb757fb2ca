package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/replicas"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// replication is what a node needs to copy data to other nodes or from a master. A master sends its
// changes to its replicas, and they acknowledge them.
type replication struct {
	*replicas.Node[update]
	n *node
	// offset is the number of the latest update that a master has made, or that a replica has
	// applied.
	offset int
	// waitCalls are the WAIT commands that have no answer yet.
	waitCalls []*waitCall
	// lastHeard is when this master last received a message from each replica, by the master's
	// own clock. Replicas whose connections have ended are left out.
	lastHeard map[string]time.Time
	// The master accepts a write only if it has heard from requiredReplicas replicas within
	// maxAge.
	requiredReplicas int
	maxAge           time.Duration
}

// initReplication prepares a new node for replication.
func (n *node) initReplication() {
	r := &n.repl
	r.n, r.lastHeard = n, map[string]time.Time{}
	r.readSettings()
	r.Node = &replicas.Node[update]{
		Host: n.host, Retry: time.Second, WantsHeartbeats: r.requiredReplicas > 0, FullUpdate: n.fullUpdate, Apply: n.apply,
		ReplicaHeard: func(replica string) {
			r.lastHeard[replica] = n.host.Clock().Now()
			r.answerWaits()
		},
		ReplicaLeft: func(replica string) { delete(r.lastHeard, replica) },
	}
}

// A waitCall is a WAIT command that a client has sent. It is answered when wantedReplicas
// replicas have acknowledged offset, or at its timeout.
type waitCall struct {
	conn           *clientConn
	wantedReplicas int
	offset         int
	isAnswered     bool
}

// Follow implements [sim.Replica].
func (n *node) Follow(master string) { n.repl.Follow(n.host.Peer(master).(*node).repl.Node) }

// fullUpdate returns an update with the whole data set, for a replica that has just
// connected.
func (n *node) fullUpdate() update {
	changes := make([]keyChange, 0, len(n.keys))
	for _, id := range n.sortedIDs(n.keys) {
		changes = append(changes, keyChange{id: id, entry: n.keys[id]})
	}
	return update{offset: n.repl.offset, isFull: true, changes: changes}
}

// An update is what a master sends to a replica: the whole data set, or the changes that one
// command has made. offset is the offset of a replica that has applied the update.
type update struct {
	offset  int
	isFull  bool
	changes []keyChange
}

// Describe implements [replicas.Update].
func (u update) Describe(names *sim.Names) string {
	if u.isFull {
		return fmt.Sprintf("replicate everything (%d keys)", len(u.changes))
	}
	words := make([]string, len(u.changes))
	for i, e := range u.changes {
		verb := "set "
		if e.isDeleted {
			verb = "delete "
		}
		words[i] = verb + e.id.describe(names)
	}
	return "replicate " + strings.Join(words, ", ")
}

// Number implements [replicas.Update].
func (u update) Number() int { return u.offset }

// apply applies an update of the master to a replica's data.
func (n *node) apply(u update) {
	n.updateTime()
	if u.isFull {
		for _, id := range n.sortedIDs(n.keys) {
			n.mini.DB(id.db).Del(id.name)
		}
		n.tracker.anyKey = true
	}
	owners := map[keyID]*trace.Actor{}
	for _, e := range u.changes {
		n.tracker.words = append(n.tracker.words, e.id.name)
		if e.isDeleted {
			n.mini.DB(e.id.db).Del(e.id.name)
			continue
		}
		n.writeKey(e.id, e.entry)
		owners[e.id] = e.entry.owner
	}
	n.recordUpdate(owners)
	n.repl.offset = u.offset
	n.serveBlocked()
}

// recordUpdate records in the trace what an update has changed. owners are the clients that
// have set the keys on the master.
func (n *node) recordUpdate(owners map[keyID]*trace.Actor) {
	n.visitSuspects(func(id keyID, old entry) {
		n.host.Emit(n.goneEvent(trace.KindDelete, id, old, nil))
		delete(n.keys, id)
	}, func(id keyID, old, current entry) {
		current.owner = old.owner
		if owner, ok := owners[id]; ok {
			current.owner = owner
		}
		if !old.sameValueAndExpiry(current) {
			n.host.Emit(n.keyEvent(trace.KindRestore, id, current))
		}
		n.recordKey(id, current)
	})
	n.disk.hasMissedChanges = true
	n.planExpiry()
}

// propagate sends changes to the replicas. If keys expire while the node is paused, the
// node sends these changes when it resumes.
func (r *replication) propagate(changes []keyChange) {
	r.n.host.WhenRunning(func() {
		r.offset++
		if r.HasReplicas() {
			r.Send(update{offset: r.offset, changes: slices.Clone(changes)})
		}
	})
}

// isReadOnly reports whether the node refuses writes of clients, because it is a replica.
func (r *replication) isReadOnly() bool { return r.IsReplica() }

// The settings by which a master refuses writes if it has not heard from enough replicas
// recently. They limit how long two masters can accept writes at the same time, but do not
// prevent it: https://redis.io/docs/latest/operate/oss_and_stack/management/replication/,
// "Allow writes only with N attached replicas".
const (
	minReplicasSetting = "min-replicas-to-write"
	maxLagSetting      = "min-replicas-max-lag"

	defaultMaxLag = 10 * time.Second
	errNoReplicas = "NOREPLICAS Not enough good replicas to write."
)

// checkCount returns an error if the value is not a valid number of replicas.
func checkCount(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n < 0 {
		return fmt.Errorf("%q is not a number of replicas; write one, such as 1", value)
	}
	return nil
}

// checkLag returns an error if the value is not a valid maximum lag.
func checkLag(value string) error {
	if d, err := time.ParseDuration(value); err != nil || d <= 0 {
		return fmt.Errorf("%q is not a positive time; write one, such as 10s", value)
	}
	return nil
}

// readSettings reads the settings of the node, which checkCount and checkLag have accepted.
func (r *replication) readSettings() {
	r.requiredReplicas, _ = strconv.Atoi(r.n.host.SettingValue(minReplicasSetting))
	r.maxAge = defaultMaxLag
	if d, err := time.ParseDuration(r.n.host.SettingValue(maxLagSetting)); err == nil {
		r.maxAge = d
	}
}

// lacksReplicas reports whether this master must refuse writes, because it has not heard
// from enough replicas recently.
func (r *replication) lacksReplicas() bool {
	if r.requiredReplicas == 0 || r.IsReplica() {
		return false
	}
	recent, now := 0, r.n.host.Clock().Now()
	for _, at := range r.lastHeard {
		if now.Sub(at) <= r.maxAge {
			recent++
		}
	}
	return recent < r.requiredReplicas
}

// isWrite reports whether a command changes keys, judged by its name. It is false for a
// script, because each command that the script calls is judged by itself.
func (n *node) isWrite(name string, args []string) bool {
	_, reads := n.readOnlyCommand(name, args)
	return !reads
}

// serveWAIT executes WAIT. It answers when enough replicas have acknowledged the client's
// latest write, or at the timeout. The answer is the number of replicas that have
// acknowledged it.
func (r *replication) serveWAIT(p *clientConn, args []string) {
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
	call := &waitCall{conn: p, wantedReplicas: enough, offset: p.writeOffset}
	p.isBlocked = true
	r.waitCalls = append(r.waitCalls, call)
	if timeout > 0 {
		r.n.host.Clock().AfterFunc(time.Duration(timeout)*time.Millisecond, func() {
			p.end.RunOnLoop(func() { r.answerWait(call) })
		})
	}
	r.answerWaits()
}

// answerWaits answers the WAIT commands whose offset enough replicas have acknowledged.
func (r *replication) answerWaits() {
	for _, w := range slices.Clone(r.waitCalls) {
		if len(r.AcknowledgedBy(w.offset)) >= w.wantedReplicas {
			r.answerWait(w)
		}
	}
}

// answerWait answers one WAIT with the number of replicas that have acknowledged its offset.
func (r *replication) answerWait(w *waitCall) {
	if w.isAnswered || !r.n.host.IsUp() {
		return
	}
	w.isAnswered = true
	r.waitCalls = slices.DeleteFunc(r.waitCalls, func(o *waitCall) bool { return o == w })
	w.conn.miniPeer.WriteInt(len(r.AcknowledgedBy(w.offset)))
	w.conn.miniPeer.Flush()
	w.conn.sendReplies()
	w.conn.unblock()
}

// crash drops what a crash of the node's process loses.
func (r *replication) crash() {
	r.waitCalls = nil
	clear(r.lastHeard)
	r.Crash()
}

// Promote implements [sim.Replica]. The other replicas now follow this node and copy its
// data, as if a sentinel had reconfigured them.
func (n *node) Promote() { n.repl.Promote() }

// Demote implements [sim.Demotable]: the node follows the new master. It refuses writes
// immediately, but answers reads from its old data until the new master's data has arrived.
func (n *node) Demote() bool {
	if !n.repl.Demote() {
		return false
	}
	clear(n.repl.lastHeard)
	return true
}
