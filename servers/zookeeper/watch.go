package zookeeper

import (
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// An event is what a client that watches a node is notified of: Watcher.Event.EventType.
type event int32

const (
	created         event = 1
	deleted         event = 2
	dataChanged     event = 3
	childrenChanged event = 4
)

var events = map[event]string{created: "created", deleted: "deleted", dataChanged: "data changed", childrenChanged: "children changed"}

// watches are those that the clients of one member have set: on a node, which may not exist
// yet, and on a node's children. Each is triggered once.
type watches struct {
	data, child map[string][]*client
}

func addWatch(watchers map[string][]*client, path string, c *client) {
	if !slices.Contains(watchers[path], c) {
		watchers[path] = append(watchers[path], c)
	}
}

// changed notifies the watchers. A client that watches both a node and its children is
// notified once when the node is deleted.
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

// forget removes the watches of a closed connection.
func (w *watches) forget(c *client) {
	for _, on := range []map[string][]*client{w.data, w.child} {
		for path, all := range on {
			if on[path] = slices.DeleteFunc(all, func(o *client) bool { return o == c }); len(on[path]) == 0 {
				delete(on, path)
			}
		}
	}
}

// restore sets the watches that a client had on its previous connection, or notifies it
// immediately of what has happened since: DataTree.setWatches. A client may send them in
// any order.
func (w *watches) restore(t *tree, c *client, set watchSet) {
	watchAll := func(on map[string][]*client, paths []string, what event, latest func(*znode) int64) {
		for _, path := range slices.Sorted(slices.Values(paths)) {
			switch n := t.nodes[path]; {
			case n == nil:
				c.notify(deleted, path)
			case latest(n) > set.since:
				c.notify(what, path)
			default:
				addWatch(on, path, c)
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
