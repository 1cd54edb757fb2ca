package reality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Options say how to play a world.
type Options struct {
	// Program returns the command of a client's program, which speaks the line protocol.
	Program func(client string) *exec.Cmd
	// Guard returns the command of a process that calls [Guard].
	Guard func() *exec.Cmd
	// Storage returns the command of a process that calls [ServeStorage].
	Storage func(folder string, policy storage.Policy) *exec.Cmd
	// Foreign means that the clients run another program than locksim. The key and the
	// quorum of the lock are then those that the program reports.
	Foreign bool
	// Setup bounds how long the servers and the programs may take until they are ready; 0
	// means 30 seconds.
	Setup time.Duration
	// Pace is the factor by which the times of the scenario were shortened: see [Scale]. 0
	// means that they were not.
	Pace float64
	// Real is the command that plays the run again; it is copied to the trace.
	Real string
	// Notes are added to the notes of the trace.
	Notes []string
}

// A run is one world that is being played. One mutex guards the whole run. It is held while
// faults strike and events are recorded.
type run struct {
	cfg     sim.Config
	options Options
	folder  string
	guard   *guard

	mu sync.Mutex
	// changed is broadcast whenever something that a goroutine waits for may have changed.
	changed *sync.Cond
	// began is when the run began; the times of events count from then.
	began   time.Time
	started bool // the clients are ready, and the run has begun
	ended   bool
	failure error // why the run cannot be continued

	trace    *trace.Trace
	names    *sim.Names
	oracle   *history.Oracle // orders the grants and computes their tokens
	watchers []watcher
	due      []func() // functions to call, because points were reached
	faults   []*fault
	clients  []*client
	nodes    []*node
	storage  *storageProcess
	cluster  *cluster // nil if each server keeps keys of its own
	links    map[[2]string]*link
	active   int // clients whose program has not ended
	restarts sync.WaitGroup
}

// A watcher calls do each time that its point is reached.
type watcher struct {
	point *history.Recogniser
	do    func()
}

// Run plays a world. It returns an error if the run itself fails, for example because a server
// cannot be started. If a client's step fails, the trace contains that, and Run returns no
// error.
func Run(ctx context.Context, cfg sim.Config, options Options) (*trace.Trace, error) {
	if unsupported != "" {
		return nil, errors.New("this machine cannot play a scenario: " + unsupported)
	}
	if err := Check(cfg, options.Foreign); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	g, err := startGuard(options.Guard(), folder)
	if err != nil {
		return nil, err
	}
	defer g.close()
	if options.Setup == 0 {
		options.Setup = 30 * time.Second
	}
	r := &run{cfg: cfg, options: options, folder: folder, guard: g, links: map[[2]string]*link{}, names: sim.NewNames(), began: time.Now()}
	r.changed = sync.NewCond(&r.mu)
	defer r.tearDown()
	stop := context.AfterFunc(ctx, func() { r.fail(context.Cause(ctx)) })
	defer stop()
	if err := r.setUp(); err != nil {
		return nil, err
	}
	r.play()
	if r.failure != nil {
		return nil, r.failure
	}
	if err := r.storage.report(); err != nil {
		return nil, err
	}
	if options.Foreign {
		doubtUnseenLocks(r.trace)
	}
	return r.trace, nil
}

// setUp starts the servers and the programs, and waits until they are ready.
func (r *run) setUp() error {
	r.cluster = newCluster(r)
	for i, n := range r.cfg.Nodes {
		node, err := r.newNode(i, n)
		if err != nil {
			return err
		}
		r.nodes = append(r.nodes, node)
	}
	if err := startAll(r.nodes); err != nil {
		return err
	}
	if err := r.cluster.start(); err != nil {
		return err
	}
	var err error
	if r.storage, err = newStorage(r); err != nil {
		return err
	}
	for _, c := range r.cfg.Clients {
		client, err := r.newClient(c)
		if err != nil {
			return err
		}
		r.clients = append(r.clients, client)
	}
	r.trace = r.cfg.NewTrace()
	if r.options.Foreign {
		if err := r.adoptKeys(); err != nil {
			return err
		}
	}
	r.nameKeys()
	r.do(func() { r.cluster.knowLocks(r.trace.Locks) })
	r.trace.Real = r.options.Real
	r.trace.Notes = append(r.trace.Notes, r.options.Notes...)
	for _, n := range r.nodes {
		r.trace.Notes = appendNew(r.trace.Notes, "real servers: "+n.server.version())
	}
	return nil
}

// nameKeys makes the trace show the keys of the locks, and not aliases for them. The new
// names also apply to connections that the programs have made earlier.
func (r *run) nameKeys() {
	var keys []string
	for _, l := range r.trace.Locks {
		for _, s := range l.Slots {
			keys = append(keys, s.Key)
		}
	}
	r.do(func() { *r.names = *sim.NewNames(keys...) })
}

// adoptKeys sets the slots of each lock (its keys on the servers) to the slots that the clients'
// programs have reported. It fails if two clients of a lock report different slots, or if the world
// has fewer servers.
func (r *run) adoptKeys() error {
	for i := range r.trace.Locks {
		l := &r.trace.Locks[i]
		var first *client
		for _, c := range r.clients {
			if c.lockName() != l.Name {
				continue
			}
			if first == nil {
				first = c
				if err := adoptReport(l, c); err != nil {
					return err
				}
				continue
			}
			if a, b := first.ready, c.ready; a.Key != b.Key || a.Servers != b.Servers || a.Quorum != b.Quorum {
				return fmt.Errorf("the programs of %s and %s report different keys, servers or quorums of the lock %s in their \"ready\" messages; they must be equal", first.cfg.Name, c.cfg.Name, l.Name)
			}
		}
	}
	return nil
}

// adoptReport sets the slots of a lock to the slots that a client's program has reported.
func adoptReport(l *trace.LockInfo, c *client) error {
	if n := c.ready.Servers; n > len(l.Slots) {
		return fmt.Errorf("the program of %s says in its \"ready\" message that its lock is on %d servers, but the scenario has %d; set lock.nodes to %d, or report fewer", c.cfg.Name, n, len(l.Slots), n)
	} else if n > 0 && n < len(l.Slots) {
		l.Slots, l.Quorum = l.Slots[:n], n/2+1
	}
	if q := c.ready.Quorum; q > len(l.Slots) {
		return fmt.Errorf("the program of %s reports in its \"ready\" message a quorum of %d, but its lock has %d servers; report at most that many", c.cfg.Name, q, len(l.Slots))
	} else if q > 0 {
		l.Quorum = q
	}
	for j := range l.Slots {
		l.Slots[j].Key = cmp.Or(c.ready.Key, l.Slots[j].Key)
	}
	return nil
}

// doubtUnseenLocks records a doubt about each lock that was granted although, as far as the
// trace shows, no client has set its key.
func doubtUnseenLocks(t *trace.Trace) {
	h := history.New(t)
	for _, l := range t.Locks {
		isOwnKey := func(k *history.Holding) bool {
			return k.By != nil && slices.Contains(l.Slots, trace.SlotInfo{Node: k.Node, Key: k.Key})
		}
		granted := slices.IndexFunc(h.Sections(), func(s *history.Section) bool { return s.Lock == l.Name && s.Granted != nil })
		if granted >= 0 && len(l.Slots) > 0 && !slices.ContainsFunc(h.Holdings(), isOwnKey) {
			t.Doubts = append(t.Doubts, fmt.Sprintf("no client has set the key %q on a server of the lock, although %s says that it has the lock; its program must report the real key in its \"ready\" message",
				l.Slots[0].Key, h.Sections()[granted].Client))
		}
	}
}

// appendNew appends a text unless the list has it already.
func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// play lets the run begin, and returns when it has ended.
func (r *run) play() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.oracle = history.NewOracle(r.trace)
	r.arm()
	earlier := r.beginTime()
	for _, p := range r.trace.Processes {
		if p.Role == trace.RoleCluster {
			continue
		}
		now := r.now()
		r.emit(trace.Event{Kind: trace.KindClock, Process: p.Name, Clocks: &trace.Clocks{Wall: r.began.Add(now).UnixNano(), Monotonic: int64(now)}})
	}
	r.cluster.begin(earlier)
	r.started = true
	r.active = len(r.clients)
	for _, f := range r.faults {
		if s := f.fault.Strikes; s.When.IsZero() && s.Before.IsZero() {
			r.after(s.At, f.trigger)
		}
	}
	r.settle()
	for _, c := range r.clients {
		c.begin()
	}
	isOver := false
	r.after(r.cfg.Horizon, func() {
		if !isOver {
			r.emit(trace.Event{Kind: trace.KindHorizon, Text: "the run was cut off at its horizon"})
			r.ended = true
		}
	})
	var late time.Duration
	r.measureLateness(&late)
	r.await(func() bool { return r.active == 0 && !r.holdsBackRequest() || r.failure != nil })
	if late > 20*time.Millisecond {
		r.trace.Notes = append(r.trace.Notes, fmt.Sprintf("this machine was busy: a timer was %v late, so a timeout of the lock may have fired without a fault", late.Round(time.Millisecond)))
	}
	isOver, r.ended = true, true
	for i, f := range r.faults {
		f.finish()
		r.trace.Faults[i] = f.FaultInfo
	}
	for _, c := range r.clients {
		c.report()
	}
	r.changed.Broadcast()
}

// measureLateness measures how late timers are, until the run ends, and keeps the greatest lateness
// in late. The mutex guards late.
func (r *run) measureLateness(late *time.Duration) {
	const every = 10 * time.Millisecond
	due := r.now() + every
	r.after(every, func() {
		*late = max(*late, r.now()-due)
		r.measureLateness(late)
	})
}

// beginTime lets the time of the run begin. The messages that the programs sent while they made
// their connections are due now. Until now the times of these messages counted from an earlier
// moment. The result is the time from that moment to the beginning of the run.
func (r *run) beginTime() (earlier time.Duration) {
	earlier = r.now()
	r.began = time.Now()
	for _, c := range r.clients {
		c.lastHeard = 0
	}
	for _, n := range r.nodes {
		for _, c := range n.conns {
			for _, m := range slices.Concat(c.requests.queue, c.replies.queue, c.asked) {
				m.due, m.sentAt = 0, m.sentAt-earlier
				for i := range m.learned {
					m.learned[i].Expires = max(m.learned[i].Expires-earlier, 0)
				}
			}
		}
	}
	return earlier
}

// now returns the time since the start of the run.
func (r *run) now() time.Duration { return time.Since(r.began) }

// do locks the mutex, and calls f and then the functions that became due.
func (r *run) do(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	r.settle()
}

// settle calls the functions that are due because points were reached, and wakes all waiting
// goroutines. The mutex must be held.
func (r *run) settle() {
	for len(r.due) > 0 {
		act := r.due[0]
		r.due = r.due[1:]
		if !r.ended {
			act()
		}
	}
	r.changed.Broadcast()
}

// await waits until cond returns true. It returns false if the run ends before that. The caller
// must hold the mutex, which await unlocks while it waits.
func (r *run) await(cond func() bool) bool {
	r.settle()
	for !cond() {
		if r.ended {
			return false
		}
		r.changed.Wait()
	}
	return true
}

// after calls f after a time, while the mutex is held, unless the run ends before that. If the time
// is not positive, f is called by the next settle. The mutex must be held.
func (r *run) after(d time.Duration, f func()) {
	if d <= 0 {
		r.due = append(r.due, f)
		return
	}
	time.AfterFunc(d, func() {
		r.do(func() {
			if !r.ended {
				f()
			}
		})
	})
}

// wakeAfter wakes all waiting goroutines after a time, and returns the time of the run at which
// that is due. It reads the clock before the timer starts. Otherwise the timer could ring a moment
// before due: the goroutines would find that it is too early, and nothing would wake them again.
func (r *run) wakeAfter(d time.Duration) (due time.Duration) {
	due = r.now() + d
	r.after(d, func() {})
	return due
}

// sleep waits for a time, and then until a client runs. It returns false if the run ends or
// the client crashes before that.
func (r *run) sleep(c *client, d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	until := r.wakeAfter(d)
	return r.await(func() bool { return c.isDown || r.now() >= until && c.canAct() }) && !c.isDown
}

// emit records an event. The mutex must be held. Before the run has begun, and after its
// end, nothing is recorded.
func (r *run) emit(ev trace.Event) *trace.Event {
	if r.trace == nil || r.oracle == nil || r.ended {
		return &ev
	}
	ev.Seq = len(r.trace.Events) + 1
	ev.At = r.now()
	if n := len(r.trace.Events); n > 0 {
		ev.At = max(ev.At, r.trace.Events[n-1].At+1)
	}
	ev.Earliest = min(ev.Earliest, ev.At)
	r.trace.Events = append(r.trace.Events, ev)
	stored := &r.trace.Events[len(r.trace.Events)-1]
	r.oracle.See(stored)
	for _, w := range r.watchers {
		if w.point.See(stored) {
			r.due = append(r.due, w.do)
		}
	}
	return stored
}

// onPoint calls do each time that a point is reached. If the point has a delay, onPoint calls do
// after the delay, and each function in planned at the beginning of the delay.
func (r *run) onPoint(p trace.Point, do func(), planned ...func()) {
	for _, c := range p.Alternatives() {
		act := do
		if c.Delay > 0 {
			act = func() {
				for _, plan := range planned {
					plan()
				}
				r.after(c.Delay, do)
			}
		}
		if _, ok := c.Happening.(trace.Start); ok {
			r.due = append(r.due, act)
			continue
		}
		r.watchers = append(r.watchers, watcher{history.Recognise(trace.AnyOf(c), r.trace), act})
	}
}

// arm prepares all faults and clients to wait for their points.
func (r *run) arm() {
	for i, f := range r.cfg.Faults {
		r.faults = append(r.faults, newFault(r, i, f))
	}
	for _, c := range r.clients {
		c.arm()
	}
}

// fail ends the run because it cannot be continued.
func (r *run) fail(err error) {
	r.do(func() {
		if r.failure == nil && !r.ended {
			r.failure = err
		}
	})
}

// doubt records a reason why the run is inconclusive.
func (r *run) doubt(format string, args ...any) {
	if r.trace != nil && !r.ended {
		r.trace.Doubts = appendNew(r.trace.Doubts, fmt.Sprintf(format, args...))
	}
}

// addDeviation records that something in the scenario did not happen. In an unscripted run, whose
// scenario was changed for this run, that is only a deviation. In any other run it is a doubt,
// which makes the run inconclusive.
func (r *run) addDeviation(text string) {
	if r.trace.Unscripted {
		r.trace.Deviations = append(r.trace.Deviations, text)
		return
	}
	r.trace.Doubts = append(r.trace.Doubts, text)
}

// tearDown ends all processes and connections.
func (r *run) tearDown() {
	r.do(func() { r.ended = true })
	defer r.cluster.close()
	for _, c := range r.clients {
		c.child.kill()
	}
	for _, n := range r.nodes {
		n.close()
	}
	r.restarts.Wait() // a server may have been started meanwhile
	r.storage.close()
	for _, n := range r.nodes {
		if p := n.server.process(); p != nil {
			p.kill()
		}
	}
}

// processFolder makes the folder for a process's files, and returns its path.
func (r *run) processFolder(name string) (string, error) {
	dir := filepath.Join(r.folder, strings.ReplaceAll(name, string(filepath.Separator), "_"))
	return dir, os.MkdirAll(dir, 0o700)
}
