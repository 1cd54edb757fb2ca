package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/trace"
)

// keyHistory returns a run in which client-1 sets a key on redis-1 at 1 s, with a TTL of 10
// s, followed by the given events.
func keyHistory(then ...trace.Event) *History {
	one := &trace.Actor{Client: "client-1", Section: 1}
	set := trace.Event{At: time.Second, Kind: trace.KindSet, Process: "redis-1", Key: "x", TTL: 10 * time.Second, Expires: 11 * time.Second, Owner: one, By: one}
	return New(traceOf(append([]trace.Event{set}, then...)...))
}

// traceOf returns a trace of some events, and numbers them.
func traceOf(events ...trace.Event) *trace.Trace {
	for i := range events {
		events[i].Seq = i + 1
	}
	return &trace.Trace{Events: events}
}

// keyEvent returns an event about the key of [keyHistory], or about its node.
func keyEvent(at time.Duration, kind trace.Kind, owner string) trace.Event {
	ev := trace.Event{At: at, Kind: kind, Process: "redis-1", Text: string(trace.Kill)}
	if kind != trace.KindCrash && kind != trace.KindRestart && kind != trace.KindHorizon {
		ev.Key, ev.Owner = "x", &trace.Actor{Client: owner, Section: 1}
	}
	return ev
}

// A key blocks other clients, is visible, and exists at different times if its
// node was down. "1s-3s" is an interval, "1s-" one without an end.
func TestHolding(t *testing.T) {
	const s = time.Second
	crash, restart := keyEvent(2*s, trace.KindCrash, ""), func(at time.Duration) trace.Event { return keyEvent(at, trace.KindRestart, "") }
	for _, c := range []struct {
		name                       string
		then                       []trace.Event
		blocking, visible, existed string
	}{
		{"the key is removed", []trace.Event{keyEvent(3*s, trace.KindDelete, "client-1")},
			"1s-3s", "1s-3s", "1s-3s"},
		{"the key stays until the end of the run", []trace.Event{keyEvent(3*s, trace.KindHorizon, "")},
			"1s-", "1s-", "1s-"},
		{"the key is lost in a crash", []trace.Event{crash, restart(5 * s), keyEvent(5*s, trace.KindForget, "client-1")},
			"1s-5s", "1s-2s", "1s-2s"},
		{"the node never restarts after a crash", []trace.Event{crash, keyEvent(5*s, trace.KindHorizon, "")},
			"1s-", "1s-2s", "1s-2s"},
		{"the TTL ends while the node is down", []trace.Event{crash, restart(15 * s), keyEvent(15*s, trace.KindExpire, "client-1")},
			"1s-15s", "1s-2s", "1s-11s"},
		{"the TTL ends when the node crashes", []trace.Event{keyEvent(11*s, trace.KindCrash, ""), restart(15 * s), keyEvent(15*s, trace.KindExpire, "client-1")},
			"1s-15s", "1s-11s", "1s-11s"},
		{"the node restarts before the TTL ends", []trace.Event{crash, restart(5 * s), keyEvent(11*s, trace.KindExpire, "client-1")},
			"1s-11s", "1s-2s 5s-11s", "1s-11s"},
		{"the key is removed after the node has restarted", []trace.Event{crash, restart(5 * s), keyEvent(6*s, trace.KindDelete, "client-1")},
			"1s-6s", "1s-2s 5s-6s", "1s-6s"},
		{"the disk held another client's key", []trace.Event{crash, restart(5 * s), keyEvent(5*s, trace.KindRestore, "client-2")},
			"1s-5s", "1s-2s", "1s-2s"},
		{"the disk held the key with an earlier expiry", []trace.Event{crash, restart(5 * s), keyEvent(5*s, trace.KindRestore, "client-1")},
			"1s-5s", "1s-2s", "1s-5s"},
		{"the node restarted, and then its master sent another client's key", []trace.Event{crash, restart(5 * s), keyEvent(7*s, trace.KindRestore, "client-2")},
			"1s-7s", "1s-2s 5s-7s", "1s-7s"},
		{"the node crashes twice, and the key is lost in the second crash", []trace.Event{crash, restart(5 * s), keyEvent(6*s, trace.KindCrash, ""), restart(8 * s), keyEvent(8*s, trace.KindForget, "client-1")},
			"1s-8s", "1s-2s 5s-6s", "1s-6s"},
		{"the node loses the key while it is down", []trace.Event{crash, keyEvent(3*s, trace.KindForget, "client-1"), restart(5 * s)},
			"1s-5s", "1s-2s", "1s-2s"},
	} {
		k := keyHistory(c.then...).Holdings()[0]
		words := func(all ...Interval) string {
			var words []string
			for _, i := range all {
				to := ""
				if i.To != Never {
					to = i.To.At.String()
				}
				words = append(words, fmt.Sprintf("%v-%s", i.From.At, to))
			}
			return strings.Join(words, " ")
		}
		if got := words(k.Blocking()); got != c.blocking {
			t.Errorf("%s: blocking %s, want %s", c.name, got, c.blocking)
		}
		if got := words(k.Visible()...); got != c.visible {
			t.Errorf("%s: visible %s, want %s", c.name, got, c.visible)
		}
		if got := words(k.Existence()); got != c.existed {
			t.Errorf("%s: existed %s, want %s", c.name, got, c.existed)
		}
	}
}

// A key that expired while its node was down existed until it expired by the node's own
// clock. A fault can have set that clock.
func TestExistenceByTheNodesClock(t *testing.T) {
	const s = time.Second
	clock := func(at, wall time.Duration) trace.Event {
		why := trace.Jumped
		if at == 0 {
			why = ""
		}
		return trace.Event{At: at, Kind: trace.KindClock, Process: "redis-1", Clocks: &trace.Clocks{Wall: int64(wall), Monotonic: int64(at), Why: why}}
	}
	crash := func(at time.Duration) trace.Event { return keyEvent(at, trace.KindCrash, "") }
	one := &trace.Actor{Client: "client-1", Section: 1}
	set := trace.Event{At: s, Kind: trace.KindSet, Process: "redis-1", Key: "x", TTL: 10 * s, Expires: 11 * s, Owner: one, By: one}
	touch := func(at time.Duration) trace.Event {
		ev := set
		ev.At, ev.Kind, ev.Expires = at, trace.KindTouch, at+10*s
		return ev
	}
	for _, c := range []struct {
		name string
		then []trace.Event
		want time.Duration
	}{
		{"the clock was not set", []trace.Event{crash(2 * s)}, 11 * s},
		{"the clock was set forward while the node was down", []trace.Event{crash(2 * s), clock(4*s, 64*s)}, 4 * s},
		{"the clock was set forward before the crash", []trace.Event{clock(2*s, 8*s), crash(3 * s)}, 5 * s},
		{"the clock was set back before the crash", []trace.Event{clock(2*s, 0), crash(3 * s)}, 13 * s},
		{"the clock was set back while the node was down", []trace.Event{crash(2 * s), clock(4*s, 2*s)}, 13 * s},
		{"the key was renewed, and then the clock was set forward", []trace.Event{touch(3 * s), crash(4 * s), clock(5*s, 7*s)}, 11 * s},
	} {
		events := append([]trace.Event{clock(0, 0), set}, c.then...)
		events = append(events, keyEvent(15*s, trace.KindRestart, ""), keyEvent(15*s, trace.KindExpire, "client-1"))
		if got := New(traceOf(events...)).Holdings()[0].Existence().To.At; got != c.want {
			t.Errorf("%s: existed until %v, want %v", c.name, got, c.want)
		}
	}
}

// A key stays one holding when its expiry changes, whichever client changes it. A key that
// is set again is another holding, and belongs to the client that set it.
func TestHoldingsOf(t *testing.T) {
	const s = time.Second
	changeOf := func(kind trace.Kind, owner, by, prior string) trace.Event {
		ev := keyEvent(5*s, kind, owner)
		ev.TTL, ev.Expires = 10*s, 15*s
		if by != "" {
			ev.By = &trace.Actor{Client: by, Section: 1}
		}
		if prior != "" {
			ev.Prior = &trace.Actor{Client: prior, Section: 1}
		}
		return ev
	}
	for _, c := range []struct {
		name string
		then trace.Event
		// holdings are all holdings of the key: owner, due time, and how each ended
		holdings string
		// replacedByItself says that the first holding was replaced by one of its own owner
		replacedByItself bool
	}{
		{"renewed by its owner", changeOf(trace.KindTouch, "client-1", "client-1", ""), "client-1 15s ", false},
		{"renewed by another client", changeOf(trace.KindTouch, "client-1", "client-2", ""), "client-1 15s ", false},
		{"overwritten by another client", changeOf(trace.KindSet, "client-2", "client-2", "client-1"), "client-1 11s overwritten, client-2 15s ", false},
		{"overwritten by its owner", changeOf(trace.KindSet, "client-1", "client-1", "client-1"), "client-1 11s overwritten, client-1 15s ", false},
		{"replaced by another client's key from its master", changeOf(trace.KindRestore, "client-2", "", ""), "client-1 11s replaced, client-2 15s ", false},
		{"replaced by the owner's newer key from its master", changeOf(trace.KindRestore, "client-1", "", ""), "client-1 11s replaced, client-1 15s ", true},
	} {
		h := keyHistory(c.then)
		var all []string
		for _, k := range h.Holdings() {
			all = append(all, fmt.Sprintf("%s %v %s", k.Owner.Client, k.Due, k.How))
			if !slices.Contains(h.HoldingsOf(k.Owner), k) {
				t.Errorf("%s: HoldingsOf(%s) lacks a holding of this owner", c.name, k.Owner)
			}
		}
		if got := strings.Join(all, ", "); got != c.holdings {
			t.Errorf("%s: the holdings are %q, want %q", c.name, got, c.holdings)
		}
		if first := h.Holdings()[0]; first.IsRestored() || first.ReplacedByItself() != c.replacedByItself {
			t.Errorf("%s: the first holding is restored %v, replaced by itself %v; want false, %v", c.name, first.IsRestored(), first.ReplacedByItself(), c.replacedByItself)
		}
		last := h.KeyChanges()[1]
		if last.Touch != (c.then.Kind == trace.KindTouch) || (last.Before == last.After) != last.Touch || last.DueBefore != 11*s {
			t.Errorf("%s: the second change of the key is %+v, want a touch only if the expiry changed, and the due time 11s before", c.name, last)
		}
	}
}
