package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// program is what runs in a client's process.
type program struct {
	w    *World
	p    *process
	cfg  Client
	env  *locks.Env
	lock locks.Lock
	// otherLocks are its handles on the locks that it takes in a section in addition to its
	// own, by their names.
	otherLocks map[string]handle

	// ctx ends with the run, by stopRun.
	ctx     context.Context
	stopRun context.CancelFunc

	// previous is the section that the program was in last; nil before the first has ended.
	previous *Section
	// period is the latest period of the schedule that the program has begun.
	period int

	// cancelCall ends the context of the latest call of the lock. It belongs to the
	// program's goroutine, and to the loop while the call is in progress.
	cancelCall context.CancelFunc

	// All below belongs to the loop.
	callers map[string]*caller
	reached map[trace.Step]int // how often each step was reached
	latest  *Section           // the section whose acquire began last
	// currentSection and currentStep are what the process's messages to nodes belong to.
	// Outside the steps in which the program calls its lock, the section is the latest one.
	currentSection int
	currentStep    trace.Step
	// callCount counts the calls of the lock. currentCall is the number of the call that is
	// in progress and has not been cancelled, or 0. cancelled reports that some call was.
	callCount, currentCall int
	cancelled              bool
	start                  chan struct{} // closed when the client starts
	isWarm                 bool          // the client is ready to start
	canStart               bool
	started                bool
	workMayEnd             bool // the point before which the work does not end was reached
	onWorkEnd              func()
	ended                  bool
}

func newProgram(w *World, p *process, cfg Client) *program {
	g := &program{w: w, p: p, cfg: cfg, callers: map[string]*caller{}, reached: map[trace.Step]int{}, start: make(chan struct{})}
	g.latest = &Section{g: g}
	g.ctx, g.stopRun = context.WithCancel(w.ctx)
	g.env = w.newEnv(p, cfg)
	g.env.SetProcessContext(g.ctx)
	g.canStart = cfg.Starts.IsZero()
	return g
}

// newEnv makes the environment of a client's lock.
func (w *World) newEnv(p *process, c Client) *locks.Env {
	env := &locks.Env{
		Key: c.key(&w.cfg), Client: p.name, TTL: w.cfg.Lock.TTL, Options: w.cfg.Lock.Options,
		Data: w.data(), Dial: p.dial, WaitTurn: p.turn, WaitAfterTimer: p.woken, Clock: clientClock{p.clock, p}, Rand: randomBytes(w.cfg.Seed, p.name),
	}
	for i, n := range w.cfg.Nodes {
		if n.keepsLocks() || w.cfg.Lock.Kind.Name == "" {
			env.Nodes = append(env.Nodes, w.cfg.addr(i))
		}
		if w.cfg.countsTokens(n) {
			env.Counters = append(env.Counters, w.cfg.addr(i))
		}
	}
	return env
}

// main is the client's goroutine. A panic of the lock ends the client and is the run's
// error.
func (g *program) main() {
	defer g.w.programs.Done()
	defer func() {
		if r := recover(); r != nil {
			g.w.fail(newPanicError(g.p.name, r, debug.Stack()))
			g.done(fmt.Errorf("panic: %v", r))
		}
	}()
	deepen()
	g.done(g.run())
}

// deepen makes room on a goroutine's stack for what most locks need. It would grow four
// times otherwise, and be copied each time.
//
//go:noinline
func deepen() {
	var room [11 << 10]byte
	runtime.KeepAlive(&room)
}

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
	return g.sections()
}

// warmUp makes the lock and opens the connections that a client has open after it has been
// running for a while.
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
			if t.Step.AtStorage() && !g.w.cfg.Lock.Kind.KeepsData && !g.w.cfg.Storage.InCluster && g.callers[t.Receiver()] == nil {
				g.caller(t.Receiver()).connect()
			}
		}
	})
	if warm := g.w.cfg.Tokens.Source.Warm; warm != nil {
		warm(g.env)
	}
	g.env.WarmUp(g.ctx)
	return nil
}

func (g *program) isReady() bool { return g.isWarm || g.ended }

// ownHandle returns the client's handle on its own lock.
func (g *program) ownHandle() handle { return handle{g.env, g.lock} }

// newLock makes a handle on a lock of the client.
func (g *program) newLock(env *locks.Env) (locks.Lock, error) {
	lock, err := g.w.cfg.Lock.Kind.New(env)
	if err != nil {
		return nil, &lockError{err}
	}
	return lock, nil
}

// caller returns the client's connection to the storage or to a service. It belongs to the
// loop.
func (g *program) caller(peer string) *caller {
	if g.callers[peer] == nil {
		g.callers[peer] = &caller{p: g.p, peer: g.w.byName[peer]}
	}
	return g.callers[peer]
}

// onLoop makes the loop call do, and waits until that is done.
func (g *program) onLoop(rank int, do func()) { g.post(rank, 0, do) }

// onLoopForLock is onLoop for what a lock reports about a section's lease by itself. If it
// reports several things at the same time, those of the older section come first.
func (g *program) onLoopForLock(rank int, in *Section, do func()) { g.post(rank, in.number, do) }

func (g *program) post(rank, sub int, do func()) {
	g.w.await(&request{process: g.p, class: classStep, rank: rank, sub: sub}, do)
}

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

// begin lets the client start if its point has been reached and the story has begun.
func (g *program) begin() {
	if g.canStart && g.w.started && !g.started {
		g.started = true
		g.w.afterMoment(func() { close(g.start) })
	}
}

func (g *program) doing() (section int, step trace.Step) { return g.currentSection, g.currentStep }

func (g *program) report() {
	if !g.started && g.p.state != down {
		why := ""
		if !g.cfg.Starts.IsZero() {
			why = fmt.Sprintf(": it starts when %s", g.cfg.Starts)
		}
		g.w.doubt(g.p.name + " never began" + why)
	}
	if !g.p.wallRead.Load() {
		g.w.trace.ClockNotReadBy = append(g.w.trace.ClockNotReadBy, g.p.name)
	}
	if !g.cfg.Cancels.IsZero() && !g.cancelled {
		g.w.doubt(fmt.Sprintf("%s never cancelled a call of its lock: it does so when %s", g.p.name, g.cfg.Cancels))
	}
}

// enter begins a step of a section, once the faults that strike before it have struck and
// the process runs. An acquire gives the section its number. A nil section means the latest
// one. enter returns the section.
func (g *program) enter(in *Section, step trace.Step, ev trace.Event) *Section {
	done := make(chan struct{})
	first := true
	r := &request{process: g.p, class: classStep, abandon: func() { close(done) }}
	r.admit = func() {
		if first {
			first = false
			g.reached[step]++
			g.w.strikeBefore(g.p.name, step, g.reached[step])
			g.w.act()
			if !g.p.canAct() {
				g.p.waiting = append(g.p.waiting, r)
				return
			}
		}
		if in == nil {
			in = g.latest
		}
		if step == trace.Acquire {
			in.number = g.latest.number + 1
			g.latest = in
		}
		g.currentStep, g.currentSection = step, g.latest.number
		if step.AtLock() || step == trace.Mint || g.w.cfg.Lock.Kind.KeepsData {
			g.currentSection = in.number
		}
		if step.AtLock() {
			g.callCount++
			g.currentCall = g.callCount
		}
		ev.Kind, ev.Process, ev.Section, ev.Step = trace.KindBegin, g.p.name, in.number, step
		g.w.emit(ev)
		g.w.afterMoment(func() { close(done) })
	}
	g.w.post(r)
	<-done
	return in
}

// end ends a step. fill completes the event on the loop.
func (g *program) end(in *Section, step trace.Step, err error, fill func(*trace.Event)) {
	g.onLoop(0, func() {
		g.currentStep, g.currentSection, g.currentCall = "", g.latest.number, 0
		ev := trace.Event{Kind: trace.KindEnd, Process: g.p.name, Section: in.number, Step: step, OK: err == nil}
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

// cancel cancels the current call of the lock; see [actor]. A paused client does so when it
// resumes, if the call has not ended by then.
func (g *program) cancel() bool {
	call := g.currentCall
	if call == 0 {
		return false
	}
	r := &request{process: g.p, class: classStep, rank: 3} // after what it had begun to do
	r.admit = func() {
		if g.currentCall != call {
			return
		}
		g.currentCall, g.cancelled = 0, true
		g.w.emit(trace.Event{Kind: trace.KindCancel, Process: g.p.name, Section: g.currentSection, Step: g.currentStep})
		g.w.afterMoment(func() {
			// The call waits for answers too. Which of them have arrived by now must not
			// depend on chance.
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

func (g *program) done(err error) {
	g.onLoop(0, func() {
		if g.ended {
			return
		}
		g.ended = true
		g.w.active--
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

func (g *program) crash() {
	if !g.ended {
		g.ended = true
		g.w.active--
	}
}

// Program is what a user's [Client.Run] gets: the process that it runs in.
type Program struct{ g *program }

// Env returns the environment that a lock gets in this process.
func (p *Program) Env() *locks.Env { return p.g.env }

// Clock returns the process's clocks.
func (p *Program) Clock() fakeclock.Clock { return p.g.env.Clock }

// Lock returns the client's handle on its lock, which was made before the client began; nil
// in a world without locks. [Program.NewLock] makes more handles.
func (p *Program) Lock() locks.Lock { return p.g.lock }

// System returns the kind of server that the client's lock is kept on.
func (p *Program) System() System {
	s, _ := LookupSystem(p.g.w.cfg.Lock.Kind.System) // it exists, because its nodes run
	return s
}

// NewLock makes another handle on the client's lock, as another part of the same process
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

// Sleep sleeps by the process's clock. It returns an error when the run ends.
func (p *Program) Sleep(d time.Duration) error {
	if err := p.Clock().Sleep(p.g.ctx, d); err != nil {
		return errEnded
	}
	return nil
}

// Step does one step of a critical section. Faults can strike at its beginning and at its
// end. It belongs to the section whose acquire was called last.
func (p *Program) Step(step trace.Step, do func() error) error {
	var in *Section
	if step == trace.Acquire {
		in = &Section{g: p.g}
	}
	in = p.g.enter(in, step, trace.Event{})
	err := do()
	p.g.end(in, step, err, nil)
	return err
}

// Storage sends one request to the storage and waits for the answer. It is not a step, and
// belongs to the section whose acquire was called last.
func (p *Program) Storage(ctx context.Context, req storage.Request) (storage.Response, error) {
	if p.g.w.cfg.Storage.InCluster {
		return p.g.askCluster(ctx, req)
	}
	return p.g.call(ctx, nil, req, nil, 0)
}

// errGaveUp is the error of a client that has stopped waiting for the storage.
var errGaveUp = errors.New("no answer")

// call sends a request of a section to the storage, through some services, and waits for
// the answer. It waits at most for patience, if that is not 0. A nil section means the
// latest one.
func (g *program) call(ctx context.Context, in *Section, req storage.Request, via []string, patience time.Duration) (storage.Response, error) {
	type answer struct {
		r   storage.Response
		err error
	}
	answered := make(chan answer, 1)
	k := &call{request: req, done: func(r storage.Response, err error) {
		g.w.afterMoment(func() { answered <- answer{r, err} })
	}}
	peer := trace.StorageName
	if len(via) > 0 {
		peer, k.via = via[0], via[1:]
	}
	var c *caller
	g.onLoop(0, func() {
		c = g.caller(peer)
		k.ctx = g.p.origin(Frame{})
		if in != nil {
			k.ctx.section = in.number
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
	// The answer may have arrived while the client was giving up. In that case it always
	// counts.
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

// takeAnswer returns an answer once the process runs. A process that is not running must
// not continue with it: its next step would not be taken, but its clock would be read.
func (g *program) takeAnswer(r storage.Response, err error) (storage.Response, error) {
	rank := len(g.w.processes) // the rank of no process, because without a storage process nothing has sent the answer
	if s := g.w.byName[trace.StorageName]; s != nil {
		rank = s.index
	}
	g.w.stall(g.p, request{class: classResult, rank: rank})
	return r, err
}
