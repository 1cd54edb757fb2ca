package trace

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

const (
	// maxTime bounds every time in a trace. A world is cut off long before. The bound also
	// ensures that computations with two such times and two clocks do not overflow.
	maxTime = 10 * 365 * 24 * time.Hour
	// maxClockReading bounds what a clock shows, in nanoseconds: a wall clock reaches it in
	// 2096.
	maxClockReading = 4_000_000_000_000_000_000
	// maxEvents is more than any world has: a world is stopped before it has that many events.
	maxEvents = 800_000
)

// Validate checks a trace that was read from a file. It returns an error if the trace lacks
// something that every world's trace has and that checks and reports need. It does not find out
// whether such a run is possible.
func (t *Trace) Validate() error {
	known, err := t.processNames()
	if err != nil {
		return err
	}
	if err := t.checkLocks(known); err != nil {
		return err
	}
	if err := t.checkFaults(known); err != nil {
		return err
	}
	for i, c := range t.Complaints {
		if !known[c.Client] {
			return fmt.Errorf("complaints[%d]: there is no process %q", i, c.Client)
		}
	}
	switch {
	case t.Schedule != nil && t.Schedule.Check() != nil:
		return fmt.Errorf("schedule: %w", t.Schedule.Check())
	case t.ProgressWithin < 0 || t.ProgressWithin > maxTime:
		return fmt.Errorf("progress_within is %d; it must be a number of nanoseconds from 0 to %d", t.ProgressWithin, maxTime)
	case len(t.Events) == 0:
		return errors.New("there are no events")
	case len(t.Events) > maxEvents:
		return fmt.Errorf("there are %d events; at most %d can be read", len(t.Events), maxEvents)
	}
	last := time.Duration(0)
	for i := range t.Events {
		ev := &t.Events[i]
		err := ev.validate(len(t.Faults), known)
		switch {
		case ev.Seq != i+1:
			err = fmt.Errorf("seq is %d, but this is event %d: no event may be missing or out of order", ev.Seq, i+1)
		case ev.At < last:
			err = fmt.Errorf("at is %d, before the previous event's %d", ev.At, last)
		case ev.At > maxTime:
			err = fmt.Errorf("at is %d; no run lasts longer than %d nanoseconds", ev.At, maxTime)
		}
		if err != nil {
			return fmt.Errorf("events[%d]: %w", i, err)
		}
		last = ev.At
	}
	return nil
}

// processNames returns the names of the trace's processes.
func (t *Trace) processNames() (map[string]bool, error) {
	known := map[string]bool{}
	roles := []Role{RoleClient, RoleNode, RoleService, RoleStorage, RoleCluster}
	for i, p := range t.Processes {
		switch {
		case p.Name == "":
			return nil, fmt.Errorf("processes[%d] has no name", i)
		case known[p.Name]:
			return nil, fmt.Errorf("processes[%d]: two processes are called %q", i, p.Name)
		case !slices.Contains(roles, p.Role):
			return nil, fmt.Errorf("processes[%d]: the role %q is not known", i, p.Role)
		}
		known[p.Name] = true
	}
	if len(known) == 0 {
		return nil, errors.New("there are no processes")
	}
	return known, nil
}

// checkLocks returns an error if the description of a lock is not valid; known has the
// names of the processes.
func (t *Trace) checkLocks(known map[string]bool) error {
	names := map[string]bool{}
	for i, l := range t.Locks {
		switch {
		case names[l.Name]:
			return fmt.Errorf("locks[%d]: two locks are called %q", i, l.Name)
		case l.TTL < 0 || l.TTL > maxTime:
			return fmt.Errorf("locks[%d]: ttl is %d; it must be a number of nanoseconds from 0 to %d", i, l.TTL, maxTime)
		case l.Holders < 0:
			return fmt.Errorf("locks[%d]: holders is %d; it must not be below 0", i, l.Holders)
		case l.Quorum < 0 || l.Quorum > len(l.Slots):
			return fmt.Errorf("locks[%d]: quorum is %d, but the lock has %d slots", i, l.Quorum, len(l.Slots))
		}
		names[l.Name] = true
		for j, slot := range l.Slots {
			if !known[slot.Node] {
				return fmt.Errorf("locks[%d].slots[%d]: there is no process %q", i, j, slot.Node)
			}
		}
		for j, member := range l.Members {
			if !known[member] {
				return fmt.Errorf("locks[%d].members[%d]: there is no process %q", i, j, member)
			}
		}
	}
	return nil
}

// checkFaults returns an error if the description of a fault is not valid; known has the
// names of the processes.
func (t *Trace) checkFaults(known map[string]bool) error {
	for i, f := range t.Faults {
		if f.Assumption != "" && !slices.Contains(Assumptions(), f.Assumption) {
			return fmt.Errorf("faults[%d]: the assumption %q is not known: a later version may have written it", i, f.Assumption)
		}
		if f.Stops != "" && !known[f.Stops] {
			return fmt.Errorf("faults[%d].stops: there is no process %q", i, f.Stops)
		}
		for j, group := range f.Targets {
			for _, name := range group {
				if !known[name] {
					return fmt.Errorf("faults[%d].targets[%d]: there is no process %q", i, j, name)
				}
			}
		}
	}
	return nil
}

// validate returns an error if the event is not valid in a trace with this number of faults
// and with processes of these names.
func (ev *Event) validate(faults int, known map[string]bool) error {
	isUnknown := func(name string) bool { return name != "" && !known[name] }
	isNegative := func(n int) bool { return n < 0 }
	isOutOfRange := func(d time.Duration) bool { return d < -maxTime || d > 2*maxTime }
	form := formsByKind[ev.Kind]
	if form == nil {
		return fmt.Errorf("the kind %q is not known: a later version may have written it", ev.Kind)
	}
	if err := form.check(ev); err != nil {
		return err
	}
	switch {
	case ev.Step != "" && !slices.Contains(Steps(), ev.Step):
		return fmt.Errorf("the step %q is not known: a later version may have written it", ev.Step)
	case isUnknown(ev.Process):
		return fmt.Errorf("there is no process %q", ev.Process)
	case isUnknown(ev.Peer):
		return fmt.Errorf("there is no process %q", ev.Peer)
	case ev.Earliest < 0 || ev.Earliest > ev.At:
		return fmt.Errorf("earliest is %d; it must be from 0 to at, which is %d", ev.Earliest, ev.At)
	case ev.Fault < 0 || ev.Fault > faults:
		return fmt.Errorf("fault is %d, but the trace has %d faults", ev.Fault, faults)
	case slices.ContainsFunc([]int{ev.Conn, ev.Msg, ev.Bytes, ev.Section, ev.Version, ev.Replaced, ev.Period, ev.OuterSection}, isNegative):
		return errors.New("conn, msg, bytes, section, version, replaced, period and within must not be below 0")
	case ev.OuterSection > 0 && ev.OuterSection >= ev.Section:
		return fmt.Errorf("section %d is within section %d, which did not begin before it", ev.Section, ev.OuterSection)
	case ev.TTL < 0 || isOutOfRange(ev.TTL) || isOutOfRange(ev.Expires):
		return errors.New("ttl or expires is out of range")
	}
	for _, a := range []*Actor{ev.By, ev.Owner, ev.Prior} {
		switch {
		case a == nil:
		case a == ev.By && a.IsOperator() && (ev.Kind == KindDelete || ev.Kind == KindCloseSession):
		case isUnknown(a.Client):
			return fmt.Errorf("there is no process %q", a.Client)
		case a.Section < 0:
			return fmt.Errorf("section %d of %s does not exist: sections are not below 0", a.Section, a.Client)
		case a.Sent < 0 || a.Sent >= ev.Seq:
			return fmt.Errorf("the command of %s was sent with event %d, which is not before this event", a.Client, a.Sent)
		}
	}
	if c := ev.Clocks; c != nil {
		if err := errors.Join(checkReading(c.Wall), checkReading(c.Monotonic)); err != nil {
			return err
		}
		if c.Why != "" && !slices.Contains(clockChanges, c.Why) {
			return fmt.Errorf("%q is not known as the cause of a clock's change: a later version may have written it", c.Why)
		}
		if c.RatePPB <= -1e9 || c.RatePPB >= fakeclock.MaxRatePPB {
			return fmt.Errorf("a clock is %d parts per billion too fast, which is out of range", c.RatePPB)
		}
	}
	if r := ev.LeaseEnd; r != nil {
		if r.Clock != fakeclock.Wall && r.Clock != fakeclock.Monotonic {
			return fmt.Errorf("the clock %q is not known", r.Clock)
		}
		return checkReading(r.Nanos)
	}
	return nil
}

func checkReading(reading int64) error {
	if reading < -maxClockReading || reading > maxClockReading {
		return fmt.Errorf("a clock shows %d, which is out of range", reading)
	}
	return nil
}
