package storage

import "fmt"

// Policy is what the storage does with the tokens of requests.
//
// Every policy except None, Lenient, Owner, Optimistic and Unfenceable refuses a request
// that must carry a token and does not.
type Policy string

// No fencing, and fencing that works.
const (
	// None ignores tokens. The empty policy does the same.
	None Policy = "none"
	// Writes checks the token of every write: it is refused if a write with a higher token
	// has been applied.
	Writes Policy = "writes"
	// ReadsAndWrites checks the token of every read and write, and a read raises the
	// highest token seen.
	ReadsAndWrites Policy = "reads-and-writes"
)

// Other policies that people build. Each of them fails in its own way.
const (
	// VolatileToken is Writes, but the highest token is kept in memory only: it is lost in
	// a crash.
	VolatileToken Policy = "volatile-token"
	// CheckThenWrite is Writes, but the check and the write are two steps, and other
	// requests can come between them.
	CheckThenWrite Policy = "check-then-write"
	// Strict is Writes, but a token must be greater than every token seen: a holder's own
	// second write is refused.
	Strict Policy = "strict"
	// PerShard is Writes, but every object is a shard of its own, which knows only the
	// tokens of its own writes.
	PerShard Policy = "per-shard"
	// Lenient is Writes, but it accepts a write without a token, for the sake of old
	// clients.
	Lenient Policy = "lenient"
	// CheckAndSet needs no order of tokens, so they can be random. Mark sets an object's
	// mark to a token, and a write is refused unless it carries that token. Salvatore
	// Sanfilippo proposes it in "Is Redlock safe?" (2016).
	CheckAndSet Policy = "check-and-set"
	// Owner needs no tokens. The objects are kept where the lock is, and one transaction
	// checks that the writer's key still exists there and makes the write, as etcd's
	// Txn().If(mutex.IsOwner()) does. A write is refused if the key is gone. The key of a
	// client that only waits for the lock exists, too. A [Store] knows nothing about keys,
	// and compares nothing.
	Owner Policy = "owner"
	// Optimistic needs no tokens and no lock. A write carries the version that its writer
	// knows (see [Request.KnownVersion]), and is refused if the object has another version.
	// If-Match does that in HTTP, and UPDATE … WHERE version = … in SQL.
	Optimistic Policy = "optimistic"
	// Unfenceable is for effects that cannot be checked, such as an e-mail, or appending to
	// a file. Tokens are carried, and ignored.
	Unfenceable Policy = "unfenceable"
)

// Policies returns every policy: first None and the policies that work, from the weakest to
// the strictest, then the others.
func Policies() []Policy {
	return []Policy{None, Writes, ReadsAndWrites, VolatileToken, CheckThenWrite, Strict, PerShard, Lenient, CheckAndSet, Owner, Optimistic, Unfenceable}
}

// titles are what the policies check, in one line for people.
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

// Title returns what the storage checks, as in "it checks …". It is empty for a policy that
// does not exist.
func (p Policy) Title() string { return titles[p] }

// checks reports whether the policy checks requests with an operation.
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

// keepsToken reports whether the storage keeps the token of an applied request, to compare
// later ones with it.
func (p Policy) keepsToken(op Op) bool {
	switch p {
	case CheckAndSet:
		return op == Mark
	case Owner, Optimistic:
		return false
	}
	return p.checks(op)
}

// scope returns the objects with which an object shares its token: the object itself, or
// "", which is the whole storage.
func (p Policy) scope(object string) string {
	if p == PerShard || p == CheckAndSet {
		return object
	}
	return ""
}

// refusal returns why a request is refused, or "". known is the token that the storage
// remembers, and version the current version of the object.
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

func (p Policy) markRefusal(req Request, mark uint64) string {
	switch {
	case req.Op == Mark || req.Token == mark:
		return ""
	case mark == 0:
		return fmt.Sprintf("it carries token %d, but nobody has marked %s", req.Token, req.Object)
	}
	return fmt.Sprintf("it carries token %d, but %s is marked with token %d", req.Token, req.Object, mark)
}

// VersionRefusal returns why a write is refused whose writer knew another version than the
// current one.
func VersionRefusal(object string, version int) string {
	return fmt.Sprintf("%s is at version %d by now", object, version)
}
