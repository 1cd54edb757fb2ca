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

// exploreSchema names the shape in JSON of what a search found. Fields may be
// added to it; none is renamed, removed or given another meaning. A field that
// ends in _ns is a length of time in nanoseconds, and the field of that name
// without _ns says the same for people.
const exploreSchema = "locksim/explore/v1"

type jsonExplored struct {
	Schema string        `json:"schema"`
	Lock   string        `json:"lock"`
	Nodes  int           `json:"nodes"`
	TTL    string        `json:"ttl"`
	TTLNS  time.Duration `json:"ttl_ns"`
	Seed   uint64        `json:"seed"`
	// Kinds are the kinds of faults that were tried; it is missing if all were.
	Kinds explore.Kinds `json:"kinds,omitzero"`
	// Quick says that only the classic causes were tried; it is missing otherwise.
	Quick     bool `json:"quick,omitempty"`
	MaxFaults int  `json:"max_faults"`
	// LengthsNS and RatesPPB are the sizes of the faults that were tried, the rates of clocks
	// in parts per billion. Documents of older versions do not have them.
	LengthsNS []time.Duration `json:"lengths_ns,omitempty"`
	RatesPPB  []sim.Rate      `json:"rates_ppb,omitempty"`
	// TakeoverNS is how long after a crash of its holder another client is granted the lock;
	// it is missing if that is less than twice the TTL.
	TakeoverNS time.Duration `json:"takeover_ns,omitempty"`
	Budget     int           `json:"budget"`
	Stopped    string        `json:"stopped"`
	// Worlds is how many worlds were tried: the tried of all levels, and parts. Run is how
	// many of these were run: the others only repeat one that was. Parts were run only to know
	// what a part of a larger set does; it is missing if none were. Older documents have
	// neither run nor parts.
	Worlds int                  `json:"worlds"`
	Run    int                  `json:"run"`
	Parts  int                  `json:"parts,omitempty"`
	First  int                  `json:"first"`
	Bases  []explore.BaseRecord `json:"bases"`
	Levels []jsonLevel          `json:"levels"`
	Ways   []jsonWay            `json:"ways"`
	RanOn  []jsonWay            `json:"ran_on"`
	Maps   []jsonDangerMap      `json:"maps"`
	// NotFound are sentences for people.
	NotFound []string `json:"not_found"`
	// Comparison is there only if an earlier result was given.
	Comparison *jsonComparison `json:"comparison,omitempty"`
}

type jsonLevel struct {
	Faults int    `json:"faults"`
	Space  uint64 `json:"space"`
	Tried  uint64 `json:"tried"`
	// Repeats is how many of those tried only repeat what another one shows, and were not
	// run; it is missing if none.
	Repeats uint64 `json:"repeats,omitempty"`
	// Run is how many of those tried were run, so tried less repeats.
	Run uint64 `json:"run"`
	// Again is how many of those tried have a set that another of them has; it is missing if
	// none has. Estimated says that again and untried are estimates; it is missing otherwise.
	Again     uint64 `json:"again,omitempty"`
	Estimated bool   `json:"estimated,omitempty"`
	// Untried is how many of the space were not tried.
	Untried     uint64 `json:"untried"`
	Kinds       uint64 `json:"kinds"`
	KindsTried  uint64 `json:"kinds_tried"`
	Broke       uint64 `json:"broke"`
	BrokeFenced uint64 `json:"broke_fenced"`
	// Doubtful is how many of the worlds tried prove nothing; it is missing if none.
	Doubtful uint64 `json:"doubtful,omitempty"`
	// Effect is everything that broke in the worlds tried, in the words of a way's.
	Effect     explore.Effect `json:"effect"`
	Behaviours int            `json:"behaviours"`
}

type jsonWay struct {
	ID string `json:"id"`
	// Title and Story tell the example to people. They are missing if it has no file.
	Title string   `json:"title,omitempty"`
	Story string   `json:"story,omitempty"`
	Cause []string `json:"cause"`
	// Causes are all that were seen to do the same, the most common first.
	Causes []explore.Cause `json:"causes"`
	Stages []string        `json:"stages"`
	// WithoutFencing and WithFencing are what breaks in the two runs of the example.
	WithoutFencing []string       `json:"without_fencing"`
	WithFencing    []string       `json:"with_fencing"`
	Fault          checks.Blame   `json:"fault"`
	Worlds         int            `json:"worlds"`
	Example        jsonWorld      `json:"example"`
	Effect         explore.Effect `json:"effect"`
	Margins        []jsonMargin   `json:"margins"`
	File           string         `json:"file"`
	// Replay is there if there is a file.
	Replay string `json:"replay,omitempty"`
	// Why is there if the lock did what no lock may do, with the stack.
	Why string `json:"why,omitempty"`
}

type jsonWorld struct {
	// Base is the place of the example's base in bases, from 0.
	Base int `json:"base"`
	// Clients, Nodes, Starts and Persistence are what is different in it; null or 0 is
	// nothing. Older documents have the persistence at the faults alone.
	Clients     []string                   `json:"clients"`
	Nodes       int                        `json:"nodes"`
	Starts      map[string]trace.Point     `json:"starts"`
	Persistence map[string]sim.Persistence `json:"persistence,omitempty"`
	Faults      []jsonExploredFault        `json:"faults"`
}

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
	// Persistence is what the node that it crashes writes to its disk.
	Persistence sim.Persistence `json:"persistence,omitempty"`
}

type jsonMargin struct {
	// Fault is the fault's place in the example, from 0.
	Fault      int           `json:"fault"`
	What       string        `json:"what"`
	Survived   string        `json:"survived"`
	SurvivedNS time.Duration `json:"survived_ns"`
	Broken     string        `json:"broken"`
	BrokenNS   time.Duration `json:"broken_ns"`
	// SurvivedPPB and BrokenPPB are there if the size is the rate of a clock: in parts per
	// billion. The times are 0 then.
	SurvivedPPB int64 `json:"survived_ppb,omitempty"`
	BrokenPPB   int64 `json:"broken_ppb,omitempty"`
}

type jsonDangerMap struct {
	Base      string          `json:"base"`
	Client    string          `json:"client"`
	Fencing   string          `json:"fencing"`
	Lengths   []string        `json:"lengths"`
	LengthsNS []time.Duration `json:"lengths_ns"`
	Starts    []string        `json:"starts"`
	// Cells has a row for each start and in it a cell for each length.
	Cells [][]explore.Danger `json:"cells"`
}

type jsonComparison struct {
	Since string       `json:"since"`
	New   []jsonNewWay `json:"new"`
	Gone  []jsonWay    `json:"gone"`
}

type jsonNewWay struct {
	ID string `json:"id"`
	// Worse says in what a way that was known is worse; it is missing if the way was
	// not known.
	Worse string `json:"worse,omitempty"`
}

func writeExploredJSON(w io.Writer, r *explore.Result, o Options) error {
	doc := jsonExplored{
		Schema: exploreSchema, Lock: r.Lock, Nodes: r.Nodes, TTL: trace.ShortDuration(r.TTL), TTLNS: r.TTL, Seed: r.Seed,
		Kinds: r.Kinds, Quick: r.Quick, MaxFaults: r.MaxFaults, Budget: r.Budget, Stopped: r.Stopped, Worlds: r.Worlds, Run: r.Run(), Parts: r.Parts, First: r.First,
		LengthsNS: r.Lengths, RatesPPB: r.Rates, TakeoverNS: r.Takeover,
		Bases: present(r.Bases), Levels: []jsonLevel{}, Ways: waysJSON(r.Ways), RanOn: waysJSON(r.RanOn),
		Maps: []jsonDangerMap{}, NotFound: []string{},
	}
	for _, a := range notFound(r) {
		doc.NotFound = append(doc.NotFound, a.says)
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

func levelJSON(l explore.Level) jsonLevel {
	return jsonLevel{
		Faults: l.Faults, Space: l.Space, Tried: l.Tried, Repeats: l.Repeats, Run: l.Run(),
		Again: l.Again, Estimated: l.Estimated, Untried: l.Untried(),
		Kinds: l.Kinds, KindsTried: l.KindsTried, Broke: l.Broke, BrokeFenced: l.BrokeFenced, Doubtful: l.Doubtful,
		Effect: present(l.Effect), Behaviours: l.Behaviours,
	}
}

// level is the level as the search had it.
func (l jsonLevel) level() explore.Level {
	return explore.Level{
		Faults: l.Faults, Space: l.Space, Tried: l.Tried, Repeats: l.Repeats, Again: l.Again, Estimated: l.Estimated,
		Kinds: l.Kinds, KindsTried: l.KindsTried, Broke: l.Broke, BrokeFenced: l.BrokeFenced, Doubtful: l.Doubtful,
		Effect: l.Effect, Behaviours: l.Behaviours,
	}
}

func waysJSON(ways []explore.Way) []jsonWay {
	all := []jsonWay{}
	for _, w := range ways {
		way := jsonWay{
			ID: w.ID, Title: w.Title, Story: w.Story, Cause: present(w.Cause), Causes: present(w.Causes), Stages: present(w.Stages), WithoutFencing: present(w.Off), WithFencing: present(w.On),
			Fault: w.Fault, Worlds: w.Worlds, Example: worldJSON(w.Example), Effect: present(w.Effect), Margins: []jsonMargin{}, File: w.File, Why: w.Why,
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

// present is a list that JSON shows as one even if it is empty.
func present[T any](list []T) []T { return append([]T{}, list...) }

func worldJSON(w runs.World) jsonWorld {
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

func dangerJSON(m explore.DangerMap) jsonDangerMap {
	out := jsonDangerMap{
		Base: m.Base, Client: m.Client, Fencing: m.Fencing, Starts: present(m.Starts),
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

// way is the way as the search had it, without the text of its scenario.
func (w jsonWay) way() explore.Way {
	way := explore.Way{
		ID: w.ID, Title: w.Title, Story: w.Story, Cause: w.Cause, Causes: w.Causes, Stages: w.Stages, Off: w.WithoutFencing, On: w.WithFencing, Fault: w.Fault, Worlds: w.Worlds,
		Example: w.Example.world(), Effect: w.Effect, File: w.File, Why: w.Why,
	}
	for _, m := range w.Margins {
		way.Margins = append(way.Margins, explore.Margin{
			Fault: m.Fault, What: m.What,
			Survived: sim.Size{Time: m.SurvivedNS, Rate: sim.Rate(m.SurvivedPPB)}, Broken: sim.Size{Time: m.BrokenNS, Rate: sim.Rate(m.BrokenPPB)},
		})
	}
	return way
}

func (w jsonWorld) world() runs.World {
	world := runs.World{Base: w.Base, Change: scenarios.Change{Clients: w.Clients, Nodes: w.Nodes, Starts: w.Starts, Persistence: w.Persistence}}
	for _, f := range w.Faults {
		if fault, err := f.fault(); err == nil { // check has refused any other
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

// fault is the fault as the search had it.
func (f jsonExploredFault) fault() (runs.Fault, error) {
	return runs.Parameters{
		Parts:  sim.Parts{Kind: f.Kind, Target: f.Target, Others: f.Others, How: f.How, Step: f.Step, By: f.ByNS, Rate: f.Rate},
		Before: f.Before, When: f.When, For: f.ForNS,
	}.Fault()
}
