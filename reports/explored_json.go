package reports

import (
	"io"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// exploreSchema identifies the JSON format for the result of a search. Later versions may
// add fields, but do not rename or remove one or change its meaning. A field whose name
// ends in _ns is a duration in nanoseconds. The field without _ns has the same value in a
// form for people.
const exploreSchema = "locksim/explore/v1"

// jsonExplored is the result of a search as it is written in JSON.
type jsonExplored struct {
	Schema string        `json:"schema"`
	Lock   string        `json:"lock"`
	Nodes  int           `json:"nodes"`
	TTL    string        `json:"ttl"`
	TTLNS  time.Duration `json:"ttl_ns"`
	Seed   uint64        `json:"seed"`
	// Kinds are the kinds of faults that were tried; missing if all were tried.
	Kinds explore.Kinds `json:"kinds,omitzero"`
	// Quick reports whether only the classic causes of broken locks were tried; missing if
	// false.
	Quick     bool `json:"quick,omitempty"`
	MaxFaults int  `json:"max_faults"`
	// LengthsNS and RatesPPB are the sizes of the tried faults. Rates of clocks are in
	// parts per billion. Older documents lack both.
	LengthsNS []time.Duration `json:"lengths_ns,omitempty"`
	RatesPPB  []sim.Rate      `json:"rates_ppb,omitempty"`
	// TakeoverNS is how long after a crash of the holder another client is granted the
	// lock. It is missing if it is less than twice the TTL.
	TakeoverNS time.Duration `json:"takeover_ns,omitempty"`
	Budget     int           `json:"budget"`
	Stopped    string        `json:"stopped"`
	// Worlds is the number of worlds that were tried, in all levels and in Parts. Run is
	// how many of these were run, because some behave like a world that was run. Parts is
	// the number of worlds that try a part of a larger set of faults; missing if 0. Older
	// documents have neither run nor parts.
	Worlds int                  `json:"worlds"`
	Run    int                  `json:"run"`
	Parts  int                  `json:"parts,omitempty"`
	First  int                  `json:"first"`
	Bases  []explore.BaseRecord `json:"bases"`
	Levels []jsonLevel          `json:"levels"`
	Ways   []jsonWay            `json:"ways"`
	RanOn  []jsonWay            `json:"ran_on"`
	Maps   []jsonDangerMap      `json:"maps"`
	// NotFound are sentences for people about damage that was not found.
	NotFound []string `json:"not_found"`
	// Comparison is present only if the search was compared with an earlier one.
	Comparison *jsonComparison `json:"comparison,omitempty"`
}

// jsonLevel describes what was tried with one number of faults.
type jsonLevel struct {
	Faults int    `json:"faults"`
	Space  uint64 `json:"space"`
	Tried  uint64 `json:"tried"`
	// Repeats is how many of the tried worlds were not run, because they behave like
	// another world; missing if 0.
	Repeats uint64 `json:"repeats,omitempty"`
	// Run is how many of the tried worlds were run: tried minus repeats.
	Run uint64 `json:"run"`
	// Again is how many of the tried worlds have the same set of faults as another one;
	// missing if 0. Estimated reports whether again and untried are estimates; missing if
	// false.
	Again     uint64 `json:"again,omitempty"`
	Estimated bool   `json:"estimated,omitempty"`
	// Untried is how many sets of faults were not tried, out of the space of all sets.
	Untried     uint64 `json:"untried"`
	Kinds       uint64 `json:"kinds"`
	KindsTried  uint64 `json:"kinds_tried"`
	Broke       uint64 `json:"broke"`
	BrokeFenced uint64 `json:"broke_fenced"`
	// Doubtful is how many of the tried worlds are inconclusive; missing if 0.
	Doubtful uint64 `json:"doubtful,omitempty"`
	// Effect is everything that broke in any of the tried worlds, in the same form as the
	// effect of a way.
	Effect     explore.Damage `json:"effect"`
	Behaviours int            `json:"behaviours"`
}

// jsonWay is a way to break the lock.
type jsonWay struct {
	ID string `json:"id"`
	// Title and Story describe the example for people; both are missing if the example has
	// no scenario file.
	Title string   `json:"title,omitempty"`
	Story string   `json:"story,omitempty"`
	Cause []string `json:"cause"`
	// Causes are all causes that had the same effect, the most common first.
	Causes []explore.Cause `json:"causes"`
	Stages []string        `json:"stages"`
	// WithoutFencing and WithFencing name what breaks in the two runs of the example.
	WithoutFencing []string       `json:"without_fencing"`
	WithFencing    []string       `json:"with_fencing"`
	Fault          checks.Blame   `json:"fault"`
	Worlds         int            `json:"worlds"`
	Example        jsonWorld      `json:"example"`
	Effect         explore.Damage `json:"effect"`
	Margins        []jsonMargin   `json:"margins"`
	File           string         `json:"file"`
	// Replay is the command that runs the scenario file; missing if there is none.
	Replay string `json:"replay,omitempty"`
	// Why says how the lock misbehaved; missing if it did not. Stack is the beginning of the
	// stacks of its goroutines; missing if there are none.
	Why   string `json:"why,omitempty"`
	Stack string `json:"stack,omitempty"`
}

// jsonWorld is the example of a way. A base is a workload without faults, from which the
// search started.
type jsonWorld struct {
	// Base is the index of the example's base in bases, from 0.
	Base int `json:"base"`
	// Clients, Nodes, Starts and Persistence are what the example changes in its base. A
	// null or 0 means no change. In older documents only faults have a persistence.
	Clients     []string                   `json:"clients"`
	Nodes       int                        `json:"nodes"`
	Starts      map[string]trace.Point     `json:"starts"`
	Persistence map[string]sim.Persistence `json:"persistence,omitempty"`
	Faults      []jsonExploredFault        `json:"faults"`
}

// jsonExploredFault is one fault of an example. Text describes it for people. How is the
// manner of the fault, By its size, and For its duration.
type jsonExploredFault struct {
	Text   string          `json:"text"`
	Kind   string          `json:"kind"`
	Target string          `json:"target"`
	Others []string        `json:"others,omitempty"`
	How    string          `json:"how,omitempty"`
	Step   trace.Step      `json:"step,omitempty"`
	By     string          `json:"by,omitempty"`
	ByNS   time.Duration   `json:"by_ns,omitempty"`
	Rate   sim.Rate        `json:"rate,omitempty"`
	Before trace.StepPoint `json:"before,omitzero"`
	When   trace.Point     `json:"when,omitzero"`
	For    string          `json:"for,omitempty"`
	ForNS  time.Duration   `json:"for_ns,omitempty"`
	// Persistence is what the node that the fault crashes keeps on disk.
	Persistence sim.Persistence `json:"persistence,omitempty"`
}

// jsonMargin says how large a fault of the example must be to break the lock.
type jsonMargin struct {
	// Fault is the index of the fault in the example, from 0.
	Fault      int           `json:"fault"`
	What       string        `json:"what"`
	Survived   string        `json:"survived"`
	SurvivedNS time.Duration `json:"survived_ns"`
	Broken     string        `json:"broken"`
	BrokenNS   time.Duration `json:"broken_ns"`
	// SurvivedPPB and BrokenPPB are present if the size is the rate of a clock. They are in
	// parts per billion, and the durations are then 0.
	SurvivedPPB int64 `json:"survived_ppb,omitempty"`
	BrokenPPB   int64 `json:"broken_ppb,omitempty"`
}

// jsonDangerMap shows what a pause of a client does in one run, by the beginning and the
// length of the pause.
type jsonDangerMap struct {
	Base      string          `json:"base"`
	Client    string          `json:"client"`
	Fencing   string          `json:"fencing"`
	Lengths   []string        `json:"lengths"`
	LengthsNS []time.Duration `json:"lengths_ns"`
	Starts    []string        `json:"starts"`
	// Cells has a row for each start, and in the row a cell for each length.
	Cells [][]explore.Danger `json:"cells"`
}

// jsonComparison compares the search with an earlier one, whose name is Since.
type jsonComparison struct {
	Since string       `json:"since"`
	New   []jsonNewWay `json:"new"`
	Gone  []jsonWay    `json:"gone"`
}

// jsonNewWay is a way that the earlier search did not find, or that has become worse.
type jsonNewWay struct {
	ID string `json:"id"`
	// Worse says in which respect a known way has become worse; missing if the way was not
	// known.
	Worse string `json:"worse,omitempty"`
}

// writeExploredJSON writes the result of a search as JSON.
func writeExploredJSON(w io.Writer, r *explore.Result, o Options) error {
	doc := jsonExplored{
		Schema: exploreSchema, Lock: r.Lock, Nodes: r.Nodes, TTL: trace.ShortDuration(r.TTL), TTLNS: r.TTL, Seed: r.Seed,
		Kinds: r.Kinds, Quick: r.Quick, MaxFaults: r.MaxFaults, Budget: r.Budget, Stopped: r.Stopped, Worlds: r.Worlds, Run: r.RunCount(), Parts: r.Parts, First: r.First,
		LengthsNS: r.Lengths, RatesPPB: r.Rates, TakeoverNS: r.Takeover,
		Bases: nonNil(r.Bases), Levels: []jsonLevel{}, Ways: waysJSON(r.Ways), RanOn: waysJSON(r.RanOn),
		Maps: []jsonDangerMap{}, NotFound: []string{},
	}
	for _, a := range notFound(r) {
		doc.NotFound = append(doc.NotFound, a.text)
	}
	for _, l := range r.Levels {
		doc.Levels = append(doc.Levels, levelJSON(l))
	}
	for _, m := range r.Maps {
		doc.Maps = append(doc.Maps, dangerJSON(m))
	}
	if c := o.Since; c != nil {
		doc.Comparison = &jsonComparison{Since: c.Since, New: []jsonNewWay{}, Gone: waysJSON(c.Gone)}
		for _, n := range c.New {
			doc.Comparison.New = append(doc.Comparison.New, jsonNewWay{n.Way.ID, n.Worse})
		}
	}
	return encode(w, doc)
}

// levelJSON converts a level to its form in JSON.
func levelJSON(l explore.Level) jsonLevel {
	return jsonLevel{
		Faults: l.Faults, Space: l.Space, Tried: l.Tried, Repeats: l.Repeats, Run: l.RunCount(),
		Again: l.Duplicates, Estimated: l.Estimated, Untried: l.Untried(),
		Kinds: l.Kinds, KindsTried: l.KindsTried, Broke: l.Broke, BrokeFenced: l.BrokeFenced, Doubtful: l.Doubtful,
		Effect: nonNil(l.Damage), Behaviours: l.Behaviours,
	}
}

// level converts the level to the type of the search.
func (l jsonLevel) level() explore.Level {
	return explore.Level{
		Faults: l.Faults, Space: l.Space, Tried: l.Tried, Repeats: l.Repeats, Duplicates: l.Again, Estimated: l.Estimated,
		Kinds: l.Kinds, KindsTried: l.KindsTried, Broke: l.Broke, BrokeFenced: l.BrokeFenced, Doubtful: l.Doubtful,
		Damage: l.Effect, Behaviours: l.Behaviours,
	}
}

// waysJSON converts ways to their form in JSON.
func waysJSON(ways []explore.Way) []jsonWay {
	all := []jsonWay{}
	for _, w := range ways {
		way := jsonWay{
			ID: w.ID, Title: w.Title, Story: w.Story, Cause: nonNil(w.Cause), Causes: nonNil(w.Causes), Stages: nonNil(w.Stages), WithoutFencing: nonNil(w.Off), WithFencing: nonNil(w.On),
			Fault: w.Blame, Worlds: w.Worlds, Example: worldJSON(w.Example), Effect: nonNil(w.Damage), Margins: []jsonMargin{}, File: w.File, Why: w.Why, Stack: w.Stack,
		}
		for _, m := range w.Margins {
			way.Margins = append(way.Margins, jsonMargin{
				Fault: m.Fault, What: m.What,
				Survived: m.Survived.String(), SurvivedNS: m.Survived.Time, SurvivedPPB: int64(m.Survived.Rate),
				Broken: m.Broken.String(), BrokenNS: m.Broken.Time, BrokenPPB: int64(m.Broken.Rate),
			})
		}
		if w.File != "" {
			way.Replay = replayWay(w.File)
		}
		all = append(all, way)
	}
	return all
}

// nonNil returns a list that JSON writes as [] and not as null if it is empty.
func nonNil[T any](list []T) []T { return append([]T{}, list...) }

// worldJSON converts the world of an example to its form in JSON.
func worldJSON(w runs.WorldSpec) jsonWorld {
	out := jsonWorld{Base: w.Base, Clients: w.Change.Clients, Nodes: w.Change.Nodes, Starts: w.Change.Starts, Persistence: w.Change.Persistence, Faults: []jsonExploredFault{}}
	for _, f := range w.Faults {
		p := f.Parameters()
		fault := jsonExploredFault{
			Text: exploredFaultWords(w, f), Kind: p.Kind, Target: p.Target, Others: p.Others, How: p.How, Step: p.Step,
			ByNS: p.By, Rate: p.Rate, Before: p.Before, When: p.When, ForNS: p.For, Persistence: persistenceOf(w, f),
		}
		if p.By != 0 {
			fault.By = trace.ShortDuration(p.By)
		}
		if p.For != 0 {
			fault.For = trace.ShortDuration(p.For)
		}
		out.Faults = append(out.Faults, fault)
	}
	return out
}

// dangerJSON converts a danger map to its form in JSON.
func dangerJSON(m explore.DangerMap) jsonDangerMap {
	out := jsonDangerMap{
		Base: m.Base, Client: m.Client, Fencing: m.Fencing, Starts: nonNil(m.Starts),
		Lengths: []string{}, LengthsNS: append([]time.Duration{}, m.Lengths...), Cells: [][]explore.Danger{},
	}
	for _, d := range m.Lengths {
		out.Lengths = append(out.Lengths, trace.ShortDuration(d))
	}
	for _, row := range m.Cells {
		out.Cells = append(out.Cells, append([]explore.Danger{}, row...))
	}
	return out
}

// way converts the way to the type of the search. The text of its scenario is not in the
// document.
func (w jsonWay) way() explore.Way {
	way := explore.Way{
		ID: w.ID, Title: w.Title, Story: w.Story, Cause: w.Cause, Causes: w.Causes, Stages: w.Stages, Off: w.WithoutFencing, On: w.WithFencing, Blame: w.Fault, Worlds: w.Worlds,
		Example: w.Example.world(), Damage: w.Effect, File: w.File, Why: w.Why, Stack: w.Stack,
	}
	for _, m := range w.Margins {
		way.Margins = append(way.Margins, explore.Margin{
			Fault: m.Fault, What: m.What,
			Survived: sim.Size{Time: m.SurvivedNS, Rate: sim.Rate(m.SurvivedPPB)}, Broken: sim.Size{Time: m.BrokenNS, Rate: sim.Rate(m.BrokenPPB)},
		})
	}
	return way
}

// world converts the world to the type of the search.
func (w jsonWorld) world() runs.WorldSpec {
	world := runs.WorldSpec{Base: w.Base, Change: scenarios.Change{Clients: w.Clients, Nodes: w.Nodes, Starts: w.Starts, Persistence: w.Persistence}}
	for _, f := range w.Faults {
		if fault, err := f.fault(); err == nil { // check has already refused documents with invalid faults
			world.Faults = append(world.Faults, fault)
			if f.Persistence != "" && w.Persistence == nil {
				if world.Change.Persistence == nil {
					world.Change.Persistence = map[string]sim.Persistence{}
				}
				world.Change.Persistence[fault.Target()] = f.Persistence
			}
		}
	}
	return world
}

// fault converts the fault to the type of the search.
func (f jsonExploredFault) fault() (runs.Fault, error) {
	return runs.Parameters{
		Parts:  sim.Parts{Kind: f.Kind, Target: f.Target, Others: f.Others, How: f.How, Step: f.Step, By: f.ByNS, Rate: f.Rate},
		Before: f.Before, When: f.When, For: f.ForNS,
	}.Fault()
}
