package reality

import (
	"cmp"
	"crypto/rand"
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
	errEnded       = errors.New("the run has ended")
	errRefused     = errors.New("the storage refused it")
	errGaveUp      = errors.New("no answer")
	errReset       = errors.New("read storage: connection reset by peer")
	errRefusedDial = errors.New("dial storage: connection refused")
	errLeaseLost   = errors.New("the lock reported that the lease is lost")
	errLeaseEnded  = errors.New("the lease has expired")
)

// A section is one critical section of a client, from its call of acquire on. The harness
// decides what happens in it, and the client's program must run for each step.
type section struct {
	c      *client
	number int
	token  uint64
	isLost bool
	lasts  bool // the lease lasts as long as a session, and has no end that the client knows
	// until is when the lease ends, in milliseconds since 1970. An extension and a renewal
	// change it. If the program has declared the end, it is a time of the client's clock, and
	// otherwise a time of this machine's clock.
	until         float64
	isEndDeclared bool
	// calledAt is when the program was last asked to call its lock, and grantedAt is when the
	// harness received the answer with the grant.
	calledAt, grantedAt time.Duration
	versions            map[string]int // the version of each object that the client knows
	lastRead            string         // the object that was read last; "" if none was
}

// runSections runs the client's critical sections, one after the other. It returns the
// error of the last section that failed.
func (c *client) runSections() error {
	var lastErr error
	for left := max(c.cfg.Sections, 1); left > 0; {
		s, err := c.acquire()
		if err != nil {
			return err
		}
		err = s.run()
		switch {
		case errors.Is(err, errEnded):
			return err
		case c.cfg.StartsOver && errors.Is(err, errRefused):
			continue
		case err != nil:
			lastErr = err
		}
		left--
	}
	return lastErr
}

// acquire tries to acquire the lock until it succeeds or may not try again.
func (c *client) acquire() (*section, error) {
	for attempt := 1; ; attempt++ {
		s, err := c.attempt()
		if err == nil || errors.Is(err, errEnded) {
			return s, err
		}
		switch {
		case attempt != c.cfg.Attempts:
		case attempt == 1:
			return nil, fmt.Errorf("gave up after the first attempt: %w", err)
		default:
			return nil, fmt.Errorf("gave up after %d attempts: %w", attempt, err)
		}
		pause, err := cmp.Or(c.cfg.Retry, locks.Fixed).Pause(c.cfg.RetryEvery, attempt, rand.Reader)
		if err != nil {
			return nil, err
		}
		if !c.r.sleep(c, pause) {
			return nil, errEnded
		}
	}
}

// attempt tries once to acquire the lock.
func (c *client) attempt() (*section, error) {
	s := &section{c: c, versions: map[string]int{}}
	lock := c.lockName()
	err := s.callLock(trace.Acquire, Acquire, trace.Event{Lock: lock}, func(ev *trace.Event, a Answer) {
		ev.Lock = lock
		if !ev.OK {
			return
		}
		s.grantedAt = c.r.now()
		s.setEnd(s.calledAt, a)
		// The lock cannot have been granted before the last answer reached the program.
		ev.Earliest = max(c.lastHeard, s.calledAt)
		ev.LeaseEnd = leaseEnd(a)
		if a.Session != "" {
			s.lasts, ev.Session = a.Until == 0, nameSession(c.r.names, a.Session)
		}
		// A lock without tokens gets as its token the rank: the place of the grant in the
		// order of all grants.
		ev.Rank, ev.Ungranted = c.r.oracle.Rank(lock, history.Acquisition{Client: c.cfg.Name, Section: s.number})
		ev.Token, ev.Notifies = ev.Rank, a.Notifies
		if a.Token != 0 {
			ev.Token, ev.Minted = a.Token, true
		}
		s.token = ev.Token
	})
	return s, err
}

// leaseEnd returns the end of a lease that a program has declared; nil if it has not.
func leaseEnd(a Answer) *fakeclock.Reading {
	if a.Until == 0 {
		return nil
	}
	return &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: int64(a.Until * 1e6)}
}

// setEnd sets the end of the lease: the end that the program's answer declares, or else one TTL
// after call, the time of the call that the program answers.
func (s *section) setEnd(call time.Duration, a Answer) {
	s.until, s.isEndDeclared = a.Until, a.Until != 0
	if !s.isEndDeclared {
		s.until = float64(s.c.r.began.Add(call+s.c.r.cfg.Lock.TTL).UnixNano()) / 1e6
	}
}

// hasLeaseEnded reports whether the lease has ended.
func (s *section) hasLeaseEnded() bool {
	now := time.Now()
	if s.isEndDeclared {
		now = now.Add(s.c.clockAhead)
	}
	kind := s.c.r.cfg.Lock.Kind
	return !s.lasts && !kind.Endless && !kind.Open && float64(now.UnixNano())/1e6 >= s.until
}

// callLock makes the program call its lock, as one step. When the answer arrives, callLock lets
// fill, if not nil, complete the event of the step's end, and then records this event.
func (s *section) callLock(step trace.Step, command string, begin trace.Event, fill func(*trace.Event, Answer)) error {
	if !s.beginStep(step, begin) {
		return errEnded
	}
	s.calledAt = s.c.r.now()
	a, ok := s.c.ask(Command{Type: command, Section: s.number}, func(a Answer) {
		ev := trace.Event{OK: a.Type != Failed, Text: a.Error}
		if !ev.OK && ev.Text == "" {
			ev.Text = "the program gave no reason"
		}
		if fill != nil {
			fill(&ev, a)
		}
		s.endStep(step, ev)
	})
	switch {
	case !ok:
		return errEnded
	case a.Type == Failed:
		return errors.New(cmp.Or(a.Error, "the program gave no reason"))
	}
	return nil
}

// beginStep records the beginning of a step. First it triggers the faults that strike
// before the step, and waits until the client runs. It returns false if the run ends or the
// client crashes before that.
func (s *section) beginStep(step trace.Step, ev trace.Event) bool {
	c := s.c
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.isDown {
		return false
	}
	c.stepCounts[step]++
	c.r.strikeBefore(c.cfg.Name, step, c.stepCounts[step])
	if !c.r.await(func() bool { return c.isDown || c.canAct() }) || c.isDown {
		return false
	}
	if step == trace.Acquire {
		s.number = c.latest.number + 1
		c.latest, c.sections[s.number] = s, s
	}
	c.currentStep, c.currentSection = step, s.number
	ev.Kind, ev.Process, ev.Section, ev.Step = trace.KindBegin, c.cfg.Name, s.number, step
	c.r.emit(ev)
	// A fault that strikes now may stop the client before it has done anything.
	return c.r.await(func() bool { return c.isDown || c.canAct() }) && !c.isDown
}

// endStep records the end of a step. The mutex must be held.
func (s *section) endStep(step trace.Step, ev trace.Event) {
	c := s.c
	c.currentStep, c.currentSection = "", c.latest.number
	ev.Kind, ev.Process, ev.Section, ev.Step = trace.KindEnd, c.cfg.Name, s.number, step
	c.r.emit(ev)
}

// run does the client's tasks after a grant, and then releases the lock.
func (s *section) run() error {
	err := s.doTasks()
	if errors.Is(err, errEnded) {
		return err
	}
	if keeps := s.c.cfg.KeepsFor; err == nil && keeps > 0 {
		if !s.c.r.sleep(s.c, s.grantedAt+keeps-s.c.r.now()) {
			return errEnded
		}
	}
	if released := s.callLock(trace.Release, Release, trace.Event{}, nil); errors.Is(released, errEnded) {
		return released
	}
	return err
}

// doTasks does the client's tasks in a section, until one fails.
func (s *section) doTasks() error {
	for _, t := range s.tasks() {
		var err error
		switch t.Step {
		case trace.Work:
			err = s.work()
		case trace.Check:
			err = s.check()
		case trace.Mark:
			_, err = s.access(t, storage.Request{Op: storage.Mark, Object: t.Object, Token: s.token})
		case trace.Read:
			var resp storage.Response
			if resp, err = s.access(t, storage.Request{Op: storage.Read, Object: t.Object, Token: s.token}); err == nil {
				s.versions[t.Object], s.lastRead = resp.Version, t.Object
			}
		case trace.Write:
			err = s.write(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tasks returns what the client does in its sections.
func (s *section) tasks() []trace.Task {
	if s.c.cfg.Does == nil {
		return trace.DefaultTasks()
	}
	return s.c.cfg.Does
}

// check is the step check: it returns an error if the lease has ended.
func (s *section) check() error {
	if !s.beginStep(trace.Check, trace.Event{}) {
		return errEnded
	}
	hasEnded := false
	_, ok := s.c.ask(Command{Type: Step, Section: s.number, Step: string(trace.Check)}, func(Answer) {
		hasEnded = s.hasLeaseEnded()
		ev := trace.Event{OK: !hasEnded}
		if hasEnded {
			ev.Text = errLeaseEnded.Error()
		}
		s.endStep(trace.Check, ev)
	})
	switch {
	case !ok:
		return errEnded
	case hasEnded:
		return errLeaseEnded
	}
	return nil
}

// work is the step work: the client waits, and extends its lease while it waits.
func (s *section) work() error {
	c := s.c
	if c.cfg.Works == 0 && c.cfg.WorksUntil.IsZero() {
		return nil
	}
	if !s.beginStep(trace.Work, trace.Event{}) {
		return errEnded
	}
	err := s.sleepAndExtend()
	if errors.Is(err, errEnded) {
		return err
	}
	c.r.do(func() {
		ev := trace.Event{OK: err == nil}
		if err != nil {
			ev.Text = err.Error()
		}
		s.endStep(trace.Work, ev)
	})
	return err
}

// sleepAndExtend waits for the time of the work and then for the point at which it may end.
func (s *section) sleepAndExtend() error {
	c := s.c
	for left := c.cfg.Works; left > 0; {
		nap := left
		if c.cfg.ExtendsEvery > 0 {
			nap = min(nap, c.cfg.ExtendsEvery)
		}
		if !c.r.sleep(c, nap) {
			return errEnded
		}
		// A lease that lasts as long as a session need not be extended.
		if left -= nap; left > 0 && c.cfg.ExtendsEvery > 0 && !s.lasts {
			err := s.callLock(trace.Extend, Extend, trace.Event{}, func(ev *trace.Event, a Answer) {
				if ev.OK {
					ev.LeaseEnd = leaseEnd(a)
					s.setEnd(s.calledAt, a)
				}
			})
			if err != nil {
				return err
			}
		}
	}
	if c.cfg.WorksUntil.IsZero() {
		return nil
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if !c.r.await(func() bool { return c.isDown || c.workMayEnd && c.canAct() }) || c.isDown {
		return errEnded
	}
	return nil
}

// write does a write task. The value names the version that the section has read. If the
// lock has reported the loss of the lease, nothing is written.
func (s *section) write(t trace.Task) error {
	isLost := false
	s.c.r.do(func() { isLost = s.isLost })
	if isLost {
		return errLeaseLost
	}
	value := s.c.cfg.Name
	if version, knows := s.versions[t.Object]; knows {
		value = fmt.Sprintf("%s after version %d", value, version)
	} else if s.lastRead != "" {
		value = fmt.Sprintf("%s after version %d of %s", value, s.versions[s.lastRead], s.lastRead)
	}
	resp, err := s.access(t, storage.Request{Op: storage.Write, Object: t.Object, Token: s.token, Value: value, KnownVersion: s.versions[t.Object]})
	if err == nil {
		s.versions[t.Object] = resp.Version
	}
	return err
}

// access sends a request to the storage, as one step. A client that resends sends the request again
// each time that it gets no answer.
func (s *section) access(t trace.Task, req storage.Request) (storage.Response, error) {
	c := s.c
	step := trace.Step(req.Op)
	if !s.beginStep(step, trace.Event{Object: req.Object, Token: req.Token, Value: req.Value}) {
		return storage.Response{}, errEnded
	}
	// The answer shows that the program runs: a process that is stopped sends no request.
	if _, ok := c.ask(Command{Type: Step, Section: s.number, Step: string(step), Object: req.Object}, nil); !ok {
		return storage.Response{}, errEnded
	}
	resp, err := s.callStorage(req)
	for c.cfg.Resends && (errors.Is(err, errGaveUp) || errors.Is(err, errReset) || errors.Is(err, errRefusedDial)) {
		if errors.Is(err, errRefusedDial) && !c.r.sleep(c, c.cfg.RetryEvery) {
			return storage.Response{}, errEnded
		}
		c.r.do(func() {
			c.r.emit(trace.Event{Kind: trace.KindAgain, Process: c.cfg.Name, Section: s.number, Step: t.Step, Object: req.Object, Token: req.Token, Text: err.Error()})
		})
		resp, err = s.callStorage(req)
	}
	if errors.Is(err, errEnded) {
		return resp, err
	}
	if err == nil && resp.Refused != "" {
		err = fmt.Errorf("%w: %s", errRefused, resp.Refused)
	}
	c.r.do(func() {
		ev := trace.Event{OK: err == nil, Object: req.Object, Token: req.Token, Refused: resp.Refused != ""}
		if err != nil {
			ev.Text = err.Error()
		} else {
			ev.Version, ev.Replaced = resp.Version, resp.Replaced
		}
		s.endStep(step, ev)
	})
	return resp, err
}

// knownSteps are the steps that the harness can do.
var knownSteps = []trace.Step{trace.Work, trace.Check, trace.Mark, trace.Read, trace.Write}

func isKnownStep(s trace.Step) bool { return slices.Contains(knownSteps, s) }
