package story

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// addSteps describes each step of a client: that it begins, that its request is sent again,
// and how it ends.
func (s *clauseBuilder) addSteps() {
	for _, c := range s.Calls() {
		if c.Began != nil {
			s.addBegin(c)
		}
		for _, ev := range c.Resent {
			s.addText(ev, PlainMood, "gets no answer, and sends its %s again%s", ev.Step, TokenSuffix(ev.Token))
		}
		if c.Ended != nil {
			s.addEnd(c)
		}
	}
}

// endedBefore reports whether a call had ended before an event; it is false if there is no
// call (nil).
func endedBefore(c *history.Call, ev *trace.Event) bool {
	return c != nil && c.Ended != nil && c.Ended.Seq < ev.Seq
}

// lockOf returns the lock of the acquisition that a step belongs to.
func (s *clauseBuilder) lockOf(c *history.Call) string {
	if acquire := s.acquires[c.Acquisition]; acquire != nil {
		return acquire.Lock
	}
	return ""
}

// lockIn returns the lock of the critical section that an event belongs to; "" if the event is in
// no section.
func (s *clauseBuilder) lockIn(ev *trace.Event) string {
	if in := s.Section(history.Acquisition{Client: ev.Process, Section: ev.Section}); in != nil {
		return in.Lock
	}
	return ""
}

// addBegin describes how a step begins. Some steps need no clause for that.
func (s *clauseBuilder) addBegin(c *history.Call) {
	ev := c.Began
	var text string
	var does deed
	switch ev.Step {
	case trace.Acquire:
		if s.isOpen(ev.Lock) {
			return
		}
		text = "asks for " + s.theLock(ev.Lock) + forPeriod(ev.Period)
	case trace.Mint:
		text = "asks for a fencing token"
	case trace.Mark:
		text = "sends its mark" + TokenSuffix(ev.Token)
		does.kind = "sends its mark"
	case trace.Read:
		text = "sends its read" + TokenSuffix(ev.Token)
		does.kind = "sends its read"
	case trace.Work, trace.Check:
		return
	case trace.Write:
		text = "sends its write" + TokenSuffix(ev.Token)
		does.kind = "sends its write"
	case trace.Extend:
		text = "asks to extend " + s.itsLease(s.lockOf(c))
	case trace.Release:
		text = "asks to release " + s.theLock(s.lockOf(c))
	}
	s.add(ev, Clause{Subject: Raw(ev.Process), Predicate: Raw(text), OfStep: Step{c.Acquisition, c.Step}, Part: StepBegins, deeds: s.deedsOf(does)})
}

// addEnd describes how a step ends.
func (s *clauseBuilder) addEnd(c *history.Call) {
	ev, took := c.Ended, time.Duration(0)
	if c.Began != nil {
		took = ev.At - c.Began.At
	}
	text, part := "", WholeStep
	var does deed
	switch ev.Step {
	case trace.Acquire:
		s.addAcquired(c)
		return
	case trace.Work:
		if took == 0 && ev.OK {
			return
		}
		text = "has worked for " + Span(took)
		if !ev.OK {
			text = "aborts its work" + reasonSuffix(ev.Text)
		}
	case trace.Mint:
		text = "gets no fencing token" + reasonSuffix(s.FailureText(c))
		if ev.OK {
			text, part = "gets fencing token "+Token(ev.Token), StepEnds
			does = deed{kind: "gets a fencing token", token: ev.Token}
		}
	case trace.Check:
		text = "finds at its check that its lease has ended"
		if ev.OK {
			text = "checks its lease by its own clock: it has not ended"
			if in := s.Section(c.Acquisition); in != nil && in.Lost != nil && in.Lost.Seq < ev.Seq {
				text += ", although the lock has reported its loss"
			}
		}
	case trace.Mark, trace.Read, trace.Write:
		text = s.answerText(c)
		if ev.OK || ev.Refused {
			part = StepEnds
		}
		if ev.OK {
			does.kind = Raw("learns the storage's answer to its " + string(ev.Step))
		}
	case trace.Extend:
		text = "fails to extend " + s.itsLease(s.lockOf(c)) + reasonSuffix(ev.Text)
		if ev.OK {
			text = "has extended " + s.itsLease(s.lockOf(c))
			does.kind = Raw(text)
			text += s.leaseEnds(ev)
		}
	case trace.Release:
		text = s.releaseText(c)
		if ev.OK && s.lostRelease(c) == "" && len(s.keysReleased(c)) > 0 {
			does = deed{kind: Raw("releases " + s.theLock(s.lockOf(c))), text: Raw(text)}
		}
	}
	s.add(ev, Clause{Subject: Raw(ev.Process), Predicate: Raw(text), OfStep: Step{c.Acquisition, c.Step}, Part: part, deeds: s.deedsOf(does)})
}

// addAcquired describes the result of a call of acquire.
func (s *clauseBuilder) addAcquired(c *history.Call) {
	ev, named := c.Ended, s.lockOf(c)
	lock := s.theLock(named)
	clause := Clause{Subject: Raw(ev.Process), OfStep: Step{c.Acquisition, c.Step}}
	got := func(text, where string) []deed {
		return s.deedsOf(deed{kind: Raw(text), text: Raw(text + where), token: ev.Token})
	}
	switch {
	case !ev.OK:
		why := reasonSuffix(s.FailureText(c))
		if nodes := s.keysAt(c.Acquisition, ev); len(nodes) > 0 {
			why += "; its key remains " + s.describeNodes(nodes)
		}
		lock += s.periodOf(c)
		clause.deeds = s.deedsOf(deed{kind: Raw("fails to get " + lock), text: Raw("fails to get " + lock + why), varies: "reason"})
		clause.mergeKey, clause.items = "failed "+ev.Process+"\x00"+lock+"\x00"+withoutTimes(why), []string{c.Client}
		s.addMergeable(ev, clause, func(attempts []string) string {
			if n := len(attempts); n > 1 {
				return fmt.Sprintf("fails to get %s, from here on %d times in a row%s", lock, n, why)
			}
			return fmt.Sprintf("fails to get %s%s", lock, why)
		})
		return
	case s.isOpen(named):
		clause.deeds = got("enters its section without a lock", "")
		clause.Predicate = Raw("enters its section" + s.periodOf(c) + " without a lock" + s.grantText(named, ev))
	case named != "" && len(s.Slots(named)) == 0:
		clause.deeds = got("gets "+lock, "")
		clause.Predicate = Raw(fmt.Sprintf("gets %s%s%s%s", lock, s.periodOf(c), s.grantText(named, ev), s.leaseEnds(ev)))
	case ev.Ungranted:
		clause.Mood = WrongMood
		clause.Predicate = Raw(fmt.Sprintf("believes that it holds %s%s%s%s, but no node granted it", lock, s.periodOf(c), s.grantText(named, ev), s.leaseEnds(ev)))
	default:
		where := s.onNodes(s.keysSet(c.Acquisition, ev))
		clause.deeds = got("gets "+lock, where)
		clause.Predicate = Raw(fmt.Sprintf("gets %s%s%s%s%s", lock, where, s.periodOf(c), s.grantText(named, ev), s.leaseEnds(ev)))
	}
	s.add(ev, clause)
}

// periodOf says for which period of the schedule a client asks for the lock; "" in a run
// without a schedule.
func (s *clauseBuilder) periodOf(c *history.Call) string {
	if c.Began == nil {
		return ""
	}
	return forPeriod(c.Began.Period)
}

// forPeriod returns " for period 3" or the like; "" for 0.
func forPeriod(period int) string {
	if period == 0 {
		return ""
	}
	return fmt.Sprintf(" for period %d", period)
}

// onNodes says on which nodes an acquire has set the lock's key; "" if no node keeps
// grants.
func (s *clauseBuilder) onNodes(nodes []string) string {
	if len(s.Keepers()) == 0 {
		return ""
	}
	if len(nodes) == 0 {
		return " without having set a key on any node"
	}
	return " " + s.describeNodes(nodes)
}

// grantText says which token a successful acquire returned. If the token is not the number of the
// grant, grantText says that number too. It leaves the number out for a token of a cluster, which
// counts all changes of the cluster and so is usually larger.
func (s *clauseBuilder) grantText(lock string, ev *trace.Event) string {
	ahead := len(s.Lock(lock).Members) > 0 && ev.Token > ev.Rank
	switch {
	case ev.Token == 0:
		return ""
	case ev.Minted && !ev.Ungranted && ev.Rank != 0 && ev.Rank != ev.Token && !ahead:
		return fmt.Sprintf(": token %s (grant %d of the lock)", Token(ev.Token), ev.Rank)
	}
	return ": token " + Token(ev.Token)
}

// isOpen reports whether a lock is granted to every client.
func (s *clauseBuilder) isOpen(lock string) bool { return s.Lock(lock).GrantsEveryone }

// answerText says what a client learns from the storage's answer, or that it got none.
func (s *clauseBuilder) answerText(c *history.Call) string {
	ev := c.Ended
	switch {
	case !ev.OK && c.Began != nil && c.Began.ReleasesLock:
		return fmt.Sprintf("fails to write%s", reasonSuffix(ev.Text))
	case ev.Refused:
		return fmt.Sprintf("learns that its %s was refused", ev.Step)
	case !ev.OK:
		return fmt.Sprintf("stops waiting for the answer to its %s%s", ev.Step, reasonSuffix(ev.Text))
	case ev.Step == trace.Read && s.isAboutRecord(ev):
		return "learns " + lastRun(ev.Period)
	case ev.Step == trace.Read:
		return fmt.Sprintf("learns that %s is at version %d", ev.Object, ev.Version)
	}
	if ev.Step == trace.Mark {
		return fmt.Sprintf("learns that %s carries its mark", ev.Object)
	}
	return fmt.Sprintf("learns that it has written version %d of %s", ev.Version, ev.Object)
}

// wasReleasedByWrite reports whether a client's last write had already released the lock.
func (s *clauseBuilder) wasReleasedByWrite(c *history.Call) bool {
	in := s.Section(c.Acquisition)
	return in != nil && in.ReleasedByWrite() && in.Completed()
}

// releaseText says how a release ended, and what happened to the keys. The two can differ: a
// release can return success although a key remains.
func (s *clauseBuilder) releaseText(c *history.Call) string {
	ev, named := c.Ended, s.lockOf(c)
	lock := s.theLock(named)
	text := "releases " + lock
	meddling := s.meddledAt[c.Acquisition]
	switch {
	case s.isOpen(named):
		return "ends its section"
	case len(s.Keepers()) == 0, named != "" && len(s.Slots(named)) == 0:
	case s.wasReleasedByWrite(c):
		return "ends its section: its write has released " + lock
	case meddling != nil && meddling.Seq < ev.Seq:
		text = "believes that it has released " + lock
	case c.Failed() && !history.NotHeld(c) && len(s.keysReleased(c)) == 0:
		return "fails to release " + lock + reasonSuffix(s.FailureText(c)) + "; " + s.remainingKeys(c)
	case c.Began != nil && len(s.keysAt(c.Acquisition, c.Began)) == 0:
		if c.OK() && s.wasLostBefore(c) {
			return "believes that it has released " + lock + ", but none of its keys was still valid"
		}
		if !s.hadKeyBefore(c) {
			return "releases nothing: it had set no key"
		}
		return "releases nothing: none of its keys was still valid"
	case c.OK() && c.Began != nil && !s.changedOwnKey(c):
		if lost := s.lostRelease(c); lost != "" {
			return "believes that it has released " + lock + lost
		}
		return "believes that it has released " + lock + ", but " + s.remainingKeys(c)
	case c.Failed() && len(s.keysReleased(c)) == 0:
		return "releases nothing" + reasonSuffix(s.FailureText(c)) + "; " + s.remainingKeys(c)
	case len(s.keysReleased(c)) > 0:
		text += " " + s.describeNodes(s.keysReleased(c)) + s.lostRelease(c)
	case len(s.keysAt(c.Acquisition, c.Ended)) > 0:
		text += ", but on no node yet"
	}
	if c.Failed() {
		text += ", with an error" + reasonSuffix(s.FailureText(c))
	}
	return text
}

// remainingKeys says where a key of a call's acquisition may exist when the call has ended:
// on nodes that are up, and on nodes that crashed while they had the key and may restore
// it.
func (s *clauseBuilder) remainingKeys(c *history.Call) string {
	endedAt := history.MomentOf(c.Ended)
	var parts []string
	down := s.keysOf(c.Acquisition, func(k *history.Holding) bool {
		return slices.ContainsFunc(s.Spells(), func(spell *history.Spell) bool {
			began := history.MomentOf(spell.Began)
			return spell.State == history.Down && spell.Process == k.Node && spell.Interval().Contains(endedAt) && k.From.Before(began) && !k.Existence().To.Before(began)
		})
	})
	up := slices.DeleteFunc(s.keysAt(c.Acquisition, c.Ended), func(node string) bool { return slices.Contains(down, node) })
	if len(up) > 0 {
		parts = append(parts, "its key remains "+s.describeNodes(up))
	}
	if down = s.InWorldOrder(down); len(down) == 1 {
		parts = append(parts, down[0]+", which had its key, is down")
	} else if len(down) > 1 {
		parts = append(parts, List(down)+", which had its key, are down")
	}
	if len(parts) == 0 {
		return "none of its keys is still valid"
	}
	return strings.Join(parts, "; ")
}

// wasLostBefore reports whether the lock was lost before a call of release: servers had keys of the
// acquisition, and the last of these keys was not ended by a command of the client.
func (s *clauseBuilder) wasLostBefore(c *history.Call) bool {
	var last *history.Holding
	for _, k := range s.keys[c.Acquisition] {
		if k.Set.Seq < c.Began.Seq && (last == nil || last.Existence().To.Before(k.Existence().To)) {
			last = k
		}
	}
	return last != nil && (last.Ended == nil || last.Ended.By == nil || last.Ended.By.Client != c.Client)
}

// changedOwnKey reports whether a client itself ended or changed any of its keys after it called
// release: by a command, or by closing the connection or session that held the key. An overwriting
// of the key by a later acquisition of the same client does not count.
func (s *clauseBuilder) changedOwnKey(c *history.Call) bool {
	own := func(ev *trace.Event) bool {
		return ev.Seq > c.Began.Seq && (ev.By == nil || ev.By.Client == c.Client)
	}
	return slices.ContainsFunc(s.keys[c.Acquisition], func(k *history.Holding) bool {
		ends := k.How == history.Removed || k.How == history.Dropped || k.How == history.Replaced ||
			k.How == history.Overwritten && history.AcquisitionOf(k.Ended.By) == c.Acquisition
		return ends && own(k.Ended) || slices.ContainsFunc(k.Touches, own)
	})
}

// lostRelease says that a release had no effect: the call returned without an error, but on
// a quorum of the lock's slots the key remained, so no other client gets the lock until the
// key expires. This happens to a lock that releases in the background, after the call has
// returned, and to a lock that sends no release. It returns "" if the release had an
// effect.
func (s *clauseBuilder) lostRelease(c *history.Call) string {
	if !c.Ended.OK || len(s.Promotions()) > 0 { // after a failover, the old master's key blocks no client
		return ""
	}
	var nodes []string
	var ended *trace.Event
	for _, k := range s.keys[c.Acquisition] {
		stays := k.How == history.StillExists || k.How == history.Expired || k.How == history.Overwritten
		if !stays || s.isCopy(k.Node) || !k.Existence().Contains(history.MomentOf(c.Ended)) {
			continue
		}
		nodes = append(nodes, k.Node)
		if k.Ended != nil && (ended == nil || ended.Seq < k.Ended.Seq) {
			ended = k.Ended
		}
	}
	if quorum := s.Lock(s.lockOf(c)).Quorum; len(nodes) < max(1, quorum) {
		return ""
	}
	text := ", but its key remains " + s.describeNodes(nodes)
	if ended != nil {
		text += " until " + Moment(ended.At, 3)
	}
	return text
}
