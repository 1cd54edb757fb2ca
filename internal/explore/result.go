package explore

import (
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
)

// A Result is what a search found. It depends on the bases and on the options,
// and not on how many processes ran the worlds or in which order.
type Result struct {
	// Lock is the kind of lock, Nodes on how many nodes it is kept and TTL how long
	// a grant lasts.
	Lock  string
	Nodes int
	TTL   time.Duration
	Seed  uint64
	// MaxFaults and Budget are what was asked for: how many faults a world has at
	// most, and how many worlds with several.
	MaxFaults, Budget int
	// Kinds are the kinds of faults that were tried, and Quick says that of these only the
	// classic causes were.
	Kinds Kinds
	Quick bool
	// Lengths and Rates are the sizes of the faults that were tried, the smallest first.
	// Takeover is that of the [Lock].
	Lengths  []time.Duration
	Rates    []sim.Rate
	Takeover time.Duration
	Bases    []BaseRecord
	Levels   []Level
	// Ways are the ways to break the lock, the worst first. RanOn are those in which a
	// paused process ran on, which no real pause lets it do.
	Ways, RanOn []Way
	Maps        []DangerMap
	// Worlds is how many worlds were tried: the Tried of all levels, and Parts, which were run
	// only to know what a part of a larger set does. First is the number, of those tried, of
	// the first with one fault in which anything broke; 0 if there is none. Worlds without
	// faults, and those that shrink and measure ways and draw maps, are not counted.
	Worlds, Parts, First int
	// Stopped says why the search ended before its time, or is "".
	Stopped string
}

// A BaseRecord is what the run of a base without any fault shows.
type BaseRecord struct {
	Name string `json:"name"`
	// Points is at how many points a fault can strike: Steps of clients that begin or
	// end, and Messages that are sent or arrive.
	Points   int `json:"points"`
	Steps    int `json:"steps"`
	Messages int `json:"messages"`
	// Broke is what broke without any fault, in words; "" is nothing.
	Broke string `json:"broke"`
	// Doubt says why the base was not explored; "" if it was.
	Doubt string `json:"doubt"`
}

// A Level is what was tried with a certain number of faults.
type Level struct {
	Faults int
	// Space is how many sets there are of so many faults, and Tried of how many worlds with
	// such a set it is known what they come to. With one fault both are equal unless the
	// search was quick, was stopped, or is a part of one.
	Space, Tried uint64
	// Repeats is how many of those tried were not run, because another was that runs
	// the same, event by event.
	Repeats uint64
	// Again is how many of those tried have a set that another of them has: two lanes may
	// draw the same one. Estimated says that this is not an exact number.
	Again     uint64
	Estimated bool
	// Kinds is how many sets there are of faults that by themselves behave
	// differently, and KindsTried how many of these are among those tried; 0 for
	// single faults.
	Kinds, KindsTried uint64
	// Broke and BrokeFenced are in how many worlds something broke, and in how many
	// also with fencing tokens.
	Broke, BrokeFenced uint64
	// Doubtful is how many of the worlds tried prove nothing: some fault did not act, as
	// when it was to strike at a moment that another fault kept from coming.
	Doubtful uint64
	// Effect is everything that broke in the worlds tried, whether a smaller set does it
	// too or not. Worlds in which a paused process ran on are left out.
	Effect Effect
	// Behaviours is how many different ones were seen that no smaller number of faults
	// had shown.
	Behaviours int
}

// Run is how many worlds of the level were run.
func (l Level) Run() uint64 { return l.Tried - l.Repeats }

// Sets is how many different sets were tried.
func (l Level) Sets() uint64 { return l.Tried - l.Again }

// Untried is how many sets were not tried.
func (l Level) Untried() uint64 { return l.Space - min(l.Sets(), l.Space) }

// Run is how many of the worlds that were tried were run. The others only repeat one of them.
func (r *Result) Run() int {
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
	// Cause is the faults of the example in words, in the abstract: "a pause of a
	// client". Causes are all that were seen to do the same, the most common first.
	Cause  []string
	Causes []Cause
	// Stages are the stages of a section that the faults strike, all that were seen.
	Stages []string
	// Off and On are the properties that break in the example, and Fault whose fault
	// it is: the lock's, if any of it is.
	Off, On []string
	Fault   checks.Blame
	// Worlds is how many of those tried broke in this way.
	Worlds int
	// Example is the smallest, and Effect what broke in it.
	Example runs.World
	Effect  Effect
	Margins []Margin
	// Title and Story tell in words what happens in the example: Title in one line,
	// without the name of the lock, and Story in a paragraph. They are those of the
	// scenario file, or "".
	Title, Story string
	// File is the name of the scenario file that tells it, and Text what is in it.
	File string
	Text []byte
	// Why is, of a lock that panics, hangs or the like, what it did and the stack. Such
	// an example is not shrunk and has no file.
	Why string
}

// A Cause is faults in words, and how many worlds broke because of these.
type Cause struct {
	Faults string `json:"faults"`
	Worlds int    `json:"worlds"`
}

// A Margin is how large one fault of a way has to be.
type Margin struct {
	// Fault is the fault's place in the example, from 0, and What its kind and target
	// in words, such as "a pause of client-1".
	Fault int
	What  string
	// Survived is the largest size at which nothing of the way's effect happens, and
	// Broken the smallest at which it does. Survived is zero if any size will do.
	Survived, Broken sim.Size
}

// String says it in words.
func (m Margin) String() string {
	survived := ""
	if m.Survived != (sim.Size{}) {
		survived = m.Survived.String()
	}
	return story.Border(m.What, survived, m.Broken.String())
}

// A DangerMap says what comes of a pause of one client, by when it starts and how
// long it lasts.
type DangerMap struct {
	Base, Client string
	// Fencing is whether the storage checks tokens: Without or With.
	Fencing string
	// Lengths are the columns and Starts the rows: points in the client's section.
	Lengths []time.Duration
	Starts  []string
	// Cells has a row for each start and in it a cell for each length.
	Cells [][]Danger
}

// Danger is what became of a lock in one world.
type Danger string

const (
	Harmless Danger = "safe"
	// Misbehaved is a lock that does what no caller can live with: a property of
	// [checks.OfMisconduct].
	Misbehaved Danger = "misconduct"
	TwoHolders Danger = "two holders"
	Corrupted  Danger = "corrupted"
	Undecided  Danger = "unknown"
)
