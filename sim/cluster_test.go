package sim_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A councilMember is a test server: a member of a cluster. Clients send it the lines
// "hello", "take" and "watch". A client's session begins with its first line and ends one
// second after its latest line. When it ends, all that the client has taken becomes free.
// The members share their data in memory, without messages.
type councilMember struct{ host *sim.Host }

// A firstMember is the first member of the cluster, which holds the data of all members.
type firstMember struct {
	councilMember
	holder  *trace.Actor
	session map[string]int // number of lines received in the session, by client
	watcher *councilConn
}

// first returns the first member of the cluster.
func (c councilMember) first() *firstMember { return c.host.Peer(c.host.Members()[0]).(*firstMember) }

type councilConn struct {
	councilMember
	end *sim.End
}

func init() {
	sim.RegisterSystem(sim.System{
		Name: "council", Title: "a council", Node: "member", Port: 7100, Cluster: true,
		Framer: func(*sim.Names) sim.Framer { return lineFramer{} },
		Boot: func(h *sim.Host) sim.Server {
			if h.Node().Name == h.Members()[0] {
				return &firstMember{councilMember: councilMember{h}, session: map[string]int{}}
			}
			return councilMember{h}
		},
	})
}

// A sundial is a kind of server without an implementation.
func init() {
	sim.RegisterSystem(sim.System{Name: "sundial", Node: "sundial", Unit: time.Minute, Reads: []string{"aloud", "silently"}})
}

// A lineFramer splits what a connection carries into lines.
type lineFramer struct{}

func (lineFramer) Next(b []byte) (int, sim.Frame) {
	i := bytes.IndexByte(b, '\n')
	line := string(b[:i+1])
	return len(line), sim.Frame{Body: line, Text: line, Handshake: line == "hello\r\n"}
}

func (c councilMember) Accept(end *sim.End) sim.Endpoint { return &councilConn{c, end} }
func (c councilMember) ClockChanged()                    {}
func (c councilMember) Crash(trace.Crash)                {}
func (c councilMember) Restart()                         {}
func (c councilMember) Stop()                            {}
func (s *councilConn) HangUp(bool)                       {}

func (s *councilConn) Receive(r *sim.Request) {
	all, client := s.first(), s.end.Peer()
	session := s.host.Names().Name("session", client)
	if all.session[client]++; all.session[client] == 1 {
		s.host.RecordEvent(trace.Event{Kind: trace.KindOpen, Peer: client, Session: session, TTL: time.Second})
	}
	heard := all.session[client]
	s.host.At(s.host.Now()+time.Second, func() {
		if heard == all.session[client] {
			all.session[client] = -100
			s.host.RecordEvent(trace.Event{Kind: trace.KindExpireSession, Peer: client, Session: session})
			if all.holder != nil && all.holder.Client == client {
				s.host.RecordEvent(trace.Event{Kind: trace.KindExpire, Key: "crown", Owner: all.holder})
				all.holder = nil
				if w := all.watcher; w != nil {
					w.end.Send(sim.Packet{Bytes: []byte("free\r\n"), Text: "free", ClientEvents: []trace.Event{{Kind: trace.KindNotify, Key: "crown"}}})
				}
			}
		}
	})
	switch r.Body {
	case "take\r\n":
		if all.holder == nil {
			all.holder = r.Sender()
			s.host.RecordEvent(trace.Event{Kind: trace.KindSet, Key: "crown", Value: client, By: r.Sender(), Owner: r.Sender(), TTL: time.Second, Expires: s.host.Now() + time.Second})
		}
	case "watch\r\n":
		all.watcher = s
	}
	s.end.ReplyTo(r, sim.Packet{Bytes: []byte("ok\r\n"), Text: "ok", ClientEvents: []trace.Event{{Kind: trace.KindAlive, Session: session, TTL: time.Second}}})
}

// crown is a test lock on a session. Its Acquire always succeeds.
var crown = locks.Kind{
	Name: "crown", System: "council", Title: "the crown",
	Slots: func(key string, _ int) ([]locks.Slot, int) { return []locks.Slot{{Node: locks.Cluster, Key: key}}, 1 },
	New:   func(e *locks.Env) (locks.Lock, error) { return crownLock{e}, nil },
}

type crownLock struct{ env *locks.Env }

func (l crownLock) Acquire(ctx context.Context) (locks.Lease, error) {
	c, err := l.env.Dial(ctx, "tcp", l.env.Nodes[len(l.env.Nodes)-1])
	if err == nil {
		_, err = Ask(c, "take")
	}
	return crownLease(l), err
}

type crownLease crownLock

func (t crownLease) Session() string             { return t.env.Client }
func (crownLease) Release(context.Context) error { return nil }

// councilWorld returns a world of some clients and a cluster with three members.
func councilWorld(clients ...sim.Client) sim.Config {
	cfg := ToyWorld(clients...)
	cfg.Nodes = nil
	for _, name := range []string{"council-1", "council-2", "council-3"} {
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, System: "council"})
	}
	cfg.Lock = sim.Lock{Kind: crown, Key: "crown", TTL: time.Second}
	return cfg
}

// The trace records a grant as an event of the cluster, not of a member, and package
// history finds it there.
func TestGrantIsAnEventOfTheCluster(t *testing.T) {
	tr := RunWorld(t, councilWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		_, err := p.Acquire(ctx, p.Lock())
		return err
	})))
	lock := tr.Locks[0]
	Equal(t, "number of slots", len(lock.Slots), 1)
	Equal(t, "the slot", lock.Slots[0], trace.SlotInfo{Node: "council", Key: "crown"})
	Equal(t, "the lock lists the three members", slices.Equal(lock.Members, []string{"council-1", "council-2", "council-3"}), true)
	if !slices.ContainsFunc(tr.Processes, func(p trace.ProcessInfo) bool { return p.Name == "council" && p.Role == trace.RoleCluster }) {
		t.Errorf("the processes are %v, want the cluster among them", tr.Processes)
	}
	Equal(t, "the owner of the key", *FirstEvent(t, tr, trace.KindSet, "council").Owner, trace.Actor{Client: "client-1", Section: 1, Sent: FirstEvent(t, tr, trace.KindSend, "client-1").Seq})
	for _, ev := range Events(tr, trace.KindEnd, "client-1") {
		Equal(t, "acquired without a grant by the cluster", ev.Ungranted, false)
		Equal(t, "the session", ev.Session, FirstEvent(t, tr, trace.KindOpen, "council").Session)
	}
	if err := tr.Validate(); err != nil {
		t.Error(err)
	}
}

// When a client reads an answer, the trace records until when the client knows that its
// session lives: one TTL after it sent the request.
func TestClientLearnsThatItsSessionLives(t *testing.T) {
	tr := RunWorld(t, WithFaults(councilWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		c, err := Dial(ctx, p, 0)
		for range 2 {
			if err == nil {
				_, err = Ask(c, "take")
			}
		}
		return err
	})), Lasting(5*time.Second, When("client-1's request to council-1 arrived", PauseOf("client-1")))))
	sent := FirstEvent(t, tr, trace.KindSend, "client-1")
	alive := Events(tr, trace.KindAlive, "client-1")[0]
	if acts := Events(tr, trace.KindSend, "client-1")[1]; acts.Seq < alive.Seq {
		t.Errorf("client-1 sent its second request at %v, and read the answer to the first at %v; want the answer first", acts.At, alive.At)
	}
	EqualTime(t, "client-1 read the first answer", alive.At, OnlyEvent(t, tr, trace.KindResume, "client-1").At)
	Equal(t, "until when client-1 knows that its session lives", alive.Expires, sent.At+time.Second)
	if expired := OnlyEvent(t, tr, trace.KindExpireSession, "council"); expired.At > alive.At {
		t.Errorf("the session ended at %v, after the pause, want during the pause", expired.At)
	}
}

// A client that watches a key is notified. Faults can strike at the points "was notified"
// and "session expired".
func TestPointsOfClusters(t *testing.T) {
	cfg := councilWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			c, err := Dial(ctx, p, 0)
			if err == nil {
				_, err = Ask(c, "take")
			}
			return err
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			c, err := Dial(ctx, p, 1)
			if err == nil {
				_, err = Ask(c, "watch")
			}
			if err == nil {
				_, err = ReadReply(c)
			}
			return err
		}))
	tr := RunWorld(t, WithFaults(cfg,
		Lasting(time.Second, When("client-1's session expired", PauseOf("council-1"))),
		Lasting(time.Second, When("client-2 was notified", PauseOf("council-2")))))
	AllFaultsStruck(t, tr)
	EqualTime(t, "the fault at the end of the session struck", OnlyEvent(t, tr, trace.KindPause, "council-1").At, FirstEvent(t, tr, trace.KindExpireSession, "council").At)
	EqualTime(t, "the fault at the notification struck", OnlyEvent(t, tr, trace.KindPause, "council-2").At, OnlyEvent(t, tr, trace.KindNotify, "client-2").At)
}

// The trace records the length of messages once. For members of a cluster each event has
// it; for other nodes only the sum for the whole run is recorded.
func TestBytesOfMessages(t *testing.T) {
	// asks returns a client that sends a line a number of times.
	asks := func(line string, times int) sim.Client {
		return Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			c, err := Dial(ctx, p, 0)
			for range times {
				if err == nil {
					_, err = Ask(c, line)
				}
			}
			return err
		})
	}
	// inMessages returns the sum of the lengths that the events of messages have.
	inMessages := func(tr *trace.Trace) (bytes int64) {
		for _, ev := range tr.Events {
			if ev.Kind == trace.KindSend {
				bytes += int64(ev.Bytes)
			}
		}
		return bytes
	}
	toys := RunWorld(t, ToyWorld(asks("get x", 3)))
	Equal(t, "bytes of the run with toys", toys.Bytes, 3*int64(len("get x\r\n")+len("nothing\n")))
	Equal(t, "bytes in the events of the run with toys", inMessages(toys), 0)
	council := RunWorld(t, councilWorld(asks("take", 1)))
	Equal(t, "bytes of the run with a cluster", council.Bytes, 0)
	if inMessages(council) == 0 {
		t.Error("the events of messages to a cluster have no bytes, want their lengths")
	}
}

// A process must not have the name of the cluster, because the trace would confuse the two.
func TestProcessWithTheClustersNameIsRefused(t *testing.T) {
	cfg := councilWorld(Client(t, "council", func(context.Context, *sim.Program) error { return nil }))
	if _, err := sim.Run(cfg); err == nil || err.Error() != `sim: a process and the cluster of its nodes are both called "council"` {
		t.Errorf("got the error %v", err)
	}
}

// A TTL that the servers of the lock do not accept is refused before the run.
func TestCheckTTL(t *testing.T) {
	cfg := sim.Config{Lock: sim.Lock{Kind: locks.Kind{System: "sundial"}, TTL: 90 * time.Second}}
	if err := cfg.CheckTTL(); err == nil || err.Error() != "a sundial counts a TTL in whole units of 1m, and 1m30s is not a multiple of that; 2m0s would be one" {
		t.Errorf("got the error %v", err)
	}
	cfg.Lock.TTL = 3 * time.Minute
	Equal(t, "the error for three minutes and a sundial", cfg.CheckTTL(), nil)
	cfg.Lock.Kind.System = "toy"
	cfg.Lock.TTL = time.Nanosecond
	Equal(t, "the error for a nanosecond and a toy", cfg.CheckTTL(), nil)
}
