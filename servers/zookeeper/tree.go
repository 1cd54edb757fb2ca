package zookeeper

import (
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// A tree is the state of one member: the nodes and the sessions. Only transactions change
// it, so members that have applied the same transactions have equal trees.
type tree struct {
	nodes    map[string]*znode
	sessions map[int64]*life
	// zxid is that of the last transaction.
	zxid int64
}

// A znode is one node.
type znode struct {
	data []byte
	acl  []permit
	// The zxids of the change that created the node, of the last change of its data, and of
	// the last change that added or removed a child.
	czxid, mzxid, pzxid int64
	ctime, mtime        int64 // in milliseconds since 1970, by the leader's wall clock
	version, aversion   int32 // of its data, of its ACL
	// childCount counts the children that it has ever had; it numbers the next sequential
	// one.
	childCount int32
	// owner is the session with which the node ends; 0 if it is persistent.
	owner int64
	// children are the names of its children, in the order of their creation. A real server
	// lists them in no order.
	children []string
	// by is the client that created it.
	by *trace.Actor
}

// A life is a session in the tree, independent of the member that serves it.
type life struct {
	timeout int32 // in milliseconds
	// ephemerals are the paths of the nodes that end with the session.
	ephemerals map[string]bool
}

// newTree returns the tree of a new server.
func newTree() *tree {
	t := &tree{nodes: map[string]*znode{}, sessions: map[int64]*life{}}
	t.nodes["/"] = &znode{acl: open, data: []byte{}, children: []string{"zookeeper"}}
	t.nodes["/zookeeper"] = &znode{acl: open, data: []byte{}, children: []string{"config", "quota"}}
	t.nodes["/zookeeper/config"] = &znode{acl: []permit{{permRead, anyone}}, data: []byte{}}
	t.nodes["/zookeeper/quota"] = &znode{acl: open, data: []byte{}}
	return t
}

// clone returns a copy that can be changed independently. Data and ACLs are shared, because
// they never change in place.
func (t *tree) clone() *tree {
	c := &tree{nodes: make(map[string]*znode, len(t.nodes)), sessions: make(map[int64]*life, len(t.sessions)), zxid: t.zxid}
	for path, n := range t.nodes {
		other := *n
		other.children = slices.Clone(n.children)
		c.nodes[path] = &other
	}
	for id, s := range t.sessions {
		c.sessions[id] = &life{s.timeout, maps.Clone(s.ephemerals)}
	}
	return c
}

// parent returns the path of a node's parent.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

func lastName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// stat writes what clients learn of a node apart from its data.
func (w *writer) stat(n *znode) {
	w.long(n.czxid)
	w.long(n.mzxid)
	w.long(n.ctime)
	w.long(n.mtime)
	w.int(n.version)
	// cversion: the server stores how many children were created, and reports how many
	// changes there were. A child that is gone counts twice.
	w.int(2*n.childCount - int32(len(n.children)))
	w.int(n.aversion)
	w.long(n.owner)
	w.int(int32(len(n.data)))
	w.int(int32(len(n.children)))
	w.long(n.pzxid)
}

// A txn is a change as the leader has decided it: members apply it without checking it
// again. Which fields are used depends on its opcode.
type txn struct {
	zxid int64
	// time is the leader's wall clock, in milliseconds since 1970.
	time int64
	op   opcode
	// code is not ok if the request failed. A failed request takes a zxid too.
	code code

	session int64
	path    string
	data    []byte
	acl     []permit
	owner   int64
	version int32 // the new one
	timeout int32
	paths   []string // the nodes that end with the session
	ops     []*txn   // of a multi
	// expired: the session ends because it has expired, and not because its client closed
	// it.
	expired bool

	// by is the client that made the request. origin is the member that received it, and
	// serial that member's number for it; when the leader itself ends a session both are
	// zero.
	by     *trace.Actor
	origin string
	serial int
}

// A result is what the origin of a transaction answers.
type result struct {
	op   opcode
	code code
	path string
	node *znode // as it was after the change
	ops  []result
}

// apply applies a transaction and calls changed for each event that watchers may want.
func (t *tree) apply(x *txn, changed func(event, string)) result {
	t.zxid = x.zxid
	return t.change(x, x, changed)
}

// change applies x, which is the transaction whole or one of its operations.
func (t *tree) change(whole, x *txn, changed func(event, string)) result {
	r := result{op: x.op, code: x.code, path: x.path}
	if x.code != ok && x.op != opMulti || x.op == opError {
		r.op = opError
		return r
	}
	switch x.op {
	case opOpen:
		t.sessions[x.session] = &life{x.timeout, map[string]bool{}}
	case opClose:
		for _, path := range x.paths {
			t.remove(whole, path, changed)
		}
		delete(t.sessions, x.session)
	case opCreate, opCreate2:
		r.node = t.create(whole, x, changed)
	case opDelete:
		t.remove(whole, x.path, changed)
	case opSetData:
		n := t.nodes[x.path]
		n.data, n.version, n.mzxid, n.mtime = x.data, x.version, whole.zxid, whole.time
		r.node = n
		changed(dataChanged, x.path)
	case opSetACL:
		n := t.nodes[x.path]
		n.acl, n.aversion = x.acl, x.version
		r.node = n
	case opMulti:
		for _, one := range x.ops {
			r.ops = append(r.ops, t.change(whole, one, changed))
		}
	}
	if r.node != nil {
		node := *r.node
		r.node = &node
	}
	return r
}

func (t *tree) create(whole, x *txn, changed func(event, string)) *znode {
	n := &znode{
		data: x.data, acl: x.acl, czxid: whole.zxid, mzxid: whole.zxid, pzxid: whole.zxid,
		ctime: whole.time, mtime: whole.time, owner: x.owner, by: whole.by,
	}
	t.nodes[x.path] = n
	up := t.nodes[parent(x.path)]
	up.children = append(up.children, lastName(x.path))
	up.childCount++
	up.pzxid = whole.zxid
	if s := t.sessions[x.owner]; s != nil {
		s.ephemerals[x.path] = true
	}
	changed(created, x.path)
	changed(childrenChanged, parent(x.path))
	return n
}

func (t *tree) remove(whole *txn, path string, changed func(event, string)) {
	n := t.nodes[path]
	if n == nil {
		return
	}
	delete(t.nodes, path)
	if s := t.sessions[n.owner]; s != nil {
		delete(s.ephemerals, path)
	}
	up, name := t.nodes[parent(path)], lastName(path)
	up.children = slices.DeleteFunc(up.children, func(c string) bool { return c == name })
	up.pzxid = whole.zxid
	changed(deleted, path)
	changed(childrenChanged, parent(path))
}
