// Package locktest runs a lock through everything that locksim knows. A test of a few lines
// runs the lock, unmodified, in simulated worlds in virtual time, in which processes pause,
// clocks jump, messages arrive late and nodes crash.
//
//	func TestMyLock(t *testing.T) {
//		locktest.Run(t, locktest.Config{Nodes: 5, Extends: true}, func(env *locktest.Env) (locks.Lock, error) {
//			return mylock.New(env.Redis(0), env.Redis(1), env.Redis(2), env.Redis(3), env.Redis(4)), nil
//		})
//	}
//
// # What fails a lock
//
// Some test cases break every lock of a kind: no lease survives a pause that is longer than
// its TTL. Others break only a lock with a bug. The rules of package checks compute from
// the trace of each run which of the two it was. A lock fails in three cases:
//
//   - It does something wrong by itself: a grant overlaps another although every node kept
//     every key, it removes another client's key, or it makes no progress although nothing is
//     wrong any more.
//   - It does not keep a claim of its [Config].
//   - It does something that no caller can live with: a panic, a call that never returns,
//     goroutines left behind, or retries without end.
//
// Other violations are only shown, and fail nothing. Some are inherent: no lock of this
// kind can prevent them. The others follow from an assumption that the test case breaks on
// purpose.
//
// # Test cases and worlds
//
// The scenarios of the catalogue are test cases under their own names. The other test cases need no
// particular lock: they check the claims of the Config, or let one thing go wrong with each message
// of the lock's own traffic in turn. A test case runs in one world or in many.
//
// Most failing locks make few mistakes, and each mistake fails many test cases. The
// report shows each mistake once: what the lock does wrong, in how many worlds, the example
// that is easiest to understand, a remedy, and commands that run exactly one world again,
// with its whole timeline:
//
//	LOCKSIM_REPLAY='lost-reply/acquire/steady,client-1,redis-1,1' go test -run '^TestMyLock$'
//
// If the environment variable LOCKSIM_REPORT is the name of a file, the report is also
// written there, in the format of its extension: .html, .md, .xml (JUnit) or .json. It has
// all tests of the package that call Run.
//
// With -v the report lists all test cases by their results, and each one that fails is a
// subtest. If -run selects test cases, each of those is a subtest, and with -v it shows the
// timelines of its worlds. With -json each test case that applies to the lock is a subtest.
//
// # Search for faults
//
// [Run] runs test cases that people have thought of. [Explore] searches for the faults by
// itself: it tries every single fault at every point of a workload, then several at the
// same time. It fails the test for each way to break the lock that is the lock's own fault.
// It reports the smallest faults that do it, and how large they have to be.
//
//	func TestMyLockExplored(t *testing.T) {
//		locktest.Explore(t, locktest.Config{Nodes: 5, Extends: true}, newMyLock, locktest.Exploration{For: time.Minute})
//	}
//
// # Assertions of your own
//
// [World] runs one of the worlds of Run, by its name, and [Scenario] runs a scenario that
// the test brings. Both return the history of what happened: which client held the lock and
// when, which keys each node kept, what every clock showed.
//
//	h := locktest.World(t, config, newMyLock, "catalogue/gc-pause/fencing-off")
//	for _, s := range h.Sections() {
//		// s.Lease.End() is when the lock said that it would end
//	}
//
// # How it runs
//
// Worlds run in worker processes: the test's binary, started again for this one test. A
// panic in some goroutine of the lock, or a loop that never ends, therefore fails only the
// test case in which it happens. Each worker also runs the test's code before the call of
// Run or Explore. The subtest of a test case logs what the lock prints.
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

// Config describes a lock and what it claims. The zero Config is a lock on one Redis node,
// under the key that it is given. It claims nothing but mutual exclusion.
type Config struct {
	// Name is the lock's name in reports; "" is the name of the test.
	Name string

	// System is the kind of server that keeps the lock: one of [sim.Systems]; "" is redis.
	// The scenarios of the catalogue run with such servers instead of their own; scenarios
	// that only Redis can run are left out.
	System string
	// Nodes is how many nodes the lock needs: 1 for a lock on a single node, more for a
	// lock that asks a quorum; 0 is 1. A quorum lock runs test cases about a single node
	// with that one node, and test cases about five nodes with five.
	Nodes int
	// Slots returns where the lock keeps a grant, and the quorum. A slot is one such place:
	// a key on a node. The quorum is how many slots must hold the same value to be a grant.
	// The function receives the name of the lock and the number of nodes.
	//
	// If Slots is nil, the slots are the key of that name on each of the lock's nodes, and the
	// quorum is a majority. On a System whose nodes are a cluster, there is one slot: the key that
	// is first in the queue under that name: see [locks.InCluster]. On PostgreSQL the slot is the
	// row of that name in the table locks, [locks.PostgresRow]; for another row see
	// [locks.PostgresLease]. On Kubernetes it is the Lease, [locks.KubernetesLease].
	Slots func(key string, nodes int) (slots []locks.Slot, quorum int)
	// Endless declares that a grant never ends by itself.
	Endless bool

	// Extends claims that a lease can be extended: it is a [locks.Extender].
	Extends bool
	// Notifies claims that a lease notifies its holder of its loss: it is a
	// [locks.Notifier].
	Notifies bool
	// Tokens claims that each grant comes with a fencing token that is greater than all
	// earlier ones: a lease is a [locks.Tokener].
	Tokens bool
	// ReportsLossAtRelease claims that a release returns an error if the lock had been
	// lost, and success if it has released the lock. If the answer to the removal was lost,
	// either is right. Without the claim, a lock may return success when it releases a lease
	// that has expired, as many libraries do.
	ReportsLossAtRelease bool
	// OwnClock claims that the lock reads no clock but [Env.Clock]. Then the simulation can
	// make that clock jump, and a pause stops the lock's timers too. If the lock reads
	// time.Now instead, its clock is never wrong.
	OwnClock bool

	// Seeds is how many times each test case runs, each time with other latencies; 0 means
	// once. The environment variable LOCKSIM_SEEDS overrides it.
	Seeds int
	// Sample makes many seeds cheaper. All worlds of a test case run on the first seed. On
	// each later seed only one of them runs, a different one each time.
	Sample bool
	// Stories reports whether to run the test case with this name; nil runs all of them. It
	// must select at least one.
	Stories func(name string) bool
	// Patience is how much real time a world may take before it counts as a hang. If
	// nothing happens in the world meanwhile, half of that time is enough. The maximum is a
	// day; 0 is 20 seconds.
	Patience time.Duration

	// Known is the name of a file that lists the known mistakes, relative to the folder of the
	// package. The file is a report in the format json: [Run] writes it if the environment variable
	// LOCKSIM_REPORT names the file. Known mistakes are reported, but fail nothing. A mistake that
	// is not in the file fails the test, and so does a mistake that violates more than the file
	// says. "" means that no mistake is known.
	Known string

	// Command is the command that runs the test's package, if it is not "go test" in the
	// package's folder. The commands that run a world again begin with it.
	Command string
}

// New makes one handle on the lock for a simulated process. It is called once for each
// client of a world, before the clients start, and again if a process uses several handles.
type New func(env *Env) (locks.Lock, error)

// Run runs every test case against a lock, and fails the test if the lock makes a mistake.
// It also fails the test if the configuration is invalid.
func Run(t *testing.T, config Config, build New) {
	t.Helper()
	s, err := newSubject(t.Name(), config, build)
	if err != nil {
		t.Fatal(err)
	}
	if call := nextCall(t.Name()); !serveOrReplay(t, call, s) {
		s.run(t, call)
	}
}

// A subject is a lock under test: its Config, and what the suite has measured of the lock so
// far.
type subject struct {
	config Config
	kind   locks.Kind
	// test is the name of the test that calls Run, Explore or another entry point.
	test string
	// records caches the recorded traffic of each base (a workload without faults), by the base's
	// name and the seed.
	records map[string]*record
	// survived caches, for each latency that was tried, whether the lock works with it.
	survived map[time.Duration]bool
	// cannotBeMade is set if the lock could not be made with the usual TTL.
	cannotBeMade bool
}

// newSubject checks a Config and fills in its defaults. test is the name of the calling
// test.
func newSubject(test string, config Config, build New) (*subject, error) {
	switch {
	case build == nil:
		return nil, fmt.Errorf("locktest: there is no function to make the lock; pass one as the argument build")
	case config.Nodes < 0 || config.Nodes > maxNodes:
		return nil, fmt.Errorf("locktest: Config.Nodes is %d; it must be between 1 and %d", config.Nodes, maxNodes)
	case config.Seeds < 0:
		return nil, fmt.Errorf("locktest: Config.Seeds is %d; it must not be negative", config.Seeds)
	case config.Patience < 0 || config.Patience > maxPatience:
		return nil, fmt.Errorf("locktest: Config.Patience is %v; it must be between 0 and %v", config.Patience, maxPatience)
	case config.Endless && config.Extends:
		return nil, fmt.Errorf("locktest: Config.Endless and Config.Extends are both true; a grant that never ends cannot be extended, so unset one of them")
	case config.Stories != nil && !slices.ContainsFunc(testCases(), func(st testCase) bool { return config.Stories(st.name) }):
		return nil, fmt.Errorf("locktest: Config.Stories selects no test case; let it return true for at least one, or leave it nil to run them all")
	}
	config.System = cmp.Or(config.System, locks.Redis)
	if _, ok := sim.LookupSystem(config.System); !ok {
		return nil, fmt.Errorf("locktest: Config.System is %q, which this program does not have; import its package, or use one of %s", config.System, strings.Join(systemNames(), ", "))
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
			Claims:   trace.Claims{Notifies: config.Notifies, Tokens: config.Tokens, ReportsLossAtRelease: config.ReportsLossAtRelease},
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

// maxPatience is the greatest value of Config.Patience.
const maxPatience = 24 * time.Hour

// maxNodes is the greatest value of Config.Nodes.
const maxNodes = 15

// slots returns Config.Slots, or the default that its comment describes.
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

// isCluster reports whether the lock's nodes are the members of one cluster. A cluster
// counts as a single place for a key.
func (c Config) isCluster() bool { return c.system().Cluster }

// ttl is how long a grant lasts in the test cases that set no other TTL.
const ttl = 10 * time.Second
