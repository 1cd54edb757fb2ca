package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The scripts are traces written by hand; see [script].
func TestTokenOrder(t *testing.T) {
	judgeAll(t, TokenOrder, []judgement{
		{name: "a token given out twice", want: Violated, reasonParts: []string{"c2 was granted the lock after c1", "token 7 is not greater than 7"}, script: `
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=7 minted <--`},
		{name: "tokens that grow", want: Holds, script: `
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=8 minted`},
		{name: "the order is the oracle's, not that of the returns", want: Holds, script: `
			0s  c2 acquires rank=2 token=8 minted
			40s c1 acquires rank=1 token=7 minted`},
		{name: "a stale holder gets the higher token", want: Violated, reasonParts: []string{"c2 was granted the lock after c1"}, script: `
			0s  c2 acquires rank=2 token=7 minted
			40s c1 acquires rank=1 token=8 minted <--`},
		{name: "not next to each other", want: Violated, reasonParts: []string{"token 8 is not greater than 9"}, script: `
			0s  c1 acquires rank=1 token=9 minted
			10s c2 acquires rank=2 token=10 minted
			20s c3 acquires rank=3 token=8 minted <--`},
		{name: "minted only after the next grant", want: Violated,
			reasonParts: []string{"c2 was granted the lock after c1", "token 1 is not greater than 2", "both tokens existed at 50s"}, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 mints token=1
			50s c1 mints token=2 <--`},
		{name: "minted late, but before the next grant's", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c1 mints token=1
			42s c2 mints token=2`},
		{name: "minted twice by one counter that came back empty", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 mints token=1
			40s c2 acquires rank=2
			41s c2 mints token=1 <--`},
		{name: "minted anew by both, and in order at last", want: Violated,
			reasonParts: []string{"c2 was granted the lock after c1", "token 1 is not greater than 2", "both tokens existed at 50s"}, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 mints token=1
			50s c1 mints token=2 <--
			51s c2 mints token=3`},
		{name: "crashed before it minted", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 crashes
			40s c2 acquires rank=2
			41s c2 mints token=1`},
		{name: "the counter did not answer", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 mints token=5
			40s c2 acquires rank=2
			41s c2 fails-to-mint
			80s c3 acquires rank=3
			81s c3 mints token=6`},
		{name: "nobody got to mint", want: NotApplicable, reasonParts: []string{"no grant came with"}, script: `
			0s  c1 acquires rank=1
			1s  c1 fails-to-mint`},
		{name: "a lock that has no token for one of its grants", want: Holds, script: `
			0s  c1 acquires rank=1 token=5 minted
			40s c2 acquires rank=2
			80s c3 acquires rank=3 token=6 minted`},
		{name: "and yet goes back", want: Violated, reasonParts: []string{"c3 was granted the lock after c1"}, script: `
			0s  c1 acquires rank=1 token=5 minted
			40s c2 acquires rank=2
			80s c3 acquires rank=3 token=4 minted <--`},
		{name: "every client is granted the lock", want: NotApplicable, reasonParts: []string{"every client enters its section"}, script: `
			lock L ttl=30s open
			0s  c1 acquires rank=1
			1s  c1 mints token=5
			2s  c2 acquires rank=2
			3s  c2 mints token=4`},
		{name: "tokens that have no order", want: NotApplicable, reasonParts: []string{"the fencing tokens have no order"}, script: `
			lock L ttl=30s unordered
			0s  c1 acquires rank=1
			1s  c1 mints token=5
			40s c2 acquires rank=2
			41s c2 mints token=4`},
		{name: "two locks count for themselves", want: Holds, script: `
			lock M ttl=30s
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=7 minted lock=M`},
		{name: "tokens of the oracle among them are left out", want: Holds, script: `
			0s  c1 acquires rank=1 token=7 minted
			40s c2 acquires rank=2 token=2`},
		{name: "only tokens of the oracle", want: NotApplicable, reasonParts: []string{"oracle"}, script: `
			0s  c1 acquires rank=1 token=1`},
		{name: "no tokens", want: NotApplicable, reasonParts: []string{"no grant came with"}, script: `
			0s  c1 acquires rank=1`},
		{name: "no order of grants", want: Unknown, script: `
			0s  c1 acquires token=7 minted`},
		{name: "no lock", want: NotApplicable, script: `
			no-lock
			0s c1 writes x=0>1`},
	})
}

// Tokens that a lock mints itself must grow. The lock is excused only if it lost the
// counter or clock that they come from.
func TestWhoseFaultATokenIs(t *testing.T) {
	const (
		granted = `
			0s  A sets key=n by=c1/1 value=7
			0s  c1 acquires rank=1 token=7 minted ends=30s`
		again = `
			40s c2 acquires rank=2 token=7 minted ends=70s <--`
	)
	judgeAll(t, TokenOrder, []judgement{
		{name: "nothing had happened", want: Violated, blame: BlameLock, script: granted + again},
		{name: "a node lost what it held", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			10s A crashes
			15s A restarts
			15s A forgets key=n of=c1/1 value=7` + again},
		{name: "a node came back with what it had held earlier", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: granted + `
			10s A crashes
			15s A restarts
			15s A restores key=n of=c1/1 value=6` + again},
		{name: "a node lost it before either asked", want: Violated, blame: BlameLock, script: `
			-9s A sets key=n by=c3/1 value=7
			-8s A crashes
			-7s A restarts
			-7s A forgets key=n of=c3/1 value=7` + granted + again},
		{name: "a node that lost it was back while the first asked", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			-9s A sets key=n by=c3/1 value=7
			-8s A crashes
			-7s A forgets key=n of=c3/1 value=7
			-1s c1 calls
			-1s A restarts` + granted + again},
		{name: "a node lost it when both tokens were out", want: Violated, blame: BlameLock, script: granted + again + `
			41s A crashes
			42s A restarts
			42s A forgets key=n of=c1/1 value=7`},
		{name: "a node crashed and had everything on its disk", want: Violated, blame: BlameLock, script: granted + `
			10s A crashes
			15s A restarts` + again},
		{name: "a node lost it that the lock does not use", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s nodes=ABC` + granted + `
			1s  D sets key=n by=c1/1 value=7
			10s D crashes
			15s D restarts
			15s D forgets key=n of=c1/1 value=7` + again},
		{name: "of a lock of which nobody knows which it uses", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			lock L ttl=30s unwatched` + granted + `
			1s  D sets key=n by=c1/1 value=7
			10s D crashes
			15s D restarts
			15s D forgets key=n of=c1/1 value=7` + again},
		{name: "a replica that only followed", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s unwatched` + granted + `
			1s  R restores key=n of=c1/1 value=7` + again},
		{name: "a replica took over that had not received it", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			-1s R restores key=n of=c1/1 value=6` + granted + `
			10s A crashes
			11s R replaces A` + again},
		{name: "a replica took over that had", want: Violated, blame: BlameLock, script: granted + `
			1s  R restores key=n of=c1/1 value=7
			10s A crashes
			11s R replaces A` + again},
		{name: "a master minted it that a replica had replaced before", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			lock L ttl=30s nodes=A quorum=1
			-1s R replaces A
			-1s A sets by=c1/1 ttl=30s` + granted + again},
		{name: "one of the three that minted it had been replaced", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: `
			-1s R replaces A
			-1s A sets by=c1/1 ttl=30s
			-1s B sets by=c1/1 ttl=30s
			-1s C sets by=c1/1 ttl=30s` + granted + again},
		{name: "one of four, without which it was a quorum as well", want: Violated, blame: BlameLock, script: `
			-1s R replaces A
			-1s A sets by=c1/1 ttl=30s
			-1s B sets by=c1/1 ttl=30s
			-1s C sets by=c1/1 ttl=30s
			-1s D sets by=c1/1 ttl=30s` + granted + again},
		{name: "a node's clock was set", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: granted + `
			10s A shows wall=5s monotonic=10s why=jump` + again},
		{name: "the clock of one of the two drifted", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: granted + `
			10s c1 shows wall=10s monotonic=10s why=drift` + again},
		{name: "somebody else's clock was set", want: Violated, blame: BlameLock, script: granted + `
			10s c3 shows wall=5s monotonic=10s why=jump` + again},
		{name: "a client's clock, of which the lock knows nothing", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s true-time` + granted + `
			10s c1 shows wall=5s monotonic=10s why=jump` + again},
		{name: "a clock that was set when both tokens were out", want: Violated, blame: BlameLock, script: granted + again + `
			41s A shows wall=5s monotonic=41s why=jump`},
		{name: "clocks that only began", want: Violated, blame: BlameLock, script: `
			0s  A shows wall=0s monotonic=0s` + granted + again},
		{name: "clock and memory", want: Violated, blame: BlameAssumption(trace.AssumeClock, trace.AssumeLockMemory), script: granted + `
			9s  A shows wall=5s monotonic=9s why=jump
			10s A crashes
			15s A restarts
			15s A forgets key=n of=c1/1 value=7` + again},
	})
}

// The lock is not to blame for the tokens of a separate source, nor for a client that did
// something while it was paused.
func TestNobodysToken(t *testing.T) {
	for name, story := range map[string]string{
		"a source": `
			0s  c1 acquires rank=1
			1s  c1 mints token=7
			40s c2 acquires rank=2
			41s c2 mints token=7`,
		"a client that ran on": `
			0s  c1 acquires rank=1 token=7 minted
			9s  c1 runs-on
			40s c2 acquires rank=2 token=7 minted`,
	} {
		f := Check(history.New(parseScript(t, story).trace), nil).Finding(TokenOrder)
		if f.Outcome != Violated || !f.Blame.IsZero() {
			t.Errorf("%s: %s by %q", name, f.Outcome, f.Blame)
		}
	}
}
