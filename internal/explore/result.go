package explore

import (
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
)

// A Result has the findings of a search. It depends only on the bases and the options, not
// on the number of processes or on the order in which they ran the worlds.
type Result struct {
	// Lock is the kind of lock, Nodes the number of nodes that keep it, and TTL how long a
	// grant lasts. Seed is the seed of the bases.
	Lock  string
	Nodes int
	TTL   time.Duration
	Seed  uint64
	// MaxFaults and Budget are options of the search: the largest number of faults in a
	// world, and the number of worlds with several faults; 0 is no limit.
	MaxFaults, Budget int
	// Kinds are the kinds of faults that were tried. Quick means that only some faults of
	// these kinds were tried, the best known causes.
	Kinds Kinds
	Quick bool
	// Lengths and Rates are the sizes of the faults that were tried, the smallest first. Takeover
	// is the time from a crash of the holder until another client is granted the lock; 0 if it was
	// not measured.
	Lengths  []time.Duration
	Rates    []sim.Rate
	Takeover time.Duration
	Bases    []BaseRecord
	Levels   []Level
	// Ways are the ways to break the lock, the worst first. RanOn are ways in which a
	// paused process did something, which a real pause never allows.
	Ways, RanOn []Way
	// Maps show what pauses of a client do.
	Maps []DangerMap
	// Worlds is the number of worlds that were tried: the sum of the levels' Tried, and
	// Parts. Parts counts worlds that were run only to learn what a part of a larger set of
	// faults does. First is the position, among all worlds tried, of the first world with
	// one fault in which anything broke; 0 if there is none. These numbers leave out worlds
	// without faults, and those that were run to shrink ways, to measure them and to draw
	// maps.
	Worlds, Parts, First int
	// Stopped says why the search ended early; "" if it did not.
	Stopped string
}

// A BaseRecord is the part of a result that is about one base: what its run without faults
// shows.
type BaseRecord struct {
	Name string `json:"name"`
	// Points is the number of points at which a fault can strike. Steps counts those where
	// a step of a client begins. Messages is the number of messages that can be held or
	// lost.
	Points   int `json:"points"`
	Steps    int `json:"steps"`
	Messages int `json:"messages"`
	// Broke lists in words what broke without faults; "" if nothing did.
	Broke string `json:"broke"`
	// Doubt says why the base was not explored; "" if it was.
	Doubt string `json:"doubt"`
}

// A Level is the part of a search in which all worlds have the same number of faults.
type Level struct {
	Faults int
	// Space is the number of sets of this number of faults. Tried is the number of worlds with such
	// a set whose result is known. With one fault both numbers are equal, unless the search was
	// quick, was stopped, or is one part of several.
	Space, Tried uint64
	// Repeats is how many of the worlds tried were not run, because they would only repeat
	// another world, event by event.
	Repeats uint64
	// Duplicates is how many of the worlds tried have the same set of faults as another
	// one: two lanes, which are independent searches, may draw the same set. Estimated
	// means that this number is not exact.
	Duplicates uint64
	Estimated  bool
	// Kinds is the number of kinds of pairs of faults: a kind is made of two groups of
	// faults, and the faults of a group behave alike. KindsTried is how many of these kinds
	// were tried. Both are 0 for single faults.
	Kinds, KindsTried uint64
	// Broke is the number of worlds in which something broke. In BrokeFenced of these,
	// something also broke with fencing tokens.
	Broke, BrokeFenced uint64
	// Doubtful is the number of inconclusive worlds that prove no damage. For example, a fault did
	// not act, because another fault prevented the moment at which it was to strike.
	Doubtful uint64
	// Damage is everything that broke in the worlds tried, even if a smaller set of faults
	// does it too. It leaves out worlds in which a paused process ran on.
	Damage Damage
	// Behaviours is the number of different behaviours that were seen with this number of
	// faults and with no smaller number.
	Behaviours int
}

// RunCount returns how many worlds of the level were really run.
func (l Level) RunCount() uint64 { return l.Tried - l.Repeats }

// Sets returns how many different sets were tried.
func (l Level) Sets() uint64 { return l.Tried - l.Duplicates }

// Untried returns how many sets were not tried.
func (l Level) Untried() uint64 { return l.Space - min(l.Sets(), l.Space) }

// RunCount returns how many of the worlds tried were really run. The others only repeat one
// of these.
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
	// Cause describes the faults of the example in words and without names, such as "a
	// pause of a client". Causes are all such descriptions of worlds that broke in this
	// way, the most common first.
	Cause  []string
	Causes []Cause
	// Stages are the steps of a client, such as acquire, that the faults of all such worlds
	// strike.
	Stages []string
	// Off and On are the properties that are violated in the example, without and with
	// fencing tokens. Blame names the cause: the lock, if at least one violation is its
	// fault.
	Off, On []string
	Blame   checks.Blame
	// Worlds is how many of the worlds tried broke in this way.
	Worlds int
	// Example is the smallest world, and Damage what broke in it.
	Example runs.WorldSpec
	Damage  Damage
	// Margins are how large each fault of the example has to be.
	Margins []Margin
	// Title and Story describe what happens in the example: Title on one line and without the name
	// of the lock, Story in a paragraph. If the way has a scenario file, they are its title and its
	// story. They are "" if Why is set.
	Title, Story string
	// File is the name of the way's scenario file, and Text its content.
	File string
	Text []byte
	// Why says what the lock did, if it ended the run, for example by a panic or a hang; otherwise
	// it is "". Stack is the beginning of the stacks of its goroutines, if there are any. Such an
	// example is not shrunk and has no file.
	Why, Stack string
}

// A Cause is the faults of a world in words, and the number of worlds that broke because of
// such faults.
type Cause struct {
	Faults string `json:"faults"`
	Worlds int    `json:"worlds"`
}

// A Margin is how large one fault of a way has to be.
type Margin struct {
	// Fault is the index of the fault in the example, from 0. What describes the fault,
	// such as "a pause of client-1".
	Fault int
	What  string
	// Survived is the largest size of the fault with which the way's damage does not
	// happen, and Broken the smallest size with which it does. Survived is zero if any size
	// is enough.
	Survived, Broken sim.Size
}

// String returns the margin in words.
func (m Margin) String() string {
	survived := ""
	if m.Survived != (sim.Size{}) {
		survived = m.Survived.String()
	}
	return story.Margin(m.What, survived, m.Broken.String())
}

// A DangerMap shows the results of pauses of one client, by the point at which a pause
// begins and by its length.
type DangerMap struct {
	Base, Client string
	// Fencing is the run: [runs.FencingOff] or [runs.FencingOn].
	Fencing string
	// Lengths are the columns. Starts are the rows: points of the client's work.
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
	// [checks.SubjectMisconduct], such as a hang.
	Misbehaved Danger = "misconduct"
	TwoHolders Danger = "two holders"
	Corrupted  Danger = "corrupted"
	Undecided  Danger = "unknown"
)
