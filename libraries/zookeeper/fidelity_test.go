package zookeeper_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// A fidelity is a script that clients run, and its expected output with the simulated
// server and with a real one.
type fidelity struct {
	name string
	do   func(*script)
	want string // the lines that the script reports
	// real is the output with a real server if it differs, and why is the reason.
	real, why string
	// isSlow reports that the script takes a while, so that others run at the same time.
	// Such a script must not report how many transactions there were.
	isSlow bool
}

// This runs the scripts on the simulated server.
func TestFidelityOfOurServer(t *testing.T) {
	for _, f := range fidelities {
		t.Run(f.name, func(t *testing.T) {
			var output string
			cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				s := &script{t: t, root: "/root00", slack: 500 * time.Millisecond, dial: func() (net.Conn, error) { return p.Env().Dial(ctx, "tcp", p.Env().Nodes[0]) }}
				output = s.play(f)
				return nil
			}))
			cfg.Nodes = Nodes("zookeeper", 1)
			RunWorld(t, cfg)
			f.compare(t, output, f.want)
		})
	}
}

// If a case has another output with a real server, it gives the reason, and the outputs
// really differ.
func TestDifferencesHaveReasons(t *testing.T) {
	for _, f := range fidelities {
		if (f.real == "") != (f.why == "") || f.real != "" && f.real == f.want {
			t.Errorf("%s: the output of the real server is %q, and the reason %q; want a different output and a reason, or neither", f.name, f.real, f.why)
		}
	}
}

func (f fidelity) compare(t *testing.T, output, want string) {
	t.Helper()
	lines := func(s string) []string {
		var all []string
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
		return all
	}
	got, wanted := lines(output), lines(want)
	for i := range max(len(got), len(wanted)) {
		at := func(all []string) string {
			if i < len(all) {
				return all[i]
			}
			return "nothing"
		}
		if at(got) != at(wanted) {
			t.Errorf("line %d is\n\t%s\nwant\n\t%s\n\nin all:\n%s", i+1, at(got), at(wanted), strings.Join(got, "\n"))
			return
		}
	}
}

// A script is one run of a fidelity on a server, with the output so far.
type script struct {
	t    *testing.T
	dial func() (net.Conn, error)
	// root is a node that no other script uses.
	root string
	// slack is how much later than the simulated server this server may react.
	slack time.Duration
	// zxid is the number of the transaction that has created root. The script reports other
	// numbers relative to it.
	zxid int64

	mu     sync.Mutex // also protects what giveUp uses
	output strings.Builder
	closes []func()
}

// play runs a script and returns the output. It first creates root.
func (s *script) play(f fidelity) string {
	c := s.connect()
	_, err := c.Create(s.root, nil, 0, everybody)
	s.must(err)
	_, stat, err := c.Exists(s.root)
	s.must(err)
	s.zxid = stat.Czxid
	c.Close()
	f.do(s)
	s.close()
	return s.output.String()
}

// onClose registers a function that closes something which the script has opened.
func (s *script) onClose(end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closes = append(s.closes, end)
}

func (s *script) close() {
	s.mu.Lock()
	all := s.closes
	s.closes = nil
	s.mu.Unlock()
	for _, end := range all {
		end()
	}
}

// giveUp ends a script that waits forever: it closes the connections on which the script
// waits.
func (s *script) giveUp() {
	s.mu.Lock()
	s.t.Errorf("%s: the script still waits for the line after these:\n%s", s.root, s.output.String())
	s.mu.Unlock()
	s.close()
}

var everybody = zk.WorldACL(zk.PermAll)

// must fails the test if err is not nil.
func (s *script) must(err error) {
	if err != nil {
		s.t.Errorf("%s: %v", s.root, err)
	}
}

// report adds a line to the output; the root is shown as /.
func (s *script) report(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(&s.output, strings.ReplaceAll(text, s.root, ""))
}

// reportResult reports the result of a request.
func (s *script) reportResult(what string, err error) {
	if err == nil {
		s.report("%s: ok", what)
	} else {
		s.report("%s: %v", what, err)
	}
}

// at returns the full path of a node of the script.
func (s *script) at(path string) string { return s.root + path }

// connect opens a new session with go-zookeeper, and returns when there is one.
func (s *script) connect() *zk.Conn {
	c, events, err := zk.Connect([]string{"server"}, 10*time.Second,
		zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) { return s.dial() }),
		zk.WithHostProvider(oneHost{}), zk.WithLogger(quiet{}))
	if err != nil {
		s.t.Fatal(err)
	}
	s.onClose(c.Close)
	for waited := time.After(30 * time.Second); c.State() != zk.StateHasSession; {
		select {
		case <-events:
		case <-waited:
			s.t.Fatal("there is no session after half a minute")
		}
	}
	return c
}

type oneHost struct{}

func (oneHost) Init([]string) error  { return nil }
func (oneHost) Len() int             { return 1 }
func (oneHost) Next() (string, bool) { return "server", false }
func (oneHost) Connected()           {}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// create creates a node that the rest of the script needs.
func (s *script) create(c *zk.Conn, path string, flags int32) string {
	made, err := c.Create(s.at(path), []byte("data"), flags, everybody)
	s.must(err)
	return made
}

// stat reports the stat of a node. Zxids are relative to that of the root.
func (s *script) stat(what string, n *zk.Stat) {
	s.report("%s: czxid +%d, mzxid +%d, pzxid +%d, version %d, cversion %d, aversion %d, owned %v, %d bytes, %d children",
		what, n.Czxid-s.zxid, n.Mzxid-s.zxid, n.Pzxid-s.zxid, n.Version, n.Cversion, n.Aversion, n.EphemeralOwner != 0, n.DataLength, n.NumChildren)
}

// look reports the stat of a node, or that the node does not exist.
func (s *script) look(c *zk.Conn, path string) {
	there, n, err := c.Exists(s.at(path))
	s.must(err)
	if !there {
		s.report("%s: it is not there", path)
		return
	}
	s.stat(path, n)
}

// reportEvent reports the event of a watch, or that there was none. It need not wait for
// the event: if something has happened before a request of the session, its event arrives
// before the answer to the request.
func (s *script) reportEvent(c *zk.Conn, what string, events <-chan zk.Event) {
	_, _, err := c.Exists(s.root)
	s.must(err)
	select {
	case ev := <-events:
		s.report("%s: %v of %s", what, ev.Type, ev.Path)
	default:
		s.report("%s: nothing", what)
	}
}

// A raw is a connection on which the test writes messages without a client library.
type raw struct {
	net.Conn
	s       *script
	session int64
	secret  []byte
	timeout int32
}

// raw opens a connection without a session.
func (s *script) raw() *raw {
	c, err := s.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	r := &raw{Conn: c, s: s}
	s.onClose(func() { r.Close() })
	return r
}

// jute encodes numbers, strings and other values as they are in a message.
func jute(parts ...any) []byte {
	var b []byte
	for _, part := range parts {
		switch v := part.(type) {
		case bool:
			if b = append(b, 0); v {
				b[len(b)-1] = 1
			}
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(int32(v)))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case string:
			b = append(appendInt(b, len(v)), v...)
		case []byte:
			if v == nil {
				b = appendInt(b, -1)
			} else {
				b = append(appendInt(b, len(v)), v...)
			}
		case []string:
			b = appendInt(b, len(v))
			for _, one := range v {
				b = append(b, jute(one)...)
			}
		default:
			panic(fmt.Sprintf("no jute for %T", part))
		}
	}
	return b
}

func appendInt(b []byte, n int) []byte { return binary.BigEndian.AppendUint32(b, uint32(int32(n))) }

// openACL returns the encoded access control list that allows everything to every client.
func openACL() []byte { return append(jute(1, 31), jute("world", "anyone")...) }

// send sends a message. The first two parts of a request are its xid, which its answer
// repeats, and its opcode: 1 is create, 2 delete, 3 exists, 4 getData, 5 setData,
// 8 getChildren, 9 sync, 11 ping, 12 getChildren2, 14 multi, 15 create2, 100 auth,
// 101 setWatches and -11 closeSession.
func (r *raw) send(parts ...any) {
	body := jute(parts...)
	_, err := r.Write(append(appendInt(nil, len(body)), body...))
	r.s.must(err)
}

// sendRaw sends bytes as they are.
func (r *raw) sendRaw(b []byte) {
	_, err := r.Write(b)
	r.s.must(err)
}

// create sends a request to create a node.
func (r *raw) create(xid int, path string, flags int) {
	body := slices.Concat(jute(xid, 1, r.s.at(path), []byte("data")), openACL(), jute(flags))
	r.sendRaw(append(appendInt(nil, len(body)), body...))
}

// receive reads a message; it returns nil if the connection has ended.
func (r *raw) receive() []byte {
	r.SetReadDeadline(time.Now().Add(20 * time.Second))
	size := make([]byte, 4)
	if _, err := io.ReadFull(r, size); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			r.s.report("no answer for twenty seconds")
		}
		return nil
	}
	b := make([]byte, binary.BigEndian.Uint32(size))
	if _, err := io.ReadFull(r, b); err != nil {
		return nil
	}
	return b
}

// number and zxidOf return the number at an offset of a message.
func number(b []byte, at int) int   { return int(int32(binary.BigEndian.Uint32(b[at:]))) }
func zxidOf(b []byte, at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }

// hello opens or resumes a session, and reports the answer.
func (r *raw) hello(seen int64, timeout int, session int64, secret []byte) {
	r.send(0, seen, timeout, session, secret)
	b := r.receive()
	if b == nil {
		r.s.report("hello: the connection was closed")
		return
	}
	r.timeout, r.session = int32(number(b, 4)), zxidOf(b, 8)
	r.secret = b[20:36]
	if r.session == 0 {
		r.s.report("hello: the session has expired, timeout %d, %d bytes", r.timeout, len(b))
	} else {
		r.s.report("hello: a session, timeout %d, the same %v, %d bytes", r.timeout, r.session == session, len(b))
	}
}

// begin opens a session without reporting it.
func (r *raw) begin() {
	r.send(0, int64(0), 10_000, int64(0), make([]byte, 16))
	if b := r.receive(); b != nil {
		r.session, r.secret = zxidOf(b, 8), b[20:36]
	}
}

// reportAnswers receives n messages and reports them: answers, with the xid of their request
// and an error code, and events. Event 1 says that a node was created, 2 that it was deleted,
// 3 that its data has changed, and 4 that its children have changed.
func (r *raw) reportAnswers(n int) {
	for range n {
		b := r.receive()
		switch {
		case b == nil:
			r.s.report("the connection was closed")
			return
		case number(b, 0) == -1:
			size := number(b, 24)
			r.s.report("event %d, state %d, zxid %d, of %s", number(b, 16), number(b, 20), zxidOf(b, 4), b[28:28+size])
		default:
			r.s.report("answer to %d: %d, %d bytes", number(b, 0), number(b, 12), len(b))
		}
	}
}
