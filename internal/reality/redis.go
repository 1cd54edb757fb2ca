package reality

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/locksim/locksim/internal/resp"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// builders has, for each kind of server, the function that makes the server of a node.
var builders = map[string]func(r *run, cfg sim.Node, folder string) (server, error){
	locks.Redis: newRedis,
}

// A redisServer is a redis-server that listens on a Unix socket in its folder.
type redisServer struct {
	r              *run
	cfg            sim.Node
	folder         string
	program        string
	programVersion string // the program and its version
	child          atomic.Pointer[child]
	// probe is the harness's own connection.
	probe  net.Conn
	answer *bufio.Reader
}

// newRedis makes the server of a node.
func newRedis(r *run, cfg sim.Node, folder string) (server, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("%s needs redis-server, which is not installed: %w", cfg.Name, err)
	}
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", program, err)
	}
	programVersion := "redis-server"
	if _, rest, ok := strings.Cut(string(out), "v="); ok {
		programVersion += " " + strings.Fields(rest)[0]
	}
	return &redisServer{r: r, cfg: cfg, folder: folder, program: program, programVersion: programVersion}, nil
}

func (s *redisServer) version() string { return s.programVersion }
func (s *redisServer) process() *child { return s.child.Load() }
func (s *redisServer) shutDown()       { shutDown(s.process().cmd.Process.Pid) }
func (s *redisServer) address() (network, address string) {
	return "unix", filepath.Join(s.folder, "redis.sock")
}

// start implements [server].
func (s *redisServer) start() error {
	_, socket := s.address()
	args := []string{
		"--port", "0", "--unixsocket", socket, "--dir", s.folder, "--daemonize", "no",
		"--hz", "100", // looks for expired keys ten times as often as by default
	}
	switch s.cfg.Persistence {
	case "everysec", "always":
		args = append(args, "--save", "", "--appendonly", "yes", "--appendfsync", string(s.cfg.Persistence))
	case "snapshots": // as in the configuration file that comes with Redis
	default:
		args = append(args, "--save", "", "--appendonly", "no")
	}
	if err := checkSocket(socket); err != nil {
		return err
	}
	child, err := s.r.guard.startServer(exec.Command(s.program, args...))
	if err != nil {
		return err
	}
	s.child.Store(child)
	for deadline := time.Now().Add(s.r.options.Setup); ; time.Sleep(2 * time.Millisecond) {
		if s.probe, err = net.Dial("unix", socket); err == nil {
			s.answer = bufio.NewReader(s.probe)
			if _, err = s.command("PING"); err == nil {
				return nil
			}
			s.probe.Close()
		}
		switch {
		case child.hasExited():
			return fmt.Errorf("%s ended at once%s", s.programVersion, child.lastWords())
		case time.Now().After(deadline):
			return fmt.Errorf("%s does not answer: %w", s.programVersion, err)
		}
	}
}

// readKeys is a script that returns the time and, for each key, four words: its name, its
// value, in how many milliseconds it expires, and when, in milliseconds since 1970. Servers
// before Redis 7.0 do not know the fourth.
const readKeys = `
local now = redis.call('TIME')
local all = {tostring(now[1]), tostring(now[2])}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind, value = redis.call('TYPE', key).ok, nil
  if kind == 'string' then value = redis.call('GET', key)
  elseif kind == 'hash' then value = table.concat(redis.call('HGETALL', key), ' ')
  elseif kind == 'list' then value = table.concat(redis.call('LRANGE', key, 0, -1), ' ')
  elseif kind == 'zset' then value = table.concat(redis.call('ZRANGE', key, 0, -1, 'WITHSCORES'), ' ')
  elseif kind == 'set' then local m = redis.call('SMEMBERS', key); table.sort(m); value = table.concat(m, ' ')
  else value = kind end
  all[#all + 1] = key
  all[#all + 1] = value
  all[#all + 1] = tostring(redis.call('PTTL', key))
  local at = redis.pcall('PEXPIRETIME', key)
  all[#all + 1] = type(at) == 'number' and string.format('%.0f', at) or ''
end
return all`

// snapshot implements [keeper].
func (s *redisServer) snapshot() (snapshot, error) {
	words, err := s.command("EVAL", readKeys, "0")
	if err != nil {
		return snapshot{}, err
	}
	if len(words) < 2 || len(words)%4 != 2 {
		return snapshot{}, fmt.Errorf("the script that lists the keys answered %q", words)
	}
	seconds, err1 := strconv.ParseInt(words[0], 10, 64)
	micros, err2 := strconv.ParseInt(words[1], 10, 64)
	if err1 != nil || err2 != nil {
		return snapshot{}, fmt.Errorf("the script that lists the keys answered %q", words)
	}
	found := snapshot{at: time.Unix(seconds, micros*1000), keys: map[string]entry{}}
	for key := range slices.Chunk(words[2:], 4) {
		left, err := strconv.ParseInt(key[2], 10, 64)
		if err != nil {
			return snapshot{}, fmt.Errorf("PTTL of %s is %q", key[0], key[2])
		}
		e := entry{value: key[1]}
		if left >= 0 {
			e.expires = found.at.Add(time.Duration(left) * time.Millisecond)
		}
		if at, err := strconv.ParseInt(key[3], 10, 64); err == nil && at > 0 {
			e.expires = time.UnixMilli(at)
		}
		found.keys[key[0]] = e
	}
	return found, nil
}

// command sends a command on the harness's own connection, and returns the words of the
// answer.
func (s *redisServer) command(words ...string) ([]string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(s.probe, b.String()); err != nil {
		return nil, err
	}
	return readWords(s.answer)
}

// readWords reads one answer, which is a word or an array of words.
func readWords(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, fmt.Errorf("the answer is empty")
	}
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '-':
		return nil, fmt.Errorf("%s", line[1:])
	case '$':
		if n < 0 {
			return []string{""}, nil
		}
		word := make([]byte, n+2)
		if _, err := io.ReadFull(r, word); err != nil {
			return nil, err
		}
		return []string{string(word[:n])}, nil
	case '*', '>':
		var all []string
		for range n {
			words, err := readWords(r)
			if err != nil {
				return nil, err
			}
			all = append(all, words...)
		}
		return all, nil
	}
	return []string{line[1:]}, nil
}

// A redisCutter cuts the bytes of a connection to a Redis server.
type redisCutter struct {
	sim.Framer
	r *run
	// isSubscribed says that the server has confirmed a subscription in RESP 2, where
	// published messages look like answers.
	isSubscribed bool
}

// holdsByConnection implements [keeper]: Redis keeps a key when its client disconnects.
func (s *redisServer) holdsByConnection() bool { return false }

// cutter implements [server].
func (s *redisServer) cutter() cutter {
	system, _ := sim.LookupSystem(locks.Redis)
	return &redisCutter{Framer: system.Framer(s.r.names), r: s.r}
}

func (c *redisCutter) answerSize(b []byte) int { return resp.Size(b) }

// subscriptions are the commands that the server confirms once for each channel.
var subscriptions = []string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"}

// read implements [cutter].
func (c *redisCutter) read(b []byte, asked []*message) reading {
	decoded := reading{completes: -1, text: resp.Describe(b, c.r.names.Value)}
	if c.completes(b, oldestOf(asked)) {
		decoded.completes = 0
	}
	return decoded
}

// oldestOf returns the oldest of the requests that have no answer; zero if there is none.
func oldestOf(asked []*message) sim.Frame {
	if len(asked) == 0 {
		return sim.Frame{}
	}
	return asked[0].body.(sim.Frame)
}

// expect implements [cutter]: each request is answered.
func (c *redisCutter) expect(asked []*message, m *message) []*message { return append(asked, m) }

// completes reports whether a message completes the answer to the oldest request. A subscription is
// confirmed once for each channel, by a message with the command, the channel and the number of
// subscriptions that are left. In RESP 3 the confirmation is a push message, and so is a published
// message.
func (c *redisCutter) completes(b []byte, oldest sim.Frame) bool {
	isPush := b[0] == '>'
	if b[0] != '*' && !isPush {
		if string(b) == "+RESET\r\n" {
			c.isSubscribed = false
		}
		return true
	}
	words, err := readWords(bufio.NewReader(bytes.NewReader(b)))
	if err != nil || len(words) == 0 {
		return !isPush
	}
	if name := strings.ToUpper(words[0]); len(words) == 3 && slices.Contains(subscriptions, name) {
		args, _ := oldest.Body.([]string)
		isAsked := len(args) > 0 && strings.EqualFold(args[0], name)
		if isPush || isAsked || c.isSubscribed {
			c.isSubscribed = !isPush && words[2] != "0"
			return isAsked && (len(args) == 1 || words[1] == args[len(args)-1])
		}
	}
	isPublished := c.isSubscribed && slices.Contains([]string{"message", "pmessage", "smessage"}, words[0])
	return !isPush && !isPublished
}

// isAnswered implements [cutter]: commands that wait for something are not answered soon. A
// subscription changes no key.
func (c *redisCutter) isAnswered(f sim.Frame) bool {
	args, _ := f.Body.([]string)
	if len(args) == 0 {
		return false
	}
	switch name := strings.ToUpper(args[0]); name {
	case "WAIT", "WAITAOF", "MONITOR",
		"BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP":
		return false
	case "XREAD", "XREADGROUP":
		return !slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "BLOCK") })
	default:
		return !slices.Contains(subscriptions, name)
	}
}
