package explore

import (
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
)

// A Result is what a search found. It depends only on the bases and the options, not on the
// number of processes or on the order in which they ran the worlds.
type Result struct {
	// Lock is the kind of lock, Nodes the number of nodes that store it, and TTL the
	// duration of a grant.
	Lock  string
	Nodes int
	TTL   time.Duration
	Seed  uint64
	// MaxFaults and Budget are options: the largest number of faults in a world, and the
	// number of worlds with several faults.
	MaxFaults, Budget int
	// Kinds are the kinds of faults that were tried. Quick reports that only the classic
	// causes among them were tried.
	Kinds Kinds
	Quick bool
	// Lengths and Rates are the sizes of the faults that were tried, the smallest first.
	// Takeover is that of the [Lock].
	Lengths  []time.Duration
	Rates    []sim.Rate
	Takeover time.Duration
	Bases    []BaseRecord
	Levels   []Level
	// Ways are the ways to break the lock, the worst first. RanOn are the ways in which a
	// paused process ran on, which a real pause never allows.
	Ways, RanOn []Way
	Maps        []DangerMap
	// Worlds is the number of worlds that were tried: the Tried of all levels, and Parts.
	// Parts counts worlds that were run only to learn what a part of a larger set does.
	// First is the number, among those tried, of the first world with one fault in which
	// anything broke; 0 if there is none. Worlds without faults are not counted, and
	// neither are those that were run to shrink and measure ways and to draw maps.
	Worlds, Parts, First int
	// Stopped says why the search ended early; "" if it did not.
	Stopped string
}

// A BaseRecord is the report on a base: what its run without faults shows.
type BaseRecord struct {
	Name string `json:"name"`
	// Points is the number of points at which a fault can strike. Steps counts those where
	// a step of a client begins. Messages is the number of messages that can be held or
	// lost.
	Points   int `json:"points"`
	Steps    int `json:"steps"`
	Messages int `json:"messages"`
	// Broke is what broke without faults, in words; "" is nothing.
	Broke string `json:"broke"`
	// Doubt says why the base was not explored; "" if it was.
	Doubt string `json:"doubt"`
}

// A Level is what was tried with one number of faults.
type Level struct {
	Faults int
	// Space is the number of sets of so many faults. Tried is the number of worlds with
	// such a set whose result is known. With one fault both are equal, unless the search
	// was quick, was stopped, or is one part of several.
	Space, Tried uint64
	// Repeats is how many of those tried were not run, because they would repeat another
	// world, event by event.
	Repeats uint64
	// Duplicates is how many of those tried have the same set as another one: two lanes may draw
	// the same set. Estimated reports that this number is not exact.
	Duplicates uint64
	Estimated  bool
	// Kinds is the number of sets of faults that behave differently alone. KindsTried is
	// how many of these are among those tried. Both are 0 for single faults.
	Kinds, KindsTried uint64
	// Broke is the number of worlds in which something broke, and BrokeFenced the number of
	// those in which something also broke with fencing tokens.
	Broke, BrokeFenced uint64
	// Doubtful is the number of inconclusive worlds: some fault did not act, for example
	// because another fault prevented the moment at which it was to strike.
	Doubtful uint64
	// Damage is everything that broke in the worlds tried, whether or not a smaller set
	// does it too. Worlds in which a paused process ran on are left out.
	Damage Damage
	// Behaviours is the number of different behaviours that no smaller number of faults had
	// shown.
	Behaviours int
}

// RunCount returns how many worlds of the level were run.
func (l Level) RunCount() uint64 { return l.Tried - l.Repeats }

// Sets returns how many different sets were tried.
func (l Level) Sets() uint64 { return l.Tried - l.Duplicates }

// Untried returns how many sets were not tried.
func (l Level) Untried() uint64 { return l.Space - min(l.Sets(), l.Space) }

// RunCount returns how many of the worlds that were tried were run. The others only repeat
// one of those.
func (r *Result) RunCount() int {
	n := r.Worlds
	for _, l := range r.Levels {
		n -= int(l.Repeats)
	}
	return n
}

// A Way is one way to break the lock: many worlds with one cause.
type Way struct {
	// ID is the same in every search that finds this way.
	ID string
	// Cause describes the faults of the example without names: "a pause of a client".
	// Causes are all such descriptions that were seen to do the same, the most common
	// first.
	Cause  []string
	Causes []Cause
	// Stages are all stages of a section that the faults of such worlds strike.
	Stages []string
	// Off and On are the properties that break in the example. Blame is the lock's, if the
	// lock is to blame for any of it.
	Off, On []string
	Blame   checks.Blame
	// Worlds is how many of those tried broke in this way.
	Worlds int
	// Example is the smallest world, and Damage what broke in it.
	Example runs.WorldSpec
	Damage  Damage
	Margins []Margin
	// Title and Story describe what happens in the example: Title on one line and without
	// the name of the lock, Story in a paragraph. They are those of the scenario file, or
	// "".
	Title, Story string
	// File is the name of the way's scenario file, and Text its content.
	File string
	Text []byte
	// Why is set if the lock panics, hangs or the like: what it did, and the stack. Such an
	// example is not shrunk and has no file.
	Why string
}

// A Cause is faults in words, and the number of worlds that broke because of them.
type Cause struct {
	Faults string `json:"faults"`
	Worlds int    `json:"worlds"`
}

// A Margin is how large one fault of a way has to be.
type Margin struct {
	// Fault is the fault's index in the example, from 0. What is its kind and target in
	// words, such as "a pause of client-1".
	Fault int
	What  string
	// Survived is the largest size at which none of the way's damage happens, and Broken
	// the smallest size at which it does. Survived is zero if any size is enough.
	Survived, Broken sim.Size
}

// String returns the margin in words.
func (m Margin) String() string {
	survived := ""
	if m.Survived != (sim.Size{}) {
		survived = m.Survived.String()
	}
	return story.Border(m.What, survived, m.Broken.String())
}

// A DangerMap shows the results of pauses of one client, by start and length.
type DangerMap struct {
	Base, Client string
	// Fencing is the run: [runs.FencingOff] or [runs.FencingOn].
	Fencing string
	// Lengths are the columns and Starts the rows: points in the client's section.
	Lengths []time.Duration
	Starts  []string
	// Cells has one row for each start, with one cell for each length.
	Cells [][]Danger
}

// Danger summarizes the result of one world.
type Danger string

const (
	Harmless Danger = "safe"
	// Misbehaved: the lock did what no caller can live with, a property of
	// [checks.SubjectMisconduct].
	Misbehaved Danger = "misconduct"
	TwoHolders Danger = "two holders"
	Corrupted  Danger = "corrupted"
	Undecided  Danger = "unknown"
)
