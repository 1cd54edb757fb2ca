package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A client that has its lock can take more of them, one after the other. Each is a [Section]
// of its own, with its own lease and its own tokens, that is nested in the one before it. All
// of them are over when the first is, the last taken first.

var errGivenBack = errors.New("another lock was refused, and all are given back")

// mostNested bounds how many locks a client takes in one section besides its own. Nobody means
// to hold more, and each is a handle in each client from the start.
const mostNested = 8

// handle is what a client has of one lock.
type handle struct {
	env  *locks.Env
	lock locks.Lock
}

// handles makes those on the locks that the client takes besides its own, once.
func (g *program) handles() error {
	g.others = map[string]handle{}
	for _, t := range g.cfg.Does {
		if t.Step != trace.Acquire {
			continue
		}
		env := g.env.On(t.Lock)
		lock, err := g.newLock(env)
		if err != nil {
			return err
		}
		g.others[t.Lock] = handle{env, lock}
	}
	return nil
}

// A memory is what the client knows of the objects, in one section and all that are nested in
// it.
type memory struct {
	// knows is the version of each object that the client last learnt of.
	knows map[string]int
	// read is the object that was read last, or "".
	read string
}

// held are the section and those that are nested in it, in the order in which they were
// granted.
func (in *Section) held() []*Section { return append([]*Section{in}, in.inner...) }

// newest is the one that was granted last.
func (in *Section) newest() *Section {
	held := in.held()
	return held[len(held)-1]
}

// at is the section that a request for an object belongs to: the one whose lock has the
// object's name, and the first for an object that has the name of none.
func (in *Section) at(object string) *Section {
	for _, s := range in.inner {
		if s.env.Key == object {
			return s
		}
	}
	return in
}

// nest takes another lock. A client that is told meanwhile that it has lost one stops asking.
func (in *Section) nest(t trace.Task) error {
	g := in.g
	h := g.others[t.Lock]
	if !t.Once {
		s, err := g.acquire(h, in)
		if err == nil {
			in.inner = append(in.inner, s)
		}
		return err
	}
	s, err := g.attempt(g.ctx, h, in)
	if err != nil {
		return fmt.Errorf("%w: %w", errGivenBack, err)
	}
	in.inner = append(in.inner, s)
	return nil
}

// toldLost reports that a lock has told of the loss of any of the leases; of no section, never.
func (in *Section) toldLost() bool {
	if in == nil {
		return false
	}
	return slices.ContainsFunc(in.held(), func(s *Section) bool {
		select {
		case <-s.lost:
			return true
		default:
			return false
		}
	})
}

// BadNesting is the error of a client that would take locks which it cannot take, or not
// together with what else the world has.
type BadNesting struct {
	Client string
	// Task is which of the things that the client does is wrong, from 1.
	Task int
	Why  string
}

func (b *BadNesting) Error() string { return b.Client + " " + b.Why }

// CheckNesting refuses locks that a client cannot take besides its own.
func (cfg *Config) CheckNesting() error {
	for _, c := range cfg.Clients {
		has := []string{c.key(cfg)}
		for i, t := range c.Does {
			if t.Step != trace.Acquire {
				continue
			}
			if why := cfg.cannotTake(t, has, c.Run != nil); why != "" {
				return &BadNesting{c.Name, i + 1, why}
			}
			has = append(has, t.Lock)
		}
	}
	return nil
}

// cannotTake is why a client that has some locks cannot take another one; "" if it can.
func (cfg *Config) cannotTake(t trace.Task, has []string, ownProgram bool) string {
	perObject := []storage.Policy{"", storage.None, storage.PerShard, storage.CheckAndSet, storage.Optimistic, storage.Unfenceable}
	kind := cfg.Lock.Kind
	switch {
	case t.Lock == "":
		return "would acquire a lock without a name"
	case slices.Contains(has, t.Lock):
		return fmt.Sprintf("would %s, and has %s already: it would wait for itself; let it take another lock", t, t.Lock)
	case len(has) > mostNested:
		return fmt.Sprintf("would take more than %d locks besides its own; let it take fewer", mostNested)
	case kind.Name == "":
		return "takes several locks, and there is no lock in this world"
	case ownProgram:
		return "takes several locks, and has a program of its own, which has to take them by itself"
	case cfg.schedule() != nil:
		return "takes several locks, and with a schedule a client has one in each period; leave the schedule out"
	case cfg.Lock.Options.Holders > 1:
		return fmt.Sprintf("takes several locks, each of which has room for %d, so that nobody could tell who waits for whom; leave holders out", cfg.Lock.Options.Holders)
	case kind.KeepsData:
		return fmt.Sprintf("takes several locks, and a grant of %s is a transaction of its own that has the data; choose a lock that keeps no data", kind.Name)
	case kind.OneAtATime:
		return fmt.Sprintf("takes several locks, and what %s does in the background for one cannot be told from what it does for another; choose another lock", kind.Name)
	case cfg.Storage.InCluster:
		return "takes several locks, and data in the cluster is kept by the client of one; let the storage be a process of its own"
	case !slices.Contains(perObject, cfg.Storage.Fencing):
		return fmt.Sprintf("takes several locks, whose fencing tokens cannot be compared with each other, and a storage that checks the policy %s compares all; "+
			"choose %s, and give each lock the name of the object that it guards", cfg.Storage.Fencing, storage.PerShard)
	}
	return ""
}
