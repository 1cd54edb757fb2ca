package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

var (
	errRefusedByStorage = errors.New("the storage refused it")
	errLeaseLost        = errors.New("the lock reported that the lease is lost")
	errLeaseEnded       = errors.New("the lease has expired")
)

// tasks returns the client's tasks in a section. If the world has a source of tokens, the
// client mints a token immediately after each acquire, unless its tasks already contain a step
// that mints one.
func (g *program) tasks() []trace.Task {
	tasks := g.cfg.does()
	mints := func(t trace.Task) bool { return t.Step == trace.Mint }
	if g.w.cfg.Tokens.Source.Name == "" || slices.ContainsFunc(tasks, mints) {
		return tasks
	}
	minting := []trace.Task{{Step: trace.Mint}}
	for _, t := range tasks {
		minting = append(minting, t)
		if t.Step == trace.Acquire {
			minting = append(minting, trace.Task{Step: trace.Mint})
		}
	}
	return minting
}

// checkTasks returns an error if the tasks of a client are invalid.
func checkTasks(c Client, services []Service) error {
	for _, t := range c.Does {
		switch {
		case t.Step == trace.Extend || !slices.Contains(trace.Steps(), t.Step):
			return fmt.Errorf("%q is not a step that a client can do in a section", t.Step)
		case t.Step.AtStorage() != (t.Object != ""):
			return fmt.Errorf("%s: a request to the storage needs an object, and no other step has one", t.Step)
		}
		for _, name := range t.Via {
			if !slices.ContainsFunc(services, func(s Service) bool { return s.Name == name }) {
				return fmt.Errorf("there is no service %q", name)
			}
		}
	}
	return nil
}

// runSections runs the client's critical sections, one after the other. It returns the error
// of the last section that failed. If the client cannot acquire the lock for a section, that
// section is the last.
func (g *program) runSections() error {
	if g.w.cfg.Schedule.Periods > 0 {
		return g.runJobs()
	}
	var lastErr error
	refusals := 0 // sections in a row that ended because a nested lock was refused
	for remaining := max(g.cfg.Sections, 1); remaining > 0; {
		granted, err := g.runSection()
		switch {
		case !granted || errors.Is(err, errEnded):
			return err
		case errors.Is(err, errNestedRefused):
			refusals++
			if err := g.pauseBetweenAttempts(refusals, err); err != nil {
				return err
			}
			continue
		}
		refusals = 0
		if g.shouldStartOver(err) {
			continue
		}
		if err != nil {
			lastErr = err
		}
		remaining--
	}
	return lastErr
}

// runSection runs one section, from acquire to release. granted reports whether acquire
// succeeded. If the run ends meanwhile, the error is errEnded.
func (g *program) runSection() (granted bool, err error) {
	section, err := g.acquire(g.ownHandle(), nil)
	if err != nil {
		return false, err
	}
	err = section.run()
	g.previousSection = section
	if g.ctx.Err() != nil {
		err = errEnded
	}
	return true, err
}

// shouldStartOver reports whether the client repeats a section that failed with err, with a
// new acquire.
func (g *program) shouldStartOver(err error) bool {
	return g.cfg.StartsOver && errors.Is(err, errRefusedByStorage)
}

// A Section is one critical section of a client, from its grant on.
type Section struct {
	g *program
	// number counts the client's calls of acquire, from 1. The loop sets it when the call
	// begins. The number 0 means that the client has not called acquire yet.
	number int
	// env is the environment of the lock's handle; it contains the lock's name.
	env   *locks.Env
	lease locks.Lease
	// acquireCalledAt is when acquire was called, on the clock that the lock reads.
	acquireCalledAt fakeclock.Reading
	// lost is closed when the lock has notified the client that the lease is lost; it is
	// nil if the lock has no such notification.
	lost <-chan struct{}
	// token is the section's fencing token; 0 means none.
	token uint64
	*clientView
	// inner are the sections that are nested in this section, in the order of their grants.
	// outermost is the outermost section in which this section is nested, directly or through
	// others; nil if it is not nested.
	inner     []*Section
	outermost *Section
	// releaseFailed reports that the latest release of the section has failed.
	releaseFailed bool
	// grantedAt is when acquire returned, on the client's monotonic clock.
	grantedAt fakeclock.Reading
	// period is the period of the schedule that this section is for; 0 without a schedule.
	// recalledPeriod is the latest period that has been run, according to the record of periods
	// that this section has read from the storage; 0 means none.
	period, recalledPeriod int
}

// Number returns the number of the section, which counts the client's calls of acquire from
// 1. Events contain it as their Section.
func (section *Section) Number() int { return section.number }

// Lease returns what the lock granted.
func (section *Section) Lease() locks.Lease { return section.lease }

// acquire tries to acquire a lock until it succeeds, all attempts are used, or a lease of outer
// is lost. It also stops when the client ends, or when the lock returns neither a lease nor an
// error. outer is the section in which the new section will be nested, or nil.
func (g *program) acquire(h handle, outer *Section) (*Section, error) {
	for attempt := 1; ; attempt++ {
		section, err := g.attempt(g.ctx, h, outer)
		switch {
		case err == nil:
			return section, nil
		case errors.Is(err, errNoLease):
			return nil, err // trying again would show the same
		case g.ctx.Err() != nil:
			return nil, errEnded
		}
		if err := g.pauseBetweenAttempts(attempt, err); err != nil {
			return nil, err
		}
		if outer.hasLostLease() {
			return nil, errLeaseLost
		}
	}
}

// pauseBetweenAttempts waits between one attempt and the next. attempt is the number of the
// attempt that has failed, from 1, and lastErr is its error. It returns an error if the client
// may not try again.
func (g *program) pauseBetweenAttempts(attempt int, lastErr error) error {
	switch {
	case attempt != g.cfg.Attempts:
	case attempt == 1:
		return fmt.Errorf("gave up after the first attempt: %w", lastErr)
	default:
		return fmt.Errorf("gave up after %d attempts: %w", attempt, lastErr)
	}
	pause, err := cmp.Or(g.cfg.Retry, locks.Fixed).Pause(g.cfg.RetryEvery, attempt, g.env.Rand)
	if err != nil {
		return err
	}
	if err := g.p.clock.Sleep(g.ctx, pause); err != nil {
		return errEnded
	}
	return nil
}

// attempt tries once to acquire a lock. outer is the section in which the new section will
// be nested, or nil. After a grant, attempt starts to record what the lock reports about
// the lease.
func (g *program) attempt(ctx context.Context, h handle, outer *Section) (*Section, error) {
	section := &Section{g: g, env: h.env, clientView: &clientView{versions: map[string]int{}}, period: g.period}
	begin := trace.Event{Lock: h.env.Key, Period: section.period}
	if outer != nil {
		section.clientView, section.outermost, begin.OuterSection = outer.clientView, outer, outer.newest().number
	}
	acquire := func(ctx context.Context) (err error) {
		section.acquireCalledAt = g.readClock(fakeclock.Monotonic)
		section.lease, err = h.lock.Acquire(ctx)
		if err == nil && isNoLease(section.lease) {
			err = errNoLease
		}
		return err
	}
	err := section.callLock(ctx, trace.Acquire, begin, acquire, func(ev *trace.Event) {
		ev.Lock, ev.OuterSection = begin.Lock, begin.OuterSection
		if ev.OK {
			section.recordGrant(ev)
		}
	})
	if errors.Is(err, errNoLease) {
		g.recordNoLease()
	}
	if err != nil {
		return nil, err
	}
	section.grantedAt = g.p.clock.Read(fakeclock.Monotonic)
	section.watchLoss()
	section.watchRenewals()
	return section, nil
}

// callLock calls the lock as one step. ev has the fields of the event with which the step
// begins. fill, if not nil, completes the event of its end. If the world can cancel the
// client's calls, call gets a context that can be cancelled.
func (section *Section) callLock(ctx context.Context, step trace.Step, ev trace.Event, call func(context.Context) error, fill func(*trace.Event)) error {
	g := section.g
	if !g.cfg.Cancels.IsZero() || g.w.canBeCancelled(g.p.name) {
		// The context is not cancelled after the call: some locks bind the lease to the
		// context of acquire.
		ctx, g.cancelCall = context.WithCancel(ctx)
	}
	cancelTimeout := func() {}
	if g.cfg.CancelsAfter > 0 {
		ctx, cancelTimeout = fakeclock.WithTimeout(ctx, g.p.clock, g.cfg.CancelsAfter)
	}
	ev.ContextEnded = ctx.Err() != nil
	g.beginStep(section, step, ev)
	err := call(ctx)
	if step != trace.Acquire || err != nil { // some locks bind the lease to the context of acquire
		cancelTimeout()
	}
	g.endStep(section, step, err, fill)
	return err
}

// recordGrant adds the end of the lease, the token, and the rank of the grant (its position in the
// oracle's order of grants) to the event that ends a successful acquire.
func (section *Section) recordGrant(ev *trace.Event) {
	g := section.g
	if ends, ok := locks.EndOf(section.lease); ok {
		ev.LeaseEnd = &ends
	}
	ev.Mistyped = locks.Mistyped(section.lease)
	ev.Rank, ev.Ungranted = g.w.oracle.Rank(section.env.Key, history.Acquisition{Client: g.p.name, Section: section.number})
	if g.w.cfg.Tokens.Source.Name == "" {
		ev.Token = ev.Rank
	}
	_, ev.Notifies = section.lease.(locks.Notifier)
	if s, ok := section.lease.(locks.Sessioner); ok {
		ev.Session = g.w.names.Name("session", s.Session())
	}
	if t, ok := section.lease.(locks.Tokener); ok {
		ev.Token = t.Token()
		ev.Minted = ev.Token != 0
	}
	section.token = ev.Token
}

// run does the client's tasks after a grant, and then releases all locks of the section.
func (section *Section) run() error {
	err := section.doTasks()
	if err == nil && section.g.cfg.KeepsFor > 0 {
		section.keepLock()
	}
	// The section has ended, whether or not the lock could be released.
	for _, s := range slices.Backward(section.withNested()) {
		s.releaseFailed = s.Release(section.g.ctx) != nil
	}
	return err
}

// releaseAgain does a release step in a section: it releases again each lock of the client's
// previous section whose latest release has failed. After the failed release the key may still
// exist, and the client has acquired the lock again since.
func (section *Section) releaseAgain() {
	if section.g.previousSection == nil {
		return
	}
	for _, s := range slices.Backward(section.g.previousSection.withNested()) {
		if s.releaseFailed {
			s.releaseFailed = s.Release(section.g.ctx) != nil
		}
	}
}

// Release releases the lock. The section ends when Release is called, even if Release
// returns an error.
func (section *Section) Release(ctx context.Context) error {
	return section.callLock(ctx, trace.Release, trace.Event{}, section.lease.Release, nil)
}

// watchLoss starts a goroutine that records the loss of the lease when the lock reports it,
// and then closes the channel lost.
func (section *Section) watchLoss() {
	n, ok := section.lease.(locks.Notifier)
	if !ok {
		return
	}
	g := section.g
	lost := make(chan struct{})
	section.lost = lost
	go func() {
		select {
		case <-n.Lost():
			g.onLoopForLock(1, section, func() {
				g.w.emit(trace.Event{Kind: trace.KindLost, Process: g.p.name, Section: section.number})
				g.w.afterMoment(func() { close(lost) })
			})
		case <-g.ctx.Done():
		}
	}()
}

// watchRenewals starts a goroutine that records each renewal of the lease that the lock
// makes by itself.
func (section *Section) watchRenewals() {
	r, ok := section.lease.(locks.Renewer)
	if !ok {
		return
	}
	g := section.g
	go func() {
		for {
			select {
			case ends, more := <-r.Renewals():
				if !more {
					return
				}
				g.onLoopForLock(2, section, func() {
					g.w.emit(trace.Event{Kind: trace.KindEnd, Process: g.p.name, Section: section.number, Step: trace.Extend, OK: true, LeaseEnd: &ends})
				})
			case <-g.ctx.Done():
				return
			}
		}
	}()
}

// doTasks does the client's tasks in a section, until one fails. It leaves out the remaining
// tasks, without an error, if another client has run or claimed the section's period.
func (section *Section) doTasks() error {
	tasks := section.g.tasks()
	for i, t := range tasks {
		var err error
		switch t.Step {
		case trace.Acquire:
			err = section.acquireNested(t)
		case trace.Mint:
			err = section.newest().mint()
		case trace.Work:
			err = section.work()
		case trace.Check:
			err = section.checkLease()
		case trace.Release:
			section.releaseAgain()
		case trace.Mark:
			s := section.sectionOf(t.Object)
			_, err = s.access(section.g.ctx, t, storage.Request{Op: storage.Mark, Object: t.Object, Token: s.token})
		case trace.Read:
			err = section.sectionOf(t.Object).readObject(section.g.ctx, t)
			if t.Note == trace.Recall && err == nil && section.recalledPeriod >= section.period {
				return nil // another client has run this period already
			}
		case trace.Write:
			last := !slices.ContainsFunc(tasks[i+1:], func(t trace.Task) bool { return t.Step == trace.Write })
			err = section.sectionOf(t.Object).write(section.g.ctx, t, last)
			if t.Note == trace.Claim && errors.Is(err, errRefusedByStorage) {
				return nil // another client has claimed this period
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mint gets a fencing token from the world's source of tokens.
func (section *Section) mint() error {
	g := section.g
	g.beginStep(section, trace.Mint, trace.Event{})
	token, err := g.w.cfg.Tokens.Source.Mint(g.ctx, section.env)
	g.endStep(section, trace.Mint, err, func(ev *trace.Event) { ev.Token, ev.Minted = token, err == nil })
	if err == nil {
		section.token = token
	}
	return err
}

// checkLease is the step check: it returns an error if the lease of the section, or of a
// section nested in it, has ended.
func (section *Section) checkLease() error {
	g := section.g
	g.beginStep(section, trace.Check, trace.Event{})
	var err error
	if slices.ContainsFunc(section.withNested(), (*Section).hasLeaseEnded) {
		err = errLeaseEnded
	}
	g.endStep(section, trace.Check, err, nil)
	return err
}

// hasLeaseEnded reports whether the client's clock has reached the end of the lease. That is
// the end that the lock declares, or, if it declares none, one TTL after acquire was
// called. A lease that never ends by itself has not ended.
func (section *Section) hasLeaseEnded() bool {
	g := section.g
	ends := section.acquireCalledAt.Add(g.env.TTL)
	if declared, ok := locks.EndOf(section.lease); ok {
		ends = declared
	}
	endless := g.w.cfg.Lock.Kind.Endless || g.w.cfg.Lock.Kind.Open
	return g.readClock(ends.Clock).Sub(ends) >= 0 && !endless
}

// readClock reads a clock as the lock does. A lock whose library uses package time sees
// true time.
func (g *program) readClock(clock fakeclock.Kind) fakeclock.Reading {
	if !g.w.cfg.Lock.Kind.OwnClock {
		return fakeclock.Reading{Clock: clock, Nanos: time.Now().UnixNano()}
	}
	return g.p.clock.Read(clock)
}

// Read reads an object of the storage, with the section's fencing token. The values that the
// section writes later contain the version that was read, as if they were computed from that
// version.
func (section *Section) Read(ctx context.Context, object string) error {
	return section.readObject(ctx, trace.Task{Step: trace.Read, Object: object})
}

// readObject does a read task, at the storage or through the lock that keeps the data.
func (section *Section) readObject(ctx context.Context, t trace.Task) error {
	req := storage.Request{Op: storage.Read, Object: t.Object, Token: section.token}
	var resp storage.Response
	var err error
	if k, keeps := section.lease.(locks.Keeper); keeps {
		resp, err = section.accessKept(ctx, req, false, func(ctx context.Context) (int, error) { return k.Read(ctx, t.Object) })
	} else {
		resp, err = section.access(ctx, t, req)
	}
	switch {
	case err != nil:
	case t.Note == trace.Recall:
		section.versions[t.Object], section.recalledPeriod = resp.Version, resp.Period
	default:
		section.versions[t.Object], section.lastRead = resp.Version, t.Object
	}
	return err
}

// Write writes an object of the storage, with the section's fencing token. If the lock has
// reported that the lease is lost, Write returns an error and writes nothing. If the lock
// itself keeps the data, the first Write ends the section; see [locks.Keeper].
func (section *Section) Write(ctx context.Context, object string) error {
	return section.write(ctx, trace.Task{Step: trace.Write, Object: object}, true)
}

// write does a write task. The value that it writes names the version that the section has read.
// last is set for the last write of the section. If a lock has reported the loss of a lease of the
// section, write returns an error and writes nothing.
func (section *Section) write(ctx context.Context, t trace.Task, last bool) error {
	if cmp.Or(section.outermost, section).hasLostLease() {
		return errLeaseLost
	}
	client := section.g.p.name
	value := client
	if version, knows := section.versions[t.Object]; knows {
		value = fmt.Sprintf("%s after version %d", client, version)
	} else if section.lastRead != "" {
		value = fmt.Sprintf("%s after version %d of %s", client, section.versions[section.lastRead], section.lastRead)
	}
	req := storage.Request{Op: storage.Write, Object: t.Object, Token: section.token, Value: value, KnownVersion: section.versions[t.Object]}
	if t.Note != "" {
		req.Value, req.Period, req.Claims = fmt.Sprintf("%s for period %d", client, section.period), section.period, t.Note == trace.Claim
	}
	var resp storage.Response
	var err error
	if k, keeps := section.lease.(locks.Keeper); keeps {
		_, stays := k.(locks.Stayer)
		resp, err = section.accessKept(ctx, req, last && !stays, func(ctx context.Context) (int, error) { return k.Write(ctx, t.Object, value, last) })
	} else {
		resp, err = section.access(ctx, t, req)
	}
	if err == nil {
		section.versions[t.Object] = resp.Version
	}
	return err
}

// access sends a request to the storage, as one step. If the field Resends of the [Client]
// is set, it sends the request again after a failure.
func (section *Section) access(ctx context.Context, t trace.Task, req storage.Request) (storage.Response, error) {
	g := section.g
	call := func() (storage.Response, error) { return g.callStorage(ctx, section, req, t.Via, g.cfg.GivesUp) }
	if g.w.cfg.Storage.InCluster {
		call = func() (storage.Response, error) { return g.askCluster(ctx, req) }
	}
	beginEvent := trace.Event{Object: req.Object, Token: req.Token, Value: req.Value}
	return section.requestStep(beginEvent, req, func() (storage.Response, error) {
		resp, err := call()
		for g.cfg.Resends && (errors.Is(err, errGaveUp) || errors.Is(err, errReset) || errors.Is(err, errRefused)) {
			why := errorText(err)
			if errors.Is(err, errRefused) { // without a wait, the retry would probably be refused too
				_ = g.p.clock.Sleep(ctx, g.cfg.RetryEvery)
			}
			if ctx.Err() != nil {
				break
			}
			g.onLoop(0, func() {
				g.w.emit(trace.Event{Kind: trace.KindAgain, Process: g.p.name, Section: section.number, Step: t.Step, Object: req.Object, Token: req.Token, Text: why})
			})
			resp, err = call()
		}
		if err == nil && resp.Refused != "" {
			err = fmt.Errorf("%w: %s", errRefusedByStorage, resp.Refused)
		}
		return resp, err
	})
}

// accessKept reads or writes data that the lock itself keeps, as one step. releasesLock is set if
// the step also releases the lock. perform asks the lock for the data.
func (section *Section) accessKept(ctx context.Context, req storage.Request, releasesLock bool, perform func(context.Context) (version int, err error)) (storage.Response, error) {
	req.Token = 0
	return section.requestStep(trace.Event{Object: req.Object, Value: req.Value, ReleasesLock: releasesLock}, req, func() (storage.Response, error) {
		ctx, cancel := section.g.withPatience(ctx)
		defer cancel()
		version, err := perform(ctx)
		return responseFor(req, version), err
	})
}

// requestStep is one step that reads, writes or marks an object. sendRequest sends the request and
// returns the response. beginEvent is the event of the step's beginning.
func (section *Section) requestStep(beginEvent trace.Event, req storage.Request, sendRequest func() (storage.Response, error)) (storage.Response, error) {
	step := trace.Step(req.Op)
	section.g.beginStep(section, step, beginEvent)
	resp, err := sendRequest()
	section.g.endStep(section, step, err, func(ev *trace.Event) {
		ev.Object, ev.Token = req.Object, req.Token
		ev.Refused = resp.Refused != ""
		if err == nil {
			ev.Version, ev.Replaced = resp.Version, resp.Replaced
			ev.Period = max(req.Period, resp.Period)
		}
	})
	return resp, err
}

// responseFor returns the response to a request, in the form of the storage. version is the
// object's version after the request.
func responseFor(req storage.Request, version int) storage.Response {
	resp := storage.Response{Version: version}
	if req.Op == storage.Write {
		resp.Replaced = version - 1
	}
	return resp
}

// withPatience returns a context that ends when the client stops waiting for the storage
// (see GivesUp of [Client]).
func (g *program) withPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.cfg.GivesUp == 0 {
		return ctx, func() {}
	}
	return fakeclock.WithTimeout(ctx, g.p.clock, g.cfg.GivesUp)
}

// work is the step work: the client waits, and extends its leases meanwhile.
func (section *Section) work() error {
	g := section.g
	if g.cfg.Works == 0 && g.cfg.WorksUntil.IsZero() {
		return nil
	}
	g.beginStep(section, trace.Work, trace.Event{})
	err := section.sleepAndExtend()
	g.endStep(section, trace.Work, err, nil)
	return err
}

// sleepAndExtend waits for the time of the work and then for the point WorksUntil. It
// extends the leases each time that ExtendsEvery has passed.
func (section *Section) sleepAndExtend() error {
	g := section.g
	left := g.cfg.Works
	for left > 0 {
		nap := left
		if g.cfg.ExtendsEvery > 0 {
			nap = min(nap, g.cfg.ExtendsEvery)
		}
		if err := g.p.clock.Sleep(g.ctx, nap); err != nil {
			return errEnded
		}
		left -= nap
		if left > 0 && g.cfg.ExtendsEvery > 0 {
			for _, s := range section.withNested() {
				if err := s.Extend(g.ctx); err != nil {
					return err
				}
			}
		}
	}
	if g.cfg.WorksUntil.IsZero() {
		return nil
	}
	g.awaitWorkEnd()
	if g.ctx.Err() != nil {
		return errEnded
	}
	return nil
}

// awaitWorkEnd waits until the point WorksUntil is reached.
func (g *program) awaitWorkEnd() {
	reached := make(chan struct{})
	g.onLoop(0, func() {
		g.onWorkEnd = func() { g.w.afterMoment(func() { close(reached) }) }
		if g.workMayEnd {
			g.onWorkEnd()
			g.onWorkEnd = nil
		}
	})
	select {
	case <-reached:
		g.takeAnswer(storage.Response{}, nil)
	case <-g.ctx.Done():
	}
}

// Extend extends the lease. If it returns an error, the lease must be considered lost. If the
// lease has no method Extend, and lasts as long as a session or never ends by itself, Extend
// does nothing. For any other lease without that method, Extend returns an error, and the run
// is inconclusive.
func (section *Section) Extend(ctx context.Context) error {
	g := section.g
	e, ok := section.lease.(locks.Extender)
	if _, lasts := section.lease.(locks.Sessioner); !ok && (lasts || g.w.cfg.Lock.Kind.Endless) {
		return nil
	}
	if !ok {
		err := fmt.Errorf("%s cannot be asked to extend a lease", g.w.cfg.Lock.Kind.Name)
		g.onLoop(0, func() { g.w.addDoubt("a client of the scenario extends its lease, but " + err.Error()) })
		return err
	}
	return section.callLock(ctx, trace.Extend, trace.Event{}, e.Extend, func(ev *trace.Event) {
		if ends, ok := locks.EndOf(section.lease); ok && ev.OK {
			ev.LeaseEnd = &ends
		}
	})
}
