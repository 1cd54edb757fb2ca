package reality

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A cluster is the harness's view of servers that agree on one order of all changes. It watches
// every change of a key. The cause of a change is a client's request that names the key, or the
// end of the session to which the key is bound. A nil cluster means servers that each keep keys
// of their own: start, close, leave, knowLocks, begin, expect and lookForLeader do nothing on
// it, and the other methods must not be called.
type cluster struct {
	r       *run
	name    string // the system, such as etcd; the trace has it as the name of the cluster
	watcher clusterWatcher
	locks   []*queue
	// sessions are the sessions that have not ended, by their numbers in hexadecimal.
	sessions map[string]*session
	// effects are the changes that requests have asked of a server and that may still happen.
	effects []*effect
	// recorded is the revision up to which all changes were recorded. A revision is the number of a
	// change in the order of all changes.
	recorded int64
	leader   string // the member that led when the harness last asked
	// asksUntil is the time until which a goroutine asks which member leads; 0 if none asks.
	asksUntil time.Duration
}

// A clusterWatcher asks a cluster for facts that the messages of its clients do not show. Except
// for leave, its methods are called while the mutex of the run is not held.
type clusterWatcher interface {
	// watch begins to report all changes to [cluster.see].
	watch() error
	// catchUp returns when all changes have been reported that happened before a member, from, sent
	// an answer. decoded is this answer.
	catchUp(decoded reading, from server) error
	// hasSession reports whether a session exists.
	hasSession(id string) (bool, error)
	// leader returns the name of the member that leads; "" if there is none.
	leader() string
	// leave ends the watcher's connection with n, on which n may no longer answer. The mutex is
	// held.
	leave(n *node)
	// lead makes sure that the cluster's leader is the member that leads at the beginning of
	// the simulated run. etcd can transfer the leadership. A wrong leader of ZooKeeper is
	// killed and started again.
	lead() error
	close()
}

// A session is the harness's view of a client's session.
type session struct {
	id, client string
	ttl        time.Duration
	// earliest and expires bound the time at which the session ends if the server gets no
	// further sign of life.
	earliest, expires time.Duration
	// knownAt is when the client sent the last sign of life that the server has acknowledged.
	knownAt time.Duration
	isHeard bool // the server has sent the client an acknowledgement
}

// An effect lists the keys and sessions that one request may change.
type effect struct {
	puts []string // keys; if isSequential is true, prefixes of keys
	// isSequential says that the server adds digits to the names of what it creates.
	isSequential bool
	// deletes are ranges of keys. Each includes its first key and excludes its second.
	deletes [][2]string
	ends    string // the session that the request ends; "" if none

	by *trace.Actor
	// since is when the request reached the server.
	since   time.Duration
	session string // the session of the keys; "" if there is none, or if only the server knows it
}

// A change says how one key was changed.
type change struct {
	revision int64 // orders all changes
	key      string
	// isDeleted says that the key was deleted, and otherwise that it was created or written.
	isDeleted bool
	// created is the revision that created the key, and session the session to which it is
	// bound; "" if it is bound to none, or the server does not say.
	created int64
	session string
	value   string
}

// newCluster returns the cluster of the lock's servers; nil if each server keeps keys of its
// own.
func newCluster(r *run) *cluster {
	system, ok := sim.LookupSystem(r.cfg.Lock.Kind.System)
	if !ok || !system.Cluster {
		return nil
	}
	return &cluster{r: r, name: system.Name, sessions: map[string]*session{}}
}

// errNotLinked returns the error about a server whose bytes this program cannot divide
// into messages.
func errNotLinked(cfg sim.Node) error {
	return fmt.Errorf("%s is a server of the kind %s, which is not linked into this program; use locksim-all", cfg.Name, cfg.System)
}

// start begins to watch the cluster, whose servers have just been started.
func (c *cluster) start() error {
	if c == nil {
		return nil
	}
	if err := c.watcher.lead(); err != nil {
		return err
	}
	c.leader = c.watcher.leader()
	if err := c.watcher.watch(); err != nil {
		return fmt.Errorf("%s cannot be watched: %w", c.name, err)
	}
	return nil
}

// close ends the connections of the harness with the cluster.
func (c *cluster) close() {
	if c != nil && c.watcher != nil {
		c.watcher.close()
	}
}

// leave makes the harness watch another member if it watches n, which was stopped or has ended.
// The mutex is held.
func (c *cluster) leave(n *node) {
	if c != nil && c.watcher != nil {
		c.watcher.leave(n)
	}
}

// running returns the servers of the members that run.
func (c *cluster) running() (servers []server) {
	c.r.do(func() {
		for _, n := range c.r.nodes {
			if n.runs() {
				servers = append(servers, n.server)
			}
		}
	})
	return servers
}

// knowLocks makes the cluster record what happens to locks. The mutex is held.
func (c *cluster) knowLocks(all []trace.LockInfo) {
	if c == nil {
		return
	}
	for _, l := range all {
		for _, s := range l.Slots {
			c.locks = append(c.locks, &queue{c: c, name: s.Key, claims: map[string]claim{}})
		}
	}
}

// begin records, at the beginning of the run, the sessions that the clients have opened before.
// The times of these sessions count from an earlier moment; earlier is the time from that
// moment to the beginning of the run. The mutex is held.
func (c *cluster) begin(earlier time.Duration) {
	if c == nil {
		return
	}
	for _, id := range c.sessionIDs() {
		s := c.sessions[id]
		s.earliest, s.expires, s.knownAt = s.earliest-earlier, s.expires-earlier, s.knownAt-earlier
		c.r.emit(trace.Event{Kind: trace.KindOpen, Process: c.name, Peer: s.client, Session: nameSession(c.r.names, id), TTL: s.ttl})
		if s.isHeard {
			c.r.emit(trace.Event{Kind: trace.KindAlive, Process: s.client, Session: nameSession(c.r.names, id), TTL: s.ttl, Expires: max(s.knownAt+s.ttl, 1)})
		}
		c.planExpiry(s)
	}
}

// sessionIDs lists the sessions by their clients.
func (c *cluster) sessionIDs() []string {
	var ids []string
	for id := range c.sessions {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(strings.Compare(c.sessions[a].client, c.sessions[b].client), strings.Compare(a, b))
	})
	return ids
}

// nameSession returns the name of a session in the trace.
func nameSession(names *sim.Names, id string) string { return names.Name("session", id) }

// open records that a client has opened a session, or has continued it on another connection. The
// request for this reached the server after since. The mutex is held.
func (c *cluster) open(id, client string, ttl, since time.Duration) {
	s := c.sessions[id]
	if s == nil {
		s = &session{id: id, client: client, ttl: ttl}
		c.sessions[id] = s
		c.r.emit(trace.Event{Kind: trace.KindOpen, Process: c.name, Peer: client, Session: nameSession(c.r.names, id), TTL: ttl})
	}
	c.renew(id, since)
}

// renew records that the server has acknowledged a sign of life that reached it after since.
// The mutex is held.
func (c *cluster) renew(id string, since time.Duration) {
	s := c.sessions[id]
	if s == nil {
		return
	}
	s.earliest, s.expires = since+s.ttl, c.r.now()+s.ttl
	c.planExpiry(s)
	for _, q := range c.locks {
		if q.head != nil && q.head.session == id {
			q.emit(q.liveEvent(trace.KindTouch, q.owner), 0)
		}
	}
}

// alive returns the event with which a client learns that its session is alive: from the answer to
// a request that it sent at sentAt. The mutex is held.
func (c *cluster) alive(id string, sentAt time.Duration) []trace.Event {
	s := c.sessions[id]
	if s == nil {
		return nil
	}
	s.isHeard, s.knownAt = true, sentAt
	return []trace.Event{{Kind: trace.KindAlive, Session: nameSession(c.r.names, id), TTL: s.ttl, Expires: max(sentAt+s.ttl, 1)}}
}

// expiryPolls is the interval at which the harness asks whether an overdue session has
// ended.
const expiryPolls = 50 * time.Millisecond

// planExpiry makes the harness check, at the time at which a session should have expired,
// whether the session has ended. The mutex is held.
func (c *cluster) planExpiry(s *session) {
	if !c.r.started {
		return
	}
	due := s.expires
	c.r.after(due-c.r.now(), func() {
		if s.expires == due && c.sessions[s.id] == s {
			go c.awaitExpiry(s, due)
		}
	})
}

// awaitExpiry waits until a session that should have ended has ended or was renewed.
func (c *cluster) awaitExpiry(s *session, due time.Duration) {
	for {
		exists, err := c.watcher.hasSession(s.id)
		isOver := false
		c.r.do(func() {
			isOver = c.r.ended || s.expires != due || c.sessions[s.id] != s
			if !isOver && err == nil && !exists {
				c.endSession(s.id)
				isOver = true
			}
		})
		if isOver {
			return
		}
		time.Sleep(expiryPolls)
	}
}

// endSession records the end of a session that no longer exists. The mutex is held.
func (c *cluster) endSession(id string) {
	s := c.sessions[id]
	if s == nil {
		return
	}
	delete(c.sessions, id)
	ev := trace.Event{Kind: trace.KindExpireSession, Process: c.name, Peer: s.client, Session: nameSession(c.r.names, id), Earliest: s.earliest}
	if i := c.endOf(id); i >= 0 {
		ev.Kind, ev.Peer, ev.Earliest = trace.KindCloseSession, c.effects[i].by.Client, c.effects[i].since
	}
	c.r.emit(ev)
}

// expect notes what a request that reaches a member of the cluster may change. The mutex is
// held.
func (c *cluster) expect(conn *conn, m *message) {
	if c == nil {
		return
	}
	if e := m.body.(sim.Frame).Body.(*call).effect; e != nil {
		e.by = &trace.Actor{Client: conn.client.cfg.Name, Section: m.event.Section, Sent: m.sendSeq}
		e.since = c.r.now()
		c.effects = append(c.effects, e)
	}
}

// await waits until all changes are recorded that happened before a member sent its message,
// and then calls finish. m is the request that the message answers; nil if there is none.
func (c *cluster) await(conn *conn, decoded reading, m *message, finish func()) {
	var e *effect
	if m != nil {
		e = m.body.(sim.Frame).Body.(*call).effect
	}
	var err error
	if e != nil || !decoded.isHandshake && (m == nil || !m.event.KeepAlive && !m.event.Handshake) {
		err = c.watcher.catchUp(decoded, conn.node.server)
	}
	c.r.do(func() {
		switch {
		case err != nil && !c.r.ended && c.r.started && !conn.node.isDown:
			c.r.doubt("locksim could not learn which changes came before an answer of %s: %v", conn.node.cfg.Name, err)
		case err == nil && e != nil:
			if e.ends != "" {
				c.endSession(e.ends)
			}
			c.effects = slices.DeleteFunc(c.effects, func(o *effect) bool { return o == e })
		}
		c.r.settle() // a fault may wait for the answer that follows
		finish()
	})
}

// see records the changes of one revision. It is called by one goroutine.
func (c *cluster) see(revision int64, changes []change) {
	for _, ch := range changes {
		c.seeOne(ch)
	}
	c.r.do(func() { c.recorded = max(c.recorded, revision) })
}

// seeOne records one change.
func (c *cluster) seeOne(ch change) {
	var isUnclear bool
	c.r.do(func() {
		if ch.isDeleted && ch.session == "" {
			ch.session = c.sessionOf(ch.key)
		}
		why := c.cause(&ch)
		isUnclear = why.by == nil && ch.isDeleted && ch.session != ""
		if !isUnclear {
			c.apply(ch, why)
		}
	})
	if !isUnclear {
		return
	}
	// No request deletes the key, so its session must have ended.
	exists, err := c.watcher.hasSession(ch.session)
	c.r.do(func() {
		why := cause{}
		if err == nil && !exists {
			if s := c.sessions[ch.session]; s != nil {
				why.earliest = s.earliest
			}
			why.hasExpired = true
			if i := c.endOf(ch.session); i >= 0 {
				why = cause{by: c.effects[i].by, earliest: c.effects[i].since}
			}
			c.endSession(ch.session)
		}
		c.apply(ch, why)
	})
}

// sessionOf returns the session to which a key of a lock is bound; "" if the key is bound to
// none.
func (c *cluster) sessionOf(key string) string {
	for _, q := range c.locks {
		if q.has(key) {
			return q.claims[key].session
		}
	}
	return ""
}

// A cause is why a key has changed. by is the acquisition whose request changed the key, and
// hasExpired means that the key's session had expired. If the harness does not know the cause,
// by is nil and hasExpired is false. earliest is the earliest time at which the key can have
// changed.
type cause struct {
	by         *trace.Actor
	hasExpired bool
	earliest   time.Duration
}

// endOf returns the index, in effects, of the request that ends a session; -1 if there is none.
func (c *cluster) endOf(session string) int {
	return slices.IndexFunc(c.effects, func(e *effect) bool { return e.ends == session })
}

// cause returns the cause of a change: the request that can have made it, or the zero cause if
// there is none. If the client whose session the key has can have made the change, requests of
// other clients do not count. The run becomes inconclusive if requests of two acquisitions can have
// changed a key of the lock. The mutex is held.
func (c *cluster) cause(ch *change) cause {
	owner := ""
	if s := c.sessions[ch.session]; s != nil && !ch.isDeleted {
		owner = s.client
	}
	isOwners := func(e *effect) bool { return e.causes(*ch) && e.by.Client == owner }
	knowsOwner := slices.ContainsFunc(c.effects, isOwners)
	var found *effect
	for _, e := range c.effects {
		if !e.causes(*ch) || knowsOwner && !isOwners(e) {
			continue
		}
		if found != nil && (found.by.Client != e.by.Client || found.by.Section != e.by.Section) {
			if c.isOfLock(ch.key) && (ch.session != "" || c.name != locks.ZooKeeper) {
				c.r.doubt("both %s and %s may have changed %s", found.by.Client, e.by.Client, ch.key)
			}
		}
		found = e
	}
	if found == nil {
		return cause{}
	}
	return cause{by: found.by, earliest: found.since}
}

// causes reports whether a request can have made a change.
func (e *effect) causes(ch change) bool {
	if ch.isDeleted {
		return slices.ContainsFunc(e.deletes, func(r [2]string) bool { return r[0] <= ch.key && (ch.key < r[1] || r[1] == "") })
	}
	return slices.ContainsFunc(e.puts, func(key string) bool {
		rest, ok := strings.CutPrefix(ch.key, key)
		return ok && (rest == "" || e.isSequential && strings.Trim(rest, "0123456789-") == "")
	})
}

// isOfLock reports whether a key belongs to a lock.
func (c *cluster) isOfLock(key string) bool {
	return slices.ContainsFunc(c.locks, func(q *queue) bool { return q.has(key) })
}

// apply records a change of the key of a lock. The mutex is held.
func (c *cluster) apply(ch change, why cause) {
	for _, q := range c.locks {
		if _, exists := q.claims[ch.key]; !q.has(ch.key) || ch.isDeleted && !exists {
			continue
		}
		if why == (cause{}) && c.r.started {
			c.r.doubt("%s has changed, and no client's request did it", ch.key)
		}
		q.apply(ch, why)
	}
}

// leaderPatience is how long the harness asks for a new leader.
const leaderPatience = 20 * time.Second

// lookForLeader makes the harness ask which member leads, again and again, after a member has
// crashed or come back. The mutex is held.
func (c *cluster) lookForLeader() {
	if c == nil {
		return
	}
	isAsked := c.asksUntil > 0
	c.asksUntil = c.r.now() + leaderPatience
	if isAsked {
		return
	}
	go func() {
		for isOver := false; !isOver; time.Sleep(expiryPolls) {
			found := c.watcher.leader()
			c.r.do(func() {
				if found != "" && found != c.leader {
					c.leader = found
					c.r.emit(trace.Event{Kind: trace.KindLead, Process: found})
				}
				if isOver = c.r.ended || c.r.now() > c.asksUntil; isOver {
					c.asksUntil = 0
				}
			})
		}
	}()
}
