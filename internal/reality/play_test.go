package reality_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/reality"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// roleVariable tells this test binary, in a process of its own, which program to be.
const roleVariable = "LOCKSIM_REALITY_ROLE"

// This test binary also serves as the guard, as the storage and as the clients' programs.
func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); {
	case role == "guard":
		reality.Guard(os.Stdin)
	case role == "storage":
		panic(reality.ServeStorage(os.Stdout, os.Args[1], storage.Policy(os.Args[2])))
	case role != "":
		programs[role].run()
	default:
		os.Exit(m.Run())
	}
}

// A program is a client's program with a lock on the first Redis server.
type program struct {
	// prefix comes before the name of the lock in its key.
	prefix string
	// ready completes the answer to init.
	ready func(c reality.Command, a *reality.Answer)
	// answers replaces the answer to some types of commands.
	answers map[string]func(*server, reality.Command) reality.Answer
}

// programs are the clients' programs of the tests.
var programs = map[string]program{}

// A server is a program's connection to a server.
type server struct {
	conn    net.Conn
	answers *bufio.Reader
	key     string
	ttl     int
}

// run answers commands until there are no more.
func (p program) run() {
	s := &server{}
	in := json.NewDecoder(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for c := (reality.Command{}); in.Decode(&c) == nil; c = (reality.Command{}) {
		answer := reality.Answer{Type: reality.OK}
		switch replaced := p.answers[c.Type]; {
		case replaced != nil:
			answer = replaced(s, c)
		case c.Type == reality.Init:
			s.open(c.Servers[0])
			s.key, s.ttl = p.prefix+c.Key, int(c.TTL)
			answer.Type = reality.Ready
			if p.ready != nil {
				p.ready(c, &answer)
			}
		case c.Type == reality.Acquire:
			answer.Type = reality.Acquired
			if s.ask("SET", s.key, c.Client, "NX", "PX", fmt.Sprint(s.ttl)) != "+OK" {
				answer = reality.Answer{Type: reality.Failed, Error: "taken"}
			}
		case c.Type == reality.Extend:
			s.ask("PEXPIRE", s.key, fmt.Sprint(s.ttl))
			answer.Type = reality.Extended
		case c.Type == reality.Release:
			s.ask("DEL", s.key)
			answer.Type = reality.Released
		}
		_ = out.Encode(answer)
	}
}

// open connects to a server.
func (s *server) open(address string) {
	var err error
	if s.conn, err = net.Dial("tcp", address); err != nil {
		panic(err)
	}
	s.answers = bufio.NewReader(s.conn)
}

// ask sends a command and returns the first line of the answer.
func (s *server) ask(words ...string) string {
	s.send(words...)
	return s.readLine()
}

// send sends a command.
func (s *server) send(words ...string) {
	text := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	_, _ = s.conn.Write([]byte(text))
}

// readLine reads one line of an answer.
func (s *server) readLine() string {
	line, _ := s.answers.ReadString('\n')
	return strings.TrimSpace(line)
}

// requireRedis skips a test that plays a scenario if there is no Redis server, unless there
// must be one.
func requireRedis(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes real time")
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_REDIS") != "" {
			t.Fatal(err)
		}
		t.Skip("there is no redis-server")
	}
}

// play plays a scenario with a program of this file, without fencing. The lock's TTL is
// 400 ms, and there is one server.
func play(t *testing.T, name, scenario string, changes ...func(*sim.Config)) (*trace.Trace, error) {
	t.Helper()
	return playCommand(t, func() *exec.Cmd { return ownCommand(t, name) }, scenario, changes...)
}

// playCommand is play with the command of a program.
func playCommand(t *testing.T, command func() *exec.Cmd, scenario string, changes ...func(*sim.Config)) (*trace.Trace, error) {
	t.Helper()
	requireRedis(t)
	cfg := worldOf(t, scenario)
	for _, change := range changes {
		change(&cfg)
	}
	t.Setenv("TMPDIR", "/tmp") // the path of a socket must be short
	return reality.Run(t.Context(), cfg, reality.Options{
		Program: func(string) *exec.Cmd { return command() },
		Guard:   func() *exec.Cmd { return ownCommand(t, "guard") },
		Storage: func(folder string, policy storage.Policy) *exec.Cmd {
			c := ownCommand(t, "storage")
			c.Args = append(c.Args, folder, string(policy))
			return c
		},
		Foreign: true,
		Setup:   10 * time.Second,
	})
}

// worldOf returns the world of a scenario, whose lock has its key on each of the servers.
func worldOf(t *testing.T, scenario string) sim.Config {
	t.Helper()
	s, err := scenarios.Parse("test.yaml", []byte("title: A test\nlock: {kind: single, ttl: 400ms, nodes: 1}\n"+scenario))
	if err != nil {
		t.Fatal(err)
	}
	kind := locks.Kind{
		Name: "test", System: locks.Redis,
		Slots: func(key string, nodes int) (slots []locks.Slot, quorum int) {
			for i := range nodes {
				slots = append(slots, locks.Slot{Node: i, Key: key})
			}
			return slots, nodes/2 + 1
		},
		New: func(*locks.Env) (locks.Lock, error) { return nil, fmt.Errorf("the lock cannot be simulated") },
	}
	cfg, err := s.Variants[0].Config(scenarios.Options{Kind: kind, Fencing: scenarios.Off})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// ownCommand returns a command that starts this test binary in a role.
func ownCommand(t *testing.T, role string) *exec.Cmd {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(own)
	c.Env = append(os.Environ(), roleVariable+"="+role)
	return c
}

// mustPlay plays a scenario and fails the test if it cannot be played.
func mustPlay(t *testing.T, name, scenario string, changes ...func(*sim.Config)) *trace.Trace {
	t.Helper()
	tr, err := play(t, name, scenario, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
