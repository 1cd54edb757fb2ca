package zookeeper

import (
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// An event is the kind of change that a watching client is notified of, as in
// Watcher.Event.EventType of the real server.
type event int32

const (
	created         event = 1
	deleted         event = 2
	dataChanged     event = 3
	childrenChanged event = 4
)

// events are the texts of events in the trace.
var events = map[event]string{created: "created", deleted: "deleted", dataChanged: "data changed", childrenChanged: "children changed"}

// watches are the watches that the clients of one member have set. data has, by path, the
// clients that watch a node, which may not exist yet. child has those that watch the list
// of its children. A watch is triggered once, and then removed.
type watches struct {
	data, child map[string][]*client
}

// addWatch adds a client to those that watch a path.
func addWatch(watchers map[string][]*client, path string, c *client) {
	if !slices.Contains(watchers[path], c) {
		watchers[path] = append(watchers[path], c)
	}
}

// changed notifies the clients that watch a path. A client that watches both a node and its
// children is notified once when the node is deleted.
func (w *watches) changed(ev event, path string) {
	switch ev {
	case created, dataChanged:
		notifyAll(w.data, ev, path, nil)
	case deleted:
		notified := notifyAll(w.data, ev, path, nil)
		notifyAll(w.child, ev, path, notified)
	case childrenChanged:
		notifyAll(w.child, ev, path, nil)
	}
}

// notifyAll notifies and removes the watchers of a path, without those in skip. It returns
// all that were removed.
func notifyAll(watchers map[string][]*client, ev event, path string, skip []*client) []*client {
	all := watchers[path]
	if all == nil {
		return nil
	}
	delete(watchers, path)
	for _, c := range all {
		if !slices.Contains(skip, c) {
			c.notify(ev, path)
		}
	}
	return all
}

// forget removes the watches of a connection that has ended.
func (w *watches) forget(c *client) {
	for _, watchers := range []map[string][]*client{w.data, w.child} {
		for path, all := range watchers {
			if watchers[path] = slices.DeleteFunc(all, func(o *client) bool { return o == c }); len(watchers[path]) == 0 {
				delete(watchers, path)
			}
		}
	}
}

// restore sets again the watches that a client had on its previous connection. If something has
// changed since the last change that the client has seen, it notifies the client immediately. See
// DataTree.setWatches of the real server. A client may send the paths in any order, so they are
// sorted.
func (w *watches) restore(t *tree, c *client, set watchSet) {
	watchAll := func(watchers map[string][]*client, paths []string, ev event, latest func(*znode) int64) {
		for _, path := range slices.Sorted(slices.Values(paths)) {
			switch n := t.nodes[path]; {
			case n == nil:
				c.notify(deleted, path)
			case latest(n) > set.since:
				c.notify(ev, path)
			default:
				addWatch(watchers, path, c)
			}
		}
	}
	watchAll(w.data, set.data, dataChanged, func(n *znode) int64 { return n.mzxid })
	for _, path := range slices.Sorted(slices.Values(set.exists)) {
		if t.nodes[path] != nil {
			c.notify(created, path)
		} else {
			addWatch(w.data, path, c)
		}
	}
	watchAll(w.child, set.child, childrenChanged, func(n *znode) int64 { return n.pzxid })
}

// notify notifies a client of an event.
func (c *client) notify(ev event, path string) {
	// Values of the protocol in every notification. The last one is the state of the
	// connection.
	const notification, noZxid, connected = -1, -1, 3
	var w writer
	w.int(notification)
	w.long(noZxid)
	w.int(0)
	w.int(int32(ev))
	w.int(connected)
	w.string(path)
	names := c.m.host.Names()
	c.m.send(c.end, nil, sim.Packet{
		Bytes: w.framed(), Text: "event: " + describePath(names, path) + " " + events[ev],
		ClientEvents: []trace.Event{{Kind: trace.KindNotify, Peer: c.m.host.Node().Name, Key: describePath(names, path)}},
	})
}
