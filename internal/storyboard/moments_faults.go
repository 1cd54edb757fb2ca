package storyboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// readSpells adds the spells of the cast's clients and of all servers. A spell is a period in
// which a process is paused, is down or answers with errors. Servers on one lane whose spells
// have the same kind and the same times share one moment.
func (r *reader) readSpells() {
	type spellKey struct {
		lane  lane
		state history.State
		how   string
		// Servers with the same spell have different events, so the times of the spells are
		// compared.
		from, to time.Duration
	}
	groups := map[spellKey][]string{}
	keyOf := func(s *history.Spell) spellKey {
		span := s.Interval()
		return spellKey{r.laneOf(s.Process), s.State, s.How, span.From.At, span.To.At}
	}
	for _, s := range r.Spells() {
		f := keyOf(s)
		groups[f] = append(groups[f], s.Process)
	}
	for _, s := range r.Spells() {
		f := keyOf(s)
		group := groups[f]
		delete(groups, f)
		if len(group) == 0 || f.lane.client != "" && !r.cast.hasClient(f.lane.client) {
			continue
		}
		text := story.CaptionSpell(s)
		if f.lane == lockLane || s.Process != trace.StorageName && f.lane == storageLane {
			text = story.CaptionSpellOf(s, r.nameGroup(group), len(group) == 1)
		}
		k := crashKind
		if s.State == history.Paused {
			k = pauseKind
		}
		span := s.Interval()
		m := r.addEvent(s.Began, f.lane, k, text)
		m.lasts, m.isInBar = &span, f.lane.client != ""
	}
}

// readActs adds the faults that leave the processes that they strike running. Faults of one kind
// that strike at the same time share one moment.
func (r *reader) readActs() {
	type stroke struct {
		kind, others, size string
		lane               lane
		at, until          int64
	}
	groups := map[stroke][]string{}
	strokeOf := func(a *history.Act) stroke {
		f, until := r.Fault(a.Fault), int64(0)
		if a.Lifted != nil {
			until = int64(a.Lifted.At)
		}
		return stroke{f.Kind, strings.Join(f.Others(), " "), f.Size, r.laneOfFault(a.Fault), int64(a.Struck.At), until}
	}
	for _, a := range r.Acts() {
		groups[strokeOf(a)] = append(groups[strokeOf(a)], r.Fault(a.Fault).Target())
	}
	for _, a := range r.Acts() {
		f, st := r.Fault(a.Fault), strokeOf(a)
		group := groups[st]
		switch f.Effect {
		case trace.StopsProcess, trace.KillsProcess, trace.AnswersErrors:
			continue // the state of the process has a moment
		case "":
			if r.beginsSpell(a) { // the trace of an earlier version
				continue
			}
		}
		if len(group) == 0 || st.lane.client != "" && !r.cast.hasClient(st.lane.client) {
			continue
		}
		delete(groups, st)
		if len(group) > 1 && len(f.Targets) > 0 {
			f.Targets = slices.Clone(f.Targets)
			f.Targets[0] = group
		}
		m := r.addEvent(a.Struck, st.lane, faultKind, story.CaptionFault(f, st.lane.client, r.nameGroup))
		if !a.Instant && (f.Effect == trace.CutsLink || f.Effect == trace.SlowsLink) {
			m.lasts = &history.Interval{From: history.MomentOf(a.Struck), To: history.Never}
			if a.Lifted != nil {
				m.lasts.To = history.MomentOf(a.Lifted)
			}
		}
	}
}

// beginsSpell reports whether the next event after a fault struck changed the state of a
// process.
func (r *reader) beginsSpell(a *history.Act) bool {
	return slices.ContainsFunc(r.Spells(), func(s *history.Spell) bool { return s.Began.Seq == a.Struck.Seq+1 })
}

// laneOfFault returns the lane on which a fault is marked. Usually it is the lane of the client
// that the fault concerns. If there is no such client, it is the lane of the fault's target, or
// of the sender of its message. A request stalled in the storage is marked on the storage's lane.
func (r *reader) laneOfFault(number int) lane {
	f := r.Fault(number)
	if f.Effect == trace.StallsRequest {
		return storageLane
	}
	if client := r.ClientOf(number); r.IsClient(client) {
		return clientLane(client)
	}
	return r.laneOf(cmp.Or(f.Target(), f.Message.Client))
}

// nameGroup returns a short name for some processes.
func (r *reader) nameGroup(group []string) string {
	nodes, count := 0, 0
	for _, p := range r.Trace.Processes {
		if p.Role != trace.RoleNode {
			continue
		}
		nodes++
		if slices.Contains(group, p.Name) {
			count++
		}
	}
	group = r.InWorldOrder(group)
	switch {
	case len(group) <= 2:
		names := make([]string, len(group))
		for i, name := range group {
			names[i] = story.NameOf(name)
		}
		return story.List(names)
	case count == len(group) && count == nodes:
		return fmt.Sprintf("all %d nodes", nodes)
	case count == len(group):
		return fmt.Sprintf("%d of %d nodes", count, nodes)
	case count == nodes:
		return "all servers"
	}
	return fmt.Sprintf("%s and %d others", story.NameOf(group[0]), len(group)-1)
}
