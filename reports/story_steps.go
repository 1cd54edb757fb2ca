package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

func stepName(client string, section int, step trace.Step) string {
	return fmt.Sprintf("%s/%d/%s", client, section, step)
}

func (s *teller) beginEvent(ev *trace.Event) {
	name := stepName(ev.Process, ev.Section, ev.Step)
	s.began[name] = ev.At
	a := s.acquisition(ev.Process, ev.Section)
	var text string
	switch ev.Step {
	case trace.Acquire:
		a.lock = ev.Lock
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
		a.deleted, a.nothingLeft = nil, len(a.standing) == 0
		text = "asks to release " + s.theLock(a.lock)
	}
	s.add(entry{at: ev.At, who: visible(ev.Process), text: text, of: name, part: opens})
}

func (s *teller) endEvent(ev *trace.Event) {
	name := stepName(ev.Process, ev.Section, ev.Step)
	took := ev.At - s.began[name]
	if !ev.OK {
		s.failed[ev.Process] = append(s.failed[ev.Process], ev)
	}
	e := entry{at: ev.At, who: visible(ev.Process), of: name}
	switch ev.Step {
	case trace.Acquire:
		s.acquired(ev, e)
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
		e.text = "gets no fencing token" + because(strings.TrimPrefix(ev.Text, "no fencing token: "))
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
		e.text = s.released(ev)
	}
	s.add(e)
}

func (s *teller) acquired(ev *trace.Event, e entry) {
	a := s.acquisition(ev.Process, ev.Section)
	a.ended = true
	lock := s.theLock(a.lock)
	if !ev.OK {
		why := because(s.nodesNamed(a.lock, strings.TrimPrefix(ev.Text, locks.ErrNotAcquired.Error()+": ")))
		tried := func(attempts []string) string {
			if n := len(attempts); n > 1 {
				return fmt.Sprintf("fails to get %s, %d times in a row%s", lock, n, why)
			}
			return fmt.Sprintf("fails to get %s%s", lock, why)
		}
		e.fold, e.items = "failed "+ev.Process+"\x00"+a.lock+"\x00"+preciseTime.ReplaceAllString(why, ""), []string{e.of}
		s.add(s.folded(e, tried))
		return
	}
	if s.open(a.lock) {
		e.text = "goes ahead: there is no lock" + grant(ev)
		s.add(e)
		return
	}
	e.text = fmt.Sprintf("gets %s%s%s%s", lock, s.somewhere(a.set), grant(ev), s.leaseEnds(ev))
	if ev.Ungranted {
		e.mood = wrong
		e.text = fmt.Sprintf("believes that it has %s, granted by nobody%s%s", lock, grant(ev), s.leaseEnds(ev))
	}
	s.add(e)
}

var numberedNode = regexp.MustCompile(`\bnode ([0-9]+):`)

// nodesNamed calls the nodes by their names that a lock, which knows none, has
// counted from 1.
func (s *teller) nodesNamed(lock, text string) string {
	var nodes []string
	for _, l := range s.trace.Locks {
		if l.Name == lock {
			for _, slot := range l.Slots {
				nodes = append(nodes, slot.Node)
			}
		}
	}
	return numberedNode.ReplaceAllStringFunc(text, func(found string) string {
		n, err := strconv.Atoi(numberedNode.FindStringSubmatch(found)[1])
		if err != nil || n < 1 || n > len(nodes) {
			return found
		}
		return nodes[n-1] + ":"
	})
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

func (s *teller) open(lock string) bool { return openLock(s.trace, lock) }

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

var longNumber = regexp.MustCompile(`\b[0-9]{11,20}\b`)

// shortTokens writes the fencing tokens in a text as the timeline does.
func shortTokens(text string) string {
	return longNumber.ReplaceAllStringFunc(text, func(number string) string {
		t, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return number
		}
		return token(t)
	})
}

func (s *teller) leaseEnds(ev *trace.Event) string {
	if ev.Ends == nil {
		return ""
	}
	end, ok := s.leaseEnd(ev.Process, ev.Section, *ev.Ends)
	switch {
	case !ok:
		return ""
	case end <= ev.At:
		return ", lease already over at " + moment(max(end, 0), 3)
	}
	return ", lease until " + moment(end, 3)
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

func (s *teller) released(ev *trace.Event) string {
	a := s.acquisition(ev.Process, ev.Section)
	a.released = true
	lock := s.theLock(a.lock)
	text := "releases " + lock
	switch {
	case s.open(a.lock):
		return "is done"
	case len(s.nodes()) == 0:
	case a.robbed:
		text = "believes that it has released " + lock
	case a.nothingLeft:
		return text + ": there was nothing left to release"
	default:
		text += " " + s.on(a.deleted)
	}
	if !ev.OK {
		text += ", and is told" + because(s.nodesNamed(a.lock, ev.Text))
	}
	return text
}

func (s *teller) serveEvent(ev *trace.Event) {
	e := entry{
		at: ev.At, who: visible(ev.Process),
		of: stepName(ev.Client(), ev.Section, ev.Step), part: serves,
	}
	who, object := possessive(ev.Client()), visible(ev.Object)
	seen := s.acquisition(ev.Client(), ev.Section).seen
	known, knows := seen[ev.Object]
	switch {
	case !ev.OK:
		e.text = fmt.Sprintf("refuses %s %s of %s%s", who, ev.Step, object, because(ev.Text))
	case ev.Step == trace.Mark:
		e.text = fmt.Sprintf("marks %s for %s with token %s", object, visible(ev.Client()), token(ev.Token))
	case ev.Step == trace.Read:
		seen[ev.Object] = ev.Version
		e.text = fmt.Sprintf("answers %s read of %s%s: version %d", who, object, carried(ev.Token), ev.Version)
	default:
		e.text = fmt.Sprintf("applies %s write of %s%s: version %d → %d",
			who, object, carried(ev.Token), ev.Replaced, ev.Version)
		if knows && known != ev.Replaced {
			e.mood = wrong
			e.text += fmt.Sprintf(", but it had read version %d", known)
		}
		seen[ev.Object] = ev.Version
	}
	s.add(e)
}

func carried(t uint64) string {
	if t == 0 {
		return ""
	}
	return fmt.Sprintf(" (token %s)", token(t))
}

// heldFor says how long a message was held back, if it was.
func heldFor(from, to time.Duration) string { return "after being held back for " + span(to-from) }
