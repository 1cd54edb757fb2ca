package story

import (
	"fmt"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A mistakeText has the words for a mistake.
type mistakeText struct {
	// does continues the name of the call in which the mistake is made: "removes a key
	// without comparing its value".
	does string
	// remedy says what the author of the lock should change. It is one sentence.
	remedy string
	// scenario is the name of the built-in scenario that teaches the mistake, or "".
	scenario string
}

// mistakeTexts has the words for each recognised mistake, and the remedies for properties
// whose violations are mistakes of their own.
var mistakeTexts = map[checks.Mistake]mistakeText{
	"removes-unchecked": {
		"removes the key of another acquisition, because it compares nothing",
		"let each acquire set a new random value, and remove the key only if it still has that value, in one script or by DELEX … IFEQ",
		"release-without-check",
	},
	"extends-unchecked": {
		"extends the key of another acquisition, because it compares nothing",
		"extend the key only if it still has the value that this acquire has set, in one script",
		"release-without-check",
	},
	"overwrites": {
		"overwrites the key of another acquisition",
		"check and set the key in one step, and only if nobody holds the lock: by SET … NX, by a transaction that compares the revision, or by an INSERT whose ON CONFLICT … DO UPDATE has a WHERE on the expiry; later, change the key only if it still belongs to the lease",
		"",
	},
	"removes-foreign": {
		"removes the key of another acquisition",
		"compare in the same step whose key it is: in a script by a random value, in a transaction by the key's revision or lease, in SQL by a WHERE on the holder",
		"release-without-check",
	},
	"extends-foreign": {
		"extends the key of another acquisition",
		"compare in the same step whose key it is: in a script by a random value, in a transaction by the key's revision or lease, in SQL by a WHERE on the holder",
		"release-without-check",
	},
	"shares-session": {
		"uses a session that also serves another acquisition",
		"give each lease a connection of its own: an advisory lock belongs to the session, which is granted it as often as it asks",
		"",
	},
	"unlocks-in-other-session": {
		"sends the unlock to a session that does not hold the lock, and the answer is false",
		"acquire and release on one connection: take it from the pool, with sql.DB.Conn for example, keep it until the release, and return an error if pg_advisory_unlock returns false",
		"postgres-pooler",
	},
	"checks-then-acts": {
		"reads the key and then sends a second command, and the key has changed in between",
		"compare and change the key in one step: in a script, or by DELEX … IFEQ",
		"release-get-then-del",
	},
	"equal-values": {
		"mistakes another acquisition's key for its own, because both have the same value",
		"let each acquire set a new random value; a value for each process or each lock is not enough",
		"release-lua",
	},
	"removes-own-key": {
		"removes the key of its own lease while the lease is valid",
		"look at what each command of this call does to the key, and let only release remove it: until then the holder relies on the lease",
		"",
	},
	"fails-after-removal": {
		"removes the key of its lease and returns an error",
		"return success if the server has confirmed that this call removed the key, and ErrLost only if the key was gone before",
		"",
	},
	"key-too-short": {
		"sets a key that expires long before the lease ends",
		"check the unit of the expiry: EX and EXPIRE count seconds, PX and PEXPIRE milliseconds",
		"ttl-too-short",
	},
	"lease-outlives-key": {
		"promises a lease that ends later than its key",
		"count the lease from the moment before the request was sent, and do not round the expiry of the key down",
		"network-delay-in-acquire",
	},
	"key-never-expires": {
		"leaves a key that never expires",
		"set the key and its expiry in one command, such as SET … NX PX, or a Put with the lease",
		"setnx-then-expire",
	},
	"grants-without-quorum": {
		"grants the lock although too few servers have its key",
		"count only the servers that answered with a grant: an error or a missing answer is not a grant, and half of the servers are no majority; if the lock keeps its grants under other keys, name them in the Slots of its Config",
		"",
	},
	"grants-without-key": {
		"grants the lock although the server did not",
		"count only the server's yes as a grant: an error, a missing answer, and a statement that changed no row are not grants; if the lock keeps its grants under another key, name it in the Slots of its Config",
		"",
	},
	"different-keys": {
		"keeps the grants of one lock under a different key for each client",
		"derive the key from the lock's name alone: a part that differs between clients, such as an ID, a prefix or a letter's case, makes two locks of one",
		"",
	},
	"undeclared-key": {
		"keeps its grants under a key that the test does not know",
		"name the key in the Slots of the test's Config: until then the suite takes each grant for one that no server made",
		"",
	},
	"asks-for-other-key": {
		"asks for another key than the one that acquire has set",
		"derive the key in one place, for acquire, extend and release alike",
		"",
	},
	"extends-lost-lease": {
		"reports success although too few servers have extended its key, or none",
		"count only the servers that confirm that the key still exists and has this lease's value, and report anything else as a loss",
		"redsync-late-extend",
	},
	"sets-gone-key": {
		"sets the key of its lease again after the key was gone",
		"extend only a key that still exists and has this lease's value, and report anything else as a loss: another client may have had the lock in between",
		"redsync-late-extend",
	},
	"key-too-long": {
		"sets a key that lives much longer than the lease",
		"check the unit of the expiry: EX and EXPIRE count seconds, PX and PEXPIRE milliseconds, a lease of etcd seconds",
		"",
	},
	"renews-after-release": {
		"renews the key after its release was called",
		"end the renewal before the release sends its request, whether or not the release succeeds",
		"",
	},
	"ignores-expiry": {
		"does not take over a key that has expired",
		"let the statement that acquires the lock also take a row whose expiry has passed by the server's clock",
		"",
	},
	"waits-for-silent": {
		"waits too long for a server that does not answer, although the others are enough",
		"ask all servers at the same time, and give each answer a timeout that is much shorter than the TTL",
		"redsync-silent-node",
	},
	"fails-with-server": {
		"fails because of one server, although the others are enough",
		"count the answers of all servers, and give up only when too few servers are left for a quorum",
		"",
	},
	"misses-wake-up": {
		"waits although its own key is the first in the queue",
		"watch from the revision after the one at which you have looked, so that no change between the look and the watch is missed",
		"",
	},
	"does-not-renew": {
		"lets a lease end that it should renew",
		"look whether the goroutine that renews the lease runs, and whether the server confirms each renewal: the script may compare another value or name another key",
		"",
	},
	"grants-ended-lease": {
		"returns a lease that has already ended",
		"measure how long the call took, and give up if no time of the lease is left",
		"network-delay-in-acquire",
	},
	"extends-too-late": {
		"reports success although even the lease's new end has passed",
		"measure how long the call took, and report the lease as lost if its new end has passed",
		"redsync-late-extend",
	},
	"notifies-too-late": {
		"notifies the holder of the loss too late or never",
		"notify the holder when a renewal finds no key of the lease, and when the time of the lease is up, by a timer of the client that needs no answer from a server",
		"rueidislock-late-loss",
	},
	"leaves-key-of-failure": {
		"fails and leaves its key behind",
		"after each error, remove the key, unless the error proves that the key was not set; use a new context that leaves enough time",
		"redlock-left-behind",
	},
	"stops-at-failed-server": {
		"fails at one server, and leaves its key on others that it does not ask",
		"ask every server, also after one that fails: collect the errors, and return them at the end",
		"",
	},
	"leaves-key-of-release": {
		"reports success and leaves its key behind",
		"send the removal to every server on which acquire may have set a key, and return an error if it is not confirmed",
		"",
	},
	"keeps-key-by-session": {
		"fails, and the session of the client keeps the key",
		"repeat the removal until a server answers, also in the background, or end the session",
		"",
	},
	checks.ReturnsNoLease: {
		"returns neither a lease nor an error",
		"if the lock was not acquired, return locks.ErrNotAcquired or another error; otherwise return a lease",
		"",
	},

	checks.Mistake(checks.ReleaseOwnership):          {"touches the key of another acquisition", "check whose key it is in the same step that changes it", "release-without-check"},
	checks.Mistake(checks.LeaseExclusion):            {"", "find out why the server granted the lock a second time: the replay with LOCKSIM_MESSAGES=1 shows every command", ""},
	checks.Mistake(checks.SectionExclusion):          {"", "find out why the second client was granted the lock: the replay with LOCKSIM_MESSAGES=1 shows every command", ""},
	checks.Mistake(checks.TokenOrder):                {"", "let the server that grants the lock count the tokens, in the same step, with a counter that outlives the lock: a key or row that neither a release nor an expiry removes", "fencing-late-mint"},
	checks.Mistake(checks.ReleaseAnswer):             {"", "return an error if the server did not confirm that this call removed the key", ""},
	checks.Mistake(checks.ReleaseFails):              {"", "look at the error above: release returned it although the key existed and nothing was wrong", ""},
	checks.Mistake(checks.Progress):                  {"", "see which key or which call the clients wait for, and give each wait an end", ""},
	checks.Mistake(checks.OwnKeyInTheWay):            {"", "if the key exists, compare its value with this acquire's value before giving up", "redlock-left-behind"},
	checks.Mistake(checks.ClaimExtends):              {"", "report success only if the server has confirmed a new end, and count it from before the request was sent", ""},
	checks.Mistake(checks.ClaimNotifies):             {"", "watch each lease: notify its holder when a renewal finds no key, or when the time of the lease is up", ""},
	checks.Mistake(checks.ClaimTokens):               {"", "take a token from the server with each grant, or do not claim Tokens", ""},
	checks.Mistake(checks.ClaimReportsLossAtRelease): {"", "return an error from release if the server finds no key of this lease, or do not claim ReportsLossAtRelease", ""},
	checks.Mistake(checks.Hang):                      {"", "give every wait a context or a timeout", ""},
	checks.Mistake(checks.GoroutineLeak):             {"", "end every goroutine that a lease has started when the lease is released or lost", ""},
	checks.Mistake(checks.EndlessRetry):              {"", "wait between two attempts, with some jitter", "retry-fixed"},
}

// MistakeTitle says in a line what a lock does wrong: "release removes the key of another
// acquisition, because it compares nothing". step is the call in which the lock makes the
// mistake; if it is "", the title begins with "the lock" instead. The title of a mistake that is
// not recognised says which property is violated.
func MistakeTitle(m checks.Mistake, step trace.Step) string {
	does := mistakeTexts[m].does
	switch {
	case does == "":
		return checks.Property(m).Card().Broken
	case step == "":
		return "the lock " + does
	}
	return string(step) + " " + does
}

// KeyInTheWay describes a key that keeps other clients waiting: whose it is, the result of
// the call that should have removed it, and how long it is there.
func KeyInTheWay(h *history.History, k *history.Holding) string {
	text := fmt.Sprintf("%s's key %q on %s, set at %s", k.Owner.Client, k.Key, NameOf(k.Node), Time(k.Set.At))
	for _, c := range h.CallsOf(k.Owner) {
		if c.Ended != nil && c.Failed() {
			text += fmt.Sprintf("; its %s failed at %s", c.Step, Time(c.Ended.At))
		}
	}
	switch {
	case k.How == history.Expired:
		text += "; it expired at " + Time(k.Ended.At)
	case k.Ended != nil:
		text += "; it was there until " + Time(k.Ended.At)
	case k.Due == history.Forever:
		text += "; it never expires"
	default:
		text += "; it was still there at the end"
	}
	return text
}

// Remedy says what to change in a lock that makes a mistake, and names the built-in
// scenario that teaches it. Each is "" if there is none.
func Remedy(m checks.Mistake) (sentence, scenario string) {
	return mistakeTexts[m].remedy, mistakeTexts[m].scenario
}
