package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A scribe is a test server with a disk. It answers the line "note" when it has written a
// note to its disk. It answers "read" with one asterisk for each note on its disk.
type scribe struct {
	host  *sim.Host
	notes int    // number of notes on the disk
	waits []note // requests for notes that wait until the disk no longer stalls
}

type note struct {
	end     *sim.End
	request *sim.Request
}

const paper sim.Persistence = "paper" // the disk of a scribe that can stall

func init() {
	for name, disks := range map[string][]sim.Disk{
		"scribe": {{Persistence: paper, HandlesStall: true}, {Persistence: "slate", StallAdvice: "it writes on"}, {Persistence: "sand"}},
		"bard":   nil,
	} {
		sim.RegisterSystem(sim.System{
			Name: name, Title: "a " + name, Node: name, Port: 7200, Disks: disks,
			Framer: func(*sim.Names) sim.Framer { return lineFramer{} },
			Boot:   func(h *sim.Host) sim.Server { return &scribe{host: h} },
		})
	}
}

func (s *scribe) Accept(end *sim.End) sim.Endpoint { return scribeConn{s, end} }
func (s *scribe) ClockChanged()                    {}
func (s *scribe) Crash(trace.Crash)                { s.waits = nil }
func (s *scribe) Restart()                         {}
func (s *scribe) Stop()                            {}

func (s *scribe) DiskBack() {
	for _, n := range s.waits {
		s.write(n)
	}
	s.waits = nil
}

func (s *scribe) write(n note) {
	s.notes++
	n.end.ReplyTo(n.request, sim.Packet{Bytes: []byte("noted\r\n"), Text: "noted"})
}

type scribeConn struct {
	*scribe
	end *sim.End
}

func (d scribeConn) HangUp(bool) {}

func (d scribeConn) Receive(r *sim.Request) {
	switch n := (note{d.end, r}); {
	case strings.TrimSpace(r.Body.(string)) != "note":
		d.end.ReplyTo(r, sim.Packet{Bytes: []byte(strings.Repeat("*", d.notes) + "\r\n"), Text: "notes"})
	case d.host.IsDiskStalled():
		d.waits = append(d.waits, n)
	default:
		d.write(n)
	}
}

// While a disk stalls, only a request that has to write to it waits. The request continues
// when the last of several stalls has ended, or, if the process is paused then, when the
// process resumes. A note that was not on the disk is lost in a crash.
func TestDiskStall(t *testing.T) {
	// stall returns a stall of the disk between two times.
	stall := func(from, to time.Duration) sim.Fault {
		return Lasting(to-from, At(from, &sim.DiskStall{Node: "scribe-1"}))
	}
	const s = time.Second
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		noted  time.Duration // when the note that is sent at 2 s was answered; 0 means never
		read   string        // answer to a read at 2.5 s
	}{
		{"no stall", nil, 2 * s, "*"},
		{"one stall", []sim.Fault{stall(s, 5*s)}, 5 * s, ""},
		{"one stall that ends before the note is sent", []sim.Fault{stall(s, s+s/2)}, 2 * s, "*"},
		{"two stalls that overlap", []sim.Fault{stall(s, 5*s), stall(2*s-s/2, 7*s)}, 7 * s, ""},
		{"two stalls, one right after the other", []sim.Fault{stall(s, 5*s), stall(5*s, 7*s)}, 7 * s, ""},
		{"the stall ends during a pause", []sim.Fault{stall(s, 5*s), Lasting(5*s, At(3*s, PauseOf("scribe-1")))}, 8 * s, ""},
		{"the node crashes during the stall", []sim.Fault{stall(s, 5*s), Lasting(s, At(3*s, CrashOf("scribe-1", trace.Kill)))}, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			noted := time.Duration(0)
			cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				ask := func(line string) (string, error) {
					c, err := p.Env().Dial(ctx, "tcp", p.Env().Nodes[0])
					if err != nil {
						return "", err
					}
					defer c.Close()
					if _, err := c.Write([]byte(line + "\r\n")); err != nil {
						return "", err
					}
					b := make([]byte, 64)
					n, err := c.Read(b)
					return strings.TrimSpace(string(b[:n])), err
				}
				SleepUntil(2 * s)
				done := make(chan struct{})
				go func() {
					defer close(done)
					if _, err := ask("note"); err == nil {
						noted = Now().Truncate(s)
					}
				}()
				SleepUntil(2*s + s/2)
				read, err := ask("read")
				if err != nil {
					return err
				}
				Equal(t, "the answer to a read at 2.5 s", read, test.read)
				<-done
				return nil
			}))
			cfg.Nodes = Nodes("scribe", 1)
			AllFaultsStruck(t, RunWorld(t, WithFaults(cfg, test.faults...)))
			Equal(t, "when the note was answered", noted, test.noted)
		})
	}
}

// The fault is refused for a node that has no disk, or whose server does not simulate a
// stall of its disk.
func TestDiskStallIsRefused(t *testing.T) {
	top := sim.Topology{
		Clients: map[string]bool{"client-1": true},
		Nodes: map[string]sim.Node{
			"paper": {System: "scribe"}, "slate": {System: "scribe", Persistence: "slate"}, "sand": {System: "scribe", Persistence: "sand"},
			"bard": {System: "bard"},
		},
	}
	// By node: why a stall of its disk is refused; "" if it is allowed.
	for node, want := range map[string]string{
		"paper":    "",
		"slate":    "disk-stall: slate is a scribe with persistence slate: if its disk stalls, it writes on",
		"sand":     "disk-stall: sand is a scribe with persistence sand: if its disk stalls, the node continues or stops; if it stops, use a pause of the node instead",
		"bard":     "disk-stall: bard is a bard, which has no disk",
		"client-1": "disk-stall: client-1 is not a node; name the node whose disk stalls",
		"":         "disk-stall: name a process",
	} {
		got := ""
		if err := (sim.Fault{Action: &sim.DiskStall{Node: node}}).Check(top); err != nil {
			got = err.Error()
		}
		Equal(t, fmt.Sprintf("the error for the node %q", node), got, want)
	}
}
