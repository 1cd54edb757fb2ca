package sim

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A process is a part of the world that can crash, be paused or be cut off while all other
// parts run on: a client, a node, a service or the storage. It has a name, clocks and a
// state.
type process struct {
	w     *World
	name  string
	role  trace.Role
	index int // its place in the world's processes, by which requests are put in order
	addr  string
	clock *fakeclock.Fake
	alarm alarm // of clock

	actor  actor  // set for a client
	server server // set for any other process

	// state is changed by the loop. It is guarded by w.ioMutex, because the process's
	// goroutines read it when they do I/O.
	state processState
	// pausedBy are the faults that pause the process now, with their modes. crashCount counts the
	// crash faults that keep the process down now. drifts are the current drifts of its clocks.
	pausedBy   map[*faultState]trace.PauseMode
	crashCount int
	drifts     []activeDrift
	// suspended reports that the machine is suspended; it stays true when the process has resumed,
	// because resumeIO reads it. suspendedSince is the true time at which the suspension began.
	// earlierSuspensions is the total length of the suspensions before, in the same pause.
	suspended          bool
	suspendedSince     time.Duration
	earlierSuspensions time.Duration
	// powerless reports that the process is down and its machine has no power, so no kernel
	// answers messages to it.
	powerless bool

	// ioAfterEnd counts the dials, sleeps and calls after the end of the world; see
	// delayAfterEnd.
	ioAfterEnd atomic.Int64
	// wallRead reports that the client's own code has read the process's wall clock.
	wallRead atomic.Bool

	// waiting are the requests that are posted again when the paused process resumes.
	// awaitingMoments are the requests of goroutines that wait for a moment of their own, in which
	// the loop wakes only this goroutine; see awaitTurnAfterTimer. stalled are the requests of
	// goroutines that a pause has stopped in the middle of their I/O; guarded by w.ioMutex. backlog
	// are the deliveries that the process handles when it resumes; a real kernel keeps such
	// messages.
	waiting         []*request
	awaitingMoments []*request
	stalled         []*request
	backlog         []func()

	// ranWhilePaused reports that the process has started I/O during the current pause; guarded
	// by w.ioMutex.
	ranWhilePaused bool
}

// processState is whether a process runs now, and if not, why not.
type processState int

const (
	running processState = iota
	paused
	resuming // the pause has ended, and the goroutines that it stopped in their I/O continue next
	down
)

// An actor is the program of a client. The loop calls all its methods except main.
type actor interface {
	// main runs the client, in a goroutine that starts before the run.
	main()
	// arm registers the functions that are called when the client's points are reached.
	arm()
	// isReady reports whether the client has opened its connections, so that the run can
	// begin. begin is called when the run has begun.
	isReady() bool
	begin()
	// doing returns the critical section and the step of the client now. Messages that it sends
	// belong to them.
	doing() (section int, step trace.Step)
	// cancel cancels the context of the client's current call of the lock. It returns false
	// if the client is not calling the lock.
	cancel() bool
	// crash ends the client. Its goroutines stop where they are, and remain until the end
	// of the run. stop then ends them, and close frees their resources.
	crash()
	stop()
	close()
	// report adds, at the end of the run, a doubt about each thing that the configuration asks
	// of the client and that the client did not do.
	report()
}

// server is the program of a node, a service or the storage, which answer messages.
type server interface {
	// accept is called for each new connection.
	accept(*conn) endpoint
	// crash drops what the process holds in memory; restart starts it again.
	crash(how trace.Crash)
	restart()
	// stop ends the goroutines of the server, at the end of the run.
	stop()
}

// newProcess creates a process and adds it to the world.
func (w *World) newProcess(name string, role trace.Role) *process {
	p := &process{w: w, name: name, role: role, index: len(w.processes), pausedBy: map[*faultState]trace.PauseMode{}}
	p.alarm = alarm{p: p, queuedAt: -1}
	p.alarm.callRing = p.alarm.call
	p.clock = fakeclock.New(&p.alarm, time.Now())
	p.clock.OnChange(func(why string) { w.recordClock(p, why) })
	w.charge(bytesOfProcess)
	w.processes = append(w.processes, p)
	w.byName[name] = p
	return p
}

// recordClock records what a process's clocks show. It is called at the start of the run and
// after each change of the clocks. why is the kind of change; "" at the start.
func (w *World) recordClock(p *process, why string) {
	s := p.clock.State()
	p.recordChange(trace.Event{Kind: trace.KindClock, Clocks: &trace.Clocks{
		Wall: s.Wall, Monotonic: s.Monotonic, RatePPB: s.RatePPB, Halted: s.Halted, Why: trace.ClockChange(why),
	}})
	if h := p.host(); h != nil && why != "" {
		h.server.ClockChanged()
	}
}

// recordChange records an event by which the process or its clocks stopped or continued. If
// the process is a node, it also notifies the [Attentive] servers, because this node may
// have become reachable or unreachable.
func (p *process) recordChange(ev trace.Event) {
	ev.Process = p.name
	p.w.emit(ev)
	if p.host() != nil {
		p.w.notifyAttentive()
	}
}

// canAct reports whether the process is neither paused nor down.
func (p *process) canAct() bool { return p.state == running || p.state == resuming }

// isHalted reports whether messages that arrive have to wait until the process runs.
func (p *process) isHalted() bool { return p.state == paused || p.state == resuming }

// setState changes the state of the process, under ioMutex because goroutines read it.
func (p *process) setState(s processState) {
	p.w.ioMutex.Lock()
	p.state = s
	if s == running {
		p.ranWhilePaused = false
	}
	p.w.ioMutex.Unlock()
}

// pause stops a process, or suspends its machine. by is the fault that pauses it. Pauses may
// overlap: the process resumes when the last of them ends, and its machine stays suspended until
// the last suspension ends. It returns false if the process is down.
func (p *process) pause(mode trace.PauseMode, by *faultState) bool {
	if p.state == down {
		return false
	}
	p.pausedBy[by] = mode
	if p.state != paused {
		p.setState(paused)
		p.suspended, p.earlierSuspensions = false, 0
		p.recordChange(trace.Event{Kind: trace.KindPause, Text: string(mode)})
	}
	switch {
	case mode != trace.Suspend:
		p.clock.Stop()
	case !p.suspended:
		p.suspended, p.suspendedSince = true, p.w.now()
		p.clock.Suspend()
	}
	return true
}

// hasSuspendingPause reports whether any of the current pauses suspends the machine.
func (p *process) hasSuspendingPause() bool {
	for _, mode := range p.pausedBy {
		if mode == trace.Suspend {
			return true
		}
	}
	return false
}

// resume ends one pause. When the last pause has ended, the process continues. First comes
// the step that the client had begun, then the process's I/O, then its timers. Reads return
// bytes that have arrived during the pause, even if their deadline has passed since.
func (p *process) resume(by *faultState) {
	delete(p.pausedBy, by)
	if p.state != paused {
		return
	}
	w := p.w
	if len(p.pausedBy) > 0 {
		if p.suspended && !p.hasSuspendingPause() {
			p.suspended = false
			p.earlierSuspensions += w.now() - p.suspendedSince
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

// resumeIO continues the I/O of a process that has resumed. resumed is the true time at which it
// resumed.
func (p *process) resumeIO(resumed time.Duration) {
	if p.state != resuming {
		return
	}
	w := p.w
	p.setState(running)
	suspendedFor := p.earlierSuspensions
	if p.suspended {
		suspendedFor += w.now() - p.suspendedSince
	}
	var sockets []*socket
	for _, s := range w.sockets {
		if s.p == p {
			s.moveDeadline(suspendedFor)
			sockets = append(sockets, s)
		}
	}
	// All this is scheduled for the time of the resume, so it comes before everything else
	// that is due. Messages that have arrived come first, because a goroutine may react to
	// them.
	backlog := p.backlog
	p.backlog = nil
	for _, arrive := range backlog {
		w.scheduleDelivery(resumed, arrive)
	}
	p.releaseStalled(resumed)
	if len(sockets) > 0 {
		w.scheduleDelivery(resumed, func() {
			for _, s := range sockets {
				s.rescheduleDeadlineCheck()
			}
		})
	}
}

// clientClock is the clock that a client's code gets. It records whether the code reads the
// wall clock. After the end of the world it also stops goroutines that sleep and retry
// without end.
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
