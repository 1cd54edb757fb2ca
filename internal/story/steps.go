package story

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// addSteps describes for each step how it begins, that its request is sent again, and how
// it ends.
func (s *teller) tellSteps() {
	for _, c := range s.Calls() {
		if c.Began != nil {
			s.begun(c)
		}
		for _, ev := range c.Again {
			s.say(ev, Plain, "gets no answer, and sends its %s again%s", ev.Step, Carried(ev.Token))
		}
		if c.Ended != nil {
			s.ended(c)
		}
	}
}

// endedBefore reports whether a step had ended before an event; it is false for a nil call.
func endedBefore(c *history.Call, ev *trace.Event) bool {
	return c != nil && c.Ended != nil && c.Ended.Seq < ev.Seq
}

// lockOf returns the lock of the acquisition that a step belongs to.
func (s *teller) lockOf(c *history.Call) string {
	if acquire := s.acquires[c.Acquisition]; acquire != nil {
		return acquire.Lock
	}
	return ""
}

// lockIn returns the lock of the section that an event belongs to; "" if the lock was not
// granted.
func (s *teller) lockIn(ev *trace.Event) string {
	if in := s.Section(history.Acquisition{Client: ev.Process, Section: ev.Section}); in != nil {
		return in.Lock
	}
	return ""
}

func (s *teller) begun(c *history.Call) {
	ev := c.Began
	var text string
	switch ev.Step {
	case trace.Acquire:
		if s.open(ev.Lock) {
			return
		}
		text = "asks for " + s.theLock(ev.Lock) + forPeriod(ev.Period)
	case trace.Mint:
		text = "asks for a fencing token"
	case trace.Mark:
		text = "sends its mark" + Carried(ev.Token)
	case trace.Read:
		text = "sends its read" + Carried(ev.Token)
	case trace.Work, trace.Check:
		return
	case trace.Write:
		text = "sends its write" + Carried(ev.Token)
	case trace.Extend:
		text = "asks to extend " + s.itsLease(s.lockOf(c))
	case trace.Release:
		text = "asks to release " + s.theLock(s.lockOf(c))
	}
	s.add(ev, Clause{Subject: Raw(ev.Process), Predicate: Raw(text), Of: Step{c.Acquisition, c.Step}, Part: Opens})
}

func (s *teller) ended(c *history.Call) {
	ev, took := c.Ended, time.Duration(0)
	if c.Began != nil {
		took = ev.At - c.Began.At
	}
	text, part := "", Whole
	switch ev.Step {
	case trace.Acquire:
		s.acquired(c)
		return
	case trace.Work:
		if took == 0 && ev.OK {
			return
		}
		text = "has worked for " + Span(took)
		if !ev.OK {
			text = "aborts its work" + because(ev.Text)
		}
	case trace.Mint:
		text = "gets no fencing token" + because(s.Why(c))
		if ev.OK {
			text, part = "gets fencing token "+Token(ev.Token), Closes
		}
	case trace.Check:
		text = "finds at its check that its lease has ended"
		if ev.OK {
			text = "checks its lease: it is still valid"
		}
	case trace.Mark, trace.Read, trace.Write:
		text = s.answered(c)
		if ev.OK || ev.Refused {
			part = Closes
		}
	case trace.Extend:
		text = "fails to extend " + s.itsLease(s.lockOf(c)) + because(ev.Text)
		if ev.OK {
			text = "has extended " + s.itsLease(s.lockOf(c)) + s.leaseEnds(ev)
		}
	case trace.Release:
		text = s.released(c)
	}
	s.add(ev, Clause{Subject: Raw(ev.Process), Predicate: Raw(text), Of: Step{c.Acquisition, c.Step}, Part: part})
}

func (s *teller) acquired(c *history.Call) {
	ev, named := c.Ended, s.lockOf(c)
	lock := s.theLock(named)
	told := Clause{Subject: Raw(ev.Process), Of: Step{c.Acquisition, c.Step}}
	switch {
	case !ev.OK:
		why := because(s.Why(c))
		if nodes := s.keysThere(c.Acquisition, ev); len(nodes) > 0 {
			why += "; its key remains " + s.on(nodes)
		}
		lock += s.meant(c)
		told.fold, told.items = "failed "+ev.Process+"\x00"+lock+"\x00"+regardless(why), []string{c.Client}
		s.tellOnce(ev, told, func(attempts []string) string {
			if n := len(attempts); n > 1 {
				return fmt.Sprintf("fails to get %s, from here on %d times in a row%s", lock, n, why)
			}
			return fmt.Sprintf("fails to get %s%s", lock, why)
		})
		return
	case s.open(named):
		told.Predicate = Raw("enters its section" + s.meant(c) + ": there is no lock" + s.grant(named, ev))
	case named != "" && len(s.Slots(named)) == 0:
		told.Predicate = Raw(fmt.Sprintf("gets %s%s%s%s", lock, s.meant(c), s.grant(named, ev), s.leaseEnds(ev)))
	case ev.Ungranted:
		told.Mood = Wrong
		told.Predicate = Raw(fmt.Sprintf("believes that it holds %s%s, but no node granted it%s%s", lock, s.meant(c), s.grant(named, ev), s.leaseEnds(ev)))
	default:
		told.Predicate = Raw(fmt.Sprintf("gets %s%s%s%s%s", lock, s.somewhere(s.keysSet(c.Acquisition, ev)), s.meant(c), s.grant(named, ev), s.leaseEnds(ev)))
	}
	s.add(ev, told)
}

// periodOf says for which period of the schedule a client asks for the lock, if the run has
// a schedule.
func (s *teller) meant(c *history.Call) string {
	if c.Began == nil {
		return ""
	}
	return forPeriod(c.Began.Period)
}

func forPeriod(period int) string {
	if period == 0 {
		return ""
	}
	return fmt.Sprintf(" for period %d", period)
}

// onNodes says where a lock's keys were set, if the lock keeps any.
func (s *teller) somewhere(nodes []string) string {
	if len(s.Keepers()) == 0 {
		return ""
	}
	if len(nodes) == 0 {
		return " without a key of its own on any node"
	}
	return " " + s.on(nodes)
}

// grantText says which token a successful acquire returned, and the number of the grant if
// it differs. A cluster's token counts all its writes, so it may be larger than the number
// of the grant.
func (s *teller) grant(lock string, ev *trace.Event) string {
	ahead := len(s.Lock(lock).Members) > 0 && ev.Token > ev.Rank
	switch {
	case ev.Token == 0:
		return ""
	case ev.Minted && ev.Rank != 0 && ev.Rank != ev.Token && !ahead:
		return fmt.Sprintf(": token %s (but this is grant number %d)", Token(ev.Token), ev.Rank)
	}
	return ": token " + Token(ev.Token)
}

func (s *teller) open(lock string) bool { return s.Lock(lock).Open }

func (s *teller) answered(c *history.Call) string {
	ev := c.Ended
	switch {
	case !ev.OK && c.Began != nil && c.Began.Leaves:
		return fmt.Sprintf("fails to write%s", because(ev.Text))
	case ev.Refused:
		return fmt.Sprintf("learns that its %s was refused", ev.Step)
	case !ev.OK:
		return fmt.Sprintf("stops waiting for the answer to its %s%s", ev.Step, because(ev.Text))
	case ev.Step == trace.Read && s.ofRecord(ev):
		return "learns " + lastRun(ev.Period)
	case ev.Step == trace.Read:
		return fmt.Sprintf("learns that %s is at version %d", ev.Object, ev.Version)
	}
	if ev.Step == trace.Mark {
		return fmt.Sprintf("learns that %s carries its mark", ev.Object)
	}
	return fmt.Sprintf("learns that it has written version %d of %s", ev.Version, ev.Object)
}

// leftByWriting reports whether a client had released the lock by its write.
func (s *teller) leftByWriting(c *history.Call) bool {
	in := s.Section(c.Acquisition)
	return in != nil && in.LeftByWriting() && in.Completed()
}

func (s *teller) released(c *history.Call) string {
	ev, named := c.Ended, s.lockOf(c)
	lock := s.theLock(named)
	text := "releases " + lock
	robbed := s.robbed[c.Acquisition]
	switch {
	case s.open(named):
		return "ends its section"
	case len(s.Keepers()) == 0, named != "" && len(s.Slots(named)) == 0:
	case s.leftByWriting(c):
		return "ends its section: its write has released " + lock
	case robbed != nil && robbed.Seq < ev.Seq:
		text = "believes that it has released " + lock
	case c.Failed() && !history.NotHeld(c) && len(s.keysReleased(c)) == 0:
		return "fails to release " + lock + because(s.Why(c)) + "; " + s.remains(c)
	case c.Began != nil && len(s.keysThere(c.Acquisition, c.Began)) == 0:
		if c.OK() && s.lostBefore(c) {
			return "believes that it has released " + lock + ", but none of its keys was left"
		}
		return text + ": none of its keys was left"
	case c.OK() && c.Began != nil && !s.gaveUp(c):
		if lost := s.lostRelease(c); lost != "" {
			return "believes that it has released " + lock + lost
		}
		return "believes that it has released " + lock + ", but " + s.remains(c)
	default:
		text += " " + s.on(s.keysReleased(c)) + s.lostRelease(c)
	}
	if c.Failed() {
		text += ", with an error" + because(s.Why(c))
	}
	return text
}

// remainingKeys says where a key of a call's acquisition may exist when the call has ended:
// on nodes that are up, and on nodes that crashed with it and may come back.
func (s *teller) remains(c *history.Call) string {
	over := history.MomentOf(c.Ended)
	var says []string
	down := s.keysOf(c.Acquisition, func(k *history.Holding) bool {
		return slices.ContainsFunc(s.Spells(), func(spell *history.Spell) bool {
			began := history.MomentOf(spell.Began)
			return spell.State == history.Down && spell.Process == k.Node && spell.During().Has(over) && k.From.Before(began) && !k.There().To.Before(began)
		})
	})
	up := slices.DeleteFunc(s.keysThere(c.Acquisition, c.Ended), func(node string) bool { return slices.Contains(down, node) })
	if len(up) > 0 {
		says = append(says, "its key remains "+s.on(up))
	}
	if down = s.InOrder(down); len(down) == 1 {
		says = append(says, down[0]+", which had its key, is down")
	} else if len(down) > 1 {
		says = append(says, List(down)+", which had its key, are down")
	}
	if len(says) == 0 {
		return "none of its keys is left"
	}
	return strings.Join(says, "; ")
}

// lostBefore reports whether a server had a key of a call's acquisition, and the last such
// key ended before the call for another reason than the client's own command.
func (s *teller) lostBefore(c *history.Call) bool {
	var last *history.Holding
	for _, k := range s.keys[c.Acquisition] {
		if k.Set.Seq < c.Began.Seq && (last == nil || last.There().To.Before(k.There().To)) {
			last = k
		}
	}
	return last != nil && (last.Ended == nil || last.Ended.By == nil || last.Ended.By.Client != c.Client)
}

// gaveUp reports whether a client gave up any of its keys after it called release: it
// removed or changed the key, or closed the connection or session that held it.
func (s *teller) gaveUp(c *history.Call) bool {
	own := func(ev *trace.Event) bool {
		return ev.Seq > c.Began.Seq && (ev.By == nil || ev.By.Client == c.Client)
	}
	return slices.ContainsFunc(s.keys[c.Acquisition], func(k *history.Holding) bool {
		ends := k.How == history.Removed || k.How == history.Overwritten || k.How == history.Dropped || k.How == history.Replaced
		return ends && own(k.Ended) || slices.ContainsFunc(k.Touches, own)
	})
}

// lostRelease says that a release was lost: the call returned without an error, but on a
// quorum of the lock's slots the key was never removed. No other client gets the lock until
// the key expires. This happens to a lock that releases in the background, after the call
// has returned, and to a lock that sends no release.
func (s *teller) lostRelease(c *history.Call) string {
	if !c.Ended.OK || len(s.Promotions()) > 0 { // the key of a replaced master blocks no client
		return ""
	}
	var nodes []string
	var ended *trace.Event
	for _, k := range s.keys[c.Acquisition] {
		stays := k.How == history.Standing || k.How == history.Expired || k.How == history.Overwritten
		if !stays || s.isCopy(k.Node) || !k.There().Has(history.MomentOf(c.Ended)) {
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
	text := ", but its key remains " + s.on(nodes)
	if ended != nil {
		text += " until " + Moment(ended.At, 3)
	}
	return text
}
