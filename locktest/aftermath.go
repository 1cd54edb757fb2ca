package locktest

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// What a lock does, or leaves undone, once a lease is lost or released.

// ruleLeft is that release leaves a key where it stands, and asks nobody to remove it.
const ruleLeft = "key left behind"

// ruleLingering is that the lock goes on with what is over.
const ruleLingering = "traffic after release"

// calm says for how long before an event no fault has acted.
func calm(h *history.History, ev *trace.Event) time.Duration {
	since, ever := h.Quiet(history.MomentOf(ev))
	if !ever {
		return 0
	}
	return ev.At - since.At
}

// unnotified: a holder that is not told for a TTL that its lease is lost, though
// nothing else is wrong. Nobody can be told in time whose clock was set.
func unnotified(s *subject, _ world, h *history.History) (rule, why string, at []int) {
	if !s.config.Notifies {
		return "", "", nil
	}
	var late *trace.Event
	for _, in := range h.Sections() {
		lock := h.Lock(in.Lock)
		if !in.Granted.Notifies || in.Granted.Ungranted || lock.TTL == 0 || len(lock.Slots) == 0 {
			continue
		}
		if in.Granted.Session != "" && len(h.Backed(in.Lock, in.Acquisition)) == 0 {
			continue // it was got by a key that the session had already
		}
		for _, lost := range lapses(h, in) {
			ev := silent(h, lost.Interval, lock.TTL)
			if ev != nil && !clockChanged(h, in.Client, ev) && (late == nil || ev.Seq < late.Seq) {
				late = ev
				why = fmt.Sprintf("%s had lost its lease at %s, and by %s nobody had told it", in.Client, voice.Time(lost.From.At), voice.Time(ev.At))
				at = []int{lost.Lapsed.Seq, ev.Seq}
			}
		}
	}
	if late == nil {
		return "", "", nil
	}
	return claimNotifies, why, at
}

// lapses are the times in which the nodes did not back the grant of a client that was in
// its section and had not been told of a loss. Each lasts up to the event with which it
// ended, and lapsed with the one that is its beginning.
func lapses(h *history.History, in *history.Section) (all []history.Backing) {
	end := in.To
	if in.Lost != nil {
		end = history.Earlier(end, history.MomentOf(in.Lost))
	}
	from, lapsed := in.From, in.Granted
	for _, b := range h.Backed(in.Lock, in.Acquisition) {
		if to := history.Earlier(b.From, end); from.Before(to) {
			all = append(all, history.Backing{Interval: history.Interval{From: from, To: to}, Lapsed: lapsed})
		}
		if from.Before(b.To) {
			from, lapsed = b.To, b.Lapsed
		}
	}
	if from.Before(end) {
		all = append(all, history.Backing{Interval: history.Interval{From: from, To: end}, Lapsed: lapsed})
	}
	return all
}

// silent is the first event by which a time without any fault has lasted for longer than
// a TTL; nil if there is none up to the end of the time.
func silent(h *history.History, during history.Interval, ttl time.Duration) *trace.Event {
	for _, quiet := range h.QuietTimes() {
		from, to := history.Later(quiet.From, during.From), history.Earlier(quiet.To, during.To)
		next := 1
		if last := h.LastBefore(history.Moment{At: from.At + ttl, Seq: history.Never.Seq}); last != nil {
			next = last.Seq + 1
		}
		if ev := h.Event(next); from.Before(to) && ev != nil && !to.Before(history.MomentOf(ev)) {
			return ev
		}
	}
	return nil
}

// clockChanged says whether a process's clocks had been changed before an event.
func clockChanged(h *history.History, process string, before *trace.Event) bool {
	return slices.ContainsFunc(h.ClockChanges(), func(ev *trace.Event) bool {
		return ev.Process == process && ev.Clocks.Why != "" && ev.Seq < before.Seq
	})
}

// enoughLingering is how many commands a lock may send about what is over.
const enoughLingering = 5

// A visitor is a client that comes for the lock and goes.
type visitor struct {
	// calls are those of acquire and release that are still to come, in order.
	calls []*history.Call
	// inside are the sections that it is in, and gone is since when it is in none and has
	// asked for none; nil if it is not so.
	inside map[int]bool
	gone   *trace.Event
	// sent counts what its lock has sent since about what is over.
	sent int
}

// visitors are the clients, at the beginning of a run.
func visitors(h *history.History) map[string]*visitor {
	all := map[string]*visitor{}
	for _, c := range h.Calls() {
		if all[c.Client] == nil {
			all[c.Client] = &visitor{inside: map[int]bool{}}
		}
		if c.Step == trace.Acquire || c.Step == trace.Release {
			v := all[c.Client]
			v.calls = append(v.calls, c)
		}
	}
	return all
}

// follow goes on to an event that comes in no call.
func (v *visitor) follow(ev *trace.Event) {
	for len(v.calls) > 0 && v.calls[0].Began.Seq < ev.Seq {
		c := v.calls[0]
		v.calls = v.calls[1:]
		switch {
		case c.Step == trace.Acquire:
			v.gone, v.sent = nil, 0
			if c.OK() {
				v.inside[c.Section] = true
			}
		case c.Ended != nil:
			delete(v.inside, c.Section)
			if len(v.inside) == 0 {
				v.gone = c.Ended
			}
		}
	}
}

// lingering: commands about a lock that its client released a TTL ago, and has not
// asked for since.
func lingering(_ *subject, _ world, h *history.History) (rule, why string, at []int) {
	clients := visitors(h)
	for _, m := range h.Messages() {
		v := clients[m.From]
		if v == nil || m.Sent.Reply || m.Sent.Step != "" {
			continue
		}
		v.follow(m.Sent)
		if v.gone == nil {
			continue
		}
		for _, lock := range h.Trace.Locks {
			about := func(s trace.SlotInfo) bool { return s.Node == m.To && m.About(s.Key) }
			if lock.TTL > 0 && min(calm(h, m.Sent), m.Sent.At-v.gone.At) > lock.TTL && slices.ContainsFunc(lock.Slots, about) {
				v.sent++
			}
		}
		if v.sent == enoughLingering {
			return ruleLingering, fmt.Sprintf("%s had released the lock at %s, and at %s still sent %s", m.From, voice.Time(v.gone.At), voice.Time(m.Sent.At), m.Sent.Text),
				[]int{v.gone.Seq, m.Sent.Seq}
		}
	}
	return "", "", nil
}

// left: a key that stood on a node when its section was released, and until it expired.
// Nothing was wrong, release was successful, and the node was never asked.
func left(_ *subject, _ world, h *history.History) (rule, why string, at []int) {
	releases := map[history.Acquisition][]*history.Call{}
	for _, c := range h.Calls() {
		if c.Step == trace.Release {
			releases[c.Acquisition] = append(releases[c.Acquisition], c)
		}
	}
	var first *history.Holding
	for _, key := range h.Holdings() {
		asked := releases[key.Owner]
		_, kept := h.LockAt(key.Place)
		if key.How != history.Expired || len(asked) == 0 || first != nil && first.Ended.Seq < key.Ended.Seq || !kept {
			continue
		}
		began, ended := asked[0].Began, returned(asked, key.Ended)
		if ended == nil || key.Ended.Owner.Sent > began.Seq || calm(h, key.Ended) < key.Ended.At-began.At || approached(h, key, began) {
			continue
		}
		first = key
		why = fmt.Sprintf("%s released the lock at %s without asking %s, where its key then stood until %s", key.Owner.Client, voice.Time(ended.At), key.Node, voice.Time(key.Ended.At))
		at = []int{began.Seq, ended.Seq, key.Ended.Seq}
	}
	if first == nil {
		return "", "", nil
	}
	return ruleLeft, why, at
}

// returned is the last successful end of some calls before an event; nil if there is
// none, or if the client did not wait for it.
func returned(calls []*history.Call, before *trace.Event) (ended *trace.Event) {
	for _, c := range calls {
		switch {
		case c.Cancelled != nil && c.Cancelled.Seq < before.Seq:
			return nil
		case c.OK() && c.Ended.Seq < before.Seq:
			ended = c.Ended
		}
	}
	return ended
}

// approached says whether the node of a key was sent anything by the owner between the
// beginning of a release and the end of the key. What it sends in a later release is
// about something else.
func approached(h *history.History, key *history.Holding, released *trace.Event) bool {
	until := key.Ended.Seq
	for _, c := range h.Calls() {
		if c.Step == trace.Release && c.Client == key.Owner.Client && c.Section != key.Owner.Section && c.Began.Seq > released.Seq {
			until = min(until, c.Began.Seq)
		}
	}
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		return m.From == key.Owner.Client && m.To == key.Node && !m.Sent.Reply && m.Sent.Seq > released.Seq && m.Sent.Seq < until
	})
}
