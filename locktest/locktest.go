// Package locktest puts a lock through everything that locksim knows: in a few
// lines of somebody's own test it runs their lock, unmodified, in simulated
// worlds in virtual time, in which processes pause, clocks jump, messages are
// late and nodes crash.
//
//	func TestMyLock(t *testing.T) {
//		locktest.Run(t, locktest.Config{Nodes: 5, Extends: true}, func(env *locktest.Env) (locks.Lock, error) {
//			return mylock.New(env.Redis(0), env.Redis(1), env.Redis(2), env.Redis(3), env.Redis(4)), nil
//		})
//	}
//
// # What fails a lock
//
// Some stories break every lock of a kind: no lease survives a pause that is
// longer than its TTL. Others break only a lock with a bug. Which of the two it
// was is computed from the trace of each run, by the rules of package checks: a
// lock fails for what is its own doing (a grant that overlaps another while every
// node kept every key, a key of somebody else's that it removed, no progress
// though nothing is wrong any more), for a claim of its [Config] that it does not
// keep, and for conduct that no caller can live with: a panic, a call that never
// returns, goroutines left behind, retries without end. What is inherent, or the
// fault of an assumption that a story breaks on purpose, is shown and fails
// nothing.
//
// # Stories and worlds
//
// Each story is a subtest, so that go test -run selects: those of the catalogue,
// by their names, then those that need no particular lock, in which one thing
// goes wrong with each message of the lock's own traffic in turn. A story is told
// in one world or in many. When one fails it shows what happened, and the line
// that runs exactly this world again, with its whole timeline:
//
//	LOCKSIM_REPLAY='lost-reply/acquire/steady,client-1,redis-1,1' go test -run '^TestMyLock$'
//
// With -v a failing world shows its timeline, and so does every other world of the
// stories that -run selects.
//
// # Faults nobody has thought of
//
// [Run] tells stories that people have thought of. [Explore] looks for the faults by
// itself: every single one at every point of a workload, then several at once. It
// fails the test for each way to break the lock that is the lock's own fault, with
// the smallest faults that do it and how large they have to be.
//
//	func TestMyLockExplored(t *testing.T) {
//		locktest.Explore(t, locktest.Config{Nodes: 5, Extends: true}, newMyLock, locktest.Exploration{For: time.Minute})
//	}
//
// # Assertions of your own
//
// [World] runs one of the worlds of Run, by its name, and [Scenario] a story of the
// test's own. Both hand out the history of what happened: who held what and when, what
// stood on which node, what every clock showed.
//
//	h := locktest.World(t, config, newMyLock, "catalogue/gc-pause/fencing-off")
//	for _, s := range h.Sections() {
//		// s.Lease.End() is when the lock said that it would end
//	}
//
// # How it runs
//
// Worlds run in processes of their own, which are the test's binary started again
// for the one test: a panic in some goroutine of the lock, or a loop that never
// ends, fails the subtest that it happened in and no other. Code of the test
// before Run or Explore is run in each of them. What the lock prints is logged by the
// subtest.
package locktest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Config says what a lock is and what it claims. The zero Config is a lock on one
// Redis node, under the key that it is given, that claims nothing but to exclude.
type Config struct {
	// Name is what reports call the lock. Empty is the name of the test.
	Name string

	// System is the kind of server that the lock is kept on: one of [sim.Systems]; ""
	// is redis. Stories of the catalogue are told with such servers in the place of their
	// own, and those that only Redis can tell are left out.
	System string
	// Nodes is how many nodes the lock needs: 1, which 0 stands for too, for
	// a lock on a single node, and more for one that asks a quorum. Stories about
	// a single node are told to a quorum lock with that one node, those about five
	// nodes with five.
	Nodes int
	// Slots says where the lock keeps a grant, given the name of the lock and the
	// number of nodes at hand, and on how many of these places one value must stand
	// to be a grant. Nil is the key of that name, on the only node or on a majority
	// of all; of a System whose nodes are a cluster, that which is the first in the queue
	// under that name: see [locks.InCluster]. On PostgreSQL it is the row of that name of a
	// table locks, [locks.PostgresRow] (another one is a [locks.PostgresLease]), and on Kubernetes the Lease,
	// [locks.KubernetesLease].
	Slots func(key string, nodes int) (slots []locks.Slot, quorum int)
	// Endless says that a grant never ends by itself.
	Endless bool

	// Extends claims that a lease can be prolonged: it is a [locks.Extender].
	Extends bool
	// Notifies claims that a lease tells of its loss: it is a [locks.Notifier].
	Notifies bool
	// Tokens claims that each grant comes with a fencing token that is greater than
	// those before: a lease is a [locks.Tokener].
	Tokens bool
	// TellsAtRelease claims that a release returns an error if the lock had been lost, and
	// success if it has released the lock. Without the claim a lock may return success from
	// the release of a lease that has expired, as many libraries do.
	TellsAtRelease bool
	// OwnClock claims that the lock reads no clock but [Env.Clock]. Then its clock
	// can be made to jump, and a pause stops its timers too. The clock of one that
	// reads time.Now is never wrong.
	OwnClock bool

	// Seeds is how many times each story is told, with other latencies each time; 0
	// is once. The environment variable LOCKSIM_SEEDS takes its place.
	Seeds int
	// Sample makes many seeds cheaper: all worlds of a story are told on the first
	// seed only, and on each of the others one of them, another one each time.
	Sample bool
	// Stories says of each story, by its name, whether it is told; nil is all of them.
	// At least one has to be.
	Stories func(name string) bool
	// Patience is how much real time a world may take, or half of it without anything
	// happening, before it is taken for one that never ends: up to a day; 0 is 20 seconds.
	Patience time.Duration

	// Command is what runs the test's package, if that is more than "go test" in its
	// folder. The lines that run a world again begin with it.
	Command string
}

// New makes one process's handle on the lock. It is called once for each client of
// a world, before the world's story starts, and again where one process has
// several handles.
type New func(env *Env) (locks.Lock, error)

// Run puts a lock through every story, each in a subtest of its own. It fails the
// test if the configuration makes no sense.
func Run(t *testing.T, config Config, build New) {
	t.Helper()
	s, err := newSubject(t.Name(), config, build)
	if err != nil {
		t.Fatal(err)
	}
	if call := nextCall(t.Name()); !elsewhere(t, call, s) {
		s.run(t, call)
	}
}

// A subject is a lock under test.
type subject struct {
	config Config
	kind   locks.Kind
	// test is the name of the test that runs it.
	test    string
	records map[string]*record
	// survived says of the latencies that were tried whether the lock works with them.
	survived map[time.Duration]bool
}

func newSubject(test string, config Config, build New) (*subject, error) {
	switch {
	case build == nil:
		return nil, fmt.Errorf("locktest: there is no function to make the lock; give Run one")
	case config.Nodes < 0 || config.Nodes > maxNodes:
		return nil, fmt.Errorf("locktest: Config.Nodes is %d; it must be between 1 and %d", config.Nodes, maxNodes)
	case config.Seeds < 0:
		return nil, fmt.Errorf("locktest: Config.Seeds is %d; it must not be negative", config.Seeds)
	case config.Patience < 0 || config.Patience > mostPatience:
		return nil, fmt.Errorf("locktest: Config.Patience is %v; it must be between 0 and %v", config.Patience, mostPatience)
	case config.Endless && config.Extends:
		return nil, fmt.Errorf("locktest: Config says that a grant never ends and that it can be extended; one of the two is wrong")
	case config.Stories != nil && !slices.ContainsFunc(stories(), func(st story) bool { return config.Stories(st.name) }):
		return nil, fmt.Errorf("locktest: Config.Stories says no to every story; let it say yes to one, or leave it out, to tell them all")
	}
	config.System = cmp.Or(config.System, locks.Redis)
	if _, ok := sim.LookupSystem(config.System); !ok {
		return nil, fmt.Errorf("locktest: Config.System is %q, which this program does not have: import its package, or name one of %s", config.System, strings.Join(systemNames(), ", "))
	}
	config.Nodes = max(config.Nodes, 1)
	config.Patience = cmp.Or(config.Patience, 20*time.Second)
	config.Name = cmp.Or(config.Name, test)
	return &subject{
		config: config, test: test, records: map[string]*record{}, survived: map[time.Duration]bool{},
		kind: locks.Kind{
			Name:     config.Name,
			Title:    "the lock of " + test,
			System:   config.System,
			OwnClock: config.OwnClock,
			Endless:  config.Endless,
			Claims:   trace.Claims{Notifies: config.Notifies, Tokens: config.Tokens, TellsAtRelease: config.TellsAtRelease},
			Slots:    config.slots(),
			New:      func(e *locks.Env) (locks.Lock, error) { return build(&Env{e}) },
		},
	}, nil
}

func systemNames() (names []string) {
	for _, s := range sim.Systems() {
		names = append(names, s.Name)
	}
	return names
}

// mostPatience is how long a world may take at most.
const mostPatience = 24 * time.Hour

// maxNodes is how many nodes a lock can have.
const maxNodes = 15

// slots is where the lock keeps its grants.
func (c Config) slots() func(string, int) ([]locks.Slot, int) {
	if c.Slots != nil {
		return c.Slots
	}
	return func(key string, nodes int) (slots []locks.Slot, quorum int) {
		system := c.system()
		key = system.KeyOf(key)
		if system.Cluster {
			return locks.InCluster(key, nodes)
		}
		if c.Nodes == 1 {
			nodes = min(nodes, 1)
		}
		for i := range nodes {
			slots = append(slots, locks.Slot{Node: i, Key: key})
		}
		return slots, nodes/2 + 1
	}
}

// cluster says that the lock's nodes keep one register together.
func (c Config) cluster() bool { return c.system().Cluster }

// ttl is how long a grant lasts in the stories that have no TTL of their own.
const ttl = 10 * time.Second
