package storage

import "fmt"

// Policy says what the storage does with the tokens that requests carry.
//
// Under every policy but None, Lenient, Owner, Optimistic and Unfenceable, a request that
// must carry a token and does not is refused.
type Policy string

// No fencing, and fencing that works.
const (
	// None ignores tokens. So does the empty policy.
	None Policy = "none"
	// Writes checks the token of every write: it is refused if a write with a
	// higher one has been applied.
	Writes Policy = "writes"
	// ReadsAndWrites checks the token of every read and write, and lets a read
	// raise the highest token seen.
	ReadsAndWrites Policy = "reads-and-writes"
)

// What people build as well. Each breaks in a way of its own.
const (
	// VolatileToken is Writes, but the highest token is kept in memory only: a
	// crash forgets it.
	VolatileToken Policy = "volatile-token"
	// CheckThenWrite is Writes, but the check and the write are two steps, and
	// others can come between.
	CheckThenWrite Policy = "check-then-write"
	// Strict is Writes, but a token must be greater than every one seen: a
	// holder's own second write is refused.
	Strict Policy = "strict"
	// PerShard is Writes, but every object is a shard of its own, which knows
	// only the tokens of its own writes.
	PerShard Policy = "per-shard"
	// Lenient is Writes, but a write without a token passes, for the sake of old
	// clients.
	Lenient Policy = "lenient"
	// CheckAndSet needs no order of tokens, so that they can be random: Mark sets
	// an object's mark to a token, and a write is refused unless it carries that
	// token. It is what Salvatore Sanfilippo proposes in "Is Redlock safe?"
	// (2016).
	CheckAndSet Policy = "check-and-set"
	// Owner needs no tokens: the objects are kept where the lock is, and one transaction
	// looks whether the writer's key still stands there and makes the write, as etcd's
	// Txn().If(mutex.IsOwner()) does. A write is refused if the key is gone. That of
	// somebody who only waits for the lock stands, too. A [Store] knows nothing of keys, and
	// compares nothing.
	Owner Policy = "owner"
	// Optimistic needs no tokens and no lock: a write says which version its writer knew
	// (see [Request.Knew]), and is refused if the object is at another one. It is what
	// If-Match does in HTTP, and UPDATE … WHERE version = … in SQL.
	Optimistic Policy = "optimistic"
	// Unfenceable is where nothing can be checked: the effect is an e-mail, or
	// appending to a file. Tokens are carried, and ignored.
	Unfenceable Policy = "unfenceable"
)

// Policies lists every policy: none and those that work, in the order in which
// they grow stricter, then the others.
func Policies() []Policy {
	return []Policy{None, Writes, ReadsAndWrites, VolatileToken, CheckThenWrite, Strict, PerShard, Lenient, CheckAndSet, Owner, Optimistic, Unfenceable}
}

// titles are what the policies do, in one line for people.
var titles = map[Policy]string{
	None:           "nothing",
	Writes:         "the token of every write",
	ReadsAndWrites: "the token of every read and write",
	VolatileToken:  "the token of every write, but forgets the highest in a crash",
	CheckThenWrite: "the token of every write, in a step before the write",
	Strict:         "that the token of every write is greater than all before it",
	PerShard:       "the token of every write, each object for itself",
	Lenient:        "the token of every write that carries one",
	CheckAndSet:    "that every write carries the token with which its object was last marked",
	Owner:          "that the key by which every writer asked for the lock still stands, in one step with the write",
	Optimistic:     "that its object still is at the version that the writer of every write knew",
	Unfenceable:    "nothing: what it does cannot be fenced",
}

// Title says what the storage checks, as in "it checks …". It is empty for a
// policy that does not exist.
func (p Policy) Title() string { return titles[p] }

// checks says whether the policy looks at the token of such a request.
func (p Policy) checks(op Op) bool {
	switch p {
	case "", None, Owner, Unfenceable: // who keeps the data where the lock is asks for its key
		return false
	case ReadsAndWrites:
		return op == Read || op == Write
	case CheckAndSet:
		return op == Write || op == Mark
	}
	return op == Write
}

// remembers says whether an applied request leaves its token behind, for others
// to be compared with.
func (p Policy) remembers(op Op) bool {
	switch p {
	case CheckAndSet:
		return op == Mark
	case Owner, Optimistic:
		return false
	}
	return p.checks(op)
}

// scope is what an object shares its token with: "" is the whole storage.
func (p Policy) scope(object string) string {
	if p == PerShard || p == CheckAndSet {
		return object
	}
	return ""
}

// compare says why a request is refused, or "". known is the token that the storage
// remembers, and version what the object is at.
func (p Policy) compare(req Request, known uint64, version int) string {
	switch {
	case !p.checks(req.Op):
		return ""
	case p == Optimistic && req.Knew != version:
		return Changed(req.Object, version)
	case p == Optimistic:
		return ""
	case req.Token == 0 && p == Lenient:
		return ""
	case req.Token == 0 && p == CheckAndSet:
		return "it carries no token"
	case req.Token == 0:
		return "it carries no fencing token"
	case p == CheckAndSet:
		return p.compareMark(req, known)
	case p == Strict && req.Token == known:
		return fmt.Sprintf("token %d is not newer than token %d, which the storage has already seen", req.Token, known)
	case req.Token < known && p == PerShard:
		return fmt.Sprintf("token %d is older than token %d, which the shard of %s has already seen", req.Token, known, req.Object)
	case req.Token < known:
		return fmt.Sprintf("token %d is older than token %d, which the storage has already seen", req.Token, known)
	}
	return ""
}

func (p Policy) compareMark(req Request, mark uint64) string {
	switch {
	case req.Op == Mark || req.Token == mark:
		return ""
	case mark == 0:
		return fmt.Sprintf("it carries token %d, but nobody has marked %s", req.Token, req.Object)
	}
	return fmt.Sprintf("it carries token %d, but %s is marked with token %d", req.Token, req.Object, mark)
}

// Changed is why a write is refused whose writer knew another version than the one that the
// object is at.
func Changed(object string, is int) string {
	return fmt.Sprintf("%s is at version %d by now", object, is)
}
