package playground

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Fault is the fault whose moment and size the reader can change.
type Fault struct {
	// Number is the number of the fault in the world, from 1. Texts describes all faults of
	// the world.
	Number int      `json:"number"`
	Texts  []string `json:"texts"`
	// Path is the path of the fault in the scenario, such as faults[1].
	Path string `json:"path"`
	// Strikes says in words when the fault strikes. At is when it struck in the run without
	// fencing, in milliseconds; -1 if it did not strike.
	Strikes string  `json:"strikes"`
	At      float64 `json:"atMs"`
	// SizePath is the path of the fault's size in the scenario, and SizeName the word for the size,
	// such as "lasts". Both are "" if the fault has no size that is a time. Size is the size in
	// milliseconds, and IsNegative says that the scenario has it with a minus sign. If the scenario
	// gives a point at which the fault ends in place of a size, EndsAt is that point, and Size is
	// how long the fault lasted in the run.
	SizePath   string  `json:"sizePath,omitempty"`
	SizeName   string  `json:"sizeName,omitempty"`
	Size       float64 `json:"sizeMs"`
	IsNegative bool    `json:"isNegative,omitempty"`
	EndsAt     string  `json:"endsAt,omitempty"`
	// Longest is the largest size that the page offers, and TTL how long a lease lasts, in
	// milliseconds.
	Longest float64 `json:"longestMs"`
	TTL     float64 `json:"ttlMs"`
}

// milliseconds returns a time as a number of milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// number returns the number of the fault that the reader can change.
func (w *world) number() int { return max(w.Request.Fault, 1) }

// faultPath returns the path, in the scenario, of the fault that the reader can change.
func (w *world) faultPath() string { return fmt.Sprintf("faults[%d]", w.number()) }

// fault describes the fault that the reader can change. h is the history of the run without
// fencing. The result is nil if the world has no faults.
func (w *world) fault(h *history.History) (*Fault, error) {
	config, err := w.after.Variants[0].Config(scenarios.Options{Seed: w.Seed, Lock: w.Lock, Fencing: scenarios.Off})
	if err != nil || len(config.Faults) == 0 {
		return nil, err
	}
	if w.number() > len(config.Faults) {
		return nil, fmt.Errorf("there is no fault %d, because the world has %s", w.number(), story.Count(len(config.Faults), "fault"))
	}
	chosen := config.Faults[w.number()-1]
	f := &Fault{Number: w.number(), Path: w.faultPath(), Strikes: chosen.Strikes.String(), At: -1, TTL: milliseconds(config.Lock.TTL)}
	for _, other := range config.Faults {
		f.Texts = append(f.Texts, story.Visible(other.Text))
	}
	f.Longest = 2 * cmp.Or(f.TTL, milliseconds(explore.DefaultTTL))
	from, to, ok := actOf(h, w.number())
	if ok {
		f.At = milliseconds(from)
	}
	f.readSize(w.after.Variants[0], chosen, to-from)
	return f, nil
}

// readSize reads the size of the fault: how long it lasts, or by how much it sets a clock. lasted
// is how long the fault lasted in the run.
func (f *Fault) readSize(v *scenarios.Variant, chosen sim.Fault, lasted time.Duration) {
	isInstant := slices.ContainsFunc(sim.FaultKinds(), func(k sim.FaultKind) bool { return k.Name == chosen.Kind() && k.Instant })
	if !isInstant {
		f.SizePath, f.SizeName, f.Size = f.Path+".for", "lasts", milliseconds(cmp.Or(chosen.For, lasted))
		if !chosen.Until.IsZero() {
			f.EndsAt = chosen.Until.String()
		}
		return
	}
	for _, s := range v.Settings() {
		field, isParameter := strings.CutPrefix(s.Path, f.Path+".")
		if !isParameter || slices.Contains(timing, field) {
			continue
		}
		if size, err := time.ParseDuration(s.Value); err == nil {
			f.SizePath, f.SizeName, f.IsNegative, f.Size = s.Path, field, size < 0, milliseconds(size.Abs())
			f.Longest = max(f.Longest, 2*f.Size)
			return
		}
	}
}

// timing are the fields of a fault that say when it strikes.
var timing = []string{"at", "before", "after", "when"}

// Places are the moments at which the fault can strike, in the order of the run without the fault.
type Places struct {
	Places []Place `json:"places"`
	// Sizes are the sizes in the columns of the danger map, written as in a scenario, and SizesMS
	// the same sizes in milliseconds. There are none if the fault has no size.
	Sizes   []string  `json:"sizes"`
	SizesMS []float64 `json:"sizesMs"`
}

// A Place is a moment at which the fault can strike.
type Place struct {
	// Set is the override that makes the fault strike at this moment, and Strikes says in words
	// which moment it is.
	Set     string `json:"set"`
	Strikes string `json:"strikes"`
	// At is the true time of the moment in the run without the fault, in milliseconds.
	At float64 `json:"atMs"`
}

// mapColumns is how many sizes a danger map has.
const mapColumns = 12

// places finds the moments at which the fault can strike: the steps of the process that it strikes,
// and the first message of each kind. The moment that the scenario itself names is always among
// them.
func (w *world) places() (*Places, error) {
	own, err := w.before.Variants[0].Config(scenarios.Options{Seed: w.Seed, Lock: w.Lock, Fencing: scenarios.Off})
	if err != nil {
		return nil, err
	}
	calm, err := w.withoutFault()
	if err != nil {
		return nil, err
	}
	config, err := calm.Variants[0].Config(scenarios.Options{Seed: w.Seed, Lock: w.Lock, Fencing: scenarios.Off})
	if err != nil {
		return nil, err
	}
	run, err := calm.Variants[0].Run(w.options(), scenarios.Off)
	if err != nil {
		return nil, runError{err}
	}
	all := &Places{Places: []Place{}, Sizes: []string{}, SizesMS: []float64{}}
	add := func(strikes trace.Trigger, at time.Duration) {
		set, ok := w.setOf(strikes)
		if ok && !slices.ContainsFunc(all.Places, func(p Place) bool { return p.Set == set }) {
			all.Places = append(all.Places, Place{set, strikes.String(), milliseconds(at)})
		}
	}
	if w.number() > len(own.Faults) {
		return all, nil
	}
	fault := own.Faults[w.number()-1]
	seen := map[trace.Transit]bool{}
	for _, p := range explore.NewRecord(config, run.History).Points {
		if p.Process == fault.Target() && isFirstOfItsKind(p, seen) {
			add(p.Strikes, p.At)
		}
	}
	add(fault.Strikes, w.strikesAt())
	slices.SortStableFunc(all.Places, func(a, b Place) int { return cmp.Compare(a.At, b.At) })
	f, err := w.fault(run.History)
	if err != nil || f == nil || f.SizePath == "" {
		return all, err
	}
	for i := range mapColumns {
		size := time.Duration(f.Longest*float64(i+1)/mapColumns) * time.Millisecond
		words := trace.ShortDuration(size)
		if f.IsNegative {
			words = "-" + words
		}
		all.Sizes, all.SizesMS = append(all.Sizes, words), append(all.SizesMS, milliseconds(size))
	}
	return all, nil
}

// isFirstOfItsKind reports whether no earlier injection point is about a message of the same kind.
// seen has the kinds of the earlier messages; the point's own are added to it. Messages to
// different servers in one step are of one kind. For a point that is not about a message the result
// is true.
func isFirstOfItsKind(p explore.InjectionPoint, seen map[trace.Transit]bool) bool {
	for _, alternative := range p.Strikes.When.Alternatives() {
		transit, ok := alternative.Happening.(trace.Transit)
		if !ok {
			continue
		}
		transit.Peer = ""
		if seen[transit] {
			return false
		}
		seen[transit] = true
	}
	return true
}

// withoutFault returns the scenario with all overrides, and without the fault.
func (w *world) withoutFault() (*scenarios.Scenario, error) {
	var kept []string
	for _, set := range w.after.Overrides {
		if path, _, _ := strings.Cut(set, "="); !strings.HasPrefix(strings.TrimSpace(path), w.faultPath()) {
			kept = append(kept, set)
		}
	}
	return w.before.With(append(kept, w.faultPath()+"=null")...)
}

// setOf returns the override that makes the fault strike at the moment that strikes
// describes.
func (w *world) setOf(strikes trace.Trigger) (set string, ok bool) {
	switch {
	case !strikes.Before.IsZero():
		return w.faultPath() + ".before=" + strikes.Before.String(), true
	case !strikes.When.IsZero():
		return w.faultPath() + ".when=" + strikes.When.String(), true
	}
	return w.faultPath() + ".at=" + trace.ShortDuration(strikes.At), true
}

// strikesAt returns when the fault strikes in the scenario without overrides; 0 if it does
// not.
func (w *world) strikesAt() time.Duration {
	run, err := w.before.Variants[0].Run(w.options(), scenarios.Off)
	if err != nil {
		return 0
	}
	from, _, _ := actOf(run.History, w.number())
	return from
}
