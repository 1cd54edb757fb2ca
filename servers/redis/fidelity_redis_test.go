//go:build unix

package redis_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	server "github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A real Redis server gives the answers in the fidelity cases. Each case has a server of
// its own, on a socket in its own directory.
func TestFidelityOfRealRedis(t *testing.T) {
	version, err := exec.Command("redis-server", "--version").Output()
	if err != nil {
		skip(t, "there is no Redis server to compare with (%v); on Debian and Ubuntu: apt-get install redis-server", err)
	}
	m := regexp.MustCompile(`v=(\d+)\.(\d+)`).FindSubmatch(version)
	if m == nil {
		t.Fatalf("redis-server --version says %q", version)
	}
	major, _ := strconv.Atoi(string(m[1]))
	minor, _ := strconv.Atoi(string(m[2]))
	if major < 7 {
		skip(t, "the cases have the answers of Redis 7 and later, and this is %s", version)
	}
	cases := slices.Concat(fidelityCases, luaFidelityCases)
	if major > 8 || major == 8 && minor >= 4 {
		cases = append(cases, newFidelityCases...)
	}
	preload, err := compilePreload(t)
	for _, f := range cases {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			if preload == "" && f.dependsOnTime() {
				skip(t, "the server's clock cannot be set: %v", err)
			}
			s := &realRedis{t: t, preload: preload, persistence: f.persistence, dir: t.TempDir()}
			if err := s.begin(); err != nil {
				t.Fatal(err)
			}
			if err := f.run(t, s, false); err != nil {
				t.Error(err)
			}
		})
	}
}

// skip skips a test. If a real Redis is required, as in CI, it fails the test instead.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("LOCKSIM_REQUIRE_REDIS") != "" {
		t.Fatalf("LOCKSIM_REQUIRE_REDIS is set, but "+format, args...)
	}
	t.Skipf(format, args...)
}

// compilePreload compiles the library that the server is started with, and returns its
// path. With the library, the test controls the server's clock.
func compilePreload(t *testing.T) (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("the library needs Linux")
	}
	library := filepath.Join(t.TempDir(), "redis.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", library, "testdata/redis.c").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compiling testdata/redis.c: %w\n%s", err, out)
	}
	return library, nil
}

// A real Redis server gives the answers in streams.
func TestProtocolOfRealRedis(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		skip(t, "there is no Redis server to compare with: %v", err)
	}
	s := &realRedis{t: t, dir: t.TempDir()}
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	for _, stream := range streams {
		c, err := net.Dial("unix", s.socket)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.check(c); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}

// A realRedis is a redis-server whose wall clock the test controls.
type realRedis struct {
	t           *testing.T
	preload     string // the library from compilePreload; "" if the server uses the machine's clock
	persistence sim.Persistence
	dir         string // its files are in data
	socket      string

	now    time.Time
	clock  *os.File
	server *exec.Cmd
	log    bytes.Buffer
	conn   net.Conn
	// control is a connection for commands that do not belong to the script.
	control net.Conn
}

func (s *realRedis) file(name string) string { return filepath.Join(s.dir, name) }

// begin starts a server for the first time.
func (s *realRedis) begin() error {
	// The path of a socket must be short.
	short, err := os.MkdirTemp("", "redis")
	if err != nil {
		return err
	}
	s.t.Cleanup(func() {
		s.kill()
		os.RemoveAll(short)
		if s.t.Failed() {
			s.t.Logf("the server's log:\n%s", &s.log)
		}
	})
	s.socket = filepath.Join(short, "s")
	if s.clock, err = os.Create(s.file("clock")); err != nil {
		return err
	}
	s.t.Cleanup(func() { s.clock.Close() })
	if err := errors.Join(os.Mkdir(s.file("data"), 0o700), os.WriteFile(s.file("synced"), nil, 0o600)); err != nil {
		return err
	}
	if err := s.setWall(time.Date(2000, 1, 1, 0, 0, 0, 500_000, time.UTC)); err != nil {
		return err
	}
	return s.restart()
}

// setWall sets the server's clock.
func (s *realRedis) setWall(now time.Time) error {
	s.now = now
	_, err := s.clock.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(now.UnixNano())), 0)
	return err
}

func (s *realRedis) wall() time.Time {
	if s.preload == "" {
		return time.Now()
	}
	return s.now
}

func (s *realRedis) restart() error {
	settings := map[sim.Persistence][]string{
		"":                {"--save", ""},
		sim.NoPersistence: {"--save", ""},
		server.Snapshots:  {"--save", "3600 1 300 100 60 10000"},
		server.Everysec:   {"--save", "", "--appendonly", "yes", "--appendfsync", "everysec"},
		server.Always:     {"--save", "", "--appendonly", "yes", "--appendfsync", "always"},
	}[s.persistence]
	s.server = exec.Command("redis-server", append([]string{"--port", "0", "--unixsocket", s.socket, "--dir", s.file("data")}, settings...)...)
	s.server.Stdout, s.server.Stderr = &s.log, &s.log
	if s.preload != "" {
		s.server.Env = append(os.Environ(), "LD_PRELOAD="+s.preload, "LOCKSIM_CLOCK="+s.file("clock"), "LOCKSIM_SYNCED="+s.file("synced"))
	}
	if err := s.server.Start(); err != nil {
		return err
	}
	if err := s.waitUntil("it answers", func() (ok bool, err error) {
		if s.control, err = net.Dial("unix", s.socket); err != nil {
			return false, nil // not yet
		}
		pong, err := sendCommand(s.control, []string{"PING"})
		if ok = pong == "+PONG\r\n"; !ok {
			s.control.Close()
		}
		return ok, err
	}); err != nil {
		return err
	}
	var err error
	s.conn, err = net.Dial("unix", s.socket)
	return err
}

// waitUntil checks repeatedly whether a condition is met. what describes the condition; its
// subject "it" is the server.
func (s *realRedis) waitUntil(what string, check func() (bool, error)) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if ok, err := check(); ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("after %v, this is still not true of the server: %s", patience, what)
}

func (s *realRedis) ask(command []string, after time.Duration) (string, error) {
	if after == 0 {
		return sendCommand(s.conn, command)
	}
	if _, err := s.conn.Write(respCommand(command)); err != nil {
		return "", err
	}
	// Wait until the server reports that the client is blocked: then the client has no
	// answer yet.
	if err := s.waitUntil("it makes the client wait", func() (bool, error) {
		info, err := sendCommand(s.control, []string{"INFO", "clients"})
		return strings.Contains(info, "blocked_clients:1\r\n"), err
	}); err != nil {
		return "", err
	}
	if err := s.pass(after - time.Millisecond); err != nil {
		return "", err
	}
	info, err := sendCommand(s.control, []string{"INFO", "clients"})
	if err != nil {
		return "", err
	}
	if !strings.Contains(info, "blocked_clients:1\r\n") {
		return "", fmt.Errorf("the reply came at least a millisecond before %v had passed", after)
	}
	if err := s.pass(2 * time.Millisecond); err != nil {
		return "", err
	}
	return reply(s.conn)
}

func (s *realRedis) pass(d time.Duration) error {
	if err := s.setWall(s.now.Add(d)); err != nil || s.server == nil {
		return err
	}
	return s.settle()
}

func (s *realRedis) jump(d time.Duration) error { return s.pass(d) }

// settle waits until the server has noticed the new time, and done the background work that
// was due. Only this background work updates Redis's LRU clock, which counts whole seconds.
func (s *realRedis) settle() error {
	if s.preload == "" {
		return nil
	}
	noticed := fmt.Sprintf("lru_clock:%d\r\n", s.now.Unix()&(1<<24-1))
	return s.waitUntil("it has noticed the time", func() (bool, error) {
		info, err := sendCommand(s.control, []string{"INFO"})
		return strings.Contains(info, noticed) &&
			strings.Contains(info, "rdb_bgsave_in_progress:0\r\n") &&
			!regexp.MustCompile(`aof_pending_bio_fsync:[1-9]`).MatchString(info), err
	})
}

func (s *realRedis) end(how trace.Crash) error {
	if err := s.settle(); err != nil {
		return err
	}
	if how == trace.Shutdown {
		if _, err := s.control.Write(respCommand([]string{"SHUTDOWN"})); err != nil {
			return err
		}
		stop := time.AfterFunc(patience, func() { s.server.Process.Kill() })
		defer stop.Stop()
		err := s.server.Wait()
		s.kill()
		return err
	}
	s.kill()
	if how == trace.PowerLoss {
		return s.dropUnsynced()
	}
	return nil
}

// kill ends the server as kill -9 does, if it is still running.
func (s *realRedis) kill() {
	if s.server == nil {
		return
	}
	s.conn.Close()
	s.control.Close()
	s.server.Process.Kill()
	s.server.Wait()
	s.server = nil
}

// dropUnsynced removes from the files what was never synced, as a power loss does.
func (s *realRedis) dropUnsynced() error {
	notes, err := os.ReadFile(s.file("synced"))
	if err != nil {
		return err
	}
	synced := map[uint64]int64{} // sizes, by inode
	for line := range strings.Lines(string(notes)) {
		var inode uint64
		var size int64
		if _, err := fmt.Sscan(line, &inode, &size); err != nil {
			return err
		}
		synced[inode] = size
	}
	return filepath.WalkDir(s.file("data"), func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Stat(path, &st); err != nil {
			return err
		}
		return os.Truncate(path, min(st.Size, synced[st.Ino]))
	})
}
