package storage

import "fmt"

// Policy is how the storage uses the tokens of requests.
//
// Only None, Lenient, Owner, Optimistic and Unfenceable accept every request without a token. Every
// other policy refuses such a request if it checks requests of that operation.
type Policy string

// The first of these policies does no fencing; the fencing of the others works.
const (
	// None ignores tokens. The empty policy does the same.
	None Policy = "none"
	// Writes checks the token of every write. A write is refused if a write with a higher
	// token was applied before.
	Writes Policy = "writes"
	// ReadsAndWrites checks the token of every read and every write; reads raise the
	// highest token seen, too.
	ReadsAndWrites Policy = "reads-and-writes"
)

// These are other policies that people build. Each of them fails in its own way.
const (
	// VolatileToken works like Writes, but keeps the highest token only in memory, so a crash loses
	// it.
	VolatileToken Policy = "volatile-token"
	// CheckThenWrite works like Writes, but the check and the write are two steps, and another
	// request can come between them.
	CheckThenWrite Policy = "check-then-write"
	// Strict works like Writes, but a token must be greater than every token seen. So Strict also
	// refuses the second write of one holder.
	Strict Policy = "strict"
	// PerShard works like Writes, but each object is on a shard of its own: a part of the storage
	// that knows only the tokens of writes to this object.
	PerShard Policy = "per-shard"
	// Lenient works like Writes, but accepts a write without a token, so that old clients can still
	// write.
	Lenient Policy = "lenient"
	// CheckAndSet needs no order of tokens, so tokens can be random. A Mark sets an object's mark
	// to a token. A write is accepted only if it carries the token of the mark. Salvatore
	// Sanfilippo proposes this in "Is Redlock safe?" (2016).
	CheckAndSet Policy = "check-and-set"
	// Owner needs no tokens. The objects are on the servers of the lock. One transaction
	// checks that the writer's key still exists and makes the write, as etcd's
	// Txn().If(mutex.IsOwner()) does. A write is refused if the key does not exist. The
	// check is weaker than it seems: a client that only waits for the lock has a key, too.
	// A [Store] knows no keys, so it checks nothing under this policy; the lock's servers
	// do.
	Owner Policy = "owner"
	// Optimistic needs no tokens and no lock. A write carries the version that its writer knows
	// (see [Request.KnownVersion]), and is refused if the object has another version. HTTP has
	// If-Match for this check, and SQL has UPDATE … WHERE version = ….
	Optimistic Policy = "optimistic"
	// Unfenceable is for effects that cannot be checked, such as sending an e-mail or
	// appending to a file. Requests carry tokens, but nothing checks them.
	Unfenceable Policy = "unfenceable"
)

// Policies returns all policies: None, then those that work, from the weakest to the
// strictest, then the others.
func Policies() []Policy {
	return []Policy{None, Writes, ReadsAndWrites, VolatileToken, CheckThenWrite, Strict, PerShard, Lenient, CheckAndSet, Owner, Optimistic, Unfenceable}
}

// titles says in one line what each policy checks.
var titles = map[Policy]string{
	None:           "nothing",
	Writes:         "the token of every write",
	ReadsAndWrites: "the token of every read and write",
	VolatileToken:  "the token of every write, but forgets the highest token in a crash",
	CheckThenWrite: "the token of every write, in a step before the write",
	Strict:         "that the token of every write is greater than all earlier tokens",
	PerShard:       "the token of every write, for each object separately",
	Lenient:        "the token of every write that carries one",
	CheckAndSet:    "that every write carries the token with which its object was last marked",
	Owner:          "that the key with which the writer asked for the lock still exists, in one transaction with the write",
	Optimistic:     "that the object of every write still has the version that the writer knows",
	Unfenceable:    "nothing: its effects cannot be fenced",
}

// Title returns what the storage checks under this policy, to follow "it checks". It is ""
// for a policy that does not exist.
func (p Policy) Title() string { return titles[p] }

// checks reports whether the policy checks requests with this operation.
func (p Policy) checks(op Op) bool {
	switch p {
	case "", None, Owner, Unfenceable: // for Owner, the servers that keep the data check the key
		return false
	case ReadsAndWrites:
		return op == Read || op == Write
	case CheckAndSet:
		return op == Write || op == Mark
	}
	return op == Write
}

// keepsToken reports whether the policy compares later requests with the token of an
// applied request with this operation.
func (p Policy) keepsToken(op Op) bool {
	switch p {
	case CheckAndSet:
		return op == Mark
	case Owner, Optimistic:
		return false
	}
	return p.checks(op)
}

// scope returns the scope of an object: the objects of one scope share one token. The scope is the
// object's own name, or "" if all objects share one token.
func (p Policy) scope(object string) string {
	if p == PerShard || p == CheckAndSet {
		return object
	}
	return ""
}

// refusal says why a request is refused; "" if it is not. known is the token that the
// storage remembers for the object, and version is the object's current version.
func (p Policy) refusal(req Request, known uint64, version int) string {
	switch {
	case !p.checks(req.Op):
		return ""
	case p == Optimistic && req.KnownVersion != version:
		return VersionRefusal(req.Object, version)
	case p == Optimistic:
		return ""
	case req.Token == 0 && p == Lenient:
		return ""
	case req.Token == 0 && p == CheckAndSet:
		return "it carries no token"
	case req.Token == 0:
		return "it carries no fencing token"
	case p == CheckAndSet:
		return p.markRefusal(req, known)
	case p == Strict && req.Token == known:
		return fmt.Sprintf("token %d is not newer than token %d, which the storage has already seen", req.Token, known)
	case req.Token < known && p == PerShard:
		return fmt.Sprintf("token %d is older than token %d, which the shard of %s has already seen", req.Token, known, req.Object)
	case req.Token < known:
		return fmt.Sprintf("token %d is older than token %d, which the storage has already seen", req.Token, known)
	}
	return ""
}

// markRefusal is refusal for the policy CheckAndSet.
func (p Policy) markRefusal(req Request, mark uint64) string {
	switch {
	case req.Op == Mark || req.Token == mark:
		return ""
	case mark == 0:
		return fmt.Sprintf("it carries token %d, but no client has marked %s", req.Token, req.Object)
	}
	return fmt.Sprintf("it carries token %d, but %s is marked with token %d", req.Token, req.Object, mark)
}

// VersionRefusal says why a write is refused under the policy Optimistic: the object is not
// at the version that the writer knew.
func VersionRefusal(object string, version int) string {
	return fmt.Sprintf("%s is now at version %d", object, version)
}
