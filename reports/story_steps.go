package reports

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// stepName names a step that a client takes in a section.
func stepName(client string, section int, step trace.Step) string {
	return fmt.Sprintf("%s/%d/%s", client, section, step)
}

// tellSteps tells of each step how it begins, that its request is sent again, and how it
// ends.
func (s *teller) tellSteps() {
	for _, c := range s.Calls() {
		if c.Began != nil {
			s.begun(c)
		}
		for _, ev := range c.Again {
			s.say(ev, plain, "gets no answer, and sends its %s again%s", ev.Step, carried(ev.Token))
		}
		if c.Ended != nil {
			s.ended(c)
		}
	}
}

// endedBefore says that a step had ended before an event; one that is not known had not.
func endedBefore(c *history.Call, ev *trace.Event) bool {
	return c != nil && c.Ended != nil && c.Ended.Seq < ev.Seq
}

// lockOf is the lock of the acquisition that a step belongs to.
func (s *teller) lockOf(c *history.Call) string {
	if acquire := s.acquires[c.Acquisition]; acquire != nil {
		return acquire.Lock
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
		text = "asks for " + s.theLock(ev.Lock)
	case trace.Mint:
		text = "asks for a fencing token"
	case trace.Mark:
		text = "sends its mark" + carried(ev.Token)
	case trace.Read:
		text = "sends its read" + carried(ev.Token)
	case trace.Work, trace.Check:
		return
	case trace.Write:
		text = "sends its write" + carried(ev.Token)
	case trace.Extend:
		text = "asks to extend its lease"
	case trace.Release:
		text = "asks to release " + s.theLock(s.lockOf(c))
	}
	s.add(ev, entry{who: visible(ev.Process), text: text, of: stepName(c.Client, c.Section, c.Step), part: opens})
}

func (s *teller) ended(c *history.Call) {
	ev, took := c.Ended, time.Duration(0)
	if c.Began != nil {
		took = ev.At - c.Began.At
	}
	e := entry{who: visible(ev.Process), of: stepName(c.Client, c.Section, c.Step)}
	switch ev.Step {
	case trace.Acquire:
		s.acquired(c, e)
		return
	case trace.Work:
		if took == 0 && ev.OK {
			return
		}
		e.text = "has worked for " + span(took)
		if !ev.OK {
			e.text = "cannot go on with its work" + because(ev.Text)
		}
	case trace.Mint:
		e.text = "gets no fencing token" + because(s.Why(c))
		if ev.OK {
			e.text, e.part = "gets fencing token "+token(ev.Token), closes
		}
	case trace.Check:
		e.text = "finds at its check that its lease is over"
		if ev.OK {
			e.text = "checks its lease: it is still good"
		}
	case trace.Mark, trace.Read, trace.Write:
		e.text = s.answered(ev)
		if ev.OK || ev.Refused {
			e.part = closes
		}
	case trace.Extend:
		e.text = "could not extend its lease" + because(ev.Text)
		if ev.OK {
			e.text = "has extended its lease" + s.leaseEnds(ev)
		}
	case trace.Release:
		e.text = s.released(c)
	}
	s.add(ev, e)
}

func (s *teller) acquired(c *history.Call, e entry) {
	ev, named := c.Ended, s.lockOf(c)
	lock := s.theLock(named)
	if !ev.OK {
		why := because(s.Why(c))
		tried := func(attempts []string) string {
			if n := len(attempts); n > 1 {
				return fmt.Sprintf("fails to get %s, %d times in a row%s", lock, n, why)
			}
			return fmt.Sprintf("fails to get %s%s", lock, why)
		}
		e.fold, e.items = "failed "+ev.Process+"\x00"+named+"\x00"+regardless(s.Why(c)), []string{e.of}
		s.tellOnce(ev, e, tried)
		return
	}
	if s.open(named) {
		e.text = "goes ahead: there is no lock" + grant(ev)
		s.add(ev, e)
		return
	}
	e.text = fmt.Sprintf("gets %s%s%s%s", lock, s.somewhere(s.keysSet(c.Acquisition, ev)), grant(ev), s.leaseEnds(ev))
	if ev.Ungranted {
		e.mood = wrong
		e.text = fmt.Sprintf("believes that it has %s, granted by nobody%s%s", lock, grant(ev), s.leaseEnds(ev))
	}
	s.add(ev, e)
}

// somewhere is where a lock's keys were set, if the lock keeps any.
func (s *teller) somewhere(nodes []string) string {
	if len(s.nodes()) == 0 {
		return ""
	}
	return " " + s.on(nodes)
}

// grant says which token a successful acquire brought.
func grant(ev *trace.Event) string {
	switch {
	case ev.Token == 0:
		return ""
	case ev.Minted && ev.Rank != 0 && ev.Rank != ev.Token:
		return fmt.Sprintf(": token %s (a true count of grants says %d)", token(ev.Token), ev.Rank)
	}
	return ": token " + token(ev.Token)
}

func (s *teller) open(lock string) bool { return openLock(s.Trace, lock) }

// openLock reports whether a lock lets everybody in.
func openLock(t *trace.Trace, lock string) bool {
	return slices.ContainsFunc(t.Locks, func(l trace.LockInfo) bool { return l.Name == lock && l.Open })
}

// token is a fencing token as people see it. Of one that is a time of day or a
// random number the last digits are enough to tell it from others.
func token(t uint64) string {
	if t < 10_000_000_000 {
		return fmt.Sprint(t)
	}
	return fmt.Sprintf("…%07d", t%10_000_000)
}

func (s *teller) answered(ev *trace.Event) string {
	switch {
	case ev.Refused:
		return fmt.Sprintf("learns that its %s was refused", ev.Step)
	case !ev.OK:
		return fmt.Sprintf("stops waiting for the answer to its %s%s", ev.Step, because(ev.Text))
	case ev.Step == trace.Read:
		return fmt.Sprintf("learns that %s is at version %d", visible(ev.Object), ev.Version)
	}
	if ev.Step == trace.Mark {
		return fmt.Sprintf("learns that %s bears its mark", visible(ev.Object))
	}
	return fmt.Sprintf("learns that it has written version %d of %s", ev.Version, visible(ev.Object))
}

func (s *teller) released(c *history.Call) string {
	ev, named := c.Ended, s.lockOf(c)
	lock := s.theLock(named)
	text := "releases " + lock
	robbed := s.robbed[c.Acquisition]
	switch {
	case s.open(named):
		return "is done"
	case len(s.nodes()) == 0:
	case robbed != nil && robbed.Seq < ev.Seq:
		text = "believes that it has released " + lock
	case c.Began != nil && len(s.keysThere(c.Acquisition, c.Began)) == 0:
		return text + ": there was nothing left to release"
	default:
		text += " " + s.on(s.keysReleased(c))
	}
	if !ev.OK {
		text += ", and is told" + because(s.Why(c))
	}
	return text
}

func carried(t uint64) string {
	if t == 0 {
		return ""
	}
	return fmt.Sprintf(" (token %s)", token(t))
}
