// Package replicas simulates asynchronous replication between servers. A replica connects
// to its master, which sends it first all data and then each change. The replica
// acknowledges each of these updates. What an update contains is up to the simulated
// server.
package replicas

import (
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/sim"
)

// An Update is what a master sends to a replica: all its data, or one change.
type Update interface {
	// Describe returns the update as the trace shows it.
	Describe(names *sim.Names) string
	// Number is the number of the latest change that the update contains. The master numbers
	// its changes in ascending order.
	Number() int
}

// A Node is the part of a server, master or replica, that takes care of replication. It must
// be used only in the goroutine of the world's event loop, which handles one event at a time.
type Node[U Update] struct {
	Host *sim.Host
	// Retry is how long a replica waits after its connection has failed, until it connects
	// again.
	Retry time.Duration
	// WantsHeartbeats makes this master's replicas report once a second that they are
	// alive.
	WantsHeartbeats bool
	// FullUpdate returns all data of this node, to be sent to a replica. Apply brings this
	// node up to date with an update that its master has sent.
	FullUpdate func() U
	Apply      func(U)
	// ReplicaHeard is called when this master has received something from a replica. ReplicaLeft,
	// which may be nil, is called when the master notices that the connection to a replica has
	// ended.
	ReplicaHeard, ReplicaLeft func(replica string)

	master       *Node[U]   // nil if the node is not a replica
	feeds        []*feed[U] // the connections to this node's replicas
	lastReceived int        // the number of the latest update that this replica has received
	// replacedBy is the former replica that was promoted and has taken this master's place;
	// nil if there is none.
	replacedBy *Node[U]
}

// A feed is the connection over which a master sends its changes to a replica.
type feed[U Update] struct {
	master, replica *Node[U]
	// masterConn is the master's end of the connection, and replicaConn is the replica's.
	masterConn, replicaConn *sim.End
	isConnecting, isOpen    bool // the replica is opening the connection; the connection exists
	// lastAcknowledged is the number of the latest update that the replica has
	// acknowledged; -1 means none.
	lastAcknowledged int
}

func (p *Node[U]) name() string { return p.Host.Node().Name }

// Follow makes the node a replica of a master. The node connects as soon as its process
// runs.
func (p *Node[U]) Follow(master *Node[U]) {
	p.master = master
	f := &feed[U]{master: master, replica: p, lastAcknowledged: -1}
	master.feeds = append(master.feeds, f)
	f.attach()
}

// IsReplica reports whether the node is a replica.
func (p *Node[U]) IsReplica() bool { return p.master != nil }

// HasReplicas reports whether the node has any replicas.
func (p *Node[U]) HasReplicas() bool { return len(p.feeds) > 0 }

// AcknowledgedBy returns the names of the replicas that have acknowledged the update with
// this number, or a later one.
func (p *Node[U]) AcknowledgedBy(number int) (replicas []string) {
	for _, f := range p.feeds {
		if f.lastAcknowledged >= number {
			replicas = append(replicas, f.replica.name())
		}
	}
	return replicas
}

// Send sends a change to the replicas that are connected.
func (p *Node[U]) Send(u U) {
	for _, f := range p.feeds {
		if f.isOpen {
			f.send(u)
		}
	}
}

// Accept returns the master's end of a connection that a replica of the node has opened. It
// returns nil if the connection is from another process.
func (p *Node[U]) Accept(end *sim.End) sim.Endpoint {
	for _, f := range p.feeds {
		if f.replica.name() == end.Peer() {
			f.masterConn = end
			return masterEnd[U]{f}
		}
	}
	return nil
}

// Crash must be called when the node's process crashes. The node then forgets its connections.
func (p *Node[U]) Crash() {
	for _, f := range p.feeds {
		f.isOpen, f.lastAcknowledged = false, -1
	}
	if f := p.feed(); f != nil {
		f.isOpen, f.isConnecting = false, false
	}
}

// Restart must be called when the node's process runs again after a crash. The node connects
// to its master, and the node's replicas connect to the node. After each connect, the master
// sends all its data.
func (p *Node[U]) Restart() {
	for _, f := range p.feeds {
		f.retry()
	}
	if f := p.feed(); f != nil {
		f.connect()
	}
}

// feed returns the feed from which this node, as a replica, gets its data; nil for a master.
func (p *Node[U]) feed() *feed[U] {
	if p.master == nil {
		return nil
	}
	feeds := p.master.feeds
	return feeds[slices.IndexFunc(feeds, func(f *feed[U]) bool { return f.replica == p })]
}

// Promote makes a replica a master that takes over the address of its old master. New
// connections to that address go to the new master; existing ones stay with the old master.
// The other replicas follow the new master from now on. Promote returns false if the node is
// not a replica.
func (p *Node[U]) Promote() bool {
	master := p.master
	if master == nil {
		return false
	}
	p.master, master.replacedBy = nil, p
	feeds := master.feeds
	master.feeds = nil
	for _, f := range feeds {
		if f.replicaConn != nil {
			f.replicaConn.Close()
		}
		f.isOpen = false
		if f.replica != p {
			f.replica.Follow(p)
		}
	}
	p.Host.TakeOver(master.name())
	return true
}

// Demote makes a master a replica of the node that has taken its place. It returns false if
// no node has taken it.
func (p *Node[U]) Demote() bool {
	successor := p.replacedBy
	if successor == nil {
		return false
	}
	p.replacedBy = nil
	p.Follow(successor)
	return true
}

// attach connects the replica to its master as soon as the replica's process runs.
func (f *feed[U]) attach() { f.replica.Host.WhenRunning(f.connect) }

// connect opens the connection from the replica to its master, which then sends all its
// data.
func (f *feed[U]) connect() {
	if f.isOpen || f.isConnecting || f.replica.master != f.master {
		return
	}
	f.isConnecting = true
	end := &replicaEnd[U]{f: f}
	f.replica.Host.Connect(f.master.name(), end, func(conn *sim.End, err error) {
		f.isConnecting = false
		if err != nil {
			f.retry()
			return
		}
		end.conn, f.replicaConn = conn, conn
		f.isOpen = true
		f.send(f.master.FullUpdate())
		if f.master.WantsHeartbeats {
			f.sendHeartbeats(conn)
		}
	})
}

// retry makes the replica connect again after its Retry time.
func (f *feed[U]) retry() {
	f.isOpen = false
	host := f.replica.Host
	host.At(host.Now()+f.replica.Retry, f.attach)
}

// sendHeartbeats makes the replica report once a second that it is alive, as long as the
// connection lasts.
func (f *feed[U]) sendHeartbeats(conn *sim.End) {
	host := f.replica.Host
	host.At(host.Now()+time.Second, func() {
		host.WhenRunning(func() {
			if f.isOpen && f.replicaConn == conn {
				conn.Send(sim.Packet{Body: f.replica.lastReceived, Text: "is there", Background: true})
				f.sendHeartbeats(conn)
			}
		})
	})
}

// send sends an update to the replica. It arrives after the latency of the network and the
// lag that the scenario gives the replica's node.
func (f *feed[U]) send(u U) {
	f.masterConn.Send(sim.Packet{Body: u, Text: u.Describe(f.master.Host.Names()), Delay: f.replica.Host.Node().Lag})
}

// masterEnd and replicaEnd are the two ends of a feed.
type masterEnd[U Update] struct{ f *feed[U] }

// Receive implements [sim.Endpoint]. It takes an acknowledgement or a heartbeat. Both carry
// the number of the latest update that the replica has received.
func (e masterEnd[U]) Receive(m *sim.Request) {
	e.f.lastAcknowledged = m.Body.(int)
	e.f.master.ReplicaHeard(e.f.replica.name())
}

// HangUp implements [sim.Endpoint]. It calls ReplicaLeft when the connection has ended. The replica
// may already follow another master.
func (e masterEnd[U]) HangUp(bool) {
	e.f.isOpen = false
	if e.f.master.ReplicaLeft != nil {
		e.f.master.ReplicaLeft(e.f.replica.name())
	}
}

type replicaEnd[U Update] struct {
	f    *feed[U]
	conn *sim.End
}

// Receive implements [sim.Endpoint].
func (e *replicaEnd[U]) Receive(m *sim.Request) {
	u, p := m.Body.(U), e.f.replica
	if p.master != e.f.master {
		return // a promotion has given the replica another master, or none, while this update was on its way
	}
	p.Apply(u)
	p.lastReceived = u.Number()
	e.conn.Send(sim.Packet{Body: p.lastReceived, Text: "acknowledge " + strconv.Itoa(p.lastReceived)})
}

// HangUp implements [sim.Endpoint]. The replica connects again, unless it has a newer
// connection.
func (e *replicaEnd[U]) HangUp(bool) {
	if e.f.replicaConn == e.conn {
		e.f.retry()
	}
}
