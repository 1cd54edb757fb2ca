package zookeeper

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// prepare decides what a request changes in the tree. who lists the identities of the
// client that sent it. prepare returns the transaction, which contains the error if the
// request fails. It corresponds to PrepRequestProcessor.pRequest2Txn of the real server,
// and checks in the same order, because the order decides which of two errors is returned.
func (t *tree) prepare(q *request, who []ident) *txn {
	x := &txn{op: q.op, path: q.path, session: q.session}
	if q.malformed {
		x.code = errMarshalling
		return x
	}
	switch q.op {
	case opOpen:
		x.timeout = q.timeout
	case opClose:
		x.paths = sortedPaths(t.sessions[q.session])
	case opCreate, opCreate2, opContainer, opCreateTTL:
		x.code = t.prepareCreate(x, q, who)
	case opDelete:
		x.code = t.prepareDelete(q, who)
	case opSetData:
		x.data = q.data
		x.version, x.code = t.nextVersion(q, permWrite, who, dataVersion)
	case opCheck:
		_, x.code = t.nextVersion(q, permRead, who, dataVersion)
	case opSetACL:
		x.code = t.prepareACL(x, q, who)
	case opMulti:
		t.prepareMulti(x, q, who)
	case opReconfig:
		x.code = errReconfigDisabled
	}
	return x
}

// prepareCreate checks a create, and completes its transaction.
func (t *tree) prepareCreate(x *txn, q *request, who []ident) code {
	switch q.flags {
	case container, withTTL, withTTLSequential:
		return errUnimplemented
	}
	if q.flags < 0 || q.flags > withTTLSequential {
		return errBadArguments
	}
	if !strings.Contains(q.path, "/") || strings.ContainsRune(q.path, 0) {
		return errBadArguments
	}
	acl, isValid := normalizeACL(q.acl, who)
	if !isValid {
		return errInvalidACL
	}
	// Here parent("/a") and parent("/") are both "/". The real server has "" for both.
	parentNode := t.nodes[parent(q.path)]
	if parentNode == nil {
		return errNoNode
	}
	if !allows(parentNode.acl, permCreate, who) {
		return errNoAuth
	}
	if q.flags.sequential() {
		x.path += fmt.Sprintf("%010d", parentNode.childCount)
	}
	switch {
	case !validPath(x.path):
		return errBadArguments
	case t.nodes[x.path] != nil:
		return errNodeExists
	case parentNode.owner != 0:
		return errChildrenOfEphemeral
	}
	x.op, x.data, x.acl = q.op, q.data, acl
	if q.flags.ephemeral() {
		x.owner = q.session
	}
	return ok
}

// prepareDelete checks a delete.
func (t *tree) prepareDelete(q *request, who []ident) code {
	switch {
	case !strings.Contains(q.path, "/") || strings.ContainsRune(q.path, 0) || permanent[q.path]:
		return errBadArguments
	case t.nodes[q.path] == nil:
		return errNoNode
	}
	n, parentNode := t.nodes[q.path], t.nodes[parent(q.path)]
	switch {
	case !allows(parentNode.acl, permDelete, who):
		return errNoAuth
	case q.version != -1 && q.version != n.version:
		return errBadVersion
	case len(n.children) > 0:
		return errNotEmpty
	}
	return ok
}

// permanent are the nodes that cannot be deleted.
var permanent = map[string]bool{"/": true, "/zookeeper": true, "/zookeeper/quota": true, "/zookeeper/config": true}

// prepareACL checks a change of a node's access control list, and completes its
// transaction.
func (t *tree) prepareACL(x *txn, q *request, who []ident) code {
	acl, isValid := normalizeACL(q.acl, who)
	if validPath(q.path) && !isValid {
		return errInvalidACL
	}
	version, code := t.nextVersion(q, permAdmin, who, func(n *znode) int32 { return n.aversion })
	if code == ok {
		x.acl, x.version = acl, version
	}
	return code
}

// dataVersion returns the version of a node's data.
func dataVersion(n *znode) int32 { return n.version }

// nextVersion checks whether a request may change a node, and whether the node has the
// version that the request demands. It returns the version after the change. currentVersion
// returns the version in question: that of the data or of the ACL.
func (t *tree) nextVersion(q *request, perm int32, who []ident, currentVersion func(*znode) int32) (int32, code) {
	n := t.nodes[q.path]
	switch {
	case !validPath(q.path):
		return 0, errBadArguments
	case n == nil:
		return 0, errNoNode
	case !allows(n.acl, perm, who):
		return 0, errNoAuth
	case q.version != anyVersion && q.version != currentVersion(n):
		return 0, errBadVersion
	}
	return currentVersion(n) + 1, ok
}

// prepareMulti prepares the operations of a multi in order, each for the tree as the earlier
// operations would have changed it. If one fails, none takes effect. In the answer, the
// operations before the failed one have the code ok. The operations after it have
// errInconsistent, which the trace shows as "not tried".
func (t *tree) prepareMulti(x *txn, q *request, who []ident) {
	trial := t.clone()
	for i, op := range q.ops {
		op.session = q.session
		step := trial.prepare(op, who)
		x.ops = append(x.ops, step)
		if step.code != ok {
			x.code = step.code
			for _, before := range x.ops[:i] {
				before.op = opError
			}
			step.op = opError
			for range q.ops[i+1:] {
				x.ops = append(x.ops, &txn{op: opError, code: errInconsistent})
			}
			return
		}
		trial.change(x, step, func(event, string) {})
	}
}

// validPath reports whether a path is valid: it is absolute, does not end in a slash, and
// has no empty, relative or unprintable parts. It is PathUtils.validatePath.
func validPath(path string) bool {
	if path == "/" {
		return true
	}
	if !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") || !utf8.ValidString(path) {
		return false
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return !strings.ContainsFunc(path, func(r rune) bool {
		return r <= 0x1f || 0x7f <= r && r <= 0x9f || 0xd800 <= r && r <= 0xf8ff || 0xfff0 <= r && r <= 0xffff
	})
}
