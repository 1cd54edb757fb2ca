package checks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Mistake is a kind of error in the code of a lock. All violations with the same mistake
// are repaired in the same way; package internal/story has a text for each mistake. A violation
// for which no mistake is recognised has the name of its property as its mistake.
type Mistake string

// The mistakes that are recognised. [Cause.Step] is the call in which a mistake is made. An
// acquisition is one call of acquire and everything that follows from it.
const (
	// removesUnchecked: a Redis command that does not compare the key's value, such as DEL, removes
	// a key of another acquisition.
	removesUnchecked Mistake = "removes-unchecked"
	// extendsUnchecked: such a command, for example PEXPIRE, changes the expiry of a key of another
	// acquisition.
	extendsUnchecked Mistake = "extends-unchecked"
	// overwrites: a command, for example SET without NX, replaces a key of another acquisition.
	overwrites Mistake = "overwrites"
	// removesForeign and extendsForeign: a script, a transaction or a statement of SQL removes a
	// key of another acquisition or changes its expiry. It could have compared the key's value.
	removesForeign Mistake = "removes-foreign"
	extendsForeign Mistake = "extends-foreign"
	// sharesSession: two acquisitions use one session. The system grants its locks to
	// sessions. So a session that holds the lock is granted it again, and each of the two
	// acquisitions can release it.
	sharesSession Mistake = "shares-session"
	// checksThenActs: a call reads the key first, and then sends a command that does not compare
	// the key's value. In between, the key can become another client's.
	checksThenActs Mistake = "checks-then-acts"
	// equalValues: two acquisitions set the key to the same value, so that no comparison can
	// distinguish them.
	equalValues Mistake = "equal-values"
	// removesOwnKey: the lock itself removes the key of its holder while the holder's lease is
	// valid.
	removesOwnKey Mistake = "removes-own-key"
	// failsAfterRemoval: release returns an error although it has removed the key and the server
	// has confirmed that.
	failsAfterRemoval Mistake = "fails-after-removal"
	// keyTooShort: the key expires after a tenth of the lease or less, as if a number of seconds
	// had been taken for milliseconds.
	keyTooShort Mistake = "key-too-short"
	// leaseOutlivesKey: the lease ends later than the keys that it is based on.
	leaseOutlivesKey Mistake = "lease-outlives-key"
	// extendsLostLease: extend reports success although fewer servers than a quorum have extended
	// a key of the lease. The keys are gone, or the lock ignores answers.
	extendsLostLease Mistake = "extends-lost-lease"
	// setsGoneKey: extend sets a key of the lease that no longer existed.
	setsGoneKey Mistake = "sets-gone-key"
	// keyTooLong: a key that keeps every other client waiting lives for ten times the TTL or
	// more.
	keyTooLong Mistake = "key-too-long"
	// renewsAfterRelease: a key keeps every other client waiting because the lock renews it
	// after release was called.
	renewsAfterRelease Mistake = "renews-after-release"
	// doesNotRenew: a lease ends although no fault acted and the lock says that it renews its
	// leases by itself.
	doesNotRenew Mistake = "does-not-renew"
	// ignoresExpiry: the database row that contains a grant has expired, and the lock does not take
	// the row over.
	ignoresExpiry Mistake = "ignores-expiry"
	// waitsForSilent: the lock waits too long for a server that does not answer, although the other
	// servers are a quorum.
	waitsForSilent Mistake = "waits-for-silent"
	// failsWithServer: acquire fails soon after one server has failed, although the other servers
	// are a quorum.
	failsWithServer Mistake = "fails-with-server"
	// missesWakeUp: an acquire waits in a queue although its own key is the first.
	missesWakeUp Mistake = "misses-wake-up"
	// keyNeverExpires: a key without an expiry keeps every other client waiting.
	keyNeverExpires Mistake = "key-never-expires"
	// grantsWithoutQuorum: the lock is granted although fewer servers than a quorum have a
	// key of the grant. grantsWithoutKey: it is granted although the only server that keeps
	// the lock has no key of the grant.
	grantsWithoutQuorum Mistake = "grants-without-quorum"
	grantsWithoutKey    Mistake = "grants-without-key"
	// grantsEndedLease: acquire returns a lease that has already ended.
	grantsEndedLease Mistake = "grants-ended-lease"
	// extendsTooLate: extend reports success although both the old and the new end of
	// the lease have passed.
	extendsTooLate Mistake = "extends-too-late"
	// notifiesTooLate: the holder is notified of the loss too late or never.
	notifiesTooLate Mistake = "notifies-too-late"
	// leavesKeyOfFailure: a failed acquire leaves its key behind.
	leavesKeyOfFailure Mistake = "leaves-key-of-failure"
	// leavesKeyOfRelease: a successful release leaves its key behind.
	leavesKeyOfRelease Mistake = "leaves-key-of-release"
	// stopsAtFailedServer: a release fails and leaves a key on a server that it did not ask. It
	// seems to have stopped when another server failed.
	stopsAtFailedServer Mistake = "stops-at-failed-server"
	// keepsKeyBySession: a release fails, and the key continues to exist because the client keeps
	// its session alive.
	keepsKeyBySession Mistake = "keeps-key-by-session"
	// ReturnsNoLease: acquire returns neither a lease nor an error.
	ReturnsNoLease Mistake = "returns-no-lease"
)

// A Cause is a mistake that a lock made in one run, and the violations that follow from it.
type Cause struct {
	Mistake Mistake
	// Step is the call of the lock whose command did the damage; "" if no single call did,
	// or if the command was sent between two calls.
	Step trace.Step
	// Findings are the violations. There is at least one. The first violation shows the mistake.
	// The others follow in the order in which they happened.
	Findings []Finding
	// InTheWay is the key of the lock that keeps other clients waiting; nil if none does.
	InTheWay *history.Holding
}

// Causes returns why the lock violated properties in a run. The argument blamed lists the
// violations that are the lock's own fault. The caller leaves out those that do not count, for
// example because of a doubt about the run. The result is nil if blamed is empty.
//
// A violation belongs to the cause of another violation if it can follow from it. For example, a
// lock removes another client's key, is then granted twice, and two clients are in their critical
// sections: these three violations have one cause.
func Causes(h *history.History, blamed []Finding) []Cause {
	q := &judgedRun{h}
	var causes []Cause
	for _, f := range slices.SortedStableFunc(slices.Values(blamed), compareFindings) {
		c := q.causeOf(f)
		if i := slices.IndexFunc(causes, func(known Cause) bool { return known.explains(c) }); i >= 0 {
			causes[i].add(c)
			continue
		}
		var others []Cause
		for _, known := range causes {
			if c.explains(known) {
				c.add(known)
			} else {
				others = append(others, known)
			}
		}
		causes = append(others, c)
	}
	return causes
}

// explains reports whether the violations of another cause can follow from this one. There are
// three cases. First, both causes are the same mistake in the same call. Second, the first
// violation of this cause came before the first of the other, both properties are in one family
// (see families), and the property of the other violation does not come earlier there.
//
// Third, only this cause is a recognised mistake, and the other violation is of [Progress], or both
// properties are in the first family. Then the order in time does not matter, because a violation
// can come before the event that shows the mistake. For example, a client that stays in its section
// too long shows no mistake of the lock until an extension confirms its lease.
func (c Cause) explains(other Cause) bool {
	own, follows := c.Findings[0], other.Findings[0]
	areIn := func(family []Property) bool {
		return slices.Contains(family, own.Property) && slices.Contains(family, follows.Property)
	}
	switch {
	case c.Mistake == other.Mistake && c.Step == other.Step:
		return true
	case slices.ContainsFunc(families, areIn) && own.Property.rank() <= follows.Property.rank() && compareFindings(own, follows) <= 0:
		return true
	}
	return c.isRecognised() && !other.isRecognised() && (follows.Property == Progress || areIn(families[0]))
}

// isRecognised reports whether the mistake is one of the constants of type Mistake. Otherwise it is
// only the name of the violated property.
func (c Cause) isRecognised() bool { return c.Mistake != Mistake(c.Findings[0].Property) }

// add adds the violations of a cause that this one explains.
func (c *Cause) add(other Cause) {
	c.Findings = append(c.Findings, other.Findings...)
	slices.SortStableFunc(c.Findings[1:], func(a, b Finding) int { return a.At - b.At })
	c.InTheWay = cmp.Or(c.InTheWay, other.InTheWay)
}

// compareFindings orders findings so that a cause comes before its consequences: in the order in
// which they happened, but findings about waiting clients come last. A wait is known to be in vain
// only after the client has waited long enough.
func compareFindings(a, b Finding) int {
	aWaits, bWaits := slices.Contains(aboutWaiting, a.Property), slices.Contains(aboutWaiting, b.Property)
	switch {
	case aWaits && bWaits:
		return a.Property.rank() - b.Property.rank()
	case aWaits:
		return 1
	case bWaits:
		return -1
	}
	return cmp.Or(a.At-b.At, a.Property.rank()-b.Property.rank())
}

// aboutWaiting are the properties about keys that make clients wait in vain.
var aboutWaiting = []Property{OwnKeyInTheWay, KeyLeftBehind, Progress}

// families are groups of properties. A violation can follow from an earlier violation if both
// properties are in one group, and the property of the earlier violation does not come later in the
// group.
var families = [][]Property{
	{
		ReleaseOwnership, LeaseExclusion, SectionExclusion, ReleaseAnswer, TokenOrder, GrantOrder, WriteOrder, NoLostUpdate,
		SerialSections, OncePerPeriod,
	},
	aboutWaiting,
}

// rank returns the property's index in its family; len(properties) if it is in no family.
func (p Property) rank() int {
	for _, family := range families {
		if i := slices.Index(family, p); i >= 0 {
			return i
		}
	}
	return len(properties)
}

// isAboutKeys reports whether a violation of the property can follow from what happened to a key.
func (p Property) isAboutKeys() bool {
	return p.rank() < len(properties) || slices.Contains([]Property{ReleaseFails, ClaimExtends, ClaimNotifies, ClaimReportsLossAtRelease}, p)
}

// causeOf returns the cause that a violation shows by itself.
func (h *judgedRun) causeOf(f Finding) Cause {
	c := Cause{Findings: []Finding{f}}
	if f.Property == Progress {
		c.Mistake, c.Step, c.InTheWay = h.mistakeWithProgress(f)
	} else {
		c.Mistake, c.Step = h.mistakeOf(f)
	}
	if f.Property.isAboutKeys() {
		if m, step := h.mistakeWithKeys(f.At); m != "" {
			c.Mistake, c.Step = m, step
		}
	}
	c.Mistake = cmp.Or(c.Mistake, Mistake(f.Property))
	if !c.Step.AtLock() {
		c.Step = ""
	}
	return c
}

// mistakeWithKeys returns the mistake that the changes of the lock's keys show, up to the event
// until, and the call in which it was made; "" if they show none. It does not look at what followed
// from the mistake.
func (h *judgedRun) mistakeWithKeys(until int) (Mistake, trace.Step) {
	if d := h.firstDamage(until); d != nil {
		return h.mistakeWithDamage(d)
	}
	if h.comparesEqualValues() {
		return equalValues, ""
	}
	for _, s := range h.Sections() {
		if k := h.ownRemoval(s); k != nil && k.Ended.Seq <= until {
			return removesOwnKey, h.stepOf(k.Ended.By)
		}
	}
	return "", ""
}

// mistakeOf returns the mistake that a violation of a certain property shows, and the call in which
// it was made. The mistake is "" if none is recognised. Mistakes that the changes of keys show by
// themselves are found by mistakeWithKeys.
func (h *judgedRun) mistakeOf(f Finding) (Mistake, trace.Step) {
	switch f.Property {
	case LeaseExclusion, SectionExclusion:
		return h.mistakeWithExclusion(f)
	case TokenOrder:
		if h.takesKeyOfOtherHandle(f) {
			return equalValues, trace.Acquire
		}
	case KeyLeftBehind:
		switch m, step, _ := h.mistakeWithKeptKey(h.HoldingsOf(h.acquisitionOf(f.Events[0]))); {
		case m != "":
			return m, step
		case f.Reason.Code == Code(releasedWithoutAsking), f.Reason.Code == Code(releasedByWriting):
			return leavesKeyOfRelease, trace.Release
		}
		return leavesKeyOfFailure, trace.Acquire
	case ReleaseAnswer, ReleaseFails, ClaimReportsLossAtRelease:
		a := h.acquisitionOf(f.Events[0])
		switch m, step, _ := h.mistakeWithKeptKey(h.HoldingsOf(a)); {
		case m != "":
			return m, step
		case h.failsAfterRemoval(a):
			return failsAfterRemoval, trace.Release
		case f.Property == ReleaseAnswer && h.asksForOtherKey(a, trace.Release):
			return asksForOtherKey, trace.Release
		case f.Reason.Code == Code(releasedNothing):
			return leavesKeyOfRelease, trace.Release
		}
	case trafficAfterRelease:
		if h.sendsRenewal(f) {
			return renewsAfterRelease, ""
		}
	case ClaimNotifies:
		s := h.Section(h.acquisitionOf(f.Events[0]))
		isComplaint := f.Reason.Code == Code(complaint) // by a program that was not notified, or for no reason
		switch {
		case h.lacksRenewal(f):
			return doesNotRenew, ""
		case f.Reason.Code == Code(notNotifiedOfLoss), isComplaint && s != nil && s.Granted.Notifies && len(h.unbackedTimes(s)) > 0:
			return notifiesTooLate, ""
		}
	case ClaimExtends:
		return h.mistakeWithExtension(f)
	case conformance:
		if slices.ContainsFunc(h.Trace.Complaints, func(c trace.Complaint) bool { return c.Rule == trace.NoLease }) {
			return ReturnsNoLease, trace.Acquire
		}
	case Hang:
		if len(f.Events) > 0 && slices.ContainsFunc(h.HoldingsOf(h.acquisitionOf(f.Events[0])), h.isFirstInQueue) {
			return missesWakeUp, trace.Acquire
		}
	case GoroutineLeak:
		isInStack := func(call string) bool { return h.Trace.Ending != nil && strings.Contains(h.Trace.Ending.Stacks, call) }
		if slices.ContainsFunc([]string{").Acquire(", ").Extend(", ").Release("}, isInStack) {
			return Mistake(Hang), "" // the goroutine that remains is in a call
		}
	}
	return "", ""
}

// mistakeWithKeptKey looks for the first key that stays after its release because of a mistake. It
// returns the mistake, the call in which it was made, and the key; "" and nil if there is none.
func (h *judgedRun) mistakeWithKeptKey(keys []*history.Holding) (Mistake, trace.Step, *history.Holding) {
	for _, k := range keys {
		switch {
		case h.isHeldInOtherSession(k):
			return unlocksInOtherSession, trace.Release, k
		case h.isKeptWithoutExpiry(k):
			return keyNeverExpires, trace.Acquire, k
		}
	}
	return "", "", nil
}

// mistakeWithProgress returns the mistake that keeps clients waiting, the call in which it was
// made, and the key that keeps them waiting. The mistake is "" if it is not recognised, and the key
// is nil if no key keeps them waiting.
func (h *judgedRun) mistakeWithProgress(f Finding) (Mistake, trace.Step, *history.Holding) {
	if m, step, k := h.mistakeWithKeptKey(h.Holdings()); m != "" {
		return m, step, k
	}
	if m, step, k := h.mistakeWithStandingKey(); m != "" {
		return m, step, k
	}
	expired := h.expiredForGood()
	switch isPartInReach := slices.ContainsFunc(f.Reason.More, isPartInReach); {
	case isPartInReach && h.failsSoon(f):
		return failsWithServer, trace.Acquire, nil
	case isPartInReach:
		return waitsForSilent, "", nil
	case expired != nil:
		return ignoresExpiry, trace.Acquire, expired
	case h.waitsInSilence():
		return Mistake(Hang), "", nil
	}
	return "", "", nil
}

// comparesEqualValues reports whether two acquisitions set a key of the lock to the same value, or
// tried to, and the lock sends that value again, as if to compare it.
func (h *judgedRun) comparesEqualValues() bool {
	type attempt struct{ key, value string }
	by := map[attempt]history.Acquisition{}
	for _, m := range h.Messages() {
		key, value, ok := setBy(m.Command())
		if !ok || !h.IsLockKey(key) {
			continue
		}
		at, owner := attempt{key, value}, history.Acquisition{Client: m.From, Section: m.Sent.Section}
		switch first, known := by[at]; {
		case !known:
			by[at] = owner
		case first != owner && h.sendsAgain(value):
			return true
		}
	}
	return false
}

// sendsAgain reports whether a client sends a value in a request that does not set a key to
// it, as if to compare the value.
func (h *judgedRun) sendsAgain(value string) bool {
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		_, _, sets := setBy(m.Command())
		return !sets && slices.Contains(m.Command(), value)
	})
}

// mistakeWithExclusion returns the mistake that explains why two leases, or two sections,
// overlap.
func (h *judgedRun) mistakeWithExclusion(f Finding) (Mistake, trace.Step) {
	for _, more := range f.Reason.More {
		switch more.Code {
		case Code(grantedByNobody):
			return h.grantWithoutKeys(f), trace.Acquire
		case Code(endedWhenGranted):
			return grantsEndedLease, trace.Acquire
		case Code(renewedTooLate):
			return extendsTooLate, trace.Extend
		case Code(notifiedTooLate), Code(neverNotified):
			return notifiesTooLate, ""
		}
	}
	if f.Reason.Code == Code(renewedAsIfAlone) {
		if c := h.callEndedBy(f.At); c != nil && h.asksForOtherKey(c.Acquisition, trace.Extend) {
			return asksForOtherKey, trace.Extend
		}
		if h.callEndedBy(f.At) == nil {
			return extendsLostLease, "" // the lock renewed the lease by itself
		}
		return extendsLostLease, trace.Extend
	}
	if len(f.Events) < 2 {
		return "", ""
	}
	for _, number := range f.Events[:2] {
		if s := h.Section(h.acquisitionOf(number)); s != nil {
			if m, step := h.mistakeWithLease(s, f); m != "" {
				return m, step
			}
		}
	}
	return "", ""
}

// mistakeWithLease compares a section's lease with the keys that it is based on. It compares them
// at the second event of a violation f, when another client was granted the lock. It returns "" if
// the lease agrees with the keys.
func (h *judgedRun) mistakeWithLease(s *history.Section, f Finding) (Mistake, trace.Step) {
	seen := f.Events[1]
	lock, slots, latest, until := h.Lock(s.Lock), h.Slots(s.Lock), s.Lease.Latest(seen), s.Lease.Until(seen)
	if len(slots) == 0 || latest == nil {
		return "", ""
	}
	due := map[history.Place]time.Duration{} // the key of the grant on each node
	for _, k := range h.HoldingsOf(s.Acquisition) {
		wasGone := k.How == history.Removed && k.Ended.Seq < s.Granted.Seq // by the clean-up of an earlier attempt
		if k.By == nil || !slots.Contains(k.Place) || k.Set.Seq > seen || wasGone {
			continue
		}
		due[k.Place] = max(due[k.Place], k.Due)
		if until != history.Never && k.Due-k.Set.At <= (until.At-k.Set.At)/10 {
			return keyTooShort, trace.Acquire
		}
	}
	inTime := 0
	for _, d := range due {
		if until != history.Never && d >= until.At || d == history.Forever {
			inTime++
		}
	}
	switch {
	case len(due) < lock.Quorum:
		return h.grantWithoutKeys(f), trace.Acquire
	case inTime < lock.Quorum:
		return h.mistakeWithShortKeys(s.Acquisition, latest), latest.Call.Step
	}
	return "", ""
}

// grantWithoutKeys returns the mistake of a lock that is granted, in a violation f, although
// too few servers have a key of the grant.
func (h *judgedRun) grantWithoutKeys(f Finding) Mistake {
	if m := h.mistakeWithOtherKeys(f); m != "" {
		return m
	}
	for _, number := range f.Events {
		if s := h.Section(h.acquisitionOf(number)); s != nil && len(h.Slots(s.Lock)) == 1 {
			return grantsWithoutKey
		}
	}
	return grantsWithoutQuorum
}

// stepOf returns the call in which an actor sent its command; "" if it sent the command
// between two calls.
func (h *judgedRun) stepOf(actor *trace.Actor) trace.Step {
	if sent := h.Event(actor.Sent); sent != nil {
		return sent.Step
	}
	return ""
}

// mistakeWithStandingKey returns the mistake that made a key of the lock keep other clients
// waiting, and that key; "" if no key did.
func (h *judgedRun) mistakeWithStandingKey() (Mistake, trace.Step, *history.Holding) {
	for _, k := range h.Holdings() {
		lock, kept := h.LockAt(k.Place)
		if !kept || lock.TTL == 0 || k.By == nil || !h.stepOf(k.By).AtLock() {
			continue
		}
		if reached, ok := h.ReachableSlots(lock.Name, k.Owner.Client); ok && len(lock.Slots) > 1 && !reached.Contains(k.Place) {
			continue // the lock can do without the node
		}
		calls := h.CallsOf(k.Owner)
		if k.Ended == nil {
			failedRelease := func(c *history.Call) bool { return c.Step == trace.Release && c.Failed() }
			failedAcquire := func(c *history.Call) bool { return c.Step == trace.Acquire && c.Failed() }
			switch {
			case h.isInSession(k.Owner) && slices.ContainsFunc(calls, failedRelease):
				return keepsKeyBySession, trace.Release, k
			case h.isFirstInQueue(k):
				return missesWakeUp, trace.Acquire, k
			case k.Due == history.Forever:
				return keyNeverExpires, h.stepOf(lastExpiry(k).By), k
			case h.isRenewedAfterRelease(k):
				return renewsAfterRelease, "", k
			case slices.ContainsFunc(calls, failedAcquire):
				return leavesKeyOfFailure, trace.Acquire, k // also if the client's session keeps it for long
			case lastExpiry(k).TTL >= 10*lock.TTL:
				return keyTooLong, h.stepOf(lastExpiry(k).By), k
			case h.isRenewed(k) && slices.ContainsFunc(calls, failedRelease):
				return keepsKeyBySession, trace.Release, k // of a lease that does not name its session
			}
		}
		if k.Ended != nil && k.How != history.Expired {
			continue
		}
		for _, c := range calls {
			if c.Ended == nil || k.Due < c.Ended.At+removalTime(lock.TTL) {
				continue
			}
			switch {
			case c.Step == trace.Acquire && c.Failed():
				return leavesKeyOfFailure, trace.Acquire, k
			case c.Step == trace.Release && c.OK() && h.asksForOtherKey(k.Owner, trace.Release):
				return asksForOtherKey, trace.Release, k
			case c.Step == trace.Release && c.OK():
				return leavesKeyOfRelease, trace.Release, k
			case c.Step == trace.Release && len(lock.Slots) > 1 && !h.wasNodeAsked(k, c.Began) && !h.wasStruckDuring(k.Node, c):
				return stopsAtFailedServer, trace.Release, k
			}
		}
	}
	return "", "", nil
}

// isFirstInQueue reports whether, at the end of the run, an acquire still waits although its key is
// the oldest of all existing keys of the lock.
func (h *judgedRun) isFirstInQueue(k *history.Holding) bool {
	isWaiting := func(c *history.Call) bool {
		return c.Step == trace.Acquire && c.Began != nil && c.Ended == nil && c.Crashed == nil
	}
	isOlder := func(other *history.Holding) bool {
		return other.Ended == nil && other.Set.Seq < k.Set.Seq && h.IsLockKey(other.Key)
	}
	return k.Ended == nil && h.isRenewed(k) && slices.ContainsFunc(h.CallsOf(k.Owner), isWaiting) && !slices.ContainsFunc(h.Holdings(), isOlder)
}

// isRenewed reports whether a key was set longer ago than its TTL. If such a key still exists, its
// client's session keeps it alive.
func (h *judgedRun) isRenewed(k *history.Holding) bool {
	return k.Set.TTL > 0 && h.Last().At-k.Set.At > k.Set.TTL
}

// wasStruckDuring reports whether a fault acted on a node, or on one of its links, at any time
// during the call. The call must have ended.
func (h *judgedRun) wasStruckDuring(node string, c *history.Call) bool {
	return slices.ContainsFunc(h.Acts(), func(a *history.Act) bool {
		f := h.Fault(a.Fault)
		isOfNode := f.Stops == node || slices.ContainsFunc(f.Targets, func(group []string) bool { return slices.Contains(group, node) })
		return isOfNode && a.Struck.Seq < c.Ended.Seq && (a.Lifted == nil || c.Began.Seq < a.Lifted.Seq)
	})
}

// expiredForGood returns an expired database row that no client took over, although an acquire that
// began more than a TTL later failed while no fault acted; nil if there is no such row. It
// considers only locks that keep each grant in a single row. Other keys are gone once they have
// expired, and nobody has to take them over.
func (h *judgedRun) expiredForGood() *history.Holding {
	for _, k := range h.Holdings() {
		lock, kept := h.LockAt(k.Place)
		isLater := func(other *history.Holding) bool { return other.Place == k.Place && other.Set.Seq > k.Set.Seq }
		command, _ := h.CommandOf(k.By)
		if !kept || !isStatement(command) || len(lock.Slots) != 1 || k.Ended == nil || k.How != history.Expired || slices.ContainsFunc(h.Holdings(), isLater) {
			continue
		}
		failsLater := func(c *history.Call) bool {
			return c.Step == trace.Acquire && c.Lock == lock.Name && c.Began != nil && c.Failed() && c.Cancelled == nil &&
				c.Began.At > k.Ended.At+lock.TTL && h.quietFor(c.Ended) >= c.Ended.At-c.Began.At
		}
		if slices.ContainsFunc(h.Calls(), failsLater) {
			return k
		}
	}
	return nil
}

// isStatement reports whether a command is a statement of SQL that can write a row.
func isStatement(command []string) bool {
	verbs := []string{"INSERT", "UPDATE", "MERGE", "WITH", "SELECT"}
	return len(command) > 0 && slices.Contains(verbs, strings.ToUpper(command[0]))
}

// isInSession reports whether the lease of an acquisition depends on a session: the record that a
// cluster keeps of a client while it considers the client alive.
func (h *judgedRun) isInSession(a history.Acquisition) bool {
	s := h.Section(a)
	return s != nil && s.Granted.Session != ""
}

// isRenewedAfterRelease reports whether the last renewal of a key was sent by its client
// after that client had called release.
func (h *judgedRun) isRenewedAfterRelease(k *history.Holding) bool {
	if len(k.Touches) == 0 {
		return false
	}
	by := k.Touches[len(k.Touches)-1].By
	return by != nil && by.Client == k.Owner.Client && slices.ContainsFunc(h.CallsOf(k.Owner), func(c *history.Call) bool {
		return c.Step == trace.Release && c.Began != nil && c.Began.Seq < by.Sent
	})
}

// sendsRenewal reports whether the event at which a violation was seen is the sending of a command
// with which the lock had also renewed the client's keys outside of any call.
func (h *judgedRun) sendsRenewal(f Finding) bool {
	sentCommand, sent := h.CommandOf(&trace.Actor{Sent: f.At})
	for _, k := range h.Holdings() {
		for _, touch := range k.Touches {
			if touch.By == nil || touch.By.Client != k.Owner.Client || touch.By.Client != sent.Process || h.stepOf(touch.By).AtLock() {
				continue
			}
			if command, _ := h.CommandOf(touch.By); isSameCode(command, sentCommand) {
				return true
			}
		}
	}
	return false
}

// lacksRenewal reports whether a key of a lease expired in a run in which no fault acted, and the
// client's program complains about the notification of the loss.
func (h *judgedRun) lacksRenewal(f Finding) bool {
	if f.Reason.Code != Code(complaint) || len(h.Acts()) > 0 {
		return false
	}
	a := h.acquisitionOf(f.Events[0])
	s := h.Section(a)
	return s != nil && s.Lost != nil && slices.ContainsFunc(h.slotKeys(a), func(k *history.Holding) bool { return k.How == history.Expired })
}

// failsSoon reports whether acquires failed before a violation, and each of them within a twentieth
// of the TTL. If so, the lock does not wait for the server that has failed. An acquire during which
// a fault acted does not count.
func (h *judgedRun) failsSoon(f Finding) bool {
	failed := 0
	for _, c := range h.Calls() {
		if c.Step != trace.Acquire || c.Began == nil || !c.Failed() || c.Ended.Seq > f.At || h.quietFor(c.Ended) < c.Ended.At-c.Began.At {
			continue
		}
		if c.Ended.At-c.Began.At > h.Lock(c.Lock).TTL/20 {
			return false
		}
		failed++
	}
	return failed > 0
}

// lastExpiry returns the event with which a client last set a key's expiry. A client must have set
// the key.
func lastExpiry(k *history.Holding) *trace.Event {
	if n := len(k.Touches); n > 0 && k.Touches[n-1].By != nil {
		return k.Touches[n-1]
	}
	return k.Set
}

// isPartInReach reports whether a reason says that the client could reach enough of the lock's
// servers, but not all of them.
func isPartInReach(r Reason) bool {
	if r.Code != Code(quorumInReach) && r.Code != Code(membersInReach) {
		return false
	}
	return r.Args[1].(int) < r.Args[2].(int)
}
