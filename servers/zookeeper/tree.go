package zookeeper

import (
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// A tree is the state of one member: the znodes and the sessions. Only transactions change
// it, so members that have applied the same transactions have equal trees.
type tree struct {
	nodes    map[string]*znode
	sessions map[int64]*treeSession
	// zxid is the number of the last transaction that was applied.
	zxid int64
}

// A znode is one node of the tree.
type znode struct {
	data []byte
	acl  []permit
	// The zxids of the change that created the node, of the last change of its data, and of
	// the last change that added or removed a child.
	czxid, mzxid, pzxid int64
	ctime, mtime        int64 // in milliseconds since 1970, by the leader's wall clock
	version, aversion   int32 // how often its data and its ACL were changed
	// childCount counts the children that it has ever had. It is the number of the next
	// sequential child.
	childCount int32
	// owner is the session at whose end the node is deleted; 0 if the node is persistent.
	owner int64
	// children are the names of its children, in the order of their creation. A real server
	// lists them in an arbitrary order.
	children []string
	// creator is the client that has created the node.
	creator *trace.Actor
}

// A treeSession is what the tree stores of a session. It does not say which member the
// session's client is connected to.
type treeSession struct {
	timeout int32 // in milliseconds
	// ephemerals are the paths of the nodes that are deleted when the session ends.
	ephemerals map[string]bool
}

// newTree returns the tree of a server without any transactions.
func newTree() *tree {
	t := &tree{nodes: map[string]*znode{}, sessions: map[int64]*treeSession{}}
	t.nodes["/"] = &znode{acl: openACL, data: []byte{}, children: []string{"zookeeper"}}
	t.nodes["/zookeeper"] = &znode{acl: openACL, data: []byte{}, children: []string{"config", "quota"}}
	t.nodes["/zookeeper/config"] = &znode{acl: []permit{{permRead, anyone}}, data: []byte{}}
	t.nodes["/zookeeper/quota"] = &znode{acl: openACL, data: []byte{}}
	return t
}

// clone returns a copy that can be changed independently. Data and ACLs are shared, because
// they are replaced and never changed in place.
func (t *tree) clone() *tree {
	c := &tree{nodes: make(map[string]*znode, len(t.nodes)), sessions: make(map[int64]*treeSession, len(t.sessions)), zxid: t.zxid}
	for path, n := range t.nodes {
		other := *n
		other.children = slices.Clone(n.children)
		c.nodes[path] = &other
	}
	for id, s := range t.sessions {
		c.sessions[id] = &treeSession{s.timeout, maps.Clone(s.ephemerals)}
	}
	return c
}

// parent returns the path of the parent of the node at a path.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// lastName returns the name of a node within its parent.
func lastName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// stat writes a node's properties as clients get them: the structure Stat of the protocol.
func (w *writer) stat(n *znode) {
	w.long(n.czxid)
	w.long(n.mzxid)
	w.long(n.ctime)
	w.long(n.mtime)
	w.int(n.version)
	// cversion is how often the list of children was changed: once for each child that
	// was created, and again for each child that was deleted.
	w.int(2*n.childCount - int32(len(n.children)))
	w.int(n.aversion)
	w.long(n.owner)
	w.int(int32(len(n.data)))
	w.int(int32(len(n.children)))
	w.long(n.pzxid)
}

// A txn is a transaction: a change as the leader has decided it. Members apply it without
// checking it again. Which fields are used depends on its opcode.
type txn struct {
	zxid int64
	// time is the leader's wall clock, in milliseconds since 1970.
	time int64
	op   opcode
	// code is the error if the request failed, and otherwise ok. A failed request is a
	// transaction too, and takes a zxid.
	code code

	session int64
	path    string
	data    []byte
	acl     []permit
	owner   int64
	version int32 // the version of the data or the ACL after the change
	timeout int32
	paths   []string // the nodes that are deleted because the session ends
	ops     []*txn   // the operations of a multi
	// expired reports that the session ends because it has expired, not because its client
	// or an operator has closed it.
	expired bool

	// by is the client that has made the request. origin is the member that received the
	// request, and serial is that member's number for it. If the leader itself ends a
	// session, origin is "" and serial is 0.
	by     *trace.Actor
	origin string
	serial int
}

// A result is the outcome of a transaction. The member that has received the request
// answers with it.
type result struct {
	op   opcode
	code code
	path string
	node *znode // the node after the change
	ops  []result
}

// apply applies a transaction. It calls changed for each event that watchers may wait for.
func (t *tree) apply(x *txn, changed func(event, string)) result {
	t.zxid = x.zxid
	return t.change(x, x, changed)
}

// change applies x, which is the transaction whole or one operation of it.
func (t *tree) change(whole, x *txn, changed func(event, string)) result {
	r := result{op: x.op, code: x.code, path: x.path}
	if x.code != ok && x.op != opMulti || x.op == opError {
		r.op = opError
		return r
	}
	switch x.op {
	case opOpen:
		t.sessions[x.session] = &treeSession{x.timeout, map[string]bool{}}
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
		for _, op := range x.ops {
			r.ops = append(r.ops, t.change(whole, op, changed))
		}
	}
	if r.node != nil {
		node := *r.node
		r.node = &node
	}
	return r
}

// create creates a node, and returns it.
func (t *tree) create(whole, x *txn, changed func(event, string)) *znode {
	n := &znode{
		data: x.data, acl: x.acl, czxid: whole.zxid, mzxid: whole.zxid, pzxid: whole.zxid,
		ctime: whole.time, mtime: whole.time, owner: x.owner, creator: whole.by,
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

// remove deletes a node, if it exists.
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
