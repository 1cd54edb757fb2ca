package playground

import (
	"errors"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// patience is how much real time a run may take. A page that has lost patience earlier ends the
// program itself.
const patience = time.Minute

// An Answer has the contents of a page about a world.
type Answer struct {
	// Name and Title are the name and the title of the scenario.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Variants are the names of the scenario's variants, and Variant is the one that was run.
	// They are empty if the scenario has no variants.
	Variants []string `json:"variants"`
	Variant  string   `json:"variant"`
	// Locks are the kinds of locks that this program has. OwnLock is the kind that the scenario
	// names, and Lock the kind that was run.
	Locks   []string `json:"locks"`
	OwnLock string   `json:"ownLock"`
	Lock    string   `json:"lock"`
	// Settings are the values of the scenario that an override, such as "faults[1].for=5s",
	// can replace.
	Settings []Setting `json:"settings"`
	// Fault is the fault whose moment and size the reader can change; nil if the world has no
	// faults.
	Fault *Fault `json:"fault,omitempty"`
	Runs  []Run  `json:"runs"`
	// Replay is the command that runs the same world.
	Replay string `json:"replay"`
	Figure Figure `json:"figure"`
	// Events describes the figure in words, with a sentence for each moment.
	Events []string `json:"events"`
	// File is the text of the scenario without the overrides.
	File string `json:"file"`
}

// A Setting is a value of the scenario; see [scenarios.Setting].
type Setting struct {
	Path  string   `json:"path"`
	Value string   `json:"value,omitempty"`
	Words []string `json:"words,omitempty"`
}

// A Run is the result of one run.
type Run struct {
	Fencing string `json:"fencing"`
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	// HasCaveats says that the data is safe, but that a property which is not about the data
	// is violated.
	HasCaveats bool `json:"hasCaveats"`
	// Data says what happened to the data, and Lock what the lock did wrong.
	Data string   `json:"data"`
	Lock []string `json:"lock"`
	// Hash is the hash of the trace, as the command locksim shows it.
	Hash   string `json:"hash"`
	Events int    `json:"events"`
	// VirtualMS is how long the run took, in milliseconds of virtual time.
	VirtualMS int64 `json:"virtualMs"`
}

// A Figure is a storyboard (a picture of what matters in the runs). All positions and sizes
// are in pixels.
type Figure struct {
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Shapes []Shape `json:"shapes"`
	Texts  []Text  `json:"texts"`
}

// A Shape is a rectangle or, if Path is not "", a line.
type Shape struct {
	Class  string `json:"class"`
	X      int    `json:"x,omitempty"`
	Y      int    `json:"y,omitempty"`
	W      int    `json:"w,omitempty"`
	H      int    `json:"h,omitempty"`
	Corner int    `json:"corner,omitempty"`
	Path   string `json:"path,omitempty"`
}

// A Text is a line of text; Y is its baseline.
type Text struct {
	Class  string `json:"class"`
	X      int    `json:"x"`
	Y      int    `json:"y"`
	Anchor string `json:"anchor,omitempty"`
	Size   int    `json:"size"`
	Bold   bool   `json:"bold,omitempty"`
	Line   string `json:"line"`
}

// errNotApplicable begins the error of a scenario that does not apply to a lock.
var errNotApplicable = errors.New("the scenario does not apply to this lock")

// run runs the world and describes it.
func (w *world) run() (*Answer, error) {
	runs, err := w.runBoth(w.after, nil)
	if err != nil {
		return nil, err
	}
	v := w.after.Variants[0]
	a := &Answer{
		Name: w.operand(), Title: story.Visible(w.after.Title), Variants: w.variants, Variant: v.Name,
		Locks: Locks(), OwnLock: v.Lock, Lock: runs[0].Lock, Replay: w.replay(w.after), File: w.before.Text,
	}
	if len(w.variants) == 1 && w.variants[0] == "" {
		a.Variants = []string{}
	}
	for _, s := range v.Settings() {
		a.Settings = append(a.Settings, Setting{Path: s.Path, Value: s.Value, Words: s.Words})
	}
	if a.Fault, err = w.fault(runs[0].History); err != nil {
		return nil, err
	}
	var drawn []story.Run
	for _, run := range runs {
		a.Runs = append(a.Runs, newRun(run))
		if w.Fencing == "" || w.Fencing == run.Fencing {
			drawn = append(drawn, story.Run{History: run.History, Verdict: run.Verdict, Witnesses: run.Witnesses(), ID: run.Fencing, Title: story.FencingNames[run.Fencing]})
		}
	}
	title := a.Title
	if v.Name != "" {
		title += ": " + v.Name
	}
	board := storyboard.Draw(title, drawn)
	a.Figure, a.Events = newFigure(board), board.Sentences()
	return a, nil
}

// runBoth runs a changed scenario without fencing tokens and with them. skips reports whether the
// run with fencing tokens can be left out; nil means never.
func (w *world) runBoth(s *scenarios.Scenario, skips func(on sim.Config, off scenarios.RunResult) bool) ([]scenarios.RunResult, error) {
	o := w.options()
	o.SkipsFencing = skips
	runs, notApplicable, err := s.Variants[0].RunBoth(o)
	switch {
	case err != nil:
		return nil, runError{err}
	case notApplicable != "":
		return nil, errors.Join(errNotApplicable, errors.New(notApplicable))
	}
	return runs, nil
}

// Locks lists the kinds of locks that this program can make.
func Locks() []string {
	return slices.DeleteFunc(slices.Clone(locks.Names()), func(kind string) bool { return !isProvided(kind) })
}

// newRun describes a run.
func newRun(run scenarios.RunResult) Run {
	t := run.History.Trace
	r := Run{
		Fencing: run.Fencing, Name: story.FencingNames[run.Fencing], Verdict: run.Verdict.Verdict, HasCaveats: len(run.Verdict.Caveats()) > 0,
		Data: story.DataSummary(run.History, run.Verdict).String(), Lock: []string{},
		Hash: t.Hash(), Events: run.History.EventCount(), VirtualMS: int64(t.End() / time.Millisecond),
	}
	for _, sentence := range story.LockSummary(run.Verdict) {
		r.Lock = append(r.Lock, sentence.String())
	}
	return r
}

// newFigure returns a storyboard as a Figure.
func newFigure(b *storyboard.Board) Figure {
	f := Figure{Width: storyboard.Width, Height: storyboard.Height}
	for _, s := range b.Shapes {
		f.Shapes = append(f.Shapes, Shape{s.Class, s.X, s.Y, s.W, s.H, s.Corner, s.Path})
	}
	for _, t := range b.Texts {
		f.Texts = append(f.Texts, Text{t.Class, t.X, t.Y, t.Anchor, t.Size, t.Bold, t.Line.String()})
	}
	return f
}

// actOf returns when a fault first struck, and when it was then lifted, or the end of the run
// if it was not. ok is false if it never struck.
func actOf(h *history.History, fault int) (from, to time.Duration, ok bool) {
	for _, act := range h.Acts() {
		if act.Fault != fault {
			continue
		}
		to = h.Trace.End()
		if act.Lifted != nil {
			to = act.Lifted.At
		}
		return act.Struck.At, to, true
	}
	return 0, 0, false
}
