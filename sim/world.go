// Package sim is the simulator. It runs a world in virtual time: clients that compete for a
// lock, the servers that keep the lock, and the storage that the lock protects. Faults
// strike at the points that a scenario names.
//
// A [Config] describes a world, and [Run] runs it. Run returns a [trace.Trace] with
// everything that happened.
//
// A world consists of one loop and the goroutines of the clients' code. The loop does one
// thing at a time: it delivers a message, fires a timer or lets a client take its next
// step. Then it waits until every goroutine waits again. Meanwhile the goroutines have
// posted requests, such as to send bytes. The loop carries them out in a fixed order, which
// does not depend on which goroutine ran first. That is why equal worlds give equal traces.
package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// DefaultPatience is how much real time [Run] gives a world before Run cuts the world off. Most
// worlds take milliseconds.
const DefaultPatience = time.Minute

// errEnded is the error of every call of a client after the end of the run.
var errEnded = errors.New("the simulated world has ended")

// A World is the state of one run of a world. It is exported because the methods of an [Action]
// get it. Only the loop may use its fields, except where a comment says otherwise.
type World struct {
	cfg    Config
	bounds bounds
	trace  *trace.Trace
	events eventLog // the trace gets them when the run has ended
	// oracle orders the grants of the run as a perfect lock service would have made them.
	oracle *history.Oracle

	// charged is how much memory the world keeps until its end, in bytes. reserved is the length,
	// in bytes, of the texts that it keeps for a while. reserveFailed reports that a reservation
	// found no room. Any goroutine may use these three fields. stopError is the error of a world
	// that has exceeded its bounds.
	charged, reserved atomic.Int64
	reserveFailed     atomic.Bool
	stopError         error

	// runStart is the virtual time at which the run starts; the times of events count from
	// then.
	runStart time.Time
	queue    queue
	// changedAlarms are the alarms that the queue must learn of; guarded by ioMutex.
	changedAlarms []*alarm
	lastMoment    time.Duration // true time of the timer that was carried out last
	watchdog      *watchdog

	processes []*process
	byName    map[string]*process
	byAddr    map[string]*process // guarded by ioMutex
	// links are the links between processes; each is made when it is first needed.
	links      map[linkKey]*link
	connCounts map[linkKey]int // connections made so far, by client and server
	conns      []*conn
	sockets    []*socket
	names      *Names // names for random words in the trace

	faults        []*faultState
	watchers      []*watcher
	inFlight      int // deliveries that are scheduled; the run does not end before them
	activeClients int // clients whose program has not ended

	// programs counts the goroutines of clients' programs. ctx ends when the world ends.
	programs sync.WaitGroup
	ctx      context.Context
	cancel   context.CancelFunc
	// firstError is the error of the run, or nil. ioMutex guards what the clients'
	// goroutines share with the loop.
	firstError error // guarded by ioMutex
	ioMutex    sync.Mutex
	requests   []*request // those that were posted in this round; guarded by ioMutex
	// admissible are the requests of earlier rounds that are not admitted yet, in their order.
	// Only the loop uses them.
	admissible []*request
	round      int // number of the loop's current round, see [World.loop]; guarded by ioMutex
	// awaken has a value if the loop must not sleep: a request was posted, an alarm was changed, or
	// a goroutine has stopped because of a pause.
	awaken         chan struct{}
	ended          bool     // guarded by ioMutex
	uncheckedReuse []string // systems with a node whose connection a client has used, without a check, after it had ended; guarded by ioMutex
	started        bool     // the run has begun
	dueActions     []func() // functions to call because their points were reached
	wakeUps        []func() // functions to call at the end of the moment; most of them wake goroutines
	// spareRequests and spareWakeUps are empty slices, which requests and wakeUps use next,
	// to save memory.
	spareRequests []*request
	spareWakeUps  []func()
	sleepTimer    *time.Timer
}

// Run runs a world to its end. Errors that the clients saw are in the trace. The error that
// Run returns is about the world itself: either the configuration is invalid, or the error
// wraps [ErrStuck], [ErrMutex], [ErrLeak], [ErrPanic], [ErrTooMuch], [ErrTooLarge],
// [ErrLate] or [ErrHeavy].
//
// The trace is nil if the configuration is invalid, and with ErrStuck and ErrMutex. With ErrLate
// and ErrHeavy, the trace is nil if the world did not end within a second or two after it was cut
// off. With any other error the trace contains all events up to the end of the run.
func Run(cfg Config) (*trace.Trace, error) { return RunPatiently(cfg, DefaultPatience) }

// RunPatiently is [Run] with a limit of patience on the real time that the world may take.
// If the world makes no progress for half of that time, or for a second if that is longer,
// it is stuck.
func RunPatiently(cfg Config, patience time.Duration) (*trace.Trace, error) {
	b := usualBounds(patience)
	if cfg.MaxEvents > 0 {
		b.events = min(b.events, cfg.MaxEvents)
	}
	return runWithBounds(cfg, b)
}

// runWithBounds is [Run] with other bounds.
func runWithBounds(cfg Config, b bounds) (*trace.Trace, error) {
	if err := checkConfig(&cfg); err != nil {
		return nil, err
	}
	if err := checkLeftBehind(); err != nil {
		return nil, err
	}
	w := &World{
		cfg:        cfg,
		bounds:     b,
		watchdog:   new(watchdog),
		byName:     map[string]*process{},
		byAddr:     map[string]*process{},
		links:      map[linkKey]*link{},
		connCounts: map[linkKey]int{},
		round:      1,
	}
	w.startTrace()
	w.prepareSystems()
	defer seedLibraries(cfg.Seed)()
	if err := inBubble(b.patience, w.watchdog, w.run); err != nil {
		if errors.Is(err, ErrStuck) || errors.Is(err, ErrMutex) || errors.Is(err, errStillLate) || errors.Is(err, errStillHeavy) {
			return nil, err // the loop may still be writing the trace
		}
		// A world that was cut off may also leave goroutines behind. The reason why it was
		// cut off is then the error to report.
		if cut := w.failure(); errors.Is(cut, ErrTooMuch) || errors.Is(cut, ErrTooLarge) || errors.Is(cut, ErrLate) {
			err = cut
		}
		w.trace.Events, w.trace.Ending = w.events.all(), Ending(err)
		return w.trace, err
	}
	w.trace.Events, w.trace.Ending = w.events.all(), Ending(w.firstError)
	w.addNotes()
	return w.trace, w.firstError
}

// prepareSystems calls [System.Prepare] of each system that has nodes in this world, before
// the run.
func (w *World) prepareSystems() {
	nodes := map[string]int{}
	for _, n := range w.cfg.Nodes {
		system, _ := w.cfg.system(n)
		nodes[system.Name]++
	}
	for name, count := range nodes {
		if system, _ := LookupSystem(name); system.Prepare != nil {
			system.Prepare(count)
		}
	}
}

// addNotes adds a note to the trace if a client has used a connection that had ended, and
// the clients of this build do not check for that. See [System.IdleCheckGap].
func (w *World) addNotes() {
	for _, name := range slices.Sorted(slices.Values(w.uncheckedReuse)) {
		system, _ := LookupSystem(name)
		if system.IdleCheckGap == nil {
			continue
		}
		if why := system.IdleCheckGap(); why != "" {
			w.trace.Notes = append(w.trace.Notes, "a client used a connection again after it had ended: "+why)
		}
	}
}

// startTrace creates the trace, with everything that is known before the run.
func (w *World) startTrace() {
	w.trace = w.cfg.NewTrace()
	w.events = newEventLog(w.cfg.expectedEvents())
	w.names = NewNames()
	for _, l := range w.trace.Locks {
		for _, s := range l.Slots {
			w.names.lockKeys[s.Key] = true
		}
	}
}

// NewTrace returns a trace without events, with everything that is known before the run.
func (cfg *Config) NewTrace() *trace.Trace {
	t := &trace.Trace{
		Name: cfg.Name, Variant: cfg.Variant, Seed: cfg.Seed,
		Fencing:        string(cfg.Storage.Fencing),
		Locks:          cfg.describeLocks(),
		Processes:      cfg.processes(),
		ProgressWithin: cfg.ProgressWithin,
		Overrides:      slices.Clone(cfg.Overrides),
		Unscripted:     cfg.Unscripted,
		Doubts:         slices.Clone(cfg.Doubts),
		Schedule:       cfg.schedule(),
	}
	topology := cfg.Topology()
	for _, f := range cfg.Faults {
		info := f.Info()
		info.Assumption = f.brokenAssumption(topology)
		t.Faults = append(t.Faults, info)
	}
	return t
}

// processes describes the processes of the world for the trace: clients, nodes, clusters,
// services and the storage.
func (cfg *Config) processes() []trace.ProcessInfo {
	var all []trace.ProcessInfo
	for _, c := range cfg.Clients {
		all = append(all, trace.ProcessInfo{Name: c.Name, Role: trace.RoleClient, ReadOnly: c.readOnly(), Writes: c.writes()})
	}
	add := func(name string, role trace.Role) { all = append(all, trace.ProcessInfo{Name: name, Role: role}) }
	for _, n := range cfg.Nodes {
		add(n.Name, trace.RoleNode)
	}
	for _, s := range cfg.clusters() {
		add(s.Name, trace.RoleCluster)
	}
	for _, s := range cfg.Services {
		add(s.Name, trace.RoleService)
	}
	if !cfg.Storage.InCluster {
		add(trace.StorageName, trace.RoleStorage)
	}
	return all
}

// describeLocks describes the locks of the world, as its trace contains them. It returns nil
// if the world has no lock.
func (cfg *Config) describeLocks() (all []trace.LockInfo) {
	if cfg.Lock.Kind.Name == "" {
		return nil
	}
	for _, key := range cfg.lockNames() {
		all = append(all, cfg.describeLock(key))
	}
	return all
}

// describeLock returns what the trace says about the lock with the given key.
func (cfg *Config) describeLock(key string) trace.LockInfo {
	l := cfg.Lock
	info := trace.LockInfo{
		Name: key, Kind: l.Kind.Name, TTL: l.TTL, TrueTime: !l.Kind.OwnClock && !l.Kind.ReadsClock, GrantsEveryone: l.Kind.Open,
		Unordered: cfg.Tokens.Source.Unordered, Holders: l.Options.Holders, Claims: l.Kind.Claims,
	}
	info.Claims.Tokens = info.Claims.Tokens && cfg.Tokens.Source.Name == ""
	if l.Kind.Endless || l.Kind.Open {
		info.TTL = 0
	}
	masters := cfg.masters()
	slots, quorum := l.Kind.Slots(key, len(masters))
	for _, s := range slots {
		slot := trace.SlotInfo{Node: l.Kind.System, Key: s.Key}
		if s.Node != locks.Cluster {
			slot.Node = masters[s.Node].Name
		} else if info.Members == nil {
			for _, n := range masters {
				info.Members = append(info.Members, n.Name)
			}
		}
		info.Slots = append(info.Slots, slot)
	}
	info.Quorum = quorum
	return info
}

// lockNames returns the names of the locks of a world: first the clients' own locks, in the
// order of the clients, then the locks that they acquire while they hold their own.
func (cfg *Config) lockNames() []string {
	var keys []string
	add := func(key string) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, c := range cfg.Clients {
		add(c.lockName(cfg))
	}
	for _, c := range cfg.Clients {
		for _, t := range c.Does {
			if t.Step == trace.Acquire {
				add(t.Lock)
			}
		}
	}
	return keys
}

// lockName returns the name of the client's own lock.
func (c Client) lockName(cfg *Config) string { return cmp.Or(c.Key, cfg.Lock.Key) }

// keepsLocks reports whether the node keeps locks as a master: it is no replica, and does
// more than count tokens.
func (n Node) keepsLocks() bool { return n.ReplicaOf == "" && !n.CountersOnly }

// masters returns the nodes for which keepsLocks is true.
func (cfg *Config) masters() []Node {
	return slices.DeleteFunc(slices.Clone(cfg.Nodes), func(n Node) bool { return !n.keepsLocks() })
}

// run runs the world in a synctest bubble, from start to end; see [inBubble].
func (w *World) run() {
	w.runStart = time.Now()
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.awaken = make(chan struct{}, 1) // made in the bubble: synctest does not regard a goroutine as waiting if its channel was made outside
	w.sleepTimer = time.NewTimer(0)
	w.lastMoment = w.now() - 1
	w.oracle = history.NewOracle(w.trace)
	w.createProcesses()
	w.arm()
	w.schedule(0, w.begin)
	for _, p := range w.processes {
		if p.actor != nil {
			w.activeClients++
			w.programs.Add(1)
			go p.actor.main()
		}
	}
	w.loop()
	w.tearDown()
}

// createProcesses creates all processes, and makes the replicas follow their masters.
func (w *World) createProcesses() {
	for _, c := range w.cfg.Clients {
		p := w.newProcess(c.Name, trace.RoleClient)
		p.actor = newProgram(w, p, c)
	}
	for i, n := range w.cfg.Nodes {
		p := w.newProcess(n.Name, trace.RoleNode)
		p.addr = w.cfg.nodeAddr(i)
		w.byAddr[p.addr] = p
		p.server = newHost(w, p, n)
	}
	for _, s := range w.cfg.Services {
		p := w.newProcess(s.Name, trace.RoleService)
		p.server = &service{w, p, s}
	}
	if !w.cfg.Storage.InCluster {
		p := w.newProcess(trace.StorageName, trace.RoleStorage)
		p.server = newStorageNode(w, p, w.cfg.Storage)
	}
	for _, p := range w.processes {
		if h := p.host(); h != nil && h.cfg.ReplicaOf != "" {
			h.server.(Replica).Follow(h.cfg.ReplicaOf)
		}
	}
	for _, p := range w.processes {
		w.recordClock(p, "")
	}
}

// begin starts the run when all clients are ready. A client is ready when it has made its lock and
// opened its connections, like a process that has been running for a while. Until the run starts,
// messages take no time. A client may need several moments to get ready. The run starts after 10 µs
// at the latest: a client that is not ready by then is waiting for something that happens only
// after the start.
func (w *World) begin() {
	const retryAfter, longestWait = time.Microsecond, 10 * time.Microsecond
	if w.now() < longestWait && slices.ContainsFunc(w.processes, func(p *process) bool { return p.actor != nil && !p.actor.isReady() }) {
		w.schedule(w.now()+retryAfter, w.begin)
		return
	}
	w.started = true
	w.schedulePeriods()
	w.strikeInitial()
	for _, p := range w.processes {
		if p.actor != nil {
			p.actor.begin()
		}
	}
}

// now returns the true time since the start of the run.
func (w *World) now() time.Duration { return time.Since(w.runStart) }

// schedule makes the loop call do at true time t, or as soon as possible if t has passed.
// Only the loop may call it.
func (w *World) schedule(t time.Duration, do func()) { w.queue.add(timer{at: t, do: do}) }

// scheduleDelivery is schedule for the delivery of a message, and for other calls that must
// still happen: the run does not end before do was called.
func (w *World) scheduleDelivery(t time.Duration, do func()) {
	w.inFlight++
	w.queue.add(timer{at: t, do: do, isDelivery: true})
}

// loop runs the world in rounds until every client's program has ended and no message is in flight,
// or until the horizon. In each round it waits until all goroutines wait, admits their requests, and
// then lets time pass.
func (w *World) loop() {
	for {
		synctest.Wait()
		w.ioMutex.Lock()
		w.round++
		w.ioMutex.Unlock()
		w.watchdog.steps.Add(1)
		w.checkMemory()
		switch {
		case w.stopError != nil:
			w.recordError(w.stopError)
			return
		case w.watchdog.isHeavy.Load():
			w.recordError(w.newHeavyError())
			return
		case w.watchdog.isLate.Load():
			w.recordError(w.newLateError())
			return
		}
		switch admitted, woke := w.admit(); {
		case woke:
		case admitted:
			w.sleepAfterMoment()
		case w.passTime():
			return
		}
	}
}

// passTime carries out the next timer of the queue if it is due. Otherwise it lets time pass. It
// reports whether the run has ended. It is called when every goroutine waits.
func (w *World) passTime() (ended bool) {
	if w.activeClients == 0 && w.inFlight == 0 && !w.holdsBackRequest() {
		return true
	}
	next, isBeforeHorizon := w.nextMoment()
	if len(w.queue.timers) == 0 && w.hasOnlyUnstartedClients() {
		return true
	}
	if now := w.now(); next > now {
		// The clients' libraries may have timers of package time that are due in the same
		// nanosecond. So the loop first admits the requests that these timers cause.
		w.sleep(next - now)
		return false
	}
	if !isBeforeHorizon {
		w.emit(trace.Event{Kind: trace.KindHorizon, Text: "the run was cut off at its horizon"})
		return true
	}
	w.lastMoment = next
	due := w.queue.pop()
	if due.isDelivery {
		w.inFlight--
	}
	due.do()
	if !w.endMoment() {
		w.sleepAfterMoment()
	}
	return false
}

// nextMoment returns the time of the next moment that a timer begins; ok is false if that is the
// horizon. A moment is the execution of one timer of the queue, or of one admitted request. Each
// timer gets its own nanosecond, so its events have another time than those of any other timer.
func (w *World) nextMoment() (t time.Duration, ok bool) {
	w.queueAlarms()
	t, ok = w.queue.next()
	if !ok || t > w.cfg.Horizon {
		t, ok = w.cfg.Horizon, false
	}
	return max(t, w.lastMoment+1), ok
}

// sleepAfterMoment lets time pass after a moment at whose end the loop has woken no goroutine. Some
// goroutine may be awake nevertheless: for example, the deadline of a read wakes its reader in the
// middle of a moment. It makes no difference, because time passes only when every goroutine waits,
// and whatever the goroutine asks of the loop ends the sleep. So the loop need not wait before. That
// saves a quarter of its waits.
func (w *World) sleepAfterMoment() {
	if w.stopError != nil || w.activeClients == 0 && w.inFlight == 0 {
		return // the run may end now
	}
	if next, ok := w.nextMoment(); ok {
		if now := w.now(); next > now {
			w.sleep(next - now)
		}
	}
}

// hasOnlyUnstartedClients reports whether the run is unscripted, no message or
// request is under way, and every client that has started has ended. If the queue is empty
// too, no event can start the other clients any more.
func (w *World) hasOnlyUnstartedClients() bool {
	return w.cfg.Unscripted && w.inFlight == 0 && !w.holdsBackRequest() &&
		!slices.ContainsFunc(w.processes, func(p *process) bool { g, ok := p.actor.(*program); return ok && g.started && !g.ended })
}

// sleep lets virtual time pass until a goroutine calls wakeLoop, but at most for d.
func (w *World) sleep(d time.Duration) {
	w.sleepTimer.Reset(d)
	select {
	case <-w.awaken:
	case <-w.sleepTimer.C:
	}
}

// tearDown ends the world. From then on all I/O fails, every sleep returns and nothing is
// recorded, so that every goroutine can end.
func (w *World) tearDown() {
	w.recordFinalState()
	w.ioMutex.Lock()
	w.ended = true
	requests := append(w.requests, w.admissible...)
	w.requests, w.admissible = nil, nil
	for _, p := range w.processes {
		requests = append(append(append(requests, p.waiting...), p.stalled...), p.awaitingMoments...)
	}
	w.ioMutex.Unlock()
	w.cancel()
	for _, p := range w.processes {
		p.clock.Close()
	}
	for _, r := range requests {
		w.watchdog.steps.Add(1)
		if r.abandon != nil {
			r.abandon()
		}
	}
	for _, s := range w.sockets {
		w.watchdog.steps.Add(1)
		s.changed.Broadcast()
	}
	for _, p := range w.processes {
		if p.actor != nil {
			p.actor.stop()
		}
	}
	w.waitForPrograms()
	// During this sleep, goroutines that the programs have left behind can end.
	time.Sleep(time.Minute)
	for _, p := range w.processes {
		if p.actor != nil {
			p.actor.close()
		}
		if p.server != nil {
			p.server.stop()
		}
	}
}

// maxFarewell is how long a program may take to end after its world. A program in which a
// call sleeps again and again never ends.
const maxFarewell = 10 * time.Minute

// waitForPrograms waits until all programs have ended, but no longer than maxFarewell. Programs
// that still run then are reported as a leak: in a bubble whose main goroutine has ended, time
// stops.
func (w *World) waitForPrograms() {
	ended := make(chan struct{})
	go func() {
		w.programs.Wait()
		close(ended)
	}()
	limit := time.NewTimer(maxFarewell)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
	}
}

// recordFinalState records, at the end of the run, the data in the storage, how the
// faults ended, and what the clients have not done.
func (w *World) recordFinalState() {
	w.recordFinalData()
	for i, f := range w.faults {
		f.finish()
		w.trace.Faults[i] = f.FaultInfo
	}
	for _, p := range w.processes {
		if p.actor != nil {
			p.actor.report()
		}
	}
}

// recordError records an error of the run, if it is the first.
func (w *World) recordError(err error) {
	w.ioMutex.Lock()
	defer w.ioMutex.Unlock()
	if w.firstError == nil {
		w.firstError = err
	}
}

// failure returns the first error of the run, or nil.
func (w *World) failure() error {
	w.ioMutex.Lock()
	defer w.ioMutex.Unlock()
	return w.firstError
}

// emit records an event, and passes it to the watchers, which wait for points. It returns
// the recorded event.
func (w *World) emit(ev trace.Event) *trace.Event {
	ev.Seq = w.events.count + 1
	ev.At = w.now()
	if last := w.events.last(); last != nil {
		ev.At = max(ev.At, last.At)
	}
	stored := w.events.add(ev)
	if n := ev.Seq; n > w.bounds.events {
		w.stopWith(ErrTooMuch, "%d events by %v; let clients retry or start over less often, use fewer clients, or run them for a shorter time", n, w.now().Round(time.Millisecond))
	}
	w.charge(bytesOfEvent + len(ev.Text) + len(ev.Key) + len(ev.Value) + len(ev.Object))
	w.oracle.See(stored)
	w.watch(stored)
	return stored
}

// checkConfig returns an error if a configuration cannot run. Scenario files have already
// been checked by package scenarios, with better messages.
func checkConfig(cfg *Config) error {
	roles := map[string]trace.Role{trace.StorageName: trace.RoleStorage, trace.OperatorName: ""}
	for _, p := range cfg.processes() {
		switch is, taken := roles[p.Name]; {
		case p.Role == trace.RoleStorage:
		case taken && (is == trace.RoleCluster || p.Role == trace.RoleCluster):
			return fmt.Errorf("sim: a process and the cluster of its nodes are both called %q", p.Name)
		case taken || p.Name == "":
			return fmt.Errorf("sim: two processes are called %q, or one has no name", p.Name)
		}
		roles[p.Name] = p.Role
	}
	for _, n := range cfg.Nodes {
		if n.ReplicaOf != "" && !slices.ContainsFunc(cfg.Nodes, func(m Node) bool { return m.Name == n.ReplicaOf && m.ReplicaOf == "" }) {
			return fmt.Errorf("sim: %s is a replica of %s, which is not a master", n.Name, n.ReplicaOf)
		}
	}
	switch {
	case cfg.Horizon <= 0:
		return errors.New("sim: the horizon must be positive")
	case cfg.Network.Min <= 0 || cfg.Network.Max < cfg.Network.Min:
		return errors.New("sim: the network's latencies must be positive, and Max at least Min")
	case cfg.Lock.Kind.Name != "" && !cfg.Lock.Kind.Open && len(cfg.Nodes) == 0:
		return errors.New("sim: the lock has no node")
	case cfg.Lock.Kind.Name != "" && cfg.Lock.TTL <= 0:
		return errors.New("sim: the lock's TTL must be positive")
	}
	if cfg.Lock.Kind.Name != "" {
		if err := cfg.Lock.Kind.CheckProvided(); err != nil {
			return fmt.Errorf("sim: %w", err)
		}
		if err := cfg.Lock.Kind.Check(cfg.Lock.Options); err != nil {
			return fmt.Errorf("sim: %w", err)
		}
	}
	for _, n := range cfg.Nodes {
		if s, err := cfg.system(n); err == nil && s.Boot == nil {
			return fmt.Errorf("sim: %w", &MissingSystem{n.Name, s.Name})
		}
	}
	if err := errors.Join(cfg.CheckStorage(), cfg.CheckTTL(), cfg.CheckNodes(), cfg.CheckSchedule(), cfg.CheckNesting()); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	for _, c := range cfg.Clients {
		if err := checkTasks(c, cfg.Services); err != nil {
			return fmt.Errorf("sim: %s: %w", c.Name, err)
		}
	}
	for _, name := range cfg.Tokens.Nodes {
		if !slices.ContainsFunc(cfg.Nodes, func(n Node) bool { return n.Name == name }) {
			return fmt.Errorf("sim: there is no node %q that could count tokens", name)
		}
	}
	for _, p := range cfg.Network.Paths {
		for _, name := range []string{p.Between, p.And} {
			if _, known := roles[name]; !known {
				return fmt.Errorf("sim: a path begins or ends at %q, but there is no process of that name", name)
			}
		}
		if p.Min <= 0 || p.Max < p.Min {
			return fmt.Errorf("sim: between %s and %s the latencies must be positive, and Max at least Min", p.Between, p.And)
		}
	}
	if err := cfg.CheckSize(); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	topology := cfg.Topology()
	if err := cfg.CheckDrifts(); err != nil {
		i := err.(*TooManyDrifts).Fault
		return fmt.Errorf("sim: fault %d (%s): %w", i+1, cfg.Faults[i].Text, err)
	}
	for i, f := range cfg.Faults {
		if err := checkFault(f, topology); err != nil {
			return fmt.Errorf("sim: fault %d (%s): %w", i+1, f.Text, err)
		}
	}
	return nil
}

// countsTokens reports whether a node counts fencing tokens.
func (cfg *Config) countsTokens(n Node) bool {
	t := cfg.Tokens
	if len(t.Nodes) > 0 {
		return t.Source.Counts && slices.Contains(t.Nodes, n.Name)
	}
	return t.Source.Counts && n.keepsLocks()
}

// nodeAddr returns the address of the i-th node. It must be an IP address: to look up a
// host name, clients would start goroutines that are still running when the world has
// ended.
func (cfg *Config) nodeAddr(i int) string {
	system, _ := cfg.system(cfg.Nodes[i])
	return fmt.Sprintf("10.0.%d.%d:%d", i/250, i%250+1, system.Port)
}
