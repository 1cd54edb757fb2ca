package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// An entry is one line of a timeline.
type entry struct {
	at time.Duration
	// when orders the entries before they are merged.
	when history.Moment
	who  string
	text string
	// until is when the last of what the entry tells happened, if it tells of more than
	// one moment.
	until time.Duration
	// its says that the text is not about who, but about something of its own: "its key …".
	its bool
	// mood is how the line is coloured.
	mood mood

	// Entries next to each other with one fold, unless it is empty, are told as
	// one: merge writes the text from all their items.
	fold  string
	items []string
	merge func(items []string) string

	// of names the step that the entry is part of, and part says which.
	of   string
	part part
	// asked is how the step began, where the entry tells of that as well.
	asked string

	// first and last are the Seqs of the events that the entry tells.
	first, last int
	// again says that the entry stands for all that happens over and over in it.
	again bool
	// sign stands in the margin of an entry that matters, and marks say why.
	sign  string
	marks []mark
}

type mood int

const (
	plain mood = iota
	faint      // messages and other detail
	fault      // a fault and what it does
	wrong      // something that should not happen to a lock
)

type part int

const (
	whole   part = iota
	opens        // the step begins
	serves       // the storage deals with it
	closes       // the step ends as one would expect
	strikes      // a fault begins or stops acting
	effect       // what a fault does to a process
)

// storyOf tells a history: what happened as entries, in order.
func storyOf(h *history.History, messages bool) []entry {
	s := newTeller(h, messages)
	s.tellFaults()
	s.tellProcesses()
	s.tellClocks()
	s.tellKeys()
	s.tellSteps()
	s.tellClients()
	s.tellStorage()
	s.tellMessages()
	s.tellContacts()
	s.tellLeases()
	slices.SortStableFunc(s.entries, func(a, b entry) int {
		switch {
		case a.when.Before(b.when):
			return -1
		case b.when.Before(a.when):
			return 1
		}
		return 0
	})
	if messages {
		return s.entries
	}
	return repeats(together(fold(uneventful(causes(s.entries)))))
}

// causes tells of a fault and of what it did to a process at once.
func causes(entries []entry) []entry {
	var kept []entry
	for i, e := range entries {
		if e.part == strikes && i+1 < len(entries) && entries[i+1].part == effect {
			continue
		}
		if e.part == effect && i > 0 && entries[i-1].part == strikes {
			e.text += " (" + entries[i-1].who + ")"
			e.first = entries[i-1].first
		}
		kept = append(kept, e)
	}
	return kept
}

// uneventful leaves out the beginning of each step that is followed at once by
// what came of it, and the end of each that the storage has just told of.
func uneventful(entries []entry) []entry {
	var kept []entry
	for i, e := range entries {
		next := i+1 < len(entries) && entries[i+1].of == e.of
		previous := i > 0 && entries[i-1].of == e.of && entries[i-1].part == serves
		switch {
		case e.of != "" && e.part == opens && next:
			entries[i+1].first, entries[i+1].asked = e.first, e.text
		case e.of != "" && e.part == closes && previous:
			kept[len(kept)-1].last = e.last
		default:
			kept = append(kept, e)
		}
	}
	return kept
}

// fold merges neighbours that tell the same of several processes.
func fold(entries []entry) []entry {
	var folded []entry
	for _, e := range entries {
		if n := len(folded); n > 0 && e.fold != "" && folded[n-1].fold == e.fold {
			folded[n-1].items = append(folded[n-1].items, e.items...)
			folded[n-1].last, folded[n-1].until = e.last, e.at
			continue
		}
		e.items = slices.Clone(e.items)
		folded = append(folded, e)
	}
	for i, e := range folded {
		if len(e.items) > 1 {
			folded[i].text = e.merge(e.items)
		}
	}
	return folded
}

// together tells once what many clients do one right after the other, such as asking
// for the lock.
func together(entries []entry) []entry {
	const fewest = 3
	var kept []entry
	for i := 0; i < len(entries); {
		end, who := i, []string{}
		for end < len(entries) && asTheOthers(entries[i:end+1]) {
			if !slices.Contains(who, entries[end].who) {
				who = append(who, entries[end].who)
			}
			end++
		}
		if len(who) < fewest {
			kept = append(kept, entries[i])
			i++
			continue
		}
		all := entries[i]
		all.last, all.until = entries[end-1].last, entries[end-1].at
		all.who = story.Count(len(who), "client")
		all.of, all.part, all.asked, all.fold, all.items = "", whole, "", "", nil
		all.text = "each " + all.text
		if n := end - i; n > len(who) {
			all.text += fmt.Sprintf("; %d times in all", n)
		}
		if n := len(who); n > 4 {
			who = append(who[:2:2], fmt.Sprintf("%d more", n-2))
		}
		all.text += " (" + story.List(who) + ")"
		kept = append(kept, all)
		i = end
	}
	return kept
}

// asTheOthers reports whether the last of some entries tells of its client what the
// first tells of another, and not long after the one before it.
func asTheOthers(entries []entry) bool {
	first, last := entries[0], entries[len(entries)-1]
	return last.of != "" && last.part != serves && last.text == first.text && last.mood == first.mood &&
		(len(entries) == 1 || last.at-entries[len(entries)-2].at < silence)
}

// repeats tells once what happens over and over, such as the attempts to get a
// lock whose nodes are down: the first time as it was, and then how often.
func repeats(entries []entry) []entry {
	const longest, fewest = 8, 3
	var kept []entry
	for i := 0; i < len(entries); {
		length, times := 0, 0
		for n := 1; n <= longest && times < fewest; n++ {
			length, times = n, 1
			for end := i + (times+1)*n; end <= len(entries) && slices.EqualFunc(entries[i:i+n], entries[end-n:end], sameStory); end += n {
				times++
			}
		}
		if times < fewest {
			kept = append(kept, entries[i])
			i++
			continue
		}
		kept = append(kept, entries[i:i+length]...)
		rest := entries[i+length]
		i += times * length
		who, text := repeated(kept[len(kept)-length:], times-1)
		kept = append(kept, entry{at: entries[i-1].at, who: who, first: rest.first, last: entries[i-1].last, again: true, mood: faint, text: text})
	}
	return kept
}

// repeated says who does how much of the story again, and how often.
func repeated(story []entry, more int) (who, text string) {
	if len(story) == 1 {
		return story[0].who, fmt.Sprintf("until here the same %d more times", more)
	}
	return "", fmt.Sprintf("until here the last %d of these happen %d more times", len(story), more)
}

func sameStory(a, b entry) bool { return a.who == b.who && a.text == b.text }

// A teller makes entries of what a history says, chapter by chapter.
type teller struct {
	*history.History
	messages bool
	entries  []entry

	// acquires are the calls of acquire, and releases the first of release.
	acquires, releases map[history.Acquisition]*history.Call
	// keys are the keys of locks that each acquisition has set, or that came back to it, and
	// robbed when it first removed one of somebody else.
	keys   map[history.Acquisition][]*history.Holding
	robbed map[history.Acquisition]*trace.Event
}

func newTeller(h *history.History, messages bool) *teller {
	s := &teller{
		History:  h,
		messages: messages,
		acquires: map[history.Acquisition]*history.Call{},
		releases: map[history.Acquisition]*history.Call{},
		keys:     map[history.Acquisition][]*history.Holding{},
		robbed:   map[history.Acquisition]*trace.Event{},
	}
	for _, c := range h.Calls() {
		switch c.Step {
		case trace.Acquire:
			s.acquires[c.Acquisition] = c
		case trace.Release:
			if s.releases[c.Acquisition] == nil {
				s.releases[c.Acquisition] = c
			}
		}
	}
	for _, k := range h.Holdings() {
		if s.ofLock(k.Key) {
			s.keys[k.Owner] = append(s.keys[k.Owner], k)
		}
	}
	for _, c := range h.KeyChanges() {
		if by := history.AcquisitionOf(c.Event.By); s.ofLock(c.Key) && c.How == history.Removed && c.Event.By != nil && !ownKey(c) && s.robbed[by] == nil {
			s.robbed[by] = c.Event
		}
	}
	return s
}

// add adds an entry that tells an event.
func (s *teller) add(ev *trace.Event, e entry) {
	e.when, e.at, e.first, e.last = history.MomentOf(ev), ev.At, ev.Seq, ev.Seq
	s.entries = append(s.entries, e)
}

// say adds an entry of the event's own process.
func (s *teller) say(ev *trace.Event, m mood, format string, args ...any) {
	s.add(ev, entry{who: visible(ev.Process), mood: m, text: fmt.Sprintf(format, args...)})
}

// sayIts adds an entry about something of the event's own process.
func (s *teller) sayIts(ev *trace.Event, m mood, format string, args ...any) {
	s.add(ev, entry{who: visible(ev.Process), mood: m, its: true, text: "its " + fmt.Sprintf(format, args...)})
}

// affects adds an entry about what a fault does to a process.
func (s *teller) affects(ev *trace.Event, format string, args ...any) {
	s.add(ev, entry{who: visible(ev.Process), mood: fault, part: effect, text: fmt.Sprintf(format, args...)})
}

// tellOnce adds an entry that is merged with neighbours of its fold.
func (s *teller) tellOnce(ev *trace.Event, e entry, merge func([]string) string) {
	e.merge = merge
	e.text = merge(e.items)
	s.add(ev, e)
}

// tellClients tells what clients did or were told besides their steps, and what services
// did to their requests.
func (s *teller) tellClients() {
	for _, ev := range s.OfClients() {
		switch ev.Kind {
		case trace.KindCancel:
			s.say(ev, plain, "cancels its %s", ev.Step)
		case trace.KindLost:
			s.say(ev, plain, "learns from the lock that its lease is lost")
		case trace.KindRanOn:
			s.say(ev, wrong, "ran on while paused%s", because(ev.Text))
		case trace.KindDone:
			switch {
			case !ev.OK:
				s.say(ev, plain, "stops%s", s.why(ev))
			case s.messages:
				s.say(ev, faint, "has finished")
			}
		}
	}
	for _, ev := range s.OfServices() {
		s.say(ev, wrong, "passes %s %s on without its token %s", possessive(ev.Client()), ev.Step, token(ev.Token))
	}
	if ev := s.Horizon(); ev != nil {
		text := "the run is cut off here"
		if ev.Text != "" {
			text = visible(ev.Text)
		}
		s.add(ev, entry{text: text})
	}
}

// why is the reason for which a client stops. What was told of the step that
// failed is not told again.
func (s *teller) why(ev *trace.Event) string {
	switch f, before := s.Undoing(ev); {
	case f == nil:
	case before != "":
		return because(before)
	case f.Ended.Refused:
		return fmt.Sprintf(", because its %s was refused", f.Step)
	default:
		return fmt.Sprintf(", because its %s failed", f.Step)
	}
	return because(ev.Text)
}

// because appends a reason, if there is one.
func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + quoted(text)
}

// on says on which of a lock's nodes something is so: "on all 5 nodes",
// "on redis-1 and redis-2 (2 of 5 nodes)". A replica is none of them, so it is
// named and not counted.
func (s *teller) on(nodes []string) string {
	nodes = inWorldOrder(s.Trace, nodes)
	all := s.nodes()
	counted := !slices.ContainsFunc(nodes, func(n string) bool { return !slices.Contains(all, n) })
	switch {
	case len(nodes) == 0 && len(all) == 1:
		return "on no node"
	case len(nodes) == 0:
		return fmt.Sprintf("on none of the %d nodes", len(all))
	case counted && len(nodes) == len(all) && len(all) > 1:
		return fmt.Sprintf("on all %d nodes", len(all))
	}
	shown := make([]string, len(nodes))
	for i, n := range nodes {
		shown[i] = visible(n)
	}
	text := "on " + story.List(shown)
	if counted && len(all) > 1 {
		text += fmt.Sprintf(" (%d of %d nodes)", len(nodes), len(all))
	}
	return text
}

func (s *teller) nodes() []string { return lockNodes(s.Trace) }

// lockNodes are the nodes that the locks are kept on; in a world without locks, all.
func lockNodes(t *trace.Trace) []string {
	var nodes []string
	for _, l := range t.Locks {
		for _, slot := range l.Slots {
			nodes = append(nodes, slot.Node)
		}
	}
	if len(nodes) > 0 {
		return inWorldOrder(t, nodes)
	}
	for _, p := range t.Processes {
		if p.Role == trace.RoleNode {
			nodes = append(nodes, p.Name)
		}
	}
	return nodes
}

// inWorldOrder lists each process once, in the order of the world.
func inWorldOrder(t *trace.Trace, names []string) []string {
	place := func(name string) int {
		return slices.IndexFunc(t.Processes, func(p trace.ProcessInfo) bool { return p.Name == name })
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
	return slices.Compact(names)
}

// theLock names a lock, or says "the lock" where there is only one.
func (s *teller) theLock(name string) string {
	if len(s.Trace.Locks) > 1 {
		return "the lock " + visible(name)
	}
	return "the lock"
}

// possessive: client-1's.
func possessive(name string) string {
	if strings.HasSuffix(name, "s") {
		return visible(name) + "'"
	}
	return visible(name) + "'s"
}
