package reality

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

func init() { builders[locks.Etcd] = newEtcd }

// An etcdServer is an etcd that listens on the loopback interface, as a member of a cluster.
type etcdServer struct {
	r              *run
	cfg            sim.Node
	folder         string
	program        string
	programVersion string // the program and its version
	watcher        *etcdWatcher
	child          atomic.Pointer[child]
	// clients and peers are the addresses for clients and for the other members. reserved
	// keeps other programs from taking them until the server is started.
	clients, peers string
	reserved       []net.Listener
}

// newEtcd makes the server of a node.
func newEtcd(r *run, cfg sim.Node, folder string) (server, error) {
	program, err := exec.LookPath("etcd")
	if err != nil {
		return nil, fmt.Errorf("%s needs etcd, which is not installed: %w", cfg.Name, err)
	}
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", program, err)
	}
	s := &etcdServer{r: r, cfg: cfg, folder: folder, program: program, programVersion: "etcd"}
	if _, rest, ok := strings.Cut(string(out), "etcd Version: "); ok {
		s.programVersion += " " + strings.Fields(rest)[0]
	}
	for _, address := range []*string{&s.clients, &s.peers} {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*address, s.reserved = l.Addr().String(), append(s.reserved, l)
	}
	if r.cluster == nil {
		return nil, errNotLinked(cfg)
	}
	w, ok := r.cluster.watcher.(*etcdWatcher)
	if !ok {
		w = &etcdWatcher{c: r.cluster, client: &http.Client{}}
		r.cluster.watcher = w
	}
	s.watcher = w
	w.members = append(w.members, s)
	return s, nil
}

func (s *etcdServer) version() string                 { return s.programVersion }
func (s *etcdServer) process() *child                 { return s.child.Load() }
func (s *etcdServer) shutDown()                       { shutDown(s.process().cmd.Process.Pid) }
func (s *etcdServer) address() (network, addr string) { return "tcp", s.clients }

// start implements [server]. It returns when the cluster has a leader and the member has
// answered a read.
func (s *etcdServer) start() error {
	var members []string
	for _, m := range s.watcher.members {
		members = append(members, m.cfg.Name+"=http://"+m.peers)
	}
	for _, l := range s.reserved {
		l.Close()
	}
	s.reserved = nil
	child, err := s.r.guard.startServer(exec.Command(s.program,
		"--name", s.cfg.Name, "--data-dir", filepath.Join(s.folder, "data"), "--logger", "zap",
		"--listen-client-urls", "http://"+s.clients, "--advertise-client-urls", "http://"+s.clients,
		"--listen-peer-urls", "http://"+s.peers, "--initial-advertise-peer-urls", "http://"+s.peers,
		"--initial-cluster", strings.Join(members, ","),
	))
	if err != nil {
		return err
	}
	s.child.Store(child)
	for deadline := time.Now().Add(s.r.options.Setup); ; time.Sleep(10 * time.Millisecond) {
		var revision struct{}
		if err = s.ask("kv/range", map[string]any{"key": firstKey, "count_only": true}, &revision); err == nil {
			return nil
		}
		switch {
		case child.hasExited():
			return fmt.Errorf("%s ended at once%s", s.programVersion, child.lastWords())
		case time.Now().After(deadline):
			return fmt.Errorf("%s does not answer: %w", s.cfg.Name, err)
		}
	}
}

// firstKey is the key with which a range or a watch of all keys begins. As the end of a range
// it means that there is no end.
var firstKey = []byte{0}

// etcdPatience is how long the harness waits for an answer of a member.
const etcdPatience = 2 * time.Second

// ask sends a request to the member's gateway, which translates JSON to gRPC, and parses the
// answer.
func (s *etcdServer) ask(method string, request map[string]any, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), etcdPatience)
	defer cancel()
	body, err := s.post(ctx, method, request)
	if err != nil {
		return err
	}
	defer body.Close()
	return json.NewDecoder(body).Decode(answer)
}

// post sends a request to the member's gateway and returns the body of the answer.
func (s *etcdServer) post(ctx context.Context, method string, request map[string]any) (io.ReadCloser, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.clients+"/v3/"+method, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	resp, err := s.watcher.client.Do(q)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return nil, fmt.Errorf("%s answers %s: %s", s.cfg.Name, resp.Status, bytes.TrimSpace(why))
	}
	return resp.Body, nil
}

// cutter implements [server].
func (s *etcdServer) cutter() cutter {
	system, _ := sim.LookupSystem(locks.Etcd)
	return newEtcdCutter(s.r, system.Framer(s.r.names))
}

// An etcdWatcher asks an etcd cluster through the JSON gateway of its members.
type etcdWatcher struct {
	c       *cluster
	client  *http.Client
	members []*etcdServer
	// source is the member that is watched, and cancel ends the watch. The mutex of the run guards
	// both.
	source *etcdServer
	cancel context.CancelFunc
}

// An etcdHeader is the header of each answer.
type etcdHeader struct {
	Member   uint64 `json:"member_id,string"`
	Revision int64  `json:"revision,string"`
}

// watch implements [clusterWatcher]: it watches all keys on one member. When that member no longer
// runs, it watches another one. A watch continues where the last one ended, so no change is missed.
func (w *etcdWatcher) watch() error {
	var now struct{ Header etcdHeader }
	if err := w.members[0].ask("kv/range", map[string]any{"key": firstKey, "count_only": true}, &now); err != nil {
		return err
	}
	w.c.recorded = now.Header.Revision
	go func() {
		for !w.hasEnded() {
			if s, ctx, cancel := w.chooseSource(); s != nil {
				_ = w.follow(ctx, s) // another member, or the same one again, has what is missing
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return nil
}

func (w *etcdWatcher) hasEnded() (ended bool) {
	w.c.r.do(func() { ended = w.c.r.ended })
	return ended
}

// chooseSource returns a member that runs, and the context of a request that watches it; nil
// if there is none.
func (w *etcdWatcher) chooseSource() (s *etcdServer, ctx context.Context, cancel context.CancelFunc) {
	running := w.c.running()
	if len(running) == 0 {
		return nil, nil, nil
	}
	s = running[len(running)-1].(*etcdServer) // the first one is the leader, which scenarios crash
	ctx, cancel = context.WithCancel(context.Background())
	w.c.r.do(func() {
		if w.source, w.cancel = s, cancel; w.c.r.ended {
			cancel()
		}
	})
	return s, ctx, cancel
}

// follow passes on the changes that a member reports, until its connection ends.
func (w *etcdWatcher) follow(ctx context.Context, s *etcdServer) error {
	var from int64
	w.c.r.do(func() { from = w.c.recorded + 1 })
	body, err := s.post(ctx, "watch", map[string]any{"create_request": map[string]any{
		"key": firstKey, "range_end": firstKey, "prev_kv": true, "start_revision": strconv.FormatInt(from, 10),
	}})
	if err != nil {
		return err
	}
	defer body.Close()
	for messages := json.NewDecoder(body); ; {
		var m struct {
			Result struct {
				Canceled bool
				Events   []etcdEvent
			}
			Error json.RawMessage
		}
		if err := messages.Decode(&m); err != nil {
			return err
		}
		if m.Result.Canceled || m.Error != nil {
			return fmt.Errorf("%s has ended the watch: %s", s.cfg.Name, m.Error)
		}
		for _, changes := range byRevision(m.Result.Events) {
			w.c.see(changes[0].revision, changes)
		}
	}
}

// An etcdEvent is a change of a key, as a watch reports it.
type etcdEvent struct {
	Type string
	Kv   etcdKey
	Prev etcdKey `json:"prev_kv"`
}

// An etcdKey is a key with its value. For a deletion, it has only the key and its revision.
type etcdKey struct {
	Key, Value []byte
	Created    int64 `json:"create_revision,string"`
	Revision   int64 `json:"mod_revision,string"`
	Lease      int64 `json:",string"`
}

// byRevision converts the events of a watch to changes, in one list for each revision.
func byRevision(events []etcdEvent) (all [][]change) {
	for _, ev := range events {
		ch := change{revision: ev.Kv.Revision, key: string(ev.Kv.Key), isDeleted: ev.Type == "DELETE"}
		kept := ev.Kv
		if ch.isDeleted {
			kept = ev.Prev
		}
		ch.created, ch.value = kept.Created, string(kept.Value)
		if kept.Lease != 0 {
			ch.session = strconv.FormatInt(kept.Lease, 16)
		}
		if n := len(all); n > 0 && all[n-1][0].revision == ch.revision {
			all[n-1] = append(all[n-1], ch)
			continue
		}
		all = append(all, []change{ch})
	}
	return all
}

// catchUp implements [clusterWatcher]: it waits until the changes up to the revision in an
// answer have been recorded.
func (w *etcdWatcher) catchUp(decoded reading, _ server) error {
	r := w.c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	deadline := time.Now().Add(etcdPatience)
	time.AfterFunc(etcdPatience, func() { r.do(func() {}) })
	isKnown := func() bool { return w.c.recorded >= decoded.revision }
	r.await(func() bool { return isKnown() || time.Now().After(deadline) })
	if !isKnown() && !r.ended {
		return fmt.Errorf("revision %d was not seen within %v", decoded.revision, etcdPatience)
	}
	return nil
}

// hasSession implements [clusterWatcher]: the member asks the leader how long the lease
// still lasts.
func (w *etcdWatcher) hasSession(id string) (bool, error) {
	lease, err := strconv.ParseInt(id, 16, 64)
	if err != nil {
		return false, err
	}
	var errs []error
	for _, s := range w.c.running() {
		var answer struct {
			TTL int64 `json:",string"`
		}
		if err := s.(*etcdServer).ask("lease/timetolive", map[string]any{"ID": strconv.FormatInt(lease, 10)}, &answer); err != nil {
			errs = append(errs, err)
			continue
		}
		return answer.TTL != -1, nil
	}
	return false, errors.Join(append(errs, errors.New("no member says whether a session exists"))...)
}

// An etcdStatus is what a member says of itself.
type etcdStatus struct {
	Header etcdHeader
	Leader uint64 `json:",string"`
}

// leader implements [clusterWatcher]: it returns the member that believes that it leads.
func (w *etcdWatcher) leader() string {
	for _, s := range w.c.running() {
		var answer etcdStatus
		if err := s.(*etcdServer).ask("maintenance/status", map[string]any{}, &answer); err == nil && answer.Leader == answer.Header.Member {
			return s.(*etcdServer).cfg.Name
		}
	}
	return ""
}

// lead implements [clusterWatcher]: it makes the first member the leader.
func (w *etcdWatcher) lead() error {
	var first etcdStatus
	if err := w.members[0].ask("maintenance/status", map[string]any{}, &first); err != nil {
		return err
	}
	for _, s := range w.members[1:] {
		if s.cfg.Name != w.leader() {
			continue
		}
		var answer struct{}
		if err := s.ask("maintenance/transfer-leadership", map[string]any{"targetID": strconv.FormatUint(first.Header.Member, 10)}, &answer); err != nil {
			return fmt.Errorf("%s cannot be made the leader: %w", w.members[0].cfg.Name, err)
		}
	}
	return nil
}

// leave implements [clusterWatcher].
func (w *etcdWatcher) leave(n *node) {
	if w.source != nil && w.source == n.server.(*etcdServer) {
		w.cancel()
	}
}

// close implements [clusterWatcher].
func (w *etcdWatcher) close() {
	w.c.r.do(func() {
		if w.cancel != nil {
			w.cancel()
		}
	})
	w.client.CloseIdleConnections()
}
