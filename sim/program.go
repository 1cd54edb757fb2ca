package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A program runs one client: it makes the client's lock, waits for the client's start, and
// does the client's sections or calls its Run.
type program struct {
	w    *World
	p    *process
	cfg  Client
	env  *locks.Env
	lock locks.Lock
	// otherLocks are the handles for the locks that the client acquires in addition to its
	// own, by name.
	otherLocks map[string]handle

	// ctx ends when the run ends, by a call of stopRun.
	ctx     context.Context
	stopRun context.CancelFunc

	// previousSection is the client's last section that has ended, or nil.
	previousSection *Section
	// period is the latest period of the schedule that the client has begun.
	period int

	// cancelCall cancels the context of the latest call of the lock. While the call is in
	// progress, only the loop uses it; at other times only the program's goroutine.
	cancelCall context.CancelFunc

	// Only the loop uses the fields below.
	storageConns  map[string]*storageConn // by the name of the storage or the service
	stepCounts    map[trace.Step]int      // how many times the client has reached each step
	latestSection *Section                // the section whose acquire was called last
	// currentSection and currentStep are the section and the step to which messages to
	// nodes belong now. While the client is not calling its lock, currentSection is the
	// latest section.
	currentSection int
	currentStep    trace.Step
	// callCount counts the calls of the lock. currentCall is the number of the call that is in
	// progress and has not been cancelled, or 0. cancelled reports that some call of the lock was
	// cancelled.
	callCount, currentCall int
	cancelled              bool
	start                  chan struct{} // closed when the client may start
	isWarm                 bool          // the client has its lock and its connections, and waits for its start
	// canStart reports that the client's starting point was reached.
	canStart   bool
	started    bool
	workMayEnd bool // the point WorksUntil was reached
	// onWorkEnd ends the work step that waits for WorksUntil; nil if none waits.
	onWorkEnd func()
	ended     bool
}

// newProgram makes the program of a client. Its goroutine does not run yet.
func newProgram(w *World, p *process, cfg Client) *program {
	g := &program{w: w, p: p, cfg: cfg, storageConns: map[string]*storageConn{}, stepCounts: map[trace.Step]int{}, start: make(chan struct{})}
	g.latestSection = &Section{g: g}
	g.ctx, g.stopRun = context.WithCancel(w.ctx)
	g.env = w.newEnv(p, cfg)
	g.env.SetProcessContext(g.ctx)
	g.canStart = cfg.Starts.IsZero()
	return g
}

// newEnv makes the environment through which the client's lock reaches the world: network,
// clocks and random numbers.
func (w *World) newEnv(p *process, c Client) *locks.Env {
	env := &locks.Env{
		Key: c.lockName(&w.cfg), Client: p.name, TTL: w.cfg.Lock.TTL, Options: w.cfg.Lock.Options,
		Data: w.data(), Dial: p.dial, WaitTurn: p.awaitTurn, WaitAfterTimer: p.awaitTurnAfterTimer, Clock: clientClock{p.clock, p}, Rand: randomBytes(w.cfg.Seed, p.name),
	}
	for i, n := range w.cfg.Nodes {
		if n.keepsLocks() || w.cfg.Lock.Kind.Name == "" {
			env.Nodes = append(env.Nodes, w.cfg.nodeAddr(i))
		}
		if w.cfg.countsTokens(n) {
			env.Counters = append(env.Counters, w.cfg.nodeAddr(i))
		}
	}
	return env
}

// main runs the client, in a goroutine of its own. A panic of the lock ends the client and
// becomes the error of the run.
func (g *program) main() {
	defer g.w.programs.Done()
	defer func() {
		if r := recover(); r != nil {
			g.w.recordError(newPanicError(g.p.name, r, debug.Stack()))
			g.done(fmt.Errorf("panic: %v", r))
		}
	}()
	growStack()
	g.done(g.run())
}

// growStack makes the goroutine's stack large enough for most locks. Otherwise the stack would grow
// in four steps, and each step would copy the stack.
//
//go:noinline
func growStack() {
	var room [11 << 10]byte
	runtime.KeepAlive(&room)
}

// run makes the client ready, waits for its start, and then runs its sections or its Run.
func (g *program) run() error {
	if g.w.cfg.Lock.Kind.Name != "" {
		if err := g.warmUp(); err != nil {
			return err
		}
	}
	g.onLoop(0, func() { g.isWarm = true })
	select {
	case <-g.start:
	case <-g.ctx.Done():
		return errEnded
	}
	if g.cfg.Run != nil {
		return g.cfg.Run(g.ctx, &Program{g})
	}
	return g.runSections()
}

// warmUp makes the lock and opens the connections before the run begins, so that the
// run shows a client that has been running for a while.
func (g *program) warmUp() error {
	lock, err := g.newLock(g.env)
	if err != nil {
		return err
	}
	g.lock = lock
	if err := g.makeHandles(); err != nil {
		return err
	}
	g.onLoop(0, func() {
		for _, t := range g.tasks() {
			if t.Step.AtStorage() && !g.w.cfg.Lock.Kind.KeepsData && !g.w.cfg.Storage.InCluster && g.storageConns[t.Receiver()] == nil {
				g.storageConn(t.Receiver()).connect()
			}
		}
	})
	if warm := g.w.cfg.Tokens.Source.Warm; warm != nil {
		warm(g.env)
	}
	g.env.WarmUp(g.ctx)
	return nil
}

// isReady implements [actor]: a client whose program has ended early is ready too.
func (g *program) isReady() bool { return g.isWarm || g.ended }

// ownHandle returns the handle for the client's own lock.
func (g *program) ownHandle() handle { return handle{g.env, g.lock} }

// newLock makes a handle for the lock that an environment names.
func (g *program) newLock(env *locks.Env) (locks.Lock, error) {
	lock, err := g.w.cfg.Lock.Kind.New(env)
	if err != nil {
		return nil, &lockError{err}
	}
	return lock, nil
}

// storageConn returns the client's connection to the storage or to a service. Only the loop
// may call it.
func (g *program) storageConn(peer string) *storageConn {
	if g.storageConns[peer] == nil {
		g.storageConns[peer] = &storageConn{p: g.p, peer: g.w.byName[peer]}
	}
	return g.storageConns[peer]
}

// onLoop makes the loop call do, and waits until the moment of the call has ended: until the loop
// has done all that the call leads to at once. Calls with a lower rank come first in a round (see
// [World.loop]).
func (g *program) onLoop(rank int, do func()) { g.post(rank, 0, do) }

// onLoopForLock is onLoop for a report of the lock about the lease of a section. If there
// are several reports in one round, those about older sections come first.
func (g *program) onLoopForLock(rank int, section *Section, do func()) {
	g.post(rank, section.number, do)
}

// post makes the loop call do, and waits until the moment of the call has ended. In a round,
// the calls of one client are ordered by rank, then by sub.
func (g *program) post(rank, sub int, do func()) {
	g.w.await(&request{process: g.p, class: classStep, rank: rank, subRank: sub}, do)
}

// arm implements [actor]: it registers the points Starts, Cancels and WorksUntil of the
// client.
func (g *program) arm() {
	g.w.onPoint(g.cfg.Starts, func() {
		g.canStart = true
		g.begin()
	})
	g.w.onPoint(g.cfg.Cancels, func() { g.cancel() })
	g.w.onPoint(g.cfg.WorksUntil, func() {
		g.workMayEnd = true
		if working := g.onWorkEnd; working != nil {
			g.onWorkEnd = nil
			working()
		}
	})
}

// begin starts the client if its starting point has been reached and the run has begun.
func (g *program) begin() {
	if g.canStart && g.w.started && !g.started {
		g.started = true
		g.w.afterMoment(func() { close(g.start) })
	}
}

// doing implements [actor].
func (g *program) doing() (section int, step trace.Step) { return g.currentSection, g.currentStep }

// report implements [actor]: it records that the client never started, that it never cancelled
// a call although its configuration says so, and that it never read its wall clock.
func (g *program) report() {
	if !g.started && g.p.state != down {
		why := ""
		if !g.cfg.Starts.IsZero() {
			why = fmt.Sprintf(": it starts when %s", g.cfg.Starts)
		}
		g.w.addDeviation(g.p.name + " never began" + why)
		i := slices.IndexFunc(g.w.trace.Processes, func(p trace.ProcessInfo) bool { return p.Name == g.p.name })
		g.w.trace.Processes[i].Awaits = g.cfg.Starts
	}
	if !g.p.wallRead.Load() {
		g.w.trace.ClockNotReadBy = append(g.w.trace.ClockNotReadBy, g.p.name)
	}
	if !g.cfg.Cancels.IsZero() && !g.cancelled {
		g.w.addDeviation(fmt.Sprintf("%s never cancelled a call of its lock: it does so when %s", g.p.name, g.cfg.Cancels))
	}
}

// beginStep records the beginning of a step and returns the step's section; nil means the latest
// section. First it triggers the faults that strike before this step. If one of them pauses the
// client, beginStep waits until the client resumes. An acquire begins a new section, which gets its
// number here.
func (g *program) beginStep(section *Section, step trace.Step, ev trace.Event) *Section {
	done := make(chan struct{})
	first := true
	r := &request{process: g.p, class: classStep, abandon: func() { close(done) }}
	r.admit = func() {
		if first {
			first = false
			g.stepCounts[step]++
			g.w.strikeBefore(g.p.name, step, g.stepCounts[step])
			g.w.runDueActions()
			if !g.p.canAct() {
				g.p.waiting = append(g.p.waiting, r)
				return
			}
		}
		if section == nil {
			section = g.latestSection
		}
		if step == trace.Acquire {
			section.number = g.latestSection.number + 1
			g.latestSection = section
		}
		g.currentStep, g.currentSection = step, g.latestSection.number
		if step.AtLock() || step == trace.Mint || g.w.cfg.Lock.Kind.KeepsData {
			g.currentSection = section.number
		}
		if step.AtLock() {
			g.callCount++
			g.currentCall = g.callCount
		}
		ev.Kind, ev.Process, ev.Section, ev.Step = trace.KindBegin, g.p.name, section.number, step
		g.w.emit(ev)
		g.w.afterMoment(func() { close(done) })
	}
	g.w.post(r)
	<-done
	return section
}

// endStep records the end of a step; err is nil if the step succeeded. If fill is not nil, the loop
// calls fill to complete the event.
func (g *program) endStep(section *Section, step trace.Step, err error, fill func(*trace.Event)) {
	g.onLoop(0, func() {
		g.currentStep, g.currentSection, g.currentCall = "", g.latestSection.number, 0
		ev := trace.Event{Kind: trace.KindEnd, Process: g.p.name, Section: section.number, Step: step, OK: err == nil}
		if err != nil {
			ev.Text = errorText(err)
		}
		if fill != nil {
			fill(&ev)
		}
		g.w.emit(ev)
	})
}

// errorText returns the text of an error for the trace.
func errorText(err error) string { return err.Error() }

// cancel implements [actor]. A paused client cancels its call when it resumes, if the call
// has not ended by then.
func (g *program) cancel() bool {
	call := g.currentCall
	if call == 0 {
		return false
	}
	r := &request{process: g.p, class: classStep, rank: 3} // rank 3: after the reports and steps of the client in the same round
	r.admit = func() {
		if g.currentCall != call {
			return
		}
		g.currentCall, g.cancelled = 0, true
		g.w.emit(trace.Event{Kind: trace.KindCancel, Process: g.p.name, Section: g.currentSection, Step: g.currentStep})
		g.w.afterMoment(func() {
			// An answer to the call may have arrived just now. The goroutines of the call handle it
			// first, so that the order does not depend on chance.
			synctest.Wait()
			g.cancelCall()
			synctest.Wait()
		})
	}
	if !g.p.canAct() {
		g.p.waiting = append(g.p.waiting, r)
		return true
	}
	r.admit()
	return true
}

// done records that the program has ended; err is nil if it succeeded.
func (g *program) done(err error) {
	g.onLoop(0, func() {
		if g.ended {
			return
		}
		g.ended = true
		g.w.activeClients--
		ev := trace.Event{Kind: trace.KindDone, Process: g.p.name, OK: err == nil}
		if err != nil {
			ev.Text = errorText(err)
			g.recordComplaint(err)
		}
		g.w.emit(ev)
	})
}

func (g *program) stop()  { g.stopRun() }
func (g *program) close() { g.env.Close() }

// crash implements [actor]: the world no longer waits for the client's program. Its
// goroutines stay blocked until stop.
func (g *program) crash() {
	if !g.ended {
		g.ended = true
		g.w.activeClients--
	}
}

// A Program gives the user's function [Client.Run] access to its process and to the world.
type Program struct{ g *program }

// Env returns the environment that the client's lock has in this process.
func (p *Program) Env() *locks.Env { return p.g.env }

// Clock returns the process's clocks.
func (p *Program) Clock() fakeclock.Clock { return p.g.env.Clock }

// Lock returns the client's handle for its lock, which was made before the client began. It
// is nil in a world without locks. [Program.NewLock] makes more handles.
func (p *Program) Lock() locks.Lock { return p.g.lock }

// System returns the kind of server that keeps the client's lock.
func (p *Program) System() System {
	s, _ := LookupSystem(p.g.w.cfg.Lock.Kind.System) // the system exists, because its nodes run
	return s
}

// NewLock makes another handle for the client's lock, as another part of the same process
// would. All handles share the process's [locks.Env].
func (p *Program) NewLock() (locks.Lock, error) {
	if p.g.lock == nil {
		return nil, errors.New("there is no lock in this world to make a handle on")
	}
	return p.g.newLock(p.g.env)
}

// Acquire tries once to acquire the lock through a handle, as one step that begins a new
// section. Sections may overlap, but their steps may not: one step of a program ends before
// the next begins.
func (p *Program) Acquire(ctx context.Context, lock locks.Lock) (*Section, error) {
	return p.g.attempt(ctx, handle{p.g.env, lock}, nil)
}

// Sleep waits until d has passed on the process's monotonic clock. It returns an error if
// the run ends before that.
func (p *Program) Sleep(d time.Duration) error {
	if err := p.Clock().Sleep(p.g.ctx, d); err != nil {
		return errEnded
	}
	return nil
}

// Step calls do as one step of a critical section, which the trace records, so faults can
// strike at its beginning and at its end. The step belongs to the section whose acquire was
// called last. An acquire step begins a new section.
func (p *Program) Step(step trace.Step, do func() error) error {
	var section *Section
	if step == trace.Acquire {
		section = &Section{g: p.g}
	}
	section = p.g.beginStep(section, step, trace.Event{})
	err := do()
	p.g.endStep(section, step, err, nil)
	return err
}

// Storage sends one request to the storage and waits for the response. It records no step;
// [Program.Step] can contain it. The request belongs to the section whose acquire was
// called last.
func (p *Program) Storage(ctx context.Context, req storage.Request) (storage.Response, error) {
	if p.g.w.cfg.Storage.InCluster {
		return p.g.askCluster(ctx, req)
	}
	return p.g.callStorage(ctx, nil, req, nil, 0)
}

// errGaveUp is the error of a client that has stopped waiting for the storage.
var errGaveUp = errors.New("no answer")

// callStorage sends a request of a section to the storage, through the services in via, and
// waits for the response. It waits at most for patience, if that is not 0. A nil section
// means the latest section.
func (g *program) callStorage(ctx context.Context, section *Section, req storage.Request, via []string, patience time.Duration) (storage.Response, error) {
	type answer struct {
		r   storage.Response
		err error
	}
	answered := make(chan answer, 1)
	k := &storageCall{request: req, onResult: func(r storage.Response, err error) {
		g.w.afterMoment(func() { answered <- answer{r, err} })
	}}
	peer := trace.StorageName
	if len(via) > 0 {
		peer, k.remainingServices = via[0], via[1:]
	}
	var c *storageConn
	g.onLoop(0, func() {
		c = g.storageConn(peer)
		k.origin = g.p.currentOrigin(Frame{})
		if section != nil {
			k.origin.section = section.number
		}
		c.call(k)
	})
	if patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = fakeclock.WithTimeout(ctx, g.p.clock, patience)
		defer cancel()
	}
	select {
	case a := <-answered:
		return g.takeAnswer(a.r, a.err)
	case <-ctx.Done():
	case <-g.ctx.Done():
	}
	// The response may have arrived while the client was giving up. The result must not
	// depend on chance, so the response counts.
	g.onLoop(0, func() {
		if c.pending == k {
			c.giveUp()
			err := fmt.Errorf("%w within %v", errGaveUp, patience)
			if patience == 0 {
				err = fmt.Errorf("%w: %w", errGaveUp, ctx.Err())
			}
			g.w.afterMoment(func() { answered <- answer{err: err} })
		}
	})
	select {
	case a := <-answered:
		return g.takeAnswer(a.r, a.err)
	case <-g.ctx.Done():
		g.w.delayAfterEnd(&g.p.ioAfterEnd, 10_000)
		return storage.Response{}, errEnded
	}
}

// takeAnswer waits until the process runs, and then returns the response. A paused process must not
// continue with a response: the loop would not admit its next step, but the client could read its
// clock during the pause.
func (g *program) takeAnswer(r storage.Response, err error) (storage.Response, error) {
	rank := len(g.w.processes) // without a storage process there is no rank, so take one that no process has
	if s := g.w.byName[trace.StorageName]; s != nil {
		rank = s.index
	}
	g.w.awaitRunning(g.p, request{class: classResult, rank: rank})
	return r, err
}
