package suites

import (
	"fmt"
	"testing"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// ReaderCounts counts what [CompareReaders] has compared: moments, keys that existed at a
// moment, those of these keys that were on nodes that were down, and keys that exist only for
// a reader who does not know the rest of the run.
type ReaderCounts struct{ Moments, Keys, OnDownNodes, Hindsight int }

// CompareReaders compares what three sources say about each moment of a run. The sources are a
// reader that has seen only the events up to that moment, the history of the whole run, and the
// history of the run cut off at that moment. The sources must agree, except about three facts
// that only the rest of the run shows. These are whether a key still existed although its node
// was down, whether a restarted node would show a key whose loss it has yet to record, and how
// a lost lease ends.
func CompareReaders(t *testing.T, all []*scenarios.Scenario) ReaderCounts {
	t.Helper()
	var seen ReaderCounts
	for _, s := range all {
		r, err := ResultOf(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range r.Runs {
			p := newReaderComparison(t, fmt.Sprintf("%s %s, fencing %s", s.Name, run.Variant.Name, run.Fencing), run.History)
			for i := range run.History.Trace.Events {
				p.see(&run.History.Trace.Events[i])
			}
			seen.Moments += len(run.History.Trace.Events)
			seen.Keys += p.keyCount
			seen.OnDownNodes += p.onDownNodes
			seen.Hindsight += p.hindsight
		}
	}
	return seen
}

// A readerComparison is the comparison for one run: what readers know after the events so
// far.
type readerComparison struct {
	*testing.T
	name string
	// whole is the history of the whole run, and the four after it are readers that have
	// seen the events so far.
	whole     *history.History
	keys      *history.Keys
	processes *history.Processes
	faults    *history.Faults
	clocks    *history.Clocks
	read      map[string]bool // the processes whose clocks' readings the trace has shown
	// The next three are the counts of [ReaderCounts] for this run.
	keyCount, onDownNodes, hindsight int
}

func newReaderComparison(t *testing.T, name string, whole *history.History) *readerComparison {
	return &readerComparison{T: t, name: name, whole: whole,
		keys: history.NewKeys(), processes: history.NewProcesses(), faults: history.NewFaults(), clocks: history.NewClocks(), read: map[string]bool{}}
}

// see passes an event to the readers, and compares what they know with the history.
func (p *readerComparison) see(ev *trace.Event) {
	p.keys.See(ev)
	p.processes.See(ev)
	p.faults.See(ev)
	p.clocks.See(ev)
	now := history.MomentOf(ev)
	p.compareKeys(now, p.whole)
	if ev.Seq%200 == 0 { // making a history for each event would take hours
		cut := *p.whole.Trace
		cut.Events = cut.Events[:ev.Seq]
		p.compareKeys(now, history.New(&cut))
	}
	for _, s := range p.whole.Trace.Processes {
		state := history.Running
		for _, spell := range p.whole.Spells() {
			if spell.Process == s.Name && spell.State != history.Failing && spell.Interval().Contains(now) {
				state = spell.State
			}
		}
		if got := p.processes.Of(s.Name); got != state {
			p.Errorf("%s, event %d: %s is %s, and by the fold it is %s", p.name, ev.Seq, s.Name, got, state)
		}
	}
	since, ever := p.faults.QuietSince()
	if from, quiet := p.whole.QuietSince(now); quiet != ever || ever && from != since {
		p.Errorf("%s, event %d: quiet since %v, %v; by the fold since %v, %v", p.name, ev.Seq, since, ever, from, quiet)
	}
	p.read[ev.Process] = p.read[ev.Process] || ev.Kind == trace.KindClock
	for _, kind := range []fakeclock.Kind{fakeclock.Wall, fakeclock.Monotonic} {
		if !p.read[ev.Process] {
			break
		}
		if got, want := p.clocks.Of(ev.Process, kind).ReadingAt(now), p.whole.Clocks().Of(ev.Process, kind).ReadingAt(now); got != want {
			p.Errorf("%s, event %d: the %v clock of %s shows %d, and by the fold %d", p.name, ev.Seq, kind, ev.Process, got, want)
		}
	}
}

// compareKeys compares what the reader knows of the keys with what a history says about the
// same moment.
func (p *readerComparison) compareKeys(now history.Moment, fold *history.History) {
	blocking := map[history.Place]*history.Holding{}
	visible := map[history.Place]bool{}
	for _, h := range fold.Holdings() {
		if h.Blocking().Contains(now) {
			blocking[h.Place] = h
		}
		for _, i := range h.Visible() {
			visible[h.Place] = visible[h.Place] || i.Contains(now)
		}
	}
	for _, at := range p.keys.Places() {
		is, was := p.keys.At(at), blocking[at]
		if (is == nil) != (was == nil) || is != nil && (is.Set.Seq != was.Set.Seq || is.Owner != was.Owner) {
			p.Errorf("%s, event %d: %v holds %v, and by the fold %v", p.name, now.Seq, at, is, was)
			continue
		}
		if is == nil {
			continue
		}
		p.keyCount++
		down := p.processes.Of(at.Node) == history.Down
		if down {
			p.onDownNodes++
		}
		justBack := !down && p.keys.IsVisible(at) && !visible[at] && was.Ended != nil && was.Ended.At == now.At
		if p.keys.IsVisible(at) != visible[at] && !justBack {
			p.Errorf("%s, event %d: %v can be seen: %v, and by the fold %v", p.name, now.Seq, at, p.keys.IsVisible(at), visible[at])
		}
		if !was.Existence().Contains(now) {
			p.hindsight++
			if !down && !justBack {
				p.Errorf("%s, event %d: the key on %v, of a node that runs, was not really there", p.name, now.Seq, at)
			}
		}
	}
}
