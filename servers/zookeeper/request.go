package zookeeper

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/internal/jute"
	"github.com/locksim/locksim/sim"
)

// A request is one message from a client. Which fields are used depends on its opcode.
type request struct {
	xid int32 // the client's number of the request
	op  opcode
	// malformed reports that the message is too short for its opcode.
	malformed bool

	path    string
	data    []byte
	version int32
	watch   bool // the client wants to be notified of the next change
	acl     []permit
	flags   flags
	ops     []*request // the operations of a multi
	watches watchSet   // the watches that a setWatches sets again

	// The following fields are used in the first message of a connection and in opOpen.
	lastSeenZxid int64 // the last zxid that the client has seen
	timeout      int32 // in milliseconds
	session      int64 // the session to resume; 0 for a new one
	password     []byte
	// knowsReadOnly reports that the client knows read-only servers, which old clients do
	// not.
	knowsReadOnly bool

	scheme string // the scheme of an addAuth
}

// flags are the kind of node that a create makes: CreateMode in the real server.
type flags int32

const (
	ephemeral         flags = 1
	sequential        flags = 2
	container         flags = 4
	withTTL           flags = 5 // deleted when its TTL has passed
	withTTLSequential flags = 6 // the same, and sequential
)

// sequential reports whether the new node gets a sequence number.
func (f flags) sequential() bool { return f == 2 || f == 3 || f == withTTLSequential }

// ephemeral reports whether the new node is deleted when its session ends.
func (f flags) ephemeral() bool { return f == 1 || f == 3 }

// A permit is an entry of an access control list: permissions for an identity.
type permit struct {
	perms int32
	ident
}

// An ident is an identity of a client, in one of several schemes, such as "digest" for a
// name and a password.
type ident struct{ scheme, id string }

// A watchSet is the watches that a client had on its previous connection and sets again on a new
// one. since is the last zxid (the number of a change) that the client has seen: the client is
// notified immediately of later changes.
type watchSet struct {
	since               int64
	data, exists, child []string
}

// connectRequest parses the first message of a connection.
func connectRequest(b []byte) *request {
	r := jute.NewReader(b)
	q := &request{op: opConnect}
	r.Int() // the protocol version, always 0
	q.lastSeenZxid = r.Long()
	q.timeout = r.Int()
	q.session = r.Long()
	q.password = r.Buffer()
	q.malformed = r.IsShort()
	if !r.IsShort() && r.Len() > 0 {
		q.knowsReadOnly = true
	}
	return q
}

// newRequest parses a message that is not the first of its connection. It returns nil if
// the header is incomplete.
func newRequest(b []byte) *request {
	r := jute.NewReader(b)
	q := &request{xid: r.Int(), op: opcode(r.Int())}
	if r.IsShort() {
		return nil
	}
	q.read(r)
	q.malformed = r.IsShort()
	return q
}

// read parses what follows the header of a message.
func (q *request) read(r *jute.Reader) {
	switch q.op {
	case opCreate, opCreate2, opContainer, opCreateTTL:
		q.path, q.data, q.acl, q.flags = r.Text(), r.Buffer(), readACL(r), flags(r.Int())
		if q.op == opCreateTTL {
			r.Long()
		}
	case opDelete, opCheck:
		q.path, q.version = r.Text(), r.Int()
	case opSetData:
		q.path, q.data, q.version = r.Text(), r.Buffer(), r.Int()
	case opExists, opGetData, opGetChildren, opGetChildren2:
		q.path, q.watch = r.Text(), r.Bool()
	case opGetACL, opSync:
		q.path = r.Text()
	case opSetACL:
		q.path, q.acl, q.version = r.Text(), readACL(r), r.Int()
	case opAuth:
		r.Int()
		q.scheme, q.data = r.Text(), r.Buffer()
	case opSetWatches:
		q.watches = watchSet{r.Long(), r.Texts(), r.Texts(), r.Texts()}
	case opMulti:
		q.readOps(r)
	}
}

// readOps parses the operations of a multi. Each of them has a header.
func (q *request) readOps(r *jute.Reader) {
	for !r.IsShort() {
		op := &request{op: opcode(r.Int())}
		done := r.Bool()
		r.Int()
		if done {
			return
		}
		switch op.op {
		case opCreate, opCreate2, opContainer, opCreateTTL, opDelete, opSetData, opCheck:
			op.read(r)
			q.ops = append(q.ops, op)
		default:
			r.SetShort()
		}
	}
}

// readACL parses an access control list.
func readACL(r *jute.Reader) (acl []permit) {
	r.Each(func() { acl = append(acl, permit{r.Int(), ident{r.Text(), r.Text()}}) })
	return acl
}

// String returns the name of the kind of request.
func (q *request) String() string {
	if q.flags == container {
		return opContainer.String()
	}
	return q.op.String()
}

// describe returns the text of the request for the trace.
func (q *request) describe(names *sim.Names) string {
	switch q.op {
	case opConnect:
		if q.session == 0 {
			return "connect"
		}
		return "connect, " + sessionName(names, q.session)
	case opCreate, opCreate2, opContainer, opCreateTTL:
		how := ""
		if q.flags.ephemeral() {
			how += " ephemeral"
		}
		if q.flags.sequential() {
			how += " sequential"
		}
		return q.op.String() + how + " " + describePath(names, q.path)
	case opExists, opGetData, opGetChildren, opGetChildren2:
		text := q.op.String() + " " + describePath(names, q.path)
		if q.watch {
			text += ", watch"
		}
		return text
	case opDelete, opSetData, opGetACL, opSetACL, opSync, opCheck:
		return q.op.String() + " " + describePath(names, q.path)
	case opMulti:
		all := make([]string, len(q.ops))
		for i, op := range q.ops {
			all[i] = op.describe(names)
		}
		return "multi: " + strings.Join(all, "; ")
	case opSetWatches:
		w := q.watches
		return fmt.Sprintf("setWatches: %d watches", len(w.data)+len(w.exists)+len(w.child))
	}
	return q.op.String()
}

// describePath returns the text of a path for the trace. Recipes put random words before the names
// of their nodes, so that a client can recognise its own. The trace leaves these words out, because
// the rest of the name is unique too.
func describePath(names *sim.Names, path string) string {
	if names.IsKey(path) {
		return path
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if i > 0 && names.IsKey(strings.Join(parts[:i+1], "/")) {
			continue
		}
		parts[i] = names.Value(withoutPrefix(part))
	}
	return strings.Join(parts, "/")
}

// withoutPrefix returns the name of a node without the random prefix that Curator and
// go-zookeeper add: _c_, 32 hexadecimal digits and a hyphen.
func withoutPrefix(name string) string {
	const prefix, word = "_c_", 32
	if rest, found := strings.CutPrefix(name, prefix); found && len(rest) > word+1 && rest[word] == '-' {
		return rest[word+1:]
	}
	return name
}

// sessionName returns the name of a session in the trace.
func sessionName(names *sim.Names, id int64) string { return names.Name("session", formatSession(id)) }

// formatSession returns a session ID in hexadecimal. The trace has a name for each session,
// which is found by this text.
func formatSession(id int64) string { return fmt.Sprintf("%x", uint64(id)) }
