package sim

import (
	"errors"
	"fmt"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/storage"
)

// Object is the object of the storage that the clients share.
const Object = "x"

var (
	errRefusedByStorage = errors.New("the storage refused it")
	errLeaseLost        = errors.New("the lock said that the lease is lost")
)

// sections runs the client's critical sections, one after the other: acquire,
// read, work, write what was computed from what was read, release.
func (g *program) sections() error {
	var failed error
	for left := max(g.cfg.Sections, 1); left > 0; {
		lease, token, err := g.acquire()
		if err != nil {
			return err
		}
		err = g.section(lease, token)
		if g.ctx.Err() != nil {
			return errOver
		}
		if g.cfg.StartsOver && errors.Is(err, errRefusedByStorage) {
			continue
		}
		if err != nil {
			failed = err
		}
		left--
	}
	return failed
}

// acquire tries until it gets the lock.
func (g *program) acquire() (locks.Lease, uint64, error) {
	for attempt := 1; ; attempt++ {
		g.begin(Acquire, Event{Lock: g.w.cfg.Lock.Key})
		lease, err := g.lock.Acquire(g.ctx)
		var token uint64
		g.end(Acquire, err, func(ev *Event) {
			ev.Lock = g.w.cfg.Lock.Key
			if err == nil {
				g.granted(lease, ev)
				token = ev.Token
			}
		})
		switch {
		case err == nil:
			return lease, token, nil
		case g.ctx.Err() != nil:
			return nil, 0, errOver
		case attempt == g.cfg.Attempts:
			return nil, 0, fmt.Errorf("gave up after %d attempts: %w", attempt, err)
		}
		if err := g.p.clock.Sleep(g.ctx, g.cfg.RetryEvery); err != nil {
			return nil, 0, errOver
		}
	}
}

// granted completes the end of a successful acquire.
func (g *program) granted(lease locks.Lease, ev *Event) {
	if e, ok := lease.(locks.Expirer); ok {
		ends := e.Expires()
		ev.Ends = &ends
	}
	if g.w.oracle != nil {
		ev.Rank, ev.Ungranted = g.w.oracle.Grant(g.w.cfg.Lock.Key, g.p.name, g.sectionNow)
		ev.Token = ev.Rank
	}
	_, ev.Notifies = lease.(locks.Notifier)
	if t, ok := lease.(locks.Tokener); ok {
		ev.Token, ev.Minted = t.Token(), true
	}
}

// section is what happens between a grant and its release.
func (g *program) section(lease locks.Lease, token uint64) error {
	lost := g.watchLoss(lease)
	err := g.inside(lease, token, lost)
	g.begin(Release, Event{})
	released := lease.Release(g.ctx)
	g.end(Release, released, nil)
	return err
}

// watchLoss records the lease's loss as soon as the lock tells of it. The
// channel it returns is closed then.
func (g *program) watchLoss(lease locks.Lease) <-chan struct{} {
	n, ok := lease.(locks.Notifier)
	if !ok {
		return nil
	}
	section := g.sectionNow
	told := make(chan struct{})
	go func() {
		select {
		case <-n.Lost():
			g.step(1, func() {
				g.w.emit(Event{Kind: KindLost, Process: g.p.name, Section: section})
				g.w.then(func() { close(told) })
			})
		case <-g.ctx.Done():
		}
	}()
	return told
}

func (g *program) inside(lease locks.Lease, token uint64, lost <-chan struct{}) error {
	version := 0
	if !g.cfg.Blind {
		resp, err := g.access(Read, storage.Request{Op: storage.Read, Object: Object, Token: token})
		if err != nil {
			return err
		}
		version = resp.Version
	}
	if err := g.work(lease); err != nil {
		return err
	}
	select {
	case <-lost:
		return errLeaseLost
	default:
	}
	value := fmt.Sprintf("%s after version %d", g.p.name, version)
	if g.cfg.Blind {
		value = g.p.name
	}
	_, err := g.access(Write, storage.Request{Op: storage.Write, Object: Object, Token: token, Value: value})
	return err
}

// access is one step at the storage.
func (g *program) access(step Step, req storage.Request) (storage.Response, error) {
	g.begin(step, Event{Object: req.Object, Token: req.Token, Value: req.Value})
	resp, err := g.call(g.ctx, req, g.cfg.GivesUp)
	if err == nil && resp.Refused != "" {
		err = fmt.Errorf("%w: %s", errRefusedByStorage, resp.Refused)
	}
	g.end(step, err, func(ev *Event) {
		ev.Object, ev.Token = req.Object, req.Token
		ev.Refused = resp.Refused != ""
		if err == nil {
			ev.Version, ev.Replaced = resp.Version, resp.Replaced
		}
	})
	return resp, err
}

// work takes its time, extending the lease as it goes.
func (g *program) work(lease locks.Lease) error {
	if g.cfg.Works == 0 && g.cfg.WorksUntil.IsZero() {
		return nil
	}
	g.begin(Work, Event{})
	err := g.toil(lease)
	g.end(Work, err, nil)
	return err
}

func (g *program) toil(lease locks.Lease) error {
	left := g.cfg.Works
	for left > 0 {
		nap := left
		if g.cfg.ExtendsEvery > 0 {
			nap = min(nap, g.cfg.ExtendsEvery)
		}
		if err := g.p.clock.Sleep(g.ctx, nap); err != nil {
			return errOver
		}
		left -= nap
		if left > 0 && g.cfg.ExtendsEvery > 0 {
			if err := g.extend(lease); err != nil {
				return err
			}
		}
	}
	if g.cfg.WorksUntil.IsZero() {
		return nil
	}
	g.await()
	if g.ctx.Err() != nil {
		return errOver
	}
	return nil
}

// await returns when the point was reached until which the work goes on.
func (g *program) await() {
	reached := make(chan struct{})
	g.step(0, func() {
		g.working = func() { g.w.then(func() { close(reached) }) }
		if g.workOver {
			g.working()
			g.working = nil
		}
	})
	select {
	case <-reached:
		g.settled(storage.Response{}, nil)
	case <-g.ctx.Done():
	}
}

func (g *program) extend(lease locks.Lease) error {
	e, ok := lease.(locks.Extender)
	if !ok {
		return fmt.Errorf("%s cannot extend a lease", g.w.cfg.Lock.Kind.Name)
	}
	g.begin(Extend, Event{})
	err := e.Extend(g.ctx)
	g.end(Extend, err, func(ev *Event) {
		if x, ok := lease.(locks.Expirer); ok && err == nil {
			ends := x.Expires()
			ev.Ends = &ends
		}
	})
	return err
}
