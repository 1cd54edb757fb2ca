package reality

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// This file sets the wall clock of a server. The server runs with libfaketime
// (https://github.com/wolfcw/libfaketime), which answers its questions for the time. A
// program in Go asks the kernel itself and does not notice, and a Redis server ends when its
// clock moves in this way. So only the clock of a PostgreSQL server can be set.

// A clockSetter is a server whose wall clock can be set.
type clockSetter interface {
	// setClock sets the clock so that it is ahead of the clock of this machine by a
	// duration; if the duration is negative, the clock is behind.
	setClock(ahead time.Duration) error
}

// libfaketimes are where the packages of Debian, Fedora and Alpine have the library.
var libfaketimes = []string{"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1"}

// findLibfaketime returns the path of libfaketime.
func findLibfaketime() (string, error) {
	for _, pattern := range libfaketimes {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0], nil
		}
	}
	return "", errors.New("libfaketime is not found; on Debian its package is libfaketime")
}

// whyNotSet says why a process's wall clock cannot be set; "" if it can.
func whyNotSet(process string, cfg sim.Config) string {
	isProcess := func(n sim.Node) bool { return n.Name == process }
	if cfg.Lock.Kind.System != locks.Postgres || !slices.ContainsFunc(cfg.Nodes, isProcess) {
		return "sets the clock of " + process + ", and only the clock of a PostgreSQL server can be set"
	}
	if _, err := findLibfaketime(); err != nil {
		return "sets the clock of " + process + ", and " + err.Error()
	}
	return ""
}

// setsClock reports whether a fault sets a node's wall clock.
func (r *run) setsClock(node string) bool {
	return slices.ContainsFunc(r.cfg.Faults, func(f sim.Fault) bool {
		jump, isJump := f.Action.(*sim.Jump)
		return isJump && jump.Process == node
	})
}

// jump sets the node's wall clock, and makes the harness look which keys have expired
// because of that. The mutex is held.
func (n *node) jump(by time.Duration) {
	n.clockAhead += by
	if err := n.server.(clockSetter).setClock(n.clockAhead); err != nil {
		n.r.fail(fmt.Errorf("cannot set the clock of %s: %w", n.cfg.Name, err))
		return
	}
	now := n.r.now()
	n.r.emit(trace.Event{Kind: trace.KindClock, Process: n.cfg.Name, Clocks: &trace.Clocks{
		Wall: n.r.began.Add(now + n.clockAhead).UnixNano(), Monotonic: int64(now), Why: trace.Jumped,
	}})
	n.clockSetAt = now
	for _, e := range n.keys {
		n.planExpiry(e)
	}
	go n.look()
}

// clockEnvironment returns the variables with which libfaketime reads the clock of the server
// from a file, at each question for the time.
func (s *postgresServer) clockEnvironment() ([]string, error) {
	library, err := findLibfaketime()
	if err != nil {
		return nil, err
	}
	return []string{"LD_PRELOAD=" + library, "FAKETIME_TIMESTAMP_FILE=" + s.clockFile(), "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}, nil
}

func (s *postgresServer) clockFile() string { return filepath.Join(s.folder, "clock") }

// setClock implements [clockSetter]. The server never sees a file that is half written.
func (s *postgresServer) setClock(ahead time.Duration) error {
	next := s.clockFile() + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+.9f\n", ahead.Seconds()), 0o644); err != nil {
		return err
	}
	return os.Rename(next, s.clockFile())
}
