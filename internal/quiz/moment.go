package quiz

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/snapshot"
	"github.com/locksim/locksim/trace"
)

// leastCalm is the least length of an interval in which a question may ask about a moment. In
// shorter intervals messages travel, and a reader cannot foresee when they arrive.
const leastCalm = 100 * time.Millisecond

// A calm is an interval in which nothing happens that could change who holds the lock or what a
// client knows about it. moment is near the middle of the interval, at a time with few digits.
type calm struct {
	length time.Duration
	moment history.Moment
}

// findCalm returns the calm intervals of a run between the first grant and the end of the last
// critical section, in order. While such an interval lasts, no message of a client or a server of
// the lock is in flight.
func findCalm(h *history.History) []calm {
	sections := h.Sections()
	if len(sections) == 0 || h.Last() == nil {
		return nil
	}
	begin, end := sections[0].From.At, time.Duration(0)
	for _, s := range sections {
		end = max(end, h.EndEvent(s).At)
	}
	edges := edgesOf(h)
	var found []calm
	for i := 1; i < len(edges); i++ {
		from, to := edges[i-1], edges[i]
		if from < begin || to > end || to-from < leastCalm {
			continue
		}
		margin := (to - from) / 5
		at, ok := roundMoment(from+margin, to-margin)
		m := momentAt(h, at)
		if ok && !isUnderway(h, m) {
			found = append(found, calm{to - from, m})
		}
	}
	return found
}

// edgesOf returns the times, in order, at which something happens or ends in a run.
func edgesOf(h *history.History) []time.Duration {
	var edges []time.Duration
	add := func(at time.Duration) {
		if at <= h.Last().At {
			edges = append(edges, at)
		}
	}
	for seq := 1; seq <= h.EventCount(); seq++ {
		add(h.Event(seq).At)
	}
	for _, s := range h.Sections() {
		add(s.To.At)
		for _, d := range s.Lease.Declarations {
			add(d.Until.At)
			add(d.Foreseen.At)
		}
	}
	for _, k := range h.Holdings() {
		e := k.Existence()
		add(e.From.At)
		add(e.To.At)
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}

// momentAt returns the moment at a time, after the last event up to that time.
func momentAt(h *history.History, at time.Duration) history.Moment {
	m := history.Moment{At: at, Seq: math.MaxInt}
	if last := h.LastUntil(m); last != nil {
		m.Seq = last.Seq
	}
	return m
}

// roundMoment returns the time nearest to the middle of an interval that can be said with the
// fewest digits; ok is false if all need more than two decimals.
func roundMoment(from, to time.Duration) (at time.Duration, ok bool) {
	middle := from + (to-from)/2
	for _, grain := range []time.Duration{10 * time.Second, time.Second, 100 * time.Millisecond, 10 * time.Millisecond} {
		if at := middle.Round(grain); from <= at && at <= to {
			return at, true
		}
	}
	return 0, false
}

// clockTime returns a time of the run's clock in seconds, as the timeline has it, with as few
// decimals as possible.
func clockTime(at time.Duration) string {
	return strconv.FormatFloat(at.Seconds(), 'f', -1, 64) + "s"
}

// isUnderway reports whether, at a moment, a message between a client and a server of the lock, or
// between two servers, is in flight.
func isUnderway(h *history.History, m history.Moment) bool {
	return slices.ContainsFunc(h.Messages(), func(msg *history.Message) bool {
		for _, process := range []string{msg.From, msg.To} {
			if role := h.Role(process); role != trace.RoleClient && role != trace.RoleNode {
				return false
			}
		}
		if m.Before(history.MomentOf(msg.Sent)) {
			return false
		}
		switch {
		case msg.Arrived != nil:
			return m.Before(history.MomentOf(msg.Arrived))
		case msg.Lost != nil:
			return m.Before(history.MomentOf(msg.Lost))
		}
		return msg.Held != nil
	})
}

// A knowledge is what a client knows of its own hold on the lock, and whether it is paused.
type knowledge struct {
	belief   snapshot.Belief
	isPaused bool
}

// knows returns what a client knows at a moment. A paused client knows what it knew when its pause
// began. ok is false if the client has crashed by then, or if its code did something during a pause
// anywhere in the run.
func knows(h *history.History, camera *snapshot.Camera, client string, m history.Moment) (k knowledge, ok bool) {
	if _, ranOn := h.RanOn(client); ranOn {
		return k, false
	}
	for _, s := range h.Spells() {
		if s.Process != client || !s.Interval().Contains(m) {
			continue
		}
		switch s.State {
		case history.Paused:
			k.isPaused = true
			m = history.MomentOf(s.Began)
		case history.Failing:
		default:
			return k, false
		}
	}
	k.belief, _ = camera.BeliefOf(client, m)
	return k, true
}
