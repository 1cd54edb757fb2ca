package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/storage"
)

// Object is the object of the storage that the clients share if they name none.
const Object = "x"

var (
	errRefusedByStorage = errors.New("the storage refused it")
	errLeaseLost        = errors.New("the lock said that the lease is lost")
	errLeaseOver        = errors.New("the lease is over")
)

// tasks are what the client does in a section. It mints its token first of all,
// unless it says when.
func (g *program) tasks() []Task {
	tasks := g.cfg.Does
	if tasks == nil {
		tasks = DefaultTasks()
	}
	mints := func(t Task) bool { return t.Step == Mint }
	if g.w.cfg.Tokens.Source.Name != "" && !slices.ContainsFunc(tasks, mints) {
		tasks = slices.Insert(slices.Clone(tasks), 0, Task{Step: Mint})
	}
	return tasks
}

// sections runs the client's critical sections, one after the other: acquire,
// what the client does, release.
func (g *program) sections() error {
	var failed error
	for left := max(g.cfg.Sections, 1); left > 0; {
		in, err := g.acquire()
		if err != nil {
			return err
		}
		err = g.section(in)
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

// A visit is one stay in a section.
type visit struct {
	lease locks.Lease
	// called is when acquire was called, by the clock that the lock reads.
	called fakeclock.Reading
	// lost is closed when the lock has told that the lease is lost; nil if it
	// never tells.
	lost <-chan struct{}
	// knows is the version of each object that the client last learnt of.
	knows map[string]int
	// read is the object that was read last, or "".
	read string
}

// acquire tries until it gets the lock.
func (g *program) acquire() (*visit, error) {
	for attempt := 1; ; attempt++ {
		g.begin(Acquire, Event{Lock: g.env.Key})
		in := &visit{called: g.read(fakeclock.Monotonic), knows: map[string]int{}}
		lease, err := g.lock.Acquire(g.ctx)
		g.end(Acquire, err, func(ev *Event) {
			ev.Lock = g.env.Key
			if err == nil {
				g.granted(lease, ev)
				g.token = ev.Token
			}
		})
		switch {
		case err == nil:
			in.lease = lease
			return in, nil
		case g.ctx.Err() != nil:
			return nil, errOver
		case attempt == g.cfg.Attempts:
			if attempt == 1 {
				return nil, fmt.Errorf("gave up after the first attempt: %w", err)
			}
			return nil, fmt.Errorf("gave up after %d attempts: %w", attempt, err)
		}
		pause, err := cmp.Or(g.cfg.Retry, locks.Fixed).Pause(g.cfg.RetryEvery, attempt, g.env.Rand)
		if err != nil {
			return nil, err
		}
		if err := g.p.clock.Sleep(g.ctx, pause); err != nil {
			return nil, errOver
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
		ev.Rank, ev.Ungranted = g.w.oracle.Grant(g.env.Key, g.p.name, g.sectionNow)
		if g.w.cfg.Tokens.Source.Name == "" {
			ev.Token = ev.Rank
		}
	}
	_, ev.Notifies = lease.(locks.Notifier)
	if t, ok := lease.(locks.Tokener); ok {
		ev.Token = t.Token()
		ev.Minted = ev.Token != 0
	}
}

// section is what happens between a grant and its release.
func (g *program) section(in *visit) error {
	in.lost = g.watchLoss(in.lease)
	g.watchRenewals(in.lease)
	err := g.inside(in)
	g.begin(Release, Event{})
	released := in.lease.Release(g.ctx)
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

// watchRenewals records each time that the lock prolongs the lease by itself.
func (g *program) watchRenewals(lease locks.Lease) {
	r, ok := lease.(locks.Renewer)
	if !ok {
		return
	}
	section := g.sectionNow
	go func() {
		for {
			select {
			case ends, more := <-r.Renewals():
				if !more {
					return
				}
				g.step(2, func() {
					g.w.emit(Event{Kind: KindEnd, Process: g.p.name, Section: section, Step: Extend, OK: true, Ends: &ends})
				})
			case <-g.ctx.Done():
				return
			}
		}
	}()
}

// inside does what the client does in its section, up to the first thing that
// fails.
func (g *program) inside(in *visit) error {
	for _, t := range g.tasks() {
		var err error
		switch t.Step {
		case Mint:
			err = g.mint()
		case Work:
			err = g.work(in.lease)
		case Check:
			err = g.check(in)
		case Mark:
			_, err = g.access(t, storage.Request{Op: storage.Mark, Object: t.Object, Token: g.token})
		case Read:
			var resp storage.Response
			resp, err = g.access(t, storage.Request{Op: storage.Read, Object: t.Object, Token: g.token})
			in.knows[t.Object], in.read = resp.Version, t.Object
		case Write:
			err = g.write(t, in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mint gets a fencing token.
func (g *program) mint() error {
	g.begin(Mint, Event{})
	token, err := g.w.cfg.Tokens.Source.Mint(g.ctx, g.env)
	g.end(Mint, err, func(ev *Event) { ev.Token, ev.Minted = token, err == nil })
	if err == nil {
		g.token = token
	}
	return err
}

// check looks whether the lease has ended: when the lock says, or one TTL after
// it was asked for.
func (g *program) check(in *visit) error {
	g.begin(Check, Event{})
	ends := in.called.Add(g.env.TTL)
	if e, ok := in.lease.(locks.Expirer); ok {
		ends = e.Expires()
	}
	endless := g.w.cfg.Lock.Kind.Endless || g.w.cfg.Lock.Kind.Open
	var err error
	if g.read(ends.Clock).Sub(ends) >= 0 && !endless {
		err = errLeaseOver
	}
	g.end(Check, err, nil)
	return err
}

// read reads a clock as the lock does. One that does not read its process's clocks
// sees true time.
func (g *program) read(clock fakeclock.Kind) fakeclock.Reading {
	if !g.w.cfg.Lock.Kind.OwnClock {
		return fakeclock.Reading{Clock: clock, Nanos: time.Now().UnixNano()}
	}
	return g.p.clock.Read(clock)
}

// write writes what was computed from what was read. A client whose lock tells
// of the loss of its lease heeds that.
func (g *program) write(t Task, in *visit) error {
	select {
	case <-in.lost:
		return errLeaseLost
	default:
	}
	value := g.p.name
	if version, knows := in.knows[t.Object]; knows {
		value = fmt.Sprintf("%s after version %d", g.p.name, version)
	} else if in.read != "" {
		value = fmt.Sprintf("%s after version %d of %s", g.p.name, in.knows[in.read], in.read)
	}
	resp, err := g.access(t, storage.Request{Op: storage.Write, Object: t.Object, Token: g.token, Value: value})
	if err == nil {
		in.knows[t.Object] = resp.Version
	}
	return err
}

// access is one step at the storage.
func (g *program) access(t Task, req storage.Request) (storage.Response, error) {
	g.begin(t.Step, Event{Object: req.Object, Token: req.Token, Value: req.Value})
	resp, err := g.call(g.ctx, req, t.Via, g.cfg.GivesUp)
	for g.cfg.Resends && (errors.Is(err, errGaveUp) || errors.Is(err, errReset) || errors.Is(err, errRefused)) {
		why := tellError(err)
		if errors.Is(err, errRefused) { // at once, it would only be refused again
			if err := g.p.clock.Sleep(g.ctx, g.cfg.RetryEvery); err != nil {
				return resp, errOver
			}
		}
		g.step(0, func() {
			g.w.emit(Event{Kind: KindAgain, Process: g.p.name, Section: g.sectionNow, Step: t.Step, Object: req.Object, Token: req.Token, Text: why})
		})
		resp, err = g.call(g.ctx, req, t.Via, g.cfg.GivesUp)
	}
	if err == nil && resp.Refused != "" {
		err = fmt.Errorf("%w: %s", errRefusedByStorage, resp.Refused)
	}
	g.end(t.Step, err, func(ev *Event) {
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
		err := fmt.Errorf("%s cannot be asked to extend a lease", g.w.cfg.Lock.Kind.Name)
		g.step(0, func() { g.w.doubt("the story has a client extend its lease, but " + err.Error()) })
		return err
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
