package reality

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

func init() { builders[locks.ZooKeeper] = newZooKeeper }

// zooKeeperClasses is where Debian's package has the server, with a list of what it needs.
const zooKeeperClasses = "/usr/share/java/zookeeper.jar"

// zooKeeperTick is tickTime in ZooKeeper's sample configuration, which the simulated servers
// have too. It is shortened with the times of the scenario, because a session lasts from two
// to twenty ticks.
const zooKeeperTick = 2 * time.Second

// A zooKeeperServer is a ZooKeeper server that listens on the loopback interface, alone or as
// a member of an ensemble.
type zooKeeperServer struct {
	r                *run
	cfg              sim.Node
	folder           string
	program, classes string
	watcher          *zooKeeperWatcher
	number           int // the member's number, from 1
	child            atomic.Pointer[child]
	// clients is the address for clients. peers and votes are the ports for the other
	// members. reserved keeps other programs from taking them until the server is started.
	clients, peers, votes string
	reserved              []net.Listener
	wasStarted            bool
	programVersion        atomic.Value // the program and its version, as a string
}

// newZooKeeper makes the server of a node.
func newZooKeeper(r *run, cfg sim.Node, folder string) (server, error) {
	program, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("%s needs Java to run ZooKeeper, which is not installed: %w", cfg.Name, err)
	}
	classes := os.Getenv("LOCKSIM_ZOOKEEPER_CLASSPATH")
	if classes == "" {
		classes = zooKeeperClasses
		if _, err := os.Stat(classes); err != nil {
			return nil, fmt.Errorf("%s needs ZooKeeper: install the package zookeeper of Debian or Ubuntu, or set LOCKSIM_ZOOKEEPER_CLASSPATH: %w", cfg.Name, err)
		}
	}
	if r.cluster == nil {
		return nil, errNotLinked(cfg)
	}
	w, ok := r.cluster.watcher.(*zooKeeperWatcher)
	if !ok {
		w = &zooKeeperWatcher{c: r.cluster}
		r.cluster.watcher = w
	}
	s := &zooKeeperServer{r: r, cfg: cfg, folder: folder, program: program, classes: classes, watcher: w, number: len(w.members) + 1}
	s.programVersion.Store("ZooKeeper")
	for _, address := range []*string{&s.clients, &s.peers, &s.votes} {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*address, s.reserved = l.Addr().String(), append(s.reserved, l)
	}
	w.members = append(w.members, s)
	return s, nil
}

func (s *zooKeeperServer) version() string                 { return s.programVersion.Load().(string) }
func (s *zooKeeperServer) process() *child                 { return s.child.Load() }
func (s *zooKeeperServer) shutDown()                       { shutDown(s.process().cmd.Process.Pid) }
func (s *zooKeeperServer) address() (network, addr string) { return "tcp", s.clients }

// writeSettings writes the server's configuration.
func (s *zooKeeperServer) writeSettings() (file string, err error) {
	data := filepath.Join(s.folder, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", err
	}
	tick := zooKeeperTick
	if s.r.options.Pace > 0 {
		tick = max(time.Duration(float64(tick)*s.r.options.Pace), 20*time.Millisecond)
	}
	// On a busy machine, the members may receive nothing from each other for a while. The
	// scenario contains no such fault, so they wait as long for each other as with the usual
	// tick.
	limit := max(5, 10*time.Second/tick)
	_, port, _ := net.SplitHostPort(s.clients)
	settings := fmt.Sprintf("tickTime=%d\ninitLimit=%d\nsyncLimit=%d\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=srvr,dump\n",
		tick.Milliseconds(), 2*limit, limit, data, port)
	if len(s.watcher.members) > 1 {
		for _, m := range s.watcher.members {
			_, vote, _ := net.SplitHostPort(m.votes)
			settings += fmt.Sprintf("server.%d=%s:%s\n", m.number, m.peers, vote)
		}
		if err := os.WriteFile(filepath.Join(data, "myid"), fmt.Append(nil, s.number), 0o600); err != nil {
			return "", err
		}
	}
	file = filepath.Join(s.folder, "zoo.cfg")
	return file, os.WriteFile(file, []byte(settings), 0o600)
}

// start implements [server]. It returns when the server serves clients. Members that are started
// for the first time begin to vote when the last of them accepts votes. So the last one, which has
// the highest number, leads, as in the simulated world.
func (s *zooKeeperServer) start() error {
	file, err := s.writeSettings()
	if err != nil {
		return err
	}
	if last := s.watcher.members[len(s.watcher.members)-1]; last != s && !s.wasStarted {
		last.awaitVotes()
	}
	for _, l := range s.reserved {
		l.Close()
	}
	s.reserved, s.wasStarted = nil, true
	// Some servers have never begun to serve, although they accepted connections.
	if err = s.launch(file, s.r.options.Setup/2); errors.Is(err, errNotServing) {
		s.process().kill()
		err = s.launch(file, s.r.options.Setup)
	}
	return err
}

// errNotServing says that a server runs and does not serve in time.
var errNotServing = errors.New("it does not serve")

// launch starts the server's process and waits until it serves. If that takes longer than
// patience, its error wraps [errNotServing].
func (s *zooKeeperServer) launch(file string, patience time.Duration) error {
	child, err := s.r.guard.startServer(exec.Command(s.program,
		"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Dzookeeper.preAllocSize=1024",
		"-cp", s.classes, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file))
	if err != nil {
		return err
	}
	s.child.Store(child)
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		answer, err := s.command("srvr")
		if err == nil && strings.Contains(answer, "Mode: ") {
			if _, rest, ok := strings.Cut(answer, "version: "); ok {
				number, _, _ := strings.Cut(rest, "-")
				s.programVersion.Store("ZooKeeper " + number)
			}
			return nil
		}
		switch {
		case child.hasExited():
			return fmt.Errorf("the ZooKeeper server of %s ended at once%s", s.cfg.Name, child.lastWords())
		case time.Now().After(deadline):
			return fmt.Errorf("the ZooKeeper server of %s: %w within %v: %s", s.cfg.Name, errNotServing, patience, cmp.Or(strings.TrimSpace(answer), fmt.Sprint(err)))
		}
	}
}

// awaitVotes waits until the server has been started and accepts votes.
func (s *zooKeeperServer) awaitVotes() {
	for deadline := time.Now().Add(s.r.options.Setup / 2); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if p := s.process(); p == nil {
			continue
		} else if p.hasExited() {
			return
		}
		if conn, err := net.Dial("tcp", s.votes); err == nil {
			conn.Close()
			return
		}
	}
}

// zooKeeperPatience is how long the harness waits for an answer of a member.
const zooKeeperPatience = 3 * time.Second

// command sends one of ZooKeeper's four-letter commands, such as srvr, and returns the answer.
func (s *zooKeeperServer) command(word string) (string, error) {
	conn, err := net.DialTimeout("tcp", s.clients, zooKeeperPatience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(zooKeeperPatience))
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// leads reports whether the server leads an ensemble, or is alone.
func (s *zooKeeperServer) leads() bool {
	answer, err := s.command("srvr")
	return err == nil && (strings.Contains(answer, "Mode: leader") || strings.Contains(answer, "Mode: standalone"))
}

// cutter implements [server].
func (s *zooKeeperServer) cutter() cutter {
	system, _ := sim.LookupSystem(locks.ZooKeeper)
	return &zooKeeperCutter{Framer: system.Framer(s.r.names), r: s.r}
}

// isRunning reports whether the server runs. The mutex of the run is held.
func (s *zooKeeperServer) isRunning() bool {
	return slices.ContainsFunc(s.r.nodes, func(n *node) bool { return n.server == server(s) && n.runs() })
}

// A zooKeeperWatcher watches all nodes of ZooKeeper's tree, on one member.
type zooKeeperWatcher struct {
	c       *cluster
	members []*zooKeeperServer
	// source is the member that is watched, and session the harness's own session with it.
	// The mutex of the run guards both.
	source  *zooKeeperServer
	session *zooKeeperSession
	// drained is the member that was watched before; all notifications that it sent have been
	// read.
	drained *zooKeeperServer
}

// watch implements [clusterWatcher].
func (w *zooKeeperWatcher) watch() error {
	first := make(chan error, 1)
	go func() {
		for {
			ended := false
			running := w.c.running()
			w.c.r.do(func() { ended = w.c.r.ended })
			if ended {
				return
			}
			if len(running) > 0 {
				_ = w.follow(running[len(running)-1].(*zooKeeperServer), first)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	select {
	case err := <-first:
		return err
	case <-time.After(w.c.r.options.Setup):
		return errors.New("no ZooKeeper server can be watched")
	}
}

// follow passes on the changes that a member reports, until its connection ends. It compares the
// nodes to find the changes that no watch reported. It sends to ready when it watches.
func (w *zooKeeperWatcher) follow(s *zooKeeperServer, ready chan<- error) error {
	watching, err := openZooKeeperSession(s.clients)
	if err != nil {
		return err
	}
	defer watching.close()
	asking, err := openZooKeeperSession(s.clients)
	if err != nil {
		return err
	}
	defer asking.close()
	f := &zooKeeperFollower{w: w, asking: asking}
	watching.notify = f.seeNode
	if err := watching.watchAll(); err != nil {
		return err
	}
	if err := f.compareNodes(); err != nil {
		return err
	}
	watching.startReading()
	isWanted := false
	w.c.r.do(func() {
		if isWanted = !w.c.r.ended && s.isRunning(); isWanted {
			w.source, w.session = s, watching
		}
	})
	if !isWanted {
		return nil
	}
	defer w.c.r.do(func() { w.source, w.session, w.drained = nil, nil, s })
	select {
	case ready <- nil:
	default:
	}
	go asking.keepAlive()
	go watching.keepAlive()
	return watching.readAll()
}

// A zooKeeperFollower turns notifications into changes.
type zooKeeperFollower struct {
	w      *zooKeeperWatcher
	asking *zooKeeperSession
}

// seeNode reports that a node of a lock was created, written or deleted; it ignores other nodes.
func (f *zooKeeperFollower) seeNode(path string, isDeleted bool) {
	ch := change{key: path, isDeleted: isDeleted}
	isOfLock := false
	f.w.c.r.do(func() { isOfLock = f.w.c.isOfLock(path) })
	if !isOfLock {
		return
	}
	if !isDeleted {
		n, err := f.asking.node(path)
		if err != nil {
			return // the node is gone again, or the connection has ended
		}
		ch.created, ch.revision, ch.session = n.created, n.written, n.session
	}
	f.w.c.see(0, []change{ch})
}

// compareNodes reports which nodes of locks were created or deleted while no member was watched.
func (f *zooKeeperFollower) compareNodes() error {
	var folders, known []string
	f.w.c.r.do(func() {
		for _, q := range f.w.c.locks {
			folders = append(folders, q.name)
			for key := range q.claims {
				known = append(known, key)
			}
		}
	})
	var paths []string
	for _, folder := range folders {
		names, err := f.asking.children(folder)
		if err != nil && !errors.Is(err, errNoNode) {
			return err
		}
		if err == nil {
			paths = append(paths, folder)
		}
		for _, name := range names {
			paths = append(paths, folder+"/"+name)
		}
	}
	slices.Sort(known)
	for _, path := range known {
		if !slices.Contains(paths, path) {
			f.seeNode(path, true)
		}
	}
	for _, path := range paths {
		if !slices.Contains(known, path) {
			f.seeNode(path, false)
		}
	}
	return nil
}

// catchUp implements [clusterWatcher]. Before a member answers a sync, it has applied all changes
// that were committed earlier, and sent their notifications. If from itself was watched, and has
// ended the connection since, all its notifications have been read.
func (w *zooKeeperWatcher) catchUp(_ reading, from server) error {
	err := errors.New("no ZooKeeper server is watched")
	wasWatched := false
	for deadline := time.Now().Add(zooKeeperPatience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var session *zooKeeperSession
		ended := false
		w.c.r.do(func() {
			session, ended = w.session, w.c.r.ended || wasWatched && w.source == nil && w.drained == from
			wasWatched = wasWatched || w.source == from
		})
		if ended {
			return nil
		}
		if session != nil {
			if err = session.sync(); err == nil {
				return nil
			}
		}
	}
	return err
}

// hasSession implements [clusterWatcher]: the leader lists the sessions.
func (w *zooKeeperWatcher) hasSession(id string) (bool, error) {
	for _, s := range w.c.running() {
		if !s.(*zooKeeperServer).leads() {
			continue
		}
		answer, err := s.(*zooKeeperServer).command("dump")
		if err != nil {
			return false, err
		}
		all, _, _ := strings.Cut(answer, "ephemeral nodes dump")
		return slices.Contains(strings.Fields(all), "0x"+id), nil
	}
	return false, errors.New("no ZooKeeper server leads")
}

// leader implements [clusterWatcher].
func (w *zooKeeperWatcher) leader() string {
	if len(w.members) == 1 {
		return w.members[0].cfg.Name
	}
	for _, s := range w.c.running() {
		if s.(*zooKeeperServer).leads() {
			return s.(*zooKeeperServer).cfg.Name
		}
	}
	return ""
}

// lead implements [clusterWatcher]: it makes the last member the leader. Mostly this member already
// leads, because of the order in which the members were started. A ZooKeeper server cannot be asked
// to lead. So the harness kills any other leader, waits for the election, and starts that server
// again; it tries this three times.
func (w *zooKeeperWatcher) lead() error {
	last := w.members[len(w.members)-1]
	for range 3 {
		found := w.leader()
		i := slices.IndexFunc(w.members, func(s *zooKeeperServer) bool { return s.cfg.Name == found })
		switch {
		case found == last.cfg.Name:
			return nil
		case i < 0: // the members are about to elect one
			time.Sleep(time.Second)
			continue
		}
		w.members[i].process().kill()
		for deadline := time.Now().Add(w.c.r.options.Setup / 2); !last.leads() && time.Now().Before(deadline); {
			time.Sleep(expiryPolls)
		}
		if err := w.members[i].start(); err != nil {
			return err
		}
	}
	return fmt.Errorf("the servers do not make %s their leader, which leads in the simulation; play the scenario again", last.cfg.Name)
}

// leave implements [clusterWatcher].
func (w *zooKeeperWatcher) leave(n *node) {
	if w.source != nil && w.source == n.server.(*zooKeeperServer) {
		w.session.close()
	}
}

// close implements [clusterWatcher].
func (w *zooKeeperWatcher) close() {
	w.c.r.do(func() {
		if w.session != nil {
			w.session.close()
		}
	})
}
