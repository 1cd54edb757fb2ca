package reality

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func init() { builders[locks.Postgres] = newPostgres }

// A postgresServer is a PostgreSQL server that listens on a Unix socket in its folder.
type postgresServer struct {
	r              *run
	cfg            sim.Node
	folder         string
	programs       string // the folder with PostgreSQL's programs
	programVersion string // the program and its version
	child          atomic.Pointer[child]
	// probe is the harness's own session.
	probe  net.Conn
	answer *bufio.Reader
}

// newPostgres makes the server of a node, with an empty database.
func newPostgres(r *run, cfg sim.Node, folder string) (server, error) {
	program, err := findPostgres()
	if err != nil {
		return nil, fmt.Errorf("%s needs PostgreSQL, whose program initdb is not found: %w", cfg.Name, err)
	}
	s := &postgresServer{r: r, cfg: cfg, folder: folder, programs: filepath.Dir(program), programVersion: "PostgreSQL"}
	if err := giveToServer(folder); err != nil {
		return nil, err
	}
	if err := s.makeData(); err != nil {
		return nil, err
	}
	if err := s.clockFile().set(0); err != nil {
		return nil, err
	}
	if version, err := os.ReadFile(filepath.Join(s.data(), "PG_VERSION")); err == nil {
		s.programVersion += " " + strings.TrimSpace(string(version))
	}
	return s, nil
}

// makeData makes an empty database, which takes seconds. Only the first server of a run does
// that; the others copy its files, before it is started.
func (s *postgresServer) makeData() error {
	for _, n := range s.r.nodes {
		if first, ok := n.server.(*postgresServer); ok {
			c := exec.Command("cp", "-a", first.data(), s.data())
			runAsServer(c)
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("cannot copy an empty database: %w: %s", err, out)
			}
			return nil
		}
	}
	out, err := s.command("initdb", "--pgdata", s.data(), "--username", "locksim", "--auth", "trust", "--no-sync", "--encoding", "UTF8").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// findPostgres finds the program initdb. Debian keeps it out of the PATH, in a folder for
// each version.
func findPostgres() (string, error) {
	if program, err := exec.LookPath("initdb"); err == nil {
		return program, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", exec.ErrNotFound
	}
	slices.Sort(found)
	return found[len(found)-1], nil
}

func (s *postgresServer) clockFile() clockFile {
	return clockFile(filepath.Join(s.folder, "clock"))
}
func (s *postgresServer) data() string    { return filepath.Join(s.folder, "data") }
func (s *postgresServer) version() string { return s.programVersion }
func (s *postgresServer) process() *child { return s.child.Load() }
func (s *postgresServer) address() (network, address string) {
	return "unix", filepath.Join(s.folder, ".s.PGSQL.5432")
}

// shutDown implements [server]. The smart shutdown, on SIGTERM, would wait until all clients
// have closed their sessions.
func (s *postgresServer) shutDown() { shutDownFast(s.process().cmd.Process.Pid) }

// command returns a command with one of PostgreSQL's programs, which refuse to run as root.
func (s *postgresServer) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.programs, name), args...)
	c.Dir = s.folder
	c.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	runAsServer(c)
	return c
}

// start implements [server]. The database is called locksim, and so is its user.
func (s *postgresServer) start() error {
	// The file that a killed server leaves behind would keep the new one from starting.
	_ = os.Remove(filepath.Join(s.data(), "postmaster.pid"))
	// The shared memory is in files of the folder, so that nothing of it is left after a kill.
	c := s.command("postgres", "-D", s.data(), "-k", s.folder, "-h", "", "-F", "-c", "dynamic_shared_memory_type=mmap")
	if s.r.setsClock(s.cfg.Name) {
		settable, err := s.clockFile().environment(forOneThread)
		if err != nil {
			return err
		}
		c.Env = append(c.Env, settable...)
	}
	_, socket := s.address()
	if err := checkSocket(socket); err != nil {
		return err
	}
	child, err := s.r.guard.startServer(c)
	if err != nil {
		return err
	}
	s.child.Store(child)
	for deadline := time.Now().Add(s.r.options.Setup); ; time.Sleep(5 * time.Millisecond) {
		if err = s.connect("locksim"); err == nil {
			return nil
		}
		if strings.Contains(err.Error(), "does not exist") && s.connect("postgres") == nil {
			if _, err = s.query("CREATE DATABASE locksim"); err != nil {
				return err
			}
			s.probe.Close()
			continue
		}
		switch {
		case child.hasExited():
			return fmt.Errorf("%s ended at once%s", s.programVersion, child.lastWords())
		case time.Now().After(deadline):
			return fmt.Errorf("%s does not answer: %w", s.programVersion, err)
		}
	}
}

// connect opens the harness's own session with a database.
func (s *postgresServer) connect(database string) (err error) {
	network, address := s.address()
	if s.probe, err = net.Dial(network, address); err != nil {
		return err
	}
	const version3 = 3 << 16
	body := binary.BigEndian.AppendUint32(nil, version3)
	body = append(body, "user\x00locksim\x00database\x00"+database+"\x00\x00"...)
	startup := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
	s.answer = bufio.NewReader(s.probe)
	if _, err = s.probe.Write(startup); err == nil {
		_, err = s.readRows()
	}
	if err != nil {
		s.probe.Close()
	}
	return err
}

// query sends a statement, and returns the rows of the result.
func (s *postgresServer) query(sql string) ([][]string, error) {
	message := append([]byte{'Q'}, binary.BigEndian.AppendUint32(nil, uint32(len(sql)+5))...)
	message = append(append(message, sql...), 0)
	if _, err := s.probe.Write(message); err != nil {
		return nil, err
	}
	return s.readRows()
}

// readRows reads messages until the server is ready for the next statement.
func (s *postgresServer) readRows() (rows [][]string, err error) {
	header := make([]byte, 5)
	for {
		if _, err := io.ReadFull(s.answer, header); err != nil {
			return nil, err
		}
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(s.answer, body); err != nil {
			return nil, err
		}
		switch header[0] {
		case 'D':
			rows = append(rows, parseRow(body))
		case 'E':
			err = errors.New(errorField(body, 'M'))
			if errorField(body, 'S') == "FATAL" {
				return nil, err
			}
		case 'Z':
			return rows, err
		}
	}
}

// parseRow returns the values of a DataRow; NULL is "".
func parseRow(body []byte) (values []string) {
	for rest := body[2:]; len(rest) >= 4; {
		n := int32(binary.BigEndian.Uint32(rest))
		rest = rest[4:]
		if n < 0 {
			values = append(values, "")
			continue
		}
		values = append(values, string(rest[:n]))
		rest = rest[n:]
	}
	return values
}

// errorField returns a field of an ErrorResponse.
func errorField(body []byte, field byte) string {
	for _, part := range strings.Split(string(body), "\x00") {
		if part != "" && part[0] == field {
			return part[1:]
		}
	}
	return ""
}

// readLeases returns the rows of the table of leases that are held and have not expired,
// and readAdvisory the advisory locks that are held. Both return a key, a value, and the
// end in microseconds since 1970.
const (
	readTime   = `SELECT floor(extract(epoch from clock_timestamp()) * 1000000)::bigint`
	hasLeases  = `SELECT to_regclass('locks')`
	readLeases = `SELECT 'locks/' || name, holder, floor(extract(epoch from expires_at) * 1000000)::bigint
FROM locks WHERE holder IS NOT NULL AND expires_at > clock_timestamp() AND expires_at < 'infinity'`
	readAdvisory = `SELECT 'advisory/' || ((classid::bigint << 32) | objid::bigint), 'session ' || pid, ''
FROM pg_locks WHERE locktype = 'advisory' AND granted`
)

// snapshot implements [keeper].
func (s *postgresServer) snapshot() (snapshot, error) {
	found := snapshot{keys: map[string]entry{}}
	now, err := s.query(readTime)
	if err != nil || len(now) != 1 {
		return found, fmt.Errorf("the query for the time failed: %w", err)
	}
	micros, err := strconv.ParseInt(now[0][0], 10, 64)
	if err != nil {
		return found, err
	}
	found.at = time.UnixMicro(micros)
	queries := []string{readAdvisory}
	if table, err := s.query(hasLeases); err != nil {
		return found, err
	} else if len(table) == 1 && table[0][0] != "" {
		queries = append(queries, readLeases)
	}
	for _, q := range queries {
		rows, err := s.query(q)
		if err != nil {
			return found, err
		}
		for _, row := range rows {
			e := entry{value: row[1]}
			if row[2] != "" {
				micros, err := strconv.ParseInt(row[2], 10, 64)
				if err != nil {
					return found, err
				}
				e.expires = time.UnixMicro(micros)
			}
			found.keys[row[0]] = e
		}
	}
	return found, nil
}

// holdsByConnection implements [keeper]: an advisory lock ends with its session.
func (s *postgresServer) holdsByConnection() bool { return true }

// cutter implements [server].
func (s *postgresServer) cutter() cutter {
	system, _ := sim.LookupSystem(locks.Postgres)
	return &postgresCutter{Framer: system.Framer(s.r.names)}
}

// A postgresCutter cuts the bytes of a session. A request is everything up to a Sync, and
// an answer is everything up to ReadyForQuery.
type postgresCutter struct{ sim.Framer }

func (c *postgresCutter) answerSize(b []byte) (size int) {
	for size < len(b) {
		if len(b)-size < 5 {
			if size == 0 && len(b) == 1 && b[0] == 'N' { // the answer to the question whether there is TLS
				return 1
			}
			return 0
		}
		kind, n := b[size], int(binary.BigEndian.Uint32(b[size+1:]))
		if size+1+n > len(b) {
			return 0
		}
		size += 1 + n
		if kind == 'Z' {
			return size
		}
		if kind == 'E' && strings.Contains(string(b[size-n:size]), "\x00VFATAL\x00") || kind == 'E' && strings.Contains(string(b[:size]), "SFATAL\x00") {
			return size // the server closes the session
		}
	}
	return 0
}

// read implements [cutter]: each message answers the oldest request, because the server sends
// nothing unasked.
func (c *postgresCutter) read(b []byte, _ []*message) reading {
	return reading{text: c.describeAnswer(b)}
}

// expect implements [cutter]: each request is answered.
func (c *postgresCutter) expect(asked []*message, m *message) []*message { return append(asked, m) }

// describeAnswer returns the tag of the command that was completed, or the error.
func (c *postgresCutter) describeAnswer(b []byte) string {
	text := ""
	for rest := b; len(rest) >= 5; {
		n := min(int(binary.BigEndian.Uint32(rest[1:])), len(rest)-1)
		switch body := rest[5 : 1+n]; rest[0] {
		case 'C':
			text = strings.TrimRight(string(body), "\x00")
		case 'E':
			text = errorField(body, 'M')
		}
		rest = rest[1+n:]
	}
	return text
}

// isAnswered implements [cutter]. The locks that can be played try once and never wait for
// another session.
func (c *postgresCutter) isAnswered(f sim.Frame) bool {
	return !strings.HasPrefix(f.Text, trace.CancelPrefix) && f.Text != trace.EndOfConnection
}
