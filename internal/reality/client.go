package reality

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"

	"github.com/locksim/locksim/sim"
)

// A client is one client of the lock: the process of its program, and what the harness knows of
// this process.
type client struct {
	r     *run
	cfg   sim.Client
	child *child
	stdin io.Writer
	ready Answer // the first answer of the program, which can name the key of its lock

	// pausedBy are the faults that have stopped the process and not yet resumed it.
	pausedBy []*fault
	isDown   bool
	// arrived are the events of messages that have reached the machine while the process is
	// stopped. The process reads these messages when it resumes.
	arrived []trace.Event

	stepCounts     map[trace.Step]int // how many times the client has reached each step
	latest         *section           // the section whose acquire was called last
	sections       map[int]*section
	currentSection int
	currentStep    trace.Step
	// lastHeard is when a message from a server has last reached the client.
	lastHeard time.Duration

	// clock is the file that sets the wall clock of the program; "" if no fault sets that
	// clock. clockAhead is how much that clock is ahead of the clock of this machine.
	clock      clockFile
	clockAhead time.Duration

	// pending is the question that the program has to answer; nil if there is none.
	pending              *question
	canStart, started    bool
	workMayEnd, hasEnded bool // hasEnded: the client is done, or has crashed
	storage              *storageConn
	storageConns         int // how many connections to the storage the client has made
}

// A question is a command that the program has not answered yet.
type question struct {
	command  Command
	answer   Answer
	answered bool
	// onAnswer is called when the answer arrives.
	onAnswer func(Answer)
}

// newClient starts the program of a client and waits until it is ready.
func (r *run) newClient(cfg sim.Client) (*client, error) {
	c := &client{r: r, cfg: cfg, stepCounts: map[trace.Step]int{}, sections: map[int]*section{}, canStart: cfg.Starts.IsZero()}
	c.latest = &section{c: c}
	command := r.options.Program(cfg.Name)
	var addresses []string
	for _, n := range r.nodes {
		address, err := n.listenFor(c)
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, address)
	}
	var stdout *io.PipeReader
	var err error
	if err := c.makeClock(command); err != nil {
		return nil, err
	}
	if c.child, c.stdin, stdout, err = r.guard.startProgram(command); err != nil {
		return nil, err
	}
	go c.listen(stdout)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.after(r.options.Setup, func() {
		if !r.started && c.ready.Type == "" {
			c.fault("did not become ready within %v", r.options.Setup)
		}
	})
	q := c.send(Command{
		Type: Init, Client: cfg.Name, Key: c.lockName(), System: r.cfg.Lock.Kind.System, Servers: addresses,
		TTL: float64(r.cfg.Lock.TTL) / float64(time.Millisecond),
	}, nil)
	r.await(func() bool { return q.answered || r.failure != nil })
	if q.answer.Type == Failed { // the program may have ended after its answer
		c.child.kill()
		return nil, fmt.Errorf("the program of %s cannot make its lock: %s", cfg.Name, cmp.Or(q.answer.Error, "it gave no reason"))
	}
	if r.failure != nil {
		c.child.kill()
		return nil, r.failure
	}
	c.ready = q.answer
	if err := c.checkClock(); err != nil {
		c.child.kill()
		return nil, err
	}
	return c, nil
}

// lockName returns the name of the client's lock.
func (c *client) lockName() string { return cmp.Or(c.cfg.Key, c.r.cfg.Lock.Key) }

// listen reads the messages of the program.
func (c *client) listen(out *io.PipeReader) {
	defer out.Close()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 2*maxLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		a, err := ParseAnswer(lines.Bytes())
		c.r.do(func() {
			if err != nil {
				c.fault("%v", err)
				return
			}
			c.hear(a)
		})
	}
	c.r.do(func() {
		switch {
		case c.isDown || c.r.ended:
		case lines.Err() != nil:
			c.fault("its standard output cannot be read: %v; it must write each message as one line", lines.Err())
		default:
			c.fault("it ended before the run did; it must answer commands until its standard input ends%s", c.child.lastWords())
		}
	})
}

// fault ends the run because the program does not keep to the protocol.
func (c *client) fault(format string, args ...any) {
	if c.r.failure == nil && !c.r.ended {
		c.r.failure = fmt.Errorf("the program of %s: %s", c.cfg.Name, fmt.Sprintf(format, args...))
	}
}

// hear processes one message of the program. The mutex is held.
func (c *client) hear(a Answer) {
	if c.isDown || c.r.ended {
		return
	}
	switch a.Type {
	case Lost, Renewed:
		s := c.latest
		if a.Section > 0 {
			s = c.sections[a.Section]
		}
		if s == nil || s.number == 0 {
			c.fault("says %s about section %d, which does not exist", a.Type, a.Section)
			return
		}
		if a.Type == Lost {
			s.isLost = true
			c.r.emit(trace.Event{Kind: trace.KindLost, Process: c.cfg.Name, Section: s.number})
			return
		}
		s.setEnd(c.r.now(), a)
		c.r.emit(trace.Event{Kind: trace.KindEnd, Process: c.cfg.Name, Section: s.number, Step: trace.Extend, OK: true, LeaseEnd: leaseEnd(a)})
		return
	}
	q := c.pending
	if q == nil {
		c.fault("says %s, but was asked nothing", a.Type)
		return
	}
	if want := answersTo[q.command.Type]; !slices.Contains(want, a.Type) {
		c.fault("answers %s with %s; it must be one of %v", q.command.Type, a.Type, want)
		return
	}
	c.pending, q.answer, q.answered = nil, a, true
	if q.onAnswer != nil {
		q.onAnswer(a)
	}
}

// answersTo lists the types of the answers to each type of command.
var answersTo = map[string][]string{
	Init:    {Ready, Failed},
	Acquire: {Acquired, Failed},
	Extend:  {Extended, Failed},
	Release: {Released, Failed},
	Step:    {OK},
}

// send sends a command to the program. onAnswer, if not nil, is called when the answer
// arrives. The mutex must be held.
func (c *client) send(command Command, onAnswer func(Answer)) *question {
	q := &question{command: command, onAnswer: onAnswer}
	c.pending = q
	line, err := json.Marshal(command)
	if err == nil {
		_, err = c.stdin.Write(append(line, '\n'))
	}
	if err != nil && !c.isDown {
		c.fault("cannot be written to: %v%s", err, c.child.lastWords())
	}
	return q
}

// ask sends a command and waits for the answer. ok is false if the run ends, or the client
// crashes, before the answer arrives. The mutex must not be held.
func (c *client) ask(command Command, onAnswer func(Answer)) (a Answer, ok bool) {
	r := c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.isDown || r.ended {
		return a, false
	}
	q := c.send(command, onAnswer)
	ok = r.await(func() bool { return q.answered || c.isDown || r.failure != nil })
	return q.answer, ok && q.answered
}

// canAct reports whether the process runs.
func (c *client) canAct() bool { return len(c.pausedBy) == 0 && !c.isDown }

// pause implements [process]: it stops all processes of the client's program.
func (c *client) pause(f *fault) bool {
	if c.isDown {
		return false
	}
	c.pausedBy = append(c.pausedBy, f)
	if len(c.pausedBy) == 1 {
		stopGroup(c.child.cmd.Process.Pid)
		c.r.emit(trace.Event{Kind: trace.KindPause, Process: c.cfg.Name, Text: string(trace.Stop)})
	}
	return true
}

// resume implements [process].
func (c *client) resume(f *fault) {
	c.pausedBy = slices.DeleteFunc(c.pausedBy, func(o *fault) bool { return o == f })
	if len(c.pausedBy) > 0 || c.isDown {
		return
	}
	c.r.emit(trace.Event{Kind: trace.KindResume, Process: c.cfg.Name})
	for _, ev := range c.arrived {
		c.r.emit(ev)
	}
	c.arrived, c.lastHeard = nil, c.r.now()
	continueGroup(c.child.cmd.Process.Pid)
}

// crash implements [process]: it kills all processes of the client's program.
func (c *client) crash(how trace.Crash) {
	if c.isDown {
		return
	}
	c.isDown = true
	c.r.emit(trace.Event{Kind: trace.KindCrash, Process: c.cfg.Name, Text: string(how)})
	killGroup(c.child.cmd.Process.Pid)
	c.pausedBy, c.arrived = nil, nil
	if !c.hasEnded {
		c.hasEnded = true
		c.r.active--
	}
}

// restart implements [process]: a client that has crashed stays down.
func (c *client) restart() {}

// take records that a message from a server has reached the client's machine.
func (c *client) take(m *message) {
	events := []trace.Event{arrival(m)}
	for _, ev := range m.learned {
		ev.Process = c.cfg.Name
		events = append(events, ev)
	}
	if !c.canAct() {
		if !c.isDown {
			c.arrived = append(c.arrived, events...)
		}
		return
	}
	c.lastHeard = c.r.now()
	for _, ev := range events {
		c.r.emit(ev)
	}
}

// doing returns the critical section and the step to which a message belongs if the client sends it
// now.
func (c *client) doing() (section int, step trace.Step) { return c.currentSection, c.currentStep }

// arm registers the points at which the client starts and its work may end.
func (c *client) arm() {
	c.r.onPoint(c.cfg.Starts, func() {
		c.canStart = true
		c.begin()
	})
	c.r.onPoint(c.cfg.WorksUntil, func() { c.workMayEnd = true })
}

// begin starts the client if its starting point has been reached and the run has begun.
func (c *client) begin() {
	if c.canStart && c.r.started && !c.started && !c.isDown {
		c.started = true
		go c.main()
	}
}

// main runs the client's sections.
func (c *client) main() {
	err := c.runSections()
	c.r.do(func() {
		if c.hasEnded || c.r.ended || errors.Is(err, errEnded) {
			return
		}
		c.hasEnded = true
		c.r.active--
		ev := trace.Event{Kind: trace.KindDone, Process: c.cfg.Name, OK: err == nil}
		if err != nil {
			ev.Text = err.Error()
		}
		c.r.emit(ev)
	})
}

// report records, at the end of the run, if the client has never started. A client that has crashed
// before its start is left out.
func (c *client) report() {
	if c.started || c.isDown {
		return
	}
	why := ""
	if !c.cfg.Starts.IsZero() {
		why = fmt.Sprintf(": it starts when %s", c.cfg.Starts)
	}
	c.r.addDeviation(c.cfg.Name + " never began" + why)
	for i, p := range c.r.trace.Processes {
		if p.Name == c.cfg.Name {
			c.r.trace.Processes[i].Awaits = c.cfg.Starts
		}
	}
}
