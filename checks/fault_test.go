package checks

import "testing"

func TestWhoseFaultALeaseOverlapIs(t *testing.T) {
	const (
		granted = `
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			0s  B sets by=c1/1 ttl=30s
			0s  C sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=30s`
		again = `
			20s c2 calls
			20s C sets by=c2/1 ttl=30s value=value-2
			20s D sets by=c2/1 ttl=30s value=value-2
			20s E sets by=c2/1 ttl=30s value=value-2
			21s c2 acquires rank=2 ends=50s <--`
	)
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "every node kept every key", want: Violated, fault: FaultLock, story: granted + `
			19s C deletes by=c1/1 of=c1/1` + again},
		{name: "a node's clock ended a key early", want: Violated, fault: "assumption: clock", story: granted + `
			19s C expires of=c1/1` + again},
		{name: "a key ended when it was due", want: Violated, fault: FaultLock, story: `
			-12s C sets by=c3/1 ttl=30s key=L` + granted + `
			19s  D sets by=c1/1 ttl=500ms
			19s  D touches by=c1/1 of=c1/1 ttl=200ms
			19200ms D expires of=c1/1` + again},
		{name: "a key that had been prolonged ended early", want: Violated, fault: "assumption: clock", story: granted + `
			10s C touches by=c1/1 of=c1/1 ttl=9s
			18999ms C expires of=c1/1` + again},
		{name: "a node forgot a key in a crash", want: Violated, fault: "assumption: lock memory", story: granted + `
			10s C crashes
			15s C restarts
			15s C forgets of=c1/1` + again},
		{name: "a node that forgot is back only when the key was due", want: Violated, fault: FaultLock, story: granted + `
			1s  D sets by=c1/1 ttl=10s
			2s  D crashes
			2s  D forgets of=c1/1
			11s D restarts` + again},
		{name: "a node that forgot is back just before", want: Violated, fault: "assumption: lock memory", story: granted + `
			1s  D sets by=c1/1 ttl=10s
			2s  D crashes
			2s  D forgets of=c1/1
			10999ms D restarts` + again},
		{name: "an older state came back", want: Violated, fault: "assumption: lock memory", story: granted + `
			10s C crashes
			15s C restarts
			15s C restores of=c1/1 ttl=1s` + again},
		{name: "a longer life came back", want: Violated, fault: FaultLock, story: granted + `
			10s C crashes
			15s C restarts
			15s C restores of=c1/1 ttl=99s` + again},
		{name: "a replica without the key was promoted", want: Violated, fault: "assumption: lock memory", story: granted + `
			10s C crashes
			15s R replaces C` + again},
		{name: "a replica with the key was promoted", want: Violated, fault: FaultLock, story: granted + `
			2s  R restores of=c1/1 ttl=28s
			10s C crashes
			15s R replaces C` + again},
		{name: "a replica of another node was promoted", want: Violated, fault: FaultLock, story: granted + `
			10s D crashes
			15s R replaces D` + again},
		{name: "a master that was replaced may forget", want: Violated, fault: FaultLock, story: granted + `
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces C
			10s C forgets of=c1/1` + again},
		{name: "a key that was to stand for ever was forgotten", want: Violated, fault: "assumption: lock memory", story: granted + `
			2s  D sets by=c1/1
			19s D forgets of=c1/1` + again},
		{name: "a replica that lost a key is no node of the lock", want: Violated, fault: FaultLock, story: granted + `
			2s  R restores of=c1/1 ttl=28s
			10s R forgets of=c1/1` + again},
		{name: "a promoted replica is", want: Violated, fault: "assumption: lock memory", story: granted + `
			2s  R restores of=c1/1 ttl=28s
			9s  R replaces C
			10s R forgets of=c1/1` + again},
		{name: "both", want: Violated, fault: "assumption: clock, lock memory", story: granted + `
			9s  B expires of=c1/1
			10s C forgets of=c1/1` + again},
		{name: "the holder's own loss is what counts", want: Violated, fault: "assumption: clock", story: granted + `
			2s  D sets by=c3/1 ttl=30s
			3s  D forgets of=c3/1
			10s C expires of=c1/1` + again},
		{name: "somebody else's loss, if the holder had none", want: Violated, fault: "assumption: lock memory", story: granted + `
			2s  D sets by=c3/1 ttl=30s
			3s  D forgets of=c3/1` + again},
		{name: "a loss that came too late to matter", want: Violated, fault: FaultLock, story: granted + again + `
			22s A forgets of=c1/1`},
		{name: "a loss of a key that is not the lock's", want: Violated, fault: FaultLock, story: granted + `
			2s  A sets by=c1/1 ttl=30s key=other
			3s  A forgets of=c1/1 key=other` + again},
	})
}

func TestNobodyIsBlamedForWhatRanOn(t *testing.T) {
	s := tell(t, `
		0s  c1 acquires rank=1 ends=30s
		5s  c1 runs-on
		20s c2 acquires rank=2 ends=50s`)
	v := Check(s.trace, nil)
	if f := v.Finding(LeaseExclusion); f.Outcome != Violated || f.Fault != "" || !v.RanOn {
		t.Errorf("got %s by %q, ran on %v", f.Outcome, f.Fault, v.RanOn)
	}
	s = tell(t, `
		0s  c1 acquires rank=1 ends=30s
		20s c2 acquires rank=2 ends=50s
		25s c1 runs-on
		25s c3 runs-on`)
	if f := Check(s.trace, nil).Finding(LeaseExclusion); f.Fault != FaultLock {
		t.Errorf("what ran on afterwards, or has no part in it, excuses the lock: the fault is %q", f.Fault)
	}
}

func TestWhoseFaultASectionOverlapIs(t *testing.T) {
	judgeAll(t, SectionExclusion, []judgement{
		{name: "the leases are disjoint", want: Violated, fault: FaultInherent, story: `
			0s  c1 acquires rank=1 ends=30s
			30s c2 acquires rank=2 ends=60s <--`},
		{name: "the leases overlap too", want: Violated, fault: FaultLock, story: `
			0s  c1 acquires rank=1 ends=30s
			29s c2 acquires rank=2 ends=60s <--`},
		{name: "the leases overlap because a node broke an assumption", want: Violated, fault: "assumption: clock", story: `
			0s  C sets by=c1/1 ttl=30s
			0s  c1 acquires rank=1 ends=30s
			20s C expires of=c1/1
			29s c2 acquires rank=2 ends=60s <--`},
		{name: "a lease was dead when it was granted", want: Violated, fault: FaultLock, says: []string{"c1's lease had already ended when it was granted"}, story: `
			0s  c1 calls
			40s c2 acquires rank=2 ends=70s
			41s c1 acquires rank=1 ends=30s <--`},
	})
}
