package reality

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Check returns an error if a world cannot be played on real servers: it says what is
// needed and cannot be done here. isForeign says that the clients run another program than
// locksim, as in [Options].
func Check(cfg sim.Config, isForeign bool) error {
	lock := cfg.Lock.Kind
	switch {
	case lock.Name == "":
		return refuse("its clients have programs of their own and no lock")
	case lock.KeepsData || cfg.Storage.InCluster:
		return refuse("its data is on the lock's own servers, and only a storage of its own can be played")
	case cfg.Tokens.Source.Name != "":
		return refuse("its fencing tokens come from %s, and only those of the lock and of the simulator can be played", cfg.Tokens.Source.Name)
	case len(cfg.Services) > 0:
		return refuse("it has the service %s between the clients and the storage", cfg.Services[0].Name)
	case cfg.Schedule.Periods > 0:
		return refuse("its clients work by a schedule")
	case cfg.Storage.Fencing == storage.Owner:
		return refuse("its storage checks the keys of the lock")
	}
	if _, ok := builders[lock.System]; !ok {
		return refuse("its lock is on %s, and only locks on %s can be played", systemName(lock.System), playable())
	}
	if lock.System == locks.Postgres {
		if lock.Name == "postgres-lease-client-clock" {
			return refuse("its lock %s ends by the clock of its client, which PostgreSQL does not know", lock.Name)
		}
		if key := unseenInPostgres(lock); key != "" {
			return refuse("its lock %s keeps the row %s, and the harness reads only advisory locks and the table named locks", lock.Name, key)
		}
	}
	for _, n := range cfg.Nodes {
		switch {
		case n.ReplicaOf != "":
			return refuse("%s is a replica, and replication cannot be played", n.Name)
		case len(n.Settings) > 0:
			return refuse("%s has the setting %s", n.Name, n.Settings[0])
		}
	}
	for _, c := range cfg.Clients {
		if err := checkClient(c); err != nil {
			return err
		}
	}
	for i, f := range cfg.Faults {
		if why := whyNot(f, cfg, isForeign); why != "" {
			return refuse("fault %d (%s) %s", i+1, f.Text, why)
		}
	}
	return nil
}

// unseenInPostgres returns a key of a lock that no snapshot of a PostgreSQL server contains; "" if
// a snapshot contains all keys of the lock.
func unseenInPostgres(lock locks.Kind) string {
	slots, _ := lock.Slots("key", 1)
	for _, s := range slots {
		if !strings.HasPrefix(s.Key, "locks/") && !strings.HasPrefix(s.Key, "advisory/") {
			return s.Key
		}
	}
	return ""
}

// refuse returns the error of a world that cannot be played.
func refuse(format string, args ...any) error {
	return fmt.Errorf("it cannot be played on real servers: "+format, args...)
}

func systemName(system string) string {
	if system == "" {
		return "no server"
	}
	return system
}

// playable lists the kinds of servers that can be played.
func playable() string {
	var names []string
	for name := range builders {
		names = append(names, name)
	}
	slices.Sort(names)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// checkClient returns an error if what a client does cannot be played.
func checkClient(c sim.Client) error {
	switch {
	case c.Run != nil:
		return refuse("%s has a program of its own", c.Name)
	case !c.Cancels.IsZero() || c.CancelsAfter > 0:
		return refuse("%s cancels its calls of the lock", c.Name)
	}
	for _, t := range c.Does {
		if !isKnownStep(t.Step) || t.Note != "" || len(t.Via) > 0 {
			return refuse("%s does %s in its section", c.Name, t)
		}
	}
	return nil
}

// whyNot says why a fault cannot be played; "" if it can.
func whyNot(f sim.Fault, cfg sim.Config, isForeign bool) string {
	isNode := func(name string) bool {
		return slices.ContainsFunc(cfg.Nodes, func(n sim.Node) bool { return n.Name == name })
	}
	if f.ByClockOf != "" {
		return "lasts by the clock of " + f.ByClockOf + ", and the harness measures only true time"
	}
	switch a := f.Action.(type) {
	case *sim.Pause:
		if a.Mode == trace.Suspend {
			return "suspends a machine, and only processes can be stopped"
		}
		if isNode(a.Process) && cfg.Lock.Kind.System == locks.Postgres {
			return "stops PostgreSQL, which is many processes"
		}
	case *sim.CrashFault:
		switch {
		case a.How == trace.FailOver:
			return "replaces the storage by a copy, and only a process that comes back can be played"
		case a.How == trace.PowerLoss:
			return "cuts the power, and only processes can be killed: what they have written stays in the memory of the operating system, which also closes their connections"
		}
	case *sim.Partition:
		if isNode(a.Process) && slices.ContainsFunc(a.From, isNode) {
			return "cuts servers off from each other, and only what is between clients and servers can be cut"
		}
	case *sim.Jump:
		return whyNotSet(a.Process, cfg, isForeign)
	case *sim.Delay, *sim.Hold, *sim.Reset, *sim.Stall:
	default:
		return fmt.Sprintf("is of the kind %s, which needs a simulated server or clock", f.Kind())
	}
	return ""
}

// Scale returns a world in which every time is shortened in the same proportion, so that
// the lock's TTL is ttl. Latencies are those of this machine. A timeout that is a part of
// the lock stays as it is, unless the scenario sets it.
func Scale(cfg sim.Config, ttl time.Duration) sim.Config {
	if ttl <= 0 || cfg.Lock.TTL <= 0 || ttl == cfg.Lock.TTL {
		return cfg
	}
	was := cfg.Lock.TTL
	scaled := func(d time.Duration) time.Duration {
		if d == 0 {
			return 0
		}
		return max(time.Duration(float64(d)*float64(ttl)/float64(was)), time.Millisecond)
	}
	point := func(p trace.Point) trace.Point {
		alternatives := p.Alternatives()
		for i := range alternatives {
			alternatives[i].Delay = scaled(alternatives[i].Delay)
		}
		return trace.AnyOf(alternatives...)
	}
	cfg.Lock.TTL = ttl
	cfg.Lock.Options.NodeTimeout = scaled(cfg.Lock.Options.NodeTimeout)
	cfg.Lock.Options.OpenFor, cfg.Lock.Options.Expects = scaled(cfg.Lock.Options.OpenFor), scaled(cfg.Lock.Options.Expects)
	cfg.Horizon = scaled(cfg.Horizon)
	cfg.ProgressWithin = scaled(cfg.ProgressWithin)
	cfg.Clients = slices.Clone(cfg.Clients)
	for i := range cfg.Clients {
		c := &cfg.Clients[i]
		c.Starts, c.WorksUntil = point(c.Starts), point(c.WorksUntil)
		c.RetryEvery, c.Works, c.ExtendsEvery = scaled(c.RetryEvery), scaled(c.Works), scaled(c.ExtendsEvery)
		c.GivesUp, c.KeepsFor = scaled(c.GivesUp), scaled(c.KeepsFor)
	}
	cfg.Faults = slices.Clone(cfg.Faults)
	for i := range cfg.Faults {
		f := &cfg.Faults[i]
		f.Strikes.At, f.For = scaled(f.Strikes.At), scaled(f.For)
		f.Strikes.When, f.Until = point(f.Strikes.When), point(f.Until)
		switch a := f.Action.(type) {
		case *sim.Delay:
			slower := *a
			slower.By = scaled(a.By)
			f.Action = &slower
		case *sim.Jump:
			shorter := *a
			if shorter.By = scaled(a.By.Abs()); a.By < 0 {
				shorter.By = -shorter.By
			}
			f.Action = &shorter
		}
	}
	return cfg
}
