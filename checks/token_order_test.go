package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The scripts are traces written by hand; see [script]. "token" is the fencing token
// of a grant; "minted" tokens come from the lock or a token source, others from the oracle.
// "rank" is the grant's position in the oracle's order of grants.
func TestTokenOrder(t *testing.T) {
	judgeAll(t, TokenOrder, []judgement{
		{name: "a token given out twice", want: Violated, reasonParts: []string{"c2 has a newer grant than c1", "its fencing token (7) was not greater than the other's (7)"}, script: `
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=7 minted <--`},
		{name: "tokens that grow", want: Holds, script: `
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=8 minted`},
		{name: "the grants returned in another order than the oracle's", want: Holds, script: `
			0s  c2 acquires rank=2 token=8 minted
			40s c1 acquires rank=1 token=7 minted`},
		{name: "a stale holder gets the higher token", want: Violated, reasonParts: []string{"c2 has a newer grant than c1"}, script: `
			0s  c2 acquires rank=2 token=7 minted
			40s c1 acquires rank=1 token=8 minted <--`},
		{name: "the last of three tokens is smaller than the first", want: Violated, reasonParts: []string{"its fencing token (8) was not greater than the other's (9)"}, script: `
			0s  c1 acquires rank=1 token=9 minted
			10s c2 acquires rank=2 token=10 minted
			20s c3 acquires rank=3 token=8 minted <--`},
		{name: "a token is minted after the next grant's token", want: Violated,
			reasonParts: []string{"c2 has a newer grant than c1", "its fencing token (1) was not greater than the other's (2)", "but at 50s its fencing token"}, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 mints token=1
			50s c1 mints token=2 <--`},
		{name: "a token is minted after the next grant, but before that grant's token", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c1 mints token=1
			42s c2 mints token=2`},
		{name: "a counter loses its value and mints a token twice", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 mints token=1
			40s c2 acquires rank=2
			41s c2 mints token=1 <--`},
		{name: "a client mints another token, which restores the order too late", want: Violated,
			reasonParts: []string{"c2 has a newer grant than c1", "its fencing token (1) was not greater than the other's (2)", "but at 50s its fencing token"}, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 mints token=1
			50s c1 mints token=2 <--
			51s c2 mints token=3`},
		{name: "the first client crashed before it minted a token", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 crashes
			40s c2 acquires rank=2
			41s c2 mints token=1`},
		{name: "the counter did not answer the second of three clients", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 mints token=5
			40s c2 acquires rank=2
			41s c2 fails-to-mint
			80s c3 acquires rank=3
			81s c3 mints token=6`},
		{name: "the only mint failed", want: NotApplicable, reasonParts: []string{"no grant came with"}, script: `
			0s  c1 acquires rank=1
			1s  c1 fails-to-mint`},
		{name: "one of three grants has no token", want: Holds, script: `
			0s  c1 acquires rank=1 token=5 minted
			40s c2 acquires rank=2
			80s c3 acquires rank=3 token=6 minted`},
		{name: "one of three grants has no token, and the last token is smaller than the first", want: Violated, reasonParts: []string{"c3 has a newer grant than c1"}, script: `
			0s  c1 acquires rank=1 token=5 minted
			40s c2 acquires rank=2
			80s c3 acquires rank=3 token=4 minted <--`},
		{name: "the lock is granted to every client that asks", want: NotApplicable, reasonParts: []string{"every client enters its section"}, script: `
			lock L ttl=30s open
			0s  c1 acquires rank=1
			1s  c1 mints token=5
			2s  c2 acquires rank=2
			3s  c2 mints token=4`},
		{name: "tokens without an order", want: NotApplicable, reasonParts: []string{"the fencing tokens have no order"}, script: `
			lock L ttl=30s unordered
			0s  c1 acquires rank=1
			1s  c1 mints token=5
			40s c2 acquires rank=2
			41s c2 mints token=4`},
		{name: "each of two locks has its own tokens", want: Holds, script: `
			lock M ttl=30s
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=7 minted lock=M`},
		{name: "a token of the oracle among minted tokens is left out", want: Holds, script: `
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=2`},
		{name: "only tokens of the oracle", want: NotApplicable, reasonParts: []string{"oracle"}, script: `
			0s  c1 acquires rank=1 token=1`},
		{name: "no tokens", want: NotApplicable, reasonParts: []string{"no grant came with"}, script: `
			0s  c1 acquires rank=1`},
		{name: "grants without ranks", want: Unknown, script: `
			0s  c1 acquires token=7 minted`},
		{name: "a world without locks", want: NotApplicable, script: `
			no-lock
			0s c1 writes x=0>1`},
	})
}

// Tokens that a lock mints itself must grow. The lock is excused only if it lost the
// counter or clock that they come from.
func TestBlameForTokenOrder(t *testing.T) {
	const (
		c1Granted = `
			0s  A sets key=n by=c1/1 value=7
			0s  c1 acquires rank=1 token=7 minted ends=30s`
		c2Granted = `
			40s c2 acquires rank=2 token=7 minted ends=70s <--`
	)
	judgeAll(t, TokenOrder, []judgement{
		{name: "no node lost anything", want: Violated, blame: BlameLock, script: c1Granted + c2Granted},
		{name: "a node forgot the counter in a crash", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			10s A crashes
			15s A restarts
			15s A forgets key=n of=c1/1 value=7` + c2Granted},
		{name: "a node restored an older value of the counter", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: c1Granted + `
			10s A crashes
			15s A restarts
			15s A restores key=n of=c1/1 value=6` + c2Granted},
		{name: "a node forgot the counter before both acquires", want: Violated, blame: BlameLock, script: `
			-9s A sets key=n by=c3/1 value=7
			-8s A crashes
			-7s A restarts
			-7s A forgets key=n of=c3/1 value=7` + c1Granted + c2Granted},
		{name: "a node that forgot the counter restarted during the first acquire", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			-9s A sets key=n by=c3/1 value=7
			-8s A crashes
			-7s A forgets key=n of=c3/1 value=7
			-1s c1 calls
			-1s A restarts` + c1Granted + c2Granted},
		{name: "a node forgot the counter after both grants", want: Violated, blame: BlameLock, script: c1Granted + c2Granted + `
			41s A crashes
			42s A restarts
			42s A forgets key=n of=c1/1 value=7`},
		{name: "a node crashed and forgot nothing", want: Violated, blame: BlameLock, script: c1Granted + `
			10s A crashes
			15s A restarts` + c2Granted},
		{name: "a node that the lock does not use forgot the counter", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s nodes=ABC` + c1Granted + `
			1s  D sets key=n by=c1/1 value=7
			10s D crashes
			15s D restarts
			15s D forgets key=n of=c1/1 value=7` + c2Granted},
		{name: "a node forgot the counter, and the lock does not say where it keeps its keys", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			lock L ttl=30s unwatched` + c1Granted + `
			1s  D sets key=n by=c1/1 value=7
			10s D crashes
			15s D restarts
			15s D forgets key=n of=c1/1 value=7` + c2Granted},
		{name: "a replica received the counter and was not promoted", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s unwatched` + c1Granted + `
			1s  R restores key=n of=c1/1 value=7` + c2Granted},
		{name: "a replica that had not received the counter was promoted", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			-1s R restores key=n of=c1/1 value=6` + c1Granted + `
			10s A crashes
			11s R replaces A` + c2Granted},
		{name: "a replica that had received the counter was promoted", want: Violated, blame: BlameLock, script: c1Granted + `
			1s  R restores key=n of=c1/1 value=7
			10s A crashes
			11s R replaces A` + c2Granted},
		{name: "the master that minted the token had been replaced", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			lock L ttl=30s nodes=A quorum=1
			-1s R replaces A
			-1s A sets by=c1/1 ttl=30s` + c1Granted + c2Granted},
		{name: "one of the three masters that granted the lock had been replaced", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			-1s R replaces A
			-1s A sets by=c1/1 ttl=30s
			-1s B sets by=c1/1 ttl=30s
			-1s C sets by=c1/1 ttl=30s` + c1Granted + c2Granted},
		{name: "one of four masters that granted the lock had been replaced, and the others are a quorum", want: Violated, blame: BlameLock, script: `
			-1s R replaces A
			-1s A sets by=c1/1 ttl=30s
			-1s B sets by=c1/1 ttl=30s
			-1s C sets by=c1/1 ttl=30s
			-1s D sets by=c1/1 ttl=30s` + c1Granted + c2Granted},
		{name: "a node's clock was set", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: c1Granted + `
			10s A shows wall=5s monotonic=10s why=jump` + c2Granted},
		{name: "the clock of the first client drifted", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: c1Granted + `
			10s c1 shows wall=10s monotonic=10s why=drift` + c2Granted},
		{name: "the clock of a third client was set", want: Violated, blame: BlameLock, script: c1Granted + `
			10s c3 shows wall=5s monotonic=10s why=jump` + c2Granted},
		{name: "a client's clock was set, but the lock reads true time", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s true-time` + c1Granted + `
			10s c1 shows wall=5s monotonic=10s why=jump` + c2Granted},
		{name: "a node's clock was set after both grants", want: Violated, blame: BlameLock, script: c1Granted + c2Granted + `
			41s A shows wall=5s monotonic=41s why=jump`},
		{name: "a node's clock began and was never set", want: Violated, blame: BlameLock, script: `
			0s  A shows wall=0s monotonic=0s` + c1Granted + c2Granted},
		{name: "a node's clock was set, and the node forgot the counter", want: Violated, blame: BlameAssumption(trace.AssumeClock, trace.AssumeLockMemory), script: c1Granted + `
			9s  A shows wall=5s monotonic=9s why=jump
			10s A crashes
			15s A restarts
			15s A forgets key=n of=c1/1 value=7` + c2Granted},
	})
}

// The lock is not to blame for the tokens of a separate source, nor for a client that did
// something while it was paused.
func TestNoBlameForTokenOrder(t *testing.T) {
	for name, story := range map[string]string{
		"tokens of a separate source": `
			0s  c1 acquires rank=1
			1s  c1 mints token=7
			40s c2 acquires rank=2
			41s c2 mints token=7`,
		"a client ran on while it was paused": `
			0s  c1 acquires rank=1 token=7 minted
			9s  c1 runs-on
			40s c2 acquires rank=2 token=7 minted`,
	} {
		f := Check(history.New(parseScript(t, story).trace), nil).Finding(TokenOrder)
		if f.Outcome != Violated || !f.Blame.IsZero() {
			t.Errorf("%s: token-order is %s, blame %q; want violated without blame", name, f.Outcome, f.Blame)
		}
	}
}
