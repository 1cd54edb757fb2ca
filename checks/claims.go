package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// These properties are violated by a lock that does not keep a claim of its author. A lock
// is judged only by the claims in the trace; see [trace.Claims].
const (
	// ClaimExtends is violated by a lease that cannot be extended as claimed. Only a
	// complaint of a client's program can show that.
	ClaimExtends Property = "claim: extends"
	// ClaimNotifies is violated by a lease that cannot notify of its loss. It is also violated if a
	// lease was lost and the lock did not notify its client for a TTL in which no fault acted. A
	// client whose clocks were changed does not count, because its lock may be unable to notify it
	// in time. A false alarm is a violation, too: while no fault acts, the lock itself removes the
	// key of a valid lease, and then notifies the holder of the loss.
	ClaimNotifies Property = "claim: notifies"
	// ClaimTokens is violated by a grant without a fencing token.
	ClaimTokens Property = "claim: tokens"
	// ClaimReportsLossAtRelease is violated by a release whose answer does not match what the
	// release did. A release for which [ReleaseAnswer] already blames the lock is left out.
	ClaimReportsLossAtRelease Property = "claim: tells at release"
)

var extendsAsClaimed = misconduct(Card{
	Property: ClaimExtends, Gravity: 18,
	Title:  "a lease can be extended, as the lock claims",
	Broken: "extend does not do what the lock claims",
	Label:  "claim: extends", Meaning: "the lock claims that a lease can be extended, and extend does not do that",
}, findNothing)

var notifiesAsClaimed = misconduct(Card{
	Property: ClaimNotifies, Gravity: 19,
	Title:  "the lock notifies the holder of a lost lease, as it claims",
	Broken: "the lock does not notify the holder of a lost lease, although it claims to",
	Label:  "claim: notifies", Meaning: "the lock claims to notify the holder of a lost lease, and does not",
}, func(h *judgedRun) (Reason, []int) {
	for _, section := range h.Sections() {
		if h.Lock(section.Lock).Claims.Notifies && !section.Granted.Notifies {
			return withMistyped(leaseCannotNotify.Reason(section.Client), section, "Lost"), []int{section.Granted.Seq}
		}
	}
	if reason, at := h.findFalseAlarm(); !reason.IsZero() {
		return reason, at
	}
	return h.findUnnotified()
})

var tokensAsClaimed = misconduct(Card{
	Property: ClaimTokens, Gravity: 20,
	Title:  "each grant comes with a fencing token, as the lock claims",
	Broken: "a grant comes without a fencing token, although the lock claims to have them",
	Label:  "claim: tokens", Meaning: "the lock claims that each grant has a fencing token, and one grant has none",
}, func(h *judgedRun) (Reason, []int) {
	for _, in := range h.Sections() {
		if h.Lock(in.Lock).Claims.Tokens && !in.Granted.Minted {
			return withMistyped(grantWithoutToken.Reason(in.Client), in, "Token"), []int{in.Granted.Seq}
		}
	}
	return Reason{}, nil
})

var reportsLossAtReleaseAsClaimed = misconduct(Card{
	Property: ClaimReportsLossAtRelease, Gravity: 21,
	Title:  "a release reports whether the lock was lost, as the lock claims",
	Broken: "a release does not report that the lock was lost, although the lock claims it",
	Label:  "claim: tells at release", Meaning: "the lock claims that a release reports whether the lock was lost, and it does not",
}, func(h *judgedRun) (Reason, []int) {
	if !slices.ContainsFunc(h.Trace.Locks, func(l trace.LockInfo) bool { return l.Claims.ReportsLossAtRelease }) {
		return Reason{}, nil
	}
	// If ReleaseAnswer itself blames the lock, the violation is not reported a second time.
	f := judgeReleaseAnswer(h)
	if f.Outcome != Violated || f.Blame == BlameLock || h.wasNodeClockSetBack(f.At) {
		return Reason{}, nil
	}
	return f.Reason, f.Events
})

// wasNodeClockSetBack reports whether the clock of a node was set back before an event. An expired
// row of a database may then be valid again. In this case the node confirms the release of a lease
// that was lost, and no lock could know that it was.
func (h *judgedRun) wasNodeClockSetBack(before int) bool {
	ahead := map[string]int64{} // how far each process's wall clock is ahead of true time
	for _, ev := range h.ClockChanges() {
		now := ev.Clocks.Wall - int64(ev.At)
		old, known := ahead[ev.Process]
		if known && now < old && ev.Clocks.Why == trace.Jumped && !h.IsClient(ev.Process) && ev.Seq < before {
			return true
		}
		ahead[ev.Process] = now
	}
	return false
}

// withMistyped adds an explanation to a reason, if the critical section's lease has the given
// method with another signature than locksim expects. Locksim ignores such a method.
func withMistyped(r Reason, section *history.Section, method string) Reason {
	for _, m := range section.Granted.Mistyped {
		if strings.HasPrefix(m, method+" ") {
			r = r.And(methodMistyped.Reason(m))
		}
	}
	return r
}

// findUnnotified finds a holder that lost its lease and that the lock did not notify of the loss
// for a TTL, although nothing else was wrong.
func (h *judgedRun) findUnnotified() (reason Reason, at []int) {
	var first *trace.Event
	for _, section := range h.Sections() {
		lock := h.Lock(section.Lock)
		if !lock.Claims.Notifies || section.Granted.Ungranted || lock.TTL == 0 || len(lock.Slots) == 0 {
			continue
		}
		if section.Granted.Session != "" && len(h.Backings(section.Lock, section.Acquisition)) == 0 {
			continue // the grant relies on a key that the session already had
		}
		for _, lost := range h.unbackedTimes(section) {
			ev := h.firstEventAfterQuiet(lost.Interval, lock.TTL)
			if ev != nil && !h.wasClockChanged(section.Client, ev) && (first == nil || ev.Seq < first.Seq) {
				first, reason = ev, notNotifiedOfLoss.Reason(section.Client, lost.From, ev.At)
				at = []int{lost.EndedBy.Seq, ev.Seq}
			}
		}
	}
	return reason, at
}

// unbackedTimes returns the intervals in which a client was in its section and had not been
// notified of a loss, although the nodes did not back its grant. Nodes back a grant while its keys
// exist on a quorum of them. Each interval begins when a backing ended, and its EndedBy is the
// event that ended the backing.
func (h *judgedRun) unbackedTimes(section *history.Section) (all []history.Backing) {
	end := section.To
	if section.Lost != nil {
		end = history.Earlier(end, history.MomentOf(section.Lost))
	}
	from, endedBy := section.From, section.Granted
	for _, b := range h.Backings(section.Lock, section.Acquisition) {
		if to := history.Earlier(b.From, end); from.Before(to) {
			all = append(all, history.Backing{Interval: history.Interval{From: from, To: to}, EndedBy: endedBy})
		}
		if from.Before(b.To) {
			from, endedBy = b.To, b.EndedBy
		}
	}
	if from.Before(end) {
		all = append(all, history.Backing{Interval: history.Interval{From: from, To: end}, EndedBy: endedBy})
	}
	return all
}

// firstEventAfterQuiet looks, within the interval during, for a time of one TTL in which no fault
// acted. It returns the first event after that time, or nil if the interval contains no such event.
func (h *judgedRun) firstEventAfterQuiet(during history.Interval, ttl time.Duration) *trace.Event {
	for _, quiet := range h.QuietTimes() {
		from, to := history.Later(quiet.From, during.From), history.Earlier(quiet.To, during.To)
		next := 1
		if last := h.LastUntil(history.Moment{At: from.At + ttl, Seq: history.Never.Seq}); last != nil {
			next = last.Seq + 1
		}
		if ev := h.Event(next); from.Before(to) && ev != nil && !to.Before(history.MomentOf(ev)) {
			return ev
		}
	}
	return nil
}

// wasClockChanged reports whether a process's clocks had been changed before an event.
func (h *judgedRun) wasClockChanged(process string, before *trace.Event) bool {
	return slices.ContainsFunc(h.ClockChanges(), func(ev *trace.Event) bool {
		return ev.Process == process && ev.Clocks.Why != "" && ev.Seq < before.Seq
	})
}
