package sim

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A process is a failure domain: a client, a node that locks are kept on, a service or the
// storage. It has a name, clocks and a state.
type process struct {
	w     *World
	name  string
	role  trace.Role
	index int
	addr  string
	clock *fakeclock.Fake

	actor  actor  // of a client
	server server // of any other process

	// state is written by the loop and guarded by w.io, because the process's goroutines
	// read it when they do I/O.
	state processState
	// pausedBy are the faults that pause the process now, with their modes. crashes counts
	// the crashes that keep it down. drifts are the current drifts of its clocks.
	pausedBy map[*faultState]trace.PauseMode
	crashes  int
	drifts   []activeDrift
	// suspended reports that the machine stands still, or did until the process resumed;
	// suspendedAt is since when. stoodStill is how long it stood still before that in the
	// same pause.
	suspended   bool
	suspendedAt time.Duration
	stoodStill  time.Duration
	// powerless reports that the process is down together with its machine, so nothing
	// answers in its place.
	powerless bool

	ioAfterEnd atomic.Int64
	// wallRead reports that the process's own code has read its wall clock.
	wallRead atomic.Bool

	// waiting are the requests of a paused process. awake are the requests of goroutines
	// that continue in moments of their own. stalled are the requests of its goroutines
	// that wait in the middle of their I/O (guarded by w.io). backlog are the messages that
	// its kernel has received meanwhile.
	waiting []*request
	awake   []*request
	stalled []*request
	backlog []func()

	// ranOn reports that a paused process started I/O; guarded by w.io.
	ranOn bool
}

type processState int

const (
	running processState = iota
	paused
	resuming // it runs again, but its goroutines have not done any I/O yet
	down
)

// An actor is the program of a client, as the world sees it. The loop calls all methods
// except main.
type actor interface {
	// main is the client's goroutine. It starts before the story.
	main()
	// arm makes the actor wait for the points at which the client does something.
	arm()
	// isReady reports whether the client is ready for the story to begin. begin is called
	// when the story has begun.
	isReady() bool
	begin()
	// doing returns the section and the step to which the messages belong that the client
	// sends now.
	doing() (section int, step trace.Step)
	// cancel cancels the context of the client's current call of the lock. It returns false
	// if the client is in no call.
	cancel() bool
	// crash ends the client in the world: its goroutines stay where they are until the end
	// of the run. stop then ends them, and close frees what they have used.
	crash()
	stop()
	close()
	// report records, at the end of the run, what the client has not done.
	report()
}

// server is the program of a process that answers messages.
type server interface {
	// accept is called for each new connection.
	accept(*conn) endpoint
	// crash drops what the process holds in memory; restart starts it again.
	crash(how trace.Crash)
	restart()
	// stop ends the goroutines of the server, at the end of the run.
	stop()
}

// process creates a process.
func (w *World) process(name string, role trace.Role) *process {
	p := &process{w: w, name: name, role: role, index: len(w.processes), pausedBy: map[*faultState]trace.PauseMode{}}
	p.clock = fakeclock.New(timeline{w, p}, time.Now())
	p.clock.OnChange(func(why string) { w.noteClock(p, why) })
	w.charge(bytesOfProcess)
	w.processes = append(w.processes, p)
	w.byName[name] = p
	return p
}

// noteClock records what a process's clocks show after a change.
func (w *World) noteClock(p *process, why string) {
	s := p.clock.State()
	p.recordChange(trace.Event{Kind: trace.KindClock, Clocks: &trace.Clocks{
		Wall: s.Wall, Monotonic: s.Monotonic, RatePPB: s.RatePPB, Halted: s.Halted, Why: trace.ClockChange(why),
	}})
	if h := p.host(); h != nil && why != "" {
		h.server.ClockChanged()
	}
}

// recordChange records that the process or its clocks stop or continue. If the process is a
// node, this may change which nodes can reach each other.
func (p *process) recordChange(ev trace.Event) {
	ev.Process = p.name
	p.w.emit(ev)
	if p.host() != nil {
		p.w.notifyAttentive()
	}
}

// canAct reports whether the process is neither paused nor down.
func (p *process) canAct() bool { return p.state == running || p.state == resuming }

// isHalted reports whether what arrives has to wait until the process runs.
func (p *process) isHalted() bool { return p.state == paused || p.state == resuming }

func (p *process) setState(s processState) {
	p.w.io.Lock()
	p.state = s
	if s == running {
		p.ranOn = false
	}
	p.w.io.Unlock()
}

// pause stops a process, or suspends its machine. Pauses may overlap: the process resumes
// when the last of them ends, and its machine stands still as long as a pause that suspends
// it lasts. It returns false if the process is down.
func (p *process) pause(mode trace.PauseMode, by *faultState) bool {
	if p.state == down {
		return false
	}
	p.pausedBy[by] = mode
	if p.state != paused {
		p.setState(paused)
		p.suspended, p.stoodStill = false, 0
		p.recordChange(trace.Event{Kind: trace.KindPause, Text: string(mode)})
	}
	switch {
	case mode != trace.Suspend:
		p.clock.Stop()
	case !p.suspended:
		p.suspended, p.suspendedAt = true, p.w.now()
		p.clock.Suspend()
	}
	return true
}

// isSuspended reports whether some pause suspends the process's machine now.
func (p *process) isSuspended() bool {
	for _, mode := range p.pausedBy {
		if mode == trace.Suspend {
			return true
		}
	}
	return false
}

// resume makes a paused process continue. First comes the workload's step that had begun,
// then the process's I/O, then its timers. The I/O sees the bytes that arrived meanwhile
// before any deadline.
func (p *process) resume(by *faultState) {
	delete(p.pausedBy, by)
	if p.state != paused {
		return
	}
	w := p.w
	if len(p.pausedBy) > 0 {
		if p.suspended && !p.isSuspended() {
			p.suspended = false
			p.stoodStill += w.now() - p.suspendedAt
			p.clock.Wake()
		}
		return
	}
	p.recordChange(trace.Event{Kind: trace.KindResume})
	p.setState(resuming)
	waiting := p.waiting
	p.waiting = nil
	resumed := w.now()
	w.scheduleDelivery(resumed, func() { p.resumeIO(resumed) })
	w.post(waiting...)
	p.clock.Resume()
}

func (p *process) resumeIO(resumed time.Duration) {
	if p.state != resuming {
		return
	}
	w := p.w
	p.setState(running)
	stood := p.stoodStill
	if p.suspended {
		stood += w.now() - p.suspendedAt
	}
	var sockets []*socket
	for _, s := range w.sockets {
		if s.p == p {
			s.moveDeadline(stood)
			sockets = append(sockets, s)
		}
	}
	// All this comes before anything else that is due by now. What arrived comes before the
	// reactions to it: a client has learned what an answer says before it acts on it.
	backlog := p.backlog
	p.backlog = nil
	for _, arrive := range backlog {
		w.scheduleDelivery(resumed, arrive)
	}
	p.unstall(resumed)
	if len(sockets) > 0 {
		w.scheduleDelivery(resumed, func() {
			for _, s := range sockets {
				s.rearm()
			}
		})
	}
}

// timeline is true time for a process's clock. Any goroutine may ask the clock for a timer;
// such requests are admitted like all others.
type timeline struct {
	w *World
	p *process
}

func (t timeline) Now() time.Duration { return t.w.now() }

func (t timeline) At(at time.Duration, f func()) (cancel func() bool) {
	cancelled := new(atomic.Bool)
	t.w.post(&request{process: t.p, class: classTimer, rank: int(at), admit: func() {
		// Whether the clock has asked for this time more than once depends on which
		// goroutine came first. So the timer's rank among the timers of that time is that
		// of the process, not that of the request.
		t.w.queue.add(at, 1+t.p.index, func() {
			if cancelled.CompareAndSwap(false, true) {
				t.w.afterMoment(f)
			}
		}, cancelled)
	}})
	return func() bool { return cancelled.CompareAndSwap(false, true) }
}

// clientClock is a process's clocks for the process's own code. After the end of the world
// it limits code that sleeps and retries without end, whatever the clock returns.
type clientClock struct {
	*fakeclock.Fake
	p *process
}

func (c clientClock) Now() time.Time {
	c.p.wallRead.Store(true)
	return c.Fake.Now()
}

func (c clientClock) Read(k fakeclock.Kind) fakeclock.Reading {
	if k == fakeclock.Wall {
		c.p.wallRead.Store(true)
	}
	return c.Fake.Read(k)
}

func (c clientClock) Sleep(ctx context.Context, d time.Duration) error {
	err := c.Fake.Sleep(ctx, d)
	if errors.Is(err, fakeclock.ErrClosed) {
		c.p.w.delayAfterEnd(&c.p.ioAfterEnd, 10_000)
	}
	return err
}
