package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/trace"
)

// key tells what becomes of the keys of the cast.
func (t *tale) key(ev *trace.Event) {
	if !slices.Contains(t.nodes, ev.Process) || ev.Owner == nil {
		return
	}
	owner := actor{ev.Owner.Client, ev.Owner.Section}
	at := func(node string) bool { return node == ev.Process }
	if ev.Prior != nil {
		prior := actor{ev.Prior.Client, ev.Prior.Section}
		t.standing[prior] = slices.DeleteFunc(t.standing[prior], at)
	}
	t.standing[owner] = slices.DeleteFunc(t.standing[owner], at)
	if ev.Kind == trace.KindSet || ev.Kind == trace.KindRestore || ev.Kind == trace.KindTouch {
		t.standing[owner] = append(t.standing[owner], ev.Process)
		t.due[place{ev.Process, ev.Key}] = ev.At + ev.TTL
	}
	if !t.cast[owner] && (ev.Prior == nil || !t.cast[actor{ev.Prior.Client, ev.Prior.Section}]) {
		return
	}
	switch {
	case ev.Kind == trace.KindExpire:
		t.expired = append(t.expired, ev)
		t.early[ev.Seq] = ev.At < t.due[place{ev.Process, ev.Key}]-rounding
	case ev.Kind == trace.KindSet && ev.Prior != nil && ev.Prior.Client != ev.Owner.Client,
		(ev.Kind == trace.KindDelete || ev.Kind == trace.KindTouch) && ev.By != nil && ev.By.Client != ev.Owner.Client:
		t.foreign = append(t.foreign, ev)
	case ev.Kind == trace.KindSet && t.ended[owner]:
		if worst := gravest(t.verdict); !worst.Data() && worst != checks.GrantOrder { // else it is beside the point
			t.late = append(t.late, ev)
		}
	}
}

// flush tells what was put off in order to be told of all nodes at once.
func (t *tale) flush() {
	expired, foreign, late := t.expired, t.foreign, t.late
	t.expired, t.foreign, t.late = nil, nil, nil
	for len(expired) > 0 {
		owner := actor{expired[0].Owner.Client, expired[0].Owner.Section}
		early := t.early[expired[0].Seq]
		var nodes []string
		expired = slices.DeleteFunc(expired, func(ev *trace.Event) bool {
			same := actor{ev.Owner.Client, ev.Owner.Section} == owner
			if same {
				nodes = append(nodes, ev.Process)
			}
			return same
		})
		keys, does := "key", "expires"
		if len(nodes) > 1 {
			keys, does = "keys", "expire"
		}
		if len(t.standing[owner]) > 0 {
			keys += t.on(nodes)
		}
		if n := len(t.clauses); early && n > 0 && strings.HasPrefix(t.clauses[n-1].does, "jumps") {
			does += " at once"
		} else if early {
			does += " too early"
		}
		t.add(clause{subject: owner.client + "'s " + keys, does: does, leads: !early, follows: early})
	}
	t.setLate(late)
	for len(foreign) > 0 {
		first := foreign[0]
		var nodes []string
		foreign = slices.DeleteFunc(foreign, func(ev *trace.Event) bool {
			same := ev.Kind == first.Kind && *ev.By == *first.By || ev == first
			if same {
				nodes = append(nodes, ev.Process)
			}
			return same
		})
		if owner := (actor{first.Owner.Client, first.Owner.Section}); first.Kind == trace.KindDelete && !t.ended[owner] {
			t.add(clause{subject: owner.client + "'s key", does: "is set", leads: true})
		}
		n := len(t.clauses)
		own := n > 0 && t.clauses[n-1].subject == first.By.Client
		t.add(clause{subject: t.command(first), does: meddling(first) + t.on(nodes), follows: own})
	}
}

// setLate tells of keys that are set when their owner no longer waits for it.
func (t *tale) setLate(late []*trace.Event) {
	for len(late) > 0 {
		owner := *late[0].Owner
		var nodes []string
		late = slices.DeleteFunc(late, func(ev *trace.Event) bool {
			same := ev.Owner.Client == owner.Client && ev.Owner.Section == owner.Section
			if same {
				nodes = append(nodes, ev.Process)
			}
			return same
		})
		t.add(clause{subject: owner.Client + "'s key", does: "is set only now" + t.on(nodes)})
	}
}

// A node counts in whole milliseconds, so that keys end a little early.
const rounding = 5 * time.Millisecond

// command is what touched a key.
func (t *tale) command(ev *trace.Event) string {
	if ev.By.Sent > 0 && ev.By.Sent <= len(t.trace.Events) {
		switch t.trace.Events[ev.By.Sent-1].Step {
		case trace.Release:
			return ev.By.Client + "'s release"
		case trace.Extend:
			return ev.By.Client + "'s extension"
		}
	}
	return ev.By.Client
}

// meddling is what a command does to somebody else's key.
func meddling(ev *trace.Event) string {
	switch ev.Kind {
	case trace.KindSet:
		return fmt.Sprintf("overwrites %s's key", ev.Prior.Client)
	case trace.KindTouch:
		return fmt.Sprintf("changes the expiry of %s's key", ev.Owner.Client)
	}
	return fmt.Sprintf("removes %s's key", ev.Owner.Client)
}
