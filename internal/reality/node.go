package reality

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A server is the real server of one node. Its methods are called by one goroutine at a
// time, except for address and process.
type server interface {
	// start starts the server, also again after a crash, and returns when it serves.
	start() error
	// address is where the server listens, as the arguments of [net.Dial].
	address() (network, address string)
	process() *child
	// shutDown asks the server to end in an orderly way, and does not wait for its end.
	shutDown()
	// version names the program and its version.
	version() string
	// cutter returns how the messages of a new connection are cut.
	cutter() cutter
}

// A keeper is a server with keys of its own. The members of a cluster have none.
type keeper interface {
	// snapshot asks the server for its keys.
	snapshot() (snapshot, error)
	// holdsByConnection reports whether a lock can end with the connection that holds it.
	holdsByConnection() bool
}

// A snapshot is the keys of a server at one moment.
type snapshot struct {
	// at is that moment, by the server's own clock.
	at   time.Time
	keys map[string]entry
}

// An entry is what a server stores under one key. owner is the client that set the key. The harness
// adds it, because the server does not know it.
type entry struct {
	value   string
	expires time.Time // zero: never
	owner   *trace.Actor
}

// expiresWith reports whether two entries expire at the same time. Times up to two milliseconds
// apart count as equal, because servers round them to milliseconds.
func (e entry) expiresWith(o entry) bool {
	return e.expires.IsZero() == o.expires.IsZero() && e.expires.Sub(o.expires).Abs() <= 2*time.Millisecond
}

// A cutter cuts the bytes of one connection into messages.
type cutter interface {
	sim.Framer
	// answerSize returns the size, in bytes, of the first message of b, which the server has sent;
	// 0 if b does not contain the whole message yet.
	answerSize(b []byte) int
	// read reads the first message of b. asked are the requests that have no answer yet, the oldest
	// first.
	read(b []byte, asked []*message) reading
	// isAnswered reports whether the server answers a request soon. Changes until then can
	// be attributed to the request.
	isAnswered(f sim.Frame) bool
	// expect returns the requests that have no answer yet when m has reached the server.
	expect(asked []*message, m *message) []*message
}

// A reading is what one message of a server says.
type reading struct {
	// completes is the index of a request in the list of those without an answer: the message
	// completes the answer to that request. It is -1 if the message completes no answer. If the
	// list is empty, 0 says that the message answers something.
	completes int
	text      string // describes the message for the trace
	// isHandshake says that the message only concerns the connection.
	isHandshake bool
	// learned are the events that happen when the client reads the message, without the
	// client's name.
	learned []trace.Event
	// revision is the cluster's revision at the time of the message; 0 if the message does not say.
	revision int64
}

// A node is one server of the world.
type node struct {
	r      *run
	cfg    sim.Node
	server server
	keeper keeper // the server; nil if the node is a member of a cluster

	// probing is held while the server is asked for its keys, until what has changed is
	// recorded. It must be locked before the mutex of the run.
	probing sync.Mutex

	pausedBy []*fault
	crashes  int // how many crashes have not ended
	isDown   bool
	// executing is the request that the server is executing; nil if there is none. It can be a
	// request of the harness itself. Until it is answered, no other exclusive request is passed
	// on (see [conn.isExclusive]). So the harness knows which request has changed a key.
	executing *message
	// keys is what the trace says about the keys.
	keys map[string]entry
	// clockAhead is how much the server's clock is ahead of the clock of this machine, and
	// clockSetAt when it was set last.
	clockAhead, clockSetAt time.Duration
	// doors are where clients connect.
	doors []*door
	conns []*conn
}

// newNode makes a node and its server, which does not run yet. i counts the nodes from 0.
func (r *run) newNode(i int, cfg sim.Node) (*node, error) {
	n := &node{r: r, cfg: cfg, keys: map[string]entry{}}
	folder, err := r.processFolder(cfg.Name)
	if err != nil {
		return nil, err
	}
	if n.server, err = newServer(r, cfg, folder); err != nil {
		return nil, err
	}
	n.keeper, _ = n.server.(keeper)
	return n, nil
}

// holdsByConnection reports whether a lock can end with the connection that holds it.
func (n *node) holdsByConnection() bool { return n.keeper != nil && n.keeper.holdsByConnection() }

// newServer makes the server of a node.
func newServer(r *run, cfg sim.Node, folder string) (server, error) {
	build, ok := builders[cfg.System]
	if !ok {
		return nil, fmt.Errorf("%s is a server of the kind %s, which cannot be played", cfg.Name, cfg.System)
	}
	return build(r, cfg, folder)
}

// startAll starts all servers at the same time.
func startAll(nodes []*node) error {
	errs := make([]error, len(nodes))
	var starting sync.WaitGroup
	for i, n := range nodes {
		starting.Go(func() { errs[i] = startAtPort(n.server) })
	}
	starting.Wait()
	return errors.Join(errs...)
}

// startAtPort starts a server, up to five times if its port is taken. Between the choice of the
// port and the start, the system may have given the port to a connection, which soon ends.
func startAtPort(s server) (err error) {
	for range 5 {
		if err = s.start(); err == nil || !strings.Contains(strings.ToLower(err.Error()), "address already in use") {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return err
}

// probe asks the server for its keys and records what has changed. by is the client whose request
// has just been executed, and earliest is when it can have been executed at the earliest; by is nil
// if there is none. then, if not nil, is called before the mutex is unlocked. restarted says that
// the server has just been started again.
func (n *node) probe(by *trace.Actor, earliest time.Duration, restarted bool, then func()) {
	n.probing.Lock()
	defer n.probing.Unlock()
	found, err := n.keeper.snapshot()
	n.r.do(func() {
		switch {
		case n.r.ended:
		case err == nil:
			n.record(found, by, earliest, restarted)
		case !n.isDown:
			n.r.doubt("%s did not say which keys it has: %v", n.cfg.Name, err)
		}
		n.r.settle() // a fault may wait for the answer that follows
		if then != nil {
			then()
		}
	})
}

// record compares the keys that the server has now with those that the trace shows, and records
// the differences. The mutex is held.
func (n *node) record(found snapshot, by *trace.Actor, earliest time.Duration, restarted bool) {
	before := n.keys
	n.keys = map[string]entry{}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		was, is := before[key], found.keys[key]
		_, exists := found.keys[key]
		if exists && was.value == is.value && was.expiresWith(is) {
			n.keys[key] = was
			continue
		}
		hasExpired := !was.expires.IsZero() && !found.at.Before(was.expires)
		switch {
		case hasExpired:
			ev := n.keyEvent(trace.KindExpire, key, was)
			ev.Earliest = max(n.since(was.expires), n.clockSetAt)
			n.r.emit(ev)
			delete(before, key)
		case exists && n.holdsByConnection() && was.expires.IsZero() && was.value != is.value:
			// Nobody can take over such a lock: it had ended with its connection before.
			n.r.emit(n.keyEvent(trace.KindDrop, key, was))
			delete(before, key)
		case exists: // see below
		case restarted:
			n.r.emit(n.keyEvent(trace.KindForget, key, was))
			delete(before, key)
		default:
			ev := n.keyEvent(trace.KindDelete, key, was)
			ev.By, ev.Earliest = by, earliest
			switch {
			case by == nil && n.holdsByConnection() && was.expires.IsZero():
				ev.Kind, ev.Earliest = trace.KindDrop, 0
			case by == nil:
				n.r.doubt("%s lost the key %s, and no client's command did it", n.cfg.Name, key)
				ev.Kind, ev.Earliest = trace.KindForget, 0
			}
			n.r.emit(ev)
			delete(before, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found.keys)) {
		is := found.keys[key]
		was, existed := before[key]
		if _, isSame := n.keys[key]; isSame {
			continue
		}
		switch {
		case restarted || by == nil && n.r.started:
			if !restarted {
				n.r.doubt("%s has a new value of %s, and no client's command set it", n.cfg.Name, key)
			}
			is.owner = was.owner
			ev := n.liveKeyEvent(trace.KindRestore, key, is)
			n.r.emit(ev)
		case existed && was.value == is.value:
			is.owner = was.owner
			ev := n.liveKeyEvent(trace.KindTouch, key, is)
			ev.By, ev.Earliest = by, earliest
			n.r.emit(ev)
		default:
			is.owner = by
			ev := n.liveKeyEvent(trace.KindSet, key, is)
			ev.By, ev.Earliest = by, earliest
			if existed {
				ev.Prior = was.owner
			}
			n.r.emit(ev)
		}
		n.keys[key] = is
		n.planExpiry(is)
	}
}

// keyEvent returns an event about a key.
func (n *node) keyEvent(kind trace.Kind, key string, e entry) trace.Event {
	return trace.Event{Kind: kind, Process: n.cfg.Name, Key: key, Value: n.r.names.Value(e.value), Owner: e.owner}
}

// liveKeyEvent returns an event after which the key exists. It has the key's expiry, unless
// the key has none.
func (n *node) liveKeyEvent(kind trace.Kind, key string, e entry) trace.Event {
	ev := n.keyEvent(kind, key, e)
	if !e.expires.IsZero() {
		ev.Expires = n.since(e.expires)
		ev.TTL = max(ev.Expires-n.r.now(), 1)
	}
	return ev
}

// since converts a time of the server's clock to the time of the run.
func (n *node) since(t time.Time) time.Duration {
	return max(t.Round(0).Sub(n.r.began.Round(0))-n.clockAhead, 1)
}

// planExpiry makes the harness ask for the keys at the time at which a key should have expired.
func (n *node) planExpiry(e entry) {
	if e.expires.IsZero() {
		return
	}
	n.r.after(time.Until(e.expires.Add(-n.clockAhead))+expiryGrace, func() {
		go n.look()
	})
}

// look waits until the server executes no request, and then asks it for its keys. So no request
// has caused the changes that look finds.
func (n *node) look() {
	if n.keeper == nil {
		return // the cluster is watched all the time
	}
	n.r.mu.Lock()
	isFree := n.r.await(func() bool { return n.isDown || n.runs() && n.executing == nil }) && !n.isDown
	own := &message{}
	if isFree {
		n.executing = own
	}
	n.r.mu.Unlock()
	if isFree {
		n.probe(nil, 0, false, func() { n.endExecution(own) })
	}
}

// endExecution lets the next request be executed, if m is the request that the server was
// executing.
func (n *node) endExecution(m *message) {
	if n.executing == m {
		n.executing = nil
	}
}

// lookAfterClose makes the harness look twice which locks have ended with a closed connection,
// because the server may notice the end late.
func (n *node) lookAfterClose() {
	if n.holdsByConnection() && !n.isDown {
		for _, after := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond} {
			n.r.after(after, func() { go n.look() })
		}
	}
}

// expiryGrace is how long after a key's expiry time the harness looks whether the key has
// expired: Redis counts in whole milliseconds.
const expiryGrace = 2 * time.Millisecond

// runs reports whether the server runs.
func (n *node) runs() bool { return !n.isDown && len(n.pausedBy) == 0 }

// pause implements [process].
func (n *node) pause(f *fault) bool {
	if n.isDown {
		return false
	}
	n.pausedBy = append(n.pausedBy, f)
	if len(n.pausedBy) == 1 {
		stopGroup(n.server.process().cmd.Process.Pid)
		n.r.emit(trace.Event{Kind: trace.KindPause, Process: n.cfg.Name, Text: string(trace.Stop)})
		n.r.cluster.leave(n)
	}
	return true
}

// resume implements [process].
func (n *node) resume(f *fault) {
	n.pausedBy = slices.DeleteFunc(n.pausedBy, func(o *fault) bool { return o == f })
	if len(n.pausedBy) > 0 || n.isDown {
		return
	}
	n.r.emit(trace.Event{Kind: trace.KindResume, Process: n.cfg.Name})
	continueGroup(n.server.process().cmd.Process.Pid)
	go n.look()
}

// crash implements [process]. From now on the node refuses connections.
func (n *node) crash(how trace.Crash) {
	if n.crashes++; n.crashes > 1 {
		return
	}
	n.isDown, n.pausedBy, n.executing = true, nil, nil
	n.r.emit(trace.Event{Kind: trace.KindCrash, Process: n.cfg.Name, Text: string(how)})
	n.r.cluster.leave(n)
	n.r.cluster.lookForLeader()
	for _, d := range n.doors {
		d.shut()
	}
	if how == trace.Shutdown {
		n.server.shutDown()
		continueGroup(n.server.process().cmd.Process.Pid) // a stopped process does not see the signal
		return
	}
	killGroup(n.server.process().cmd.Process.Pid)
}

// restart implements [process].
func (n *node) restart() {
	if n.crashes--; n.crashes == 0 {
		n.r.restarts.Go(n.startAgain)
	}
}

// startAgain starts the server after a crash, unless the run has ended or it has crashed
// once more.
func (n *node) startAgain() {
	isWanted := func() bool { return n.isDown && n.crashes == 0 && !n.r.ended }
	own := &message{}
	if !n.bringUp(isWanted, own) {
		return
	}
	n.afterRestart(func() {
		n.endExecution(own)
		for _, d := range n.doors {
			if n.isDown || n.r.ended {
				return
			}
			if err := d.open(); err != nil && n.r.failure == nil {
				n.r.failure = err
			}
		}
	})
}

// afterRestart records what has changed with a restart, and then calls then.
func (n *node) afterRestart(then func()) {
	if n.keeper == nil {
		n.r.do(then)
		return
	}
	n.probe(nil, 0, true, then)
}

// bringUp starts the server, unless isWanted returns false, and reports whether the server
// runs. After the start, own counts as the request that the server executes, so no client's
// request is passed on.
func (n *node) bringUp(isWanted func() bool, own *message) (isUp bool) {
	n.probing.Lock()
	defer n.probing.Unlock()
	wanted := false
	n.r.do(func() { wanted = isWanted() })
	if !wanted {
		return false
	}
	err := n.awaitExit()
	n.r.do(func() { wanted = isWanted() })
	if !wanted {
		return false
	}
	if err == nil {
		err = startAtPort(n.server)
	}
	n.r.do(func() {
		switch {
		case !isWanted(): // it has crashed once more, or the run has ended
			if err == nil {
				killGroup(n.server.process().cmd.Process.Pid)
			}
		case err != nil && n.r.failure == nil:
			n.r.failure = err
		case err == nil:
			isUp, n.isDown, n.executing = true, false, own
			n.r.emit(trace.Event{Kind: trace.KindRestart, Process: n.cfg.Name})
			n.r.cluster.lookForLeader()
		}
	})
	return isUp
}

// awaitExit waits until the server has ended. It fails if that takes too long.
func (n *node) awaitExit() error {
	select {
	case <-n.server.process().exited:
		return nil
	case <-time.After(n.r.options.Setup):
		return fmt.Errorf("%s did not end within %v after its crash, so it cannot be started again", n.cfg.Name, n.r.options.Setup)
	}
}

// close ends the server and all connections to it. A restart that is under way fails.
func (n *node) close() {
	n.r.do(func() {
		for _, d := range n.doors {
			d.shut()
		}
		for _, c := range slices.Clone(n.conns) {
			c.cut()
		}
	})
	if p := n.server.process(); p != nil {
		p.kill()
	}
}

// A door is where one client connects to one node: a listener on the loopback interface.
type door struct {
	n        *node
	c        *client
	addr     string
	listener net.Listener
}

// listenFor opens a door for a client and returns its address.
func (n *node) listenFor(c *client) (string, error) {
	d := &door{n: n, c: c, addr: "127.0.0.1:0"}
	if err := d.open(); err != nil {
		return "", err
	}
	d.addr = d.listener.Addr().String()
	n.r.do(func() { n.doors = append(n.doors, d) })
	return d.addr, nil
}

// open begins to accept connections.
func (d *door) open() (err error) {
	if d.listener, err = net.Listen("tcp4", d.addr); err != nil {
		return err
	}
	go d.accept(d.listener)
	return nil
}

// shut makes the kernel refuse connections.
func (d *door) shut() {
	if d.listener != nil {
		d.listener.Close()
		d.listener = nil
	}
}

func (d *door) accept(l net.Listener) {
	for {
		accepted, err := l.Accept()
		if err != nil {
			return
		}
		d.n.r.serve(d.c, d.n, accepted.(*net.TCPConn))
	}
}
