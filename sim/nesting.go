package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// This file is about nested critical sections. A client that holds its lock can acquire more locks,
// one after the other. Each lock has a [Section] of its own, with its own lease and its own
// tokens, nested in the section before it. When the outermost section ends, the client
// releases all locks in reverse order.

// errNestedRefused is the error of a section that failed because the client tried once to acquire
// another lock, and did not get it. The client then begins the section again.
var errNestedRefused = errors.New("another lock was refused, so the client releases all its locks")

// maxNested bounds how many locks a client acquires in one section in addition to its own. Each
// lock needs a handle from the start of the run, so the number must be bounded.
const maxNested = 8

// A handle is the object through which a client uses one lock, and the environment with
// which the lock's library made it.
type handle struct {
	env  *locks.Env
	lock locks.Lock
}

// makeHandles makes a handle for each lock that the client acquires in addition to its own.
func (g *program) makeHandles() error {
	g.otherLocks = map[string]handle{}
	for _, t := range g.cfg.Does {
		if t.Step != trace.Acquire {
			continue
		}
		env := g.env.ForKey(t.Lock)
		lock, err := g.newLock(env)
		if err != nil {
			return err
		}
		g.otherLocks[t.Lock] = handle{env, lock}
	}
	return nil
}

// clientView is what the client knows about the objects of the storage. A section and all sections
// nested in it share one clientView.
type clientView struct {
	// versions are the latest versions that the client has seen, by object.
	versions map[string]int
	// lastRead is the object that was read last, or "".
	lastRead string
}

// withNested returns the section and the sections nested in it, in the order of their
// grants.
func (section *Section) withNested() []*Section { return append([]*Section{section}, section.inner...) }

// newest returns the section with the latest grant: the last nested section, or the section
// itself if it has none.
func (section *Section) newest() *Section {
	held := section.withNested()
	return held[len(held)-1]
}

// sectionOf returns the section to which a request for an object belongs. It is the nested
// section whose lock has the object's name, or the section itself if no lock has that name.
func (section *Section) sectionOf(object string) *Section {
	for _, s := range section.inner {
		if s.env.Key == object {
			return s
		}
	}
	return section
}

// acquireNested acquires another lock, in a section nested in this one. The client stops trying if
// one of the locks that it holds reports the loss of a lease.
func (section *Section) acquireNested(t trace.Task) error {
	g := section.g
	h := g.otherLocks[t.Lock]
	if !t.Once {
		s, err := g.acquire(h, section)
		if err == nil {
			section.inner = append(section.inner, s)
		}
		return err
	}
	s, err := g.attempt(g.ctx, h, section)
	if err != nil {
		return fmt.Errorf("%w: %w", errNestedRefused, err)
	}
	section.inner = append(section.inner, s)
	return nil
}

// hasLostLease reports whether a lock has reported that the lease of this section, or of a
// section nested in it, is lost. It returns false for a nil Section.
func (section *Section) hasLostLease() bool {
	if section == nil {
		return false
	}
	return slices.ContainsFunc(section.withNested(), func(s *Section) bool {
		select {
		case <-s.lost:
			return true
		default:
			return false
		}
	})
}

// BadNesting is the error of a client whose tasks acquire a lock that it cannot acquire in
// a section of this world.
type BadNesting struct {
	Client string
	// Task is the number, from 1, of the task in the client's Does that acquires the lock.
	Task int
	Why  string
}

func (b *BadNesting) Error() string { return b.Client + " " + b.Why }

// CheckNesting returns a [BadNesting] if the tasks of a client acquire a lock that it
// cannot acquire in addition to its own.
func (cfg *Config) CheckNesting() error {
	for _, c := range cfg.Clients {
		held := []string{c.lockName(cfg)}
		for i, t := range c.Does {
			if t.Step != trace.Acquire {
				continue
			}
			if why := cfg.whyNotAcquire(t, held, c.Run != nil); why != "" {
				return &BadNesting{c.Name, i + 1, why}
			}
			held = append(held, t.Lock)
		}
	}
	return nil
}

// whyNotAcquire returns why a client that holds some locks cannot do a task that acquires
// another lock; "" if it can.
func (cfg *Config) whyNotAcquire(t trace.Task, held []string, ownProgram bool) string {
	// Under these policies, the storage never compares tokens of different objects.
	perObject := []storage.Policy{"", storage.None, storage.PerShard, storage.CheckAndSet, storage.Optimistic, storage.Unfenceable}
	kind := cfg.Lock.Kind
	switch {
	case t.Lock == "":
		return "would acquire a lock without a name"
	case slices.Contains(held, t.Lock):
		return fmt.Sprintf("would %s, but it holds %s already, and would wait for itself; let it acquire another lock", t, t.Lock)
	case len(held) > maxNested:
		return fmt.Sprintf("would acquire more than %d locks in addition to its own; let it acquire fewer", maxNested)
	case kind.Name == "":
		return "acquires several locks, but there is no lock in this world"
	case ownProgram:
		return "acquires several locks, but has a program of its own, which has to acquire them itself"
	case cfg.schedule() != nil:
		return "acquires several locks, but with a schedule a client acquires one lock in each period; leave the schedule out"
	case cfg.Lock.Options.Holders > 1:
		return fmt.Sprintf("acquires several locks, each of which can have %d holders, so it is unclear which client waits for which; leave holders out", cfg.Lock.Options.Holders)
	case kind.KeepsData:
		return "acquires several locks, but each grant of such a lock is a transaction of its own that contains the data; choose a lock that keeps no data"
	case kind.OneAtATime:
		return "acquires several locks, but the background requests of its client library for one lock cannot be distinguished from those for another; choose another kind of lock"
	case cfg.Storage.InCluster:
		return "acquires several locks, but with data in the cluster all requests for the data go through the client of one lock; let the storage be a process of its own"
	case !slices.Contains(perObject, cfg.Storage.Fencing):
		return fmt.Sprintf("acquires several locks, whose fencing tokens cannot be compared with each other, but a storage with the policy %s compares all of them; "+
			"choose %s, and give each lock the name of the object that it guards", cfg.Storage.Fencing, storage.PerShard)
	}
	return ""
}
