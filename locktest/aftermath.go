package locktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// What a lock does, or leaves undone, once a lease is lost or released.

// ruleLeft is that release leaves a key where it stands, and asks nobody to remove it.
const ruleLeft = "key left behind"

// ruleLingering is that the lock goes on with what is over.
const ruleLingering = "traffic after release"

// A quiet is a time in which no fault acts.
type quiet struct {
	acting map[int]bool
	since  time.Duration
}

// see takes in an event.
func (q *quiet) see(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindStrike:
		if q.acting == nil {
			q.acting = map[int]bool{}
		}
		q.acting[ev.Fault] = !ev.Instant
		q.since = ev.At
	case trace.KindLift:
		q.acting[ev.Fault] = false
		q.since = ev.At
	}
}

// lasted says for how long no fault has acted, and nothing has happened since.
func (q *quiet) lasted(ev *trace.Event, since time.Duration) time.Duration {
	for _, acts := range q.acting {
		if acts {
			return 0
		}
	}
	return ev.At - max(q.since, since)
}

// A stay is a client's section.
type stay struct {
	client  string
	section int
}

// unnotified: a holder that is not told for a TTL that its lease is lost, though
// nothing else is wrong. Nobody can be told in time whose clock was set.
func unnotified(s *subject, _ world, t *trace.Trace) (rule, why string, at []int) {
	if !s.config.Notifies {
		return "", "", nil
	}
	var calm quiet
	inside := map[stay]*trace.LockInfo{} // the lock that each holder is to hear of
	keys := map[stay]map[trace.SlotInfo]bool{}
	lost := map[stay]*trace.Event{} // since when those that are inside have lost it
	set := map[string]bool{}        // whose clock was set
	var granted []stay              // in order
	holds := func(who *trace.Actor, slot trace.SlotInfo, yes bool) {
		if who == nil {
			return
		}
		owner := stay{who.Client, who.Section}
		if keys[owner] == nil {
			keys[owner] = map[trace.SlotInfo]bool{}
		}
		keys[owner][slot] = yes
	}
	stands := func(owner stay) bool {
		n := 0
		for _, slot := range inside[owner].Slots {
			if keys[owner][slot] {
				n++
			}
		}
		return n >= inside[owner].Quorum
	}
	for i := range t.Events {
		ev := &t.Events[i]
		for _, owner := range granted {
			since, lock := lost[owner], inside[owner]
			if since != nil && lock != nil && !set[owner.client] && calm.lasted(ev, since.At) > lock.TTL {
				return claimNotifies, fmt.Sprintf("%s had lost its lease at %v, and by %v nobody had told it", owner.client, since.At, ev.At),
					[]int{since.Seq, ev.Seq}
			}
		}
		calm.see(ev)
		me := stay{ev.Process, ev.Section}
		slot := trace.SlotInfo{Node: ev.Process, Key: ev.Key}
		switch ev.Kind {
		case trace.KindClock:
			set[ev.Process] = ev.Clocks.Why != ""
		case trace.KindSet, trace.KindRestore:
			holds(ev.Prior, slot, false)
			holds(ev.Owner, slot, true)
		case trace.KindDelete, trace.KindExpire, trace.KindForget:
			holds(ev.Owner, slot, false)
		case trace.KindEnd:
			if ev.Step == trace.Acquire && ev.OK && ev.Notifies && !ev.Ungranted {
				i := slices.IndexFunc(t.Locks, func(l trace.LockInfo) bool { return l.Name == ev.Lock })
				if lock := &t.Locks[i]; lock.TTL > 0 && len(lock.Slots) > 0 {
					inside[me] = lock
					granted = append(granted, me)
				}
			}
		case trace.KindBegin:
			if ev.Step == trace.Release {
				delete(inside, me)
			}
		case trace.KindLost:
			delete(inside, me)
		case trace.KindCrash, trace.KindDone:
			for owner := range inside {
				if owner.client == ev.Process {
					delete(inside, owner)
				}
			}
		}
		for owner := range inside {
			switch {
			case stands(owner):
				delete(lost, owner)
			case lost[owner] == nil:
				lost[owner] = ev
			}
		}
	}
	return "", "", nil
}

// enoughLingering is how many commands a lock may send about what is over.
const enoughLingering = 5

// lingering: commands about a lock that its client released a TTL ago, and has not
// asked for since.
func lingering(_ *subject, _ world, t *trace.Trace) (rule, why string, at []int) {
	var calm quiet
	inside := map[string]map[int]bool{} // the sections that each client is in
	over := map[string]*trace.Event{}   // since when it is in none
	sent := map[string]int{}
	for i := range t.Events {
		ev := &t.Events[i]
		calm.see(ev)
		client := ev.Process
		switch {
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire:
			delete(over, client)
			delete(sent, client)
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK:
			if inside[client] == nil {
				inside[client] = map[int]bool{}
			}
			inside[client][ev.Section] = true
		case ev.Kind == trace.KindEnd && ev.Step == trace.Release:
			delete(inside[client], ev.Section)
			if len(inside[client]) == 0 {
				over[client] = ev
			}
		case ev.Kind == trace.KindSend && !ev.Reply && ev.Step == "" && over[client] != nil:
			for _, lock := range t.Locks {
				about := func(s trace.SlotInfo) bool { return s.Node == ev.Peer && strings.Contains(ev.Text, s.Key) }
				if lock.TTL > 0 && calm.lasted(ev, over[client].At) > lock.TTL && slices.ContainsFunc(lock.Slots, about) {
					sent[client]++
				}
			}
			if sent[client] == enoughLingering {
				return ruleLingering, fmt.Sprintf("%s had released the lock at %v, and at %v still sent %s", client, over[client].At, ev.At, ev.Text),
					[]int{over[client].Seq, ev.Seq}
			}
		}
	}
	return "", "", nil
}

// left: a key that stood on a node when its section was released, and until it expired.
// Nothing was wrong, release was successful, and the node was never asked.
func left(_ *subject, _ world, t *trace.Trace) (rule, why string, at []int) {
	var calm quiet
	type visit struct {
		began, ended *trace.Event
		asked        map[string]bool // the nodes that were sent anything since
		cancelled    bool            // by the client, which did not wait for it
	}
	visits := map[stay]*visit{}
	last := map[string]*visit{}
	for i := range t.Events {
		ev := &t.Events[i]
		calm.see(ev)
		me := stay{ev.Process, ev.Section}
		switch {
		case ev.Kind == trace.KindBegin && ev.Step == trace.Release && visits[me] == nil:
			visits[me] = &visit{began: ev, asked: map[string]bool{}}
			last[ev.Process] = visits[me]
		case ev.Kind == trace.KindEnd && ev.Step == trace.Release && ev.OK && visits[me] != nil:
			visits[me].ended = ev
		case ev.Kind == trace.KindCancel && visits[me] != nil:
			visits[me].cancelled = true
		case ev.Kind == trace.KindSend && !ev.Reply && last[ev.Process] != nil:
			last[ev.Process].asked[ev.Peer] = true
		case ev.Kind == trace.KindExpire && ev.Owner != nil:
			v := visits[stay{ev.Owner.Client, ev.Owner.Section}]
			slot := func(l trace.LockInfo) bool {
				return slices.Contains(l.Slots, trace.SlotInfo{Node: ev.Process, Key: ev.Key})
			}
			if v == nil || v.ended == nil || v.cancelled || v.asked[ev.Process] || ev.Owner.Sent > v.began.Seq || !slices.ContainsFunc(t.Locks, slot) {
				continue
			}
			if calm.lasted(ev, 0) >= ev.At-v.began.At {
				return ruleLeft, fmt.Sprintf("%s released the lock at %v without asking %s, where its key then stood until %v", ev.Owner.Client, v.ended.At, ev.Process, ev.At),
					[]int{v.began.Seq, v.ended.Seq, ev.Seq}
			}
		}
	}
	return "", "", nil
}
