package reality

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// This file sets the wall clocks of servers and clients. A process whose clock is set runs with
// libfaketime (https://github.com/wolfcw/libfaketime), which replaces the functions that return
// the time. A program in Go asks the kernel itself and does not notice, and a Redis server ends
// when its clock moves in this way. So only the clocks of PostgreSQL servers can be set, and
// those of clients whose programs are in another language.

// A clockSetter is a process whose wall clock a fault can set.
type clockSetter interface {
	// jump sets the clock forward by a duration, or back if the duration is negative. The mutex
	// is held.
	jump(by time.Duration)
}

// A clockFile is the path of a file from which libfaketime reads the wall clock of a process,
// each time that the process reads the clock.
type clockFile string

// set makes the clock be ahead of this machine's clock by a duration, or behind it if the
// duration is negative. The process never sees a file that is half written.
func (f clockFile) set(ahead time.Duration) error {
	next := string(f) + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+.9f\n", ahead.Seconds()), 0o644); err != nil {
		return err
	}
	return os.Rename(next, string(f))
}

// environment returns the variables with which a process reads its wall clock from the file.
// The process's monotonic clock stays true. library is the name of a build of libfaketime.
func (f clockFile) environment(library string) ([]string, error) {
	path, err := findLibfaketime(library)
	if err != nil {
		return nil, err
	}
	return []string{
		"LD_PRELOAD=" + path, "FAKETIME_TIMESTAMP_FILE=" + string(f), "FAKETIME_NO_CACHE=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1",
		"FAKETIME_FORCE_MONOTONIC_FIX=0", // with it, waits of Java return at once
	}, nil
}

// These are the builds of libfaketime. PostgreSQL asks for the time also in signal handlers, where
// the build for threads could wait for itself.
const (
	forOneThread = "libfaketime.so.1"
	forThreads   = "libfaketimeMT.so.1"
)

// findLibfaketime returns the path of a build of libfaketime. The packages of Debian, Fedora and
// Alpine have it in these folders.
func findLibfaketime(library string) (string, error) {
	for _, folder := range []string{"/usr/lib/*/faketime/", "/usr/lib*/faketime/"} {
		if found, _ := filepath.Glob(folder + library); len(found) > 0 {
			return found[0], nil
		}
	}
	return "", errors.New(library + " is not found; on Debian its package is libfaketime")
}

// whyNotSet says why a process's wall clock cannot be set; "" if it can, as far as is known before
// the process runs. isForeign says that the clients run another program than locksim.
func whyNotSet(process string, cfg sim.Config, isForeign bool) string {
	isClient := slices.ContainsFunc(cfg.Clients, func(c sim.Client) bool { return c.Name == process })
	isNode := slices.ContainsFunc(cfg.Nodes, func(n sim.Node) bool { return n.Name == process })
	library := forThreads
	switch {
	case isClient && !isForeign:
		return "sets the clock of " + process + ", whose program is in Go and asks the kernel itself for the time; only a program of --client in another language can be played"
	case isNode && cfg.Lock.Kind.System == locks.Postgres:
		library = forOneThread
	case !isClient:
		return "sets the clock of " + process + ", and only the clocks of PostgreSQL servers and of clients can be set"
	}
	if _, err := findLibfaketime(library); err != nil {
		return "sets the clock of " + process + ", and " + err.Error()
	}
	return ""
}

// setsClock reports whether a fault sets a process's wall clock.
func (r *run) setsClock(process string) bool {
	return slices.ContainsFunc(r.cfg.Faults, func(f sim.Fault) bool {
		jump, isJump := f.Action.(*sim.Jump)
		return isJump && jump.Process == process
	})
}

// setClock sets a process's wall clock and records that.
func (r *run) setClock(process string, file clockFile, ahead time.Duration) {
	if err := file.set(ahead); err != nil {
		r.failure = cmp.Or(r.failure, fmt.Errorf("cannot set the clock of %s: %w", process, err))
		return
	}
	now := r.now()
	r.emit(trace.Event{Kind: trace.KindClock, Process: process, Clocks: &trace.Clocks{
		Wall: r.began.Add(now + ahead).UnixNano(), Monotonic: int64(now), Why: trace.Jumped,
	}})
}

// jump implements [clockSetter], and makes the harness look which keys have expired because of
// the jump.
func (n *node) jump(by time.Duration) {
	n.clockAhead += by
	n.r.setClock(n.cfg.Name, n.server.(*postgresServer).clockFile(), n.clockAhead)
	n.clockSetAt = n.r.now()
	for _, e := range n.keys {
		n.planExpiry(e)
	}
	go n.look()
}

// jump implements [clockSetter].
func (c *client) jump(by time.Duration) {
	c.clockAhead += by
	c.r.setClock(c.cfg.Name, c.clock, c.clockAhead)
}

// makeClock makes it possible to set the wall clock of the client's program, if a fault sets that
// clock.
func (c *client) makeClock(program *exec.Cmd) error {
	if !c.r.setsClock(c.cfg.Name) {
		return nil
	}
	folder, err := c.r.processFolder(c.cfg.Name)
	if err != nil {
		return err
	}
	c.clock = clockFile(filepath.Join(folder, "clock"))
	settable, err := c.clock.environment(forThreads)
	if err != nil {
		return err
	}
	program.Env = append(program.Environ(), settable...)
	return c.clock.set(0)
}

// checkClock returns an error if a fault sets the client's clock, and the program would not notice:
// one of its processes asks the kernel itself for the time.
func (c *client) checkClock() error {
	if c.clock == "" {
		return nil
	}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		stat, _ := os.ReadFile(filepath.Join(folder, "stat"))
		// The third field after the name, which is in parentheses, is the process group.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 3 || fields[2] != strconv.Itoa(c.child.cmd.Process.Pid) {
			continue
		}
		maps, err := os.ReadFile(filepath.Join(folder, "maps"))
		if err != nil || len(maps) == 0 {
			continue // the process has ended
		}
		file, _ := os.Readlink(filepath.Join(folder, "exe"))
		_, notGo := buildinfo.ReadFile(filepath.Join(folder, "exe"))
		if notGo == nil || !bytes.Contains(maps, []byte("/"+forThreads)) {
			return fmt.Errorf("the clock of %s cannot be set, because its program %s does not ask libfaketime for the time; neither a program in Go nor one that is linked statically does", c.cfg.Name, file)
		}
	}
	return nil
}

// removeClocks removes what libfaketime leaves behind in shared memory when a process is killed.
// Its files have the number of the process that was started first, which leads the group.
func removeClocks(leader int) {
	for _, prefix := range []string{"faketime_shm_", "sem.faketime_sem_"} {
		os.Remove(filepath.Join("/dev/shm", prefix+strconv.Itoa(leader)))
	}
}
