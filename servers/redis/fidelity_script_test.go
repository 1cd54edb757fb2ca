package redis_test

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A fidelityCase is a test case for the answers of a Redis server: a script with one step
// in each line. The same script runs on one of our nodes and on a real server.
//
//	GET k        => $1 v          a command and its reply, in the words of RESP
//	WAIT 1 100   => :0 after 1s   the reply comes when that has passed, not before
//	PTTL k       => :0; ours :-2  a known difference: our nodes answer :-2
//	pass 30s                      time passes
//	jump -10s                     the server's wall clock is set forward or back
//	kill, power-loss, shutdown    the server ends in this way
//	restart                       the server starts again
//
// Line ends in a reply are written as spaces. If an expected reply ends with …, only its
// beginning is compared. A word in single quotes may contain spaces. {now+30s} is
// the time that the server's wall clock will show in 30 s, in milliseconds, and {unix+30s}
// for the same in seconds. {lua:name} is one of the scripts below, and {sha:name} its
// digest. At the beginning, the wall clock is half a millisecond past a whole second.
type fidelityCase struct {
	name        string
	persistence sim.Persistence
	script      string
	// differs says why our nodes answer differently than a real server; "" if they give the
	// same answers.
	differs string
	// needsInt64 reports that the case works only where an int has 64 bits, because
	// miniredis counts in ints.
	needsInt64 bool
}

// luaScripts are scripts as the lock libraries send them, and some that fail.
var luaScripts = map[string]string{
	"unlock":  `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end`,
	"extend":  `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) else return 0 end`,
	"mint":    `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("INCR", KEYS[2]) else return false end`,
	"reenter": `local n = redis.call("HINCRBY", KEYS[1], ARGV[1], 1); redis.call("PEXPIRE", KEYS[1], ARGV[2]); return {n, redis.call("PTTL", KEYS[1]), redis.call("TTL", KEYS[1])}`,
	"fails":   `redis.call("SET", KEYS[1], "written"); return redis.call("INCR", KEYS[1])`,
	"catches": `return redis.pcall("INCR", KEYS[1])`,
	"broken":  `return (`,
	"lines":   "local function f()\n redis.call('INCR', 'str') end\n\nf()",
}

// A fidelityServer is a server that a script runs on.
type fidelityServer interface {
	// ask sends a command and returns the reply. If after is positive, ask fails if the
	// reply arrives before that time has passed.
	ask(command []string, after time.Duration) (string, error)
	pass(time.Duration) error // lets time pass
	jump(time.Duration) error // sets the wall clock forward, or back if negative
	end(trace.Crash) error    // ends the server in this way
	restart() error
	wall() time.Time // what the wall clock shows
}

// A fidelityStep is one line of a script: a command, or an event such as a restart.
type fidelityStep struct {
	line    string
	command []string
	reply   string                     // of a real server, and of our nodes if ours is ""
	ours    string                     // the different reply of our nodes; "" if there is no difference
	after   time.Duration              // how long after the command the reply comes; 0 if immediately
	event   func(fidelityServer) error // nil if the line is a command
}

var (
	scriptWords       = regexp.MustCompile(`'[^']*'|\S+`)
	scriptReply       = regexp.MustCompile(`^(.*?)(?: after (\S+))?(?:; ours (.*))?$`)
	scriptPlaceholder = regexp.MustCompile(`\{(now|unix|lua|sha)(?::(\w+)|([-+]\w+))\}`)
)

// steps parses the script.
func (f fidelityCase) steps() (steps []fidelityStep, err error) {
	for line := range strings.Lines(f.script) {
		s := fidelityStep{line: strings.TrimSpace(line)}
		if s.line == "" {
			continue
		}
		if command, reply, asks := strings.Cut(s.line, "=>"); asks {
			for _, word := range scriptWords.FindAllString(command, -1) {
				s.command = append(s.command, strings.Trim(word, "'"))
			}
			m := scriptReply.FindStringSubmatch(strings.TrimSpace(reply))
			s.reply, s.ours = m[1], m[3]
			if m[2] != "" {
				s.after, err = time.ParseDuration(m[2])
			}
		} else {
			s.event, err = parseEvent(s.line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.line, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// parseEvent parses a line that is not a command.
func parseEvent(line string) (func(fidelityServer) error, error) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "pass", "jump":
		by, err := time.ParseDuration(rest)
		if verb == "jump" {
			return func(s fidelityServer) error { return s.jump(by) }, err
		}
		return func(s fidelityServer) error { return s.pass(by) }, err
	case string(trace.Kill), string(trace.PowerLoss), string(trace.Shutdown):
		return func(s fidelityServer) error { return s.end(trace.Crash(verb)) }, nil
	case "restart":
		return fidelityServer.restart, nil
	}
	return nil, errors.New("no such step; a command needs => and its reply")
}

// dependsOnTime reports whether a script depends on how much time passes.
func (f fidelityCase) dependsOnTime() bool {
	return slices.ContainsFunc([]string{"pass ", "jump ", "TTL ", "{now", "{unix", "PTTL", " after ", "power-loss"}, func(word string) bool {
		return strings.Contains(f.script, word)
	})
}

// run runs the script on a server, and compares the answers. simulated reports whether the
// server is one of our nodes, whose answers may differ.
func (f fidelityCase) run(t *testing.T, s fidelityServer, simulated bool) error {
	steps, err := f.steps()
	if err != nil {
		return err
	}
	differs := false
	for i, step := range steps {
		if step.event != nil {
			if err := step.event(s); err != nil {
				return fmt.Errorf("step %d, %s: %w", i+1, step.line, err)
			}
			continue
		}
		want := step.reply
		if step.ours != "" {
			differs = true
			if simulated {
				want = step.ours
			}
		}
		command := make([]string, len(step.command))
		for i, word := range step.command {
			command[i] = fill(word, s)
		}
		want = fill(want, s)
		got, err := s.ask(command, step.after)
		if err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, step.line, err)
		}
		got = strings.TrimSpace(strings.ReplaceAll(got, "\r\n", " "))
		beginning, shortened := strings.CutSuffix(want, "…")
		if got != want && !(shortened && strings.HasPrefix(got, beginning)) {
			t.Errorf("step %d, %s\n got %s\nwant %s", i+1, step.line, got, want)
		}
	}
	if differs != (f.differs != "") {
		t.Errorf("the script has a line with \"; ours\": %t, but differs is %q; want both or neither", differs, f.differs)
	}
	return nil
}

// fill replaces the placeholders in a word or a reply, such as {now+30s}.
func fill(text string, s fidelityServer) string {
	return scriptPlaceholder.ReplaceAllStringFunc(text, func(p string) string {
		m := scriptPlaceholder.FindStringSubmatch(p)
		switch m[1] {
		case "lua":
			return luaScripts[m[2]]
		case "sha":
			return fmt.Sprintf("%x", sha1.Sum([]byte(luaScripts[m[2]])))
		}
		by, err := time.ParseDuration(m[3])
		if err != nil {
			panic(err)
		}
		at := s.wall().Add(by)
		if m[1] == "unix" {
			return fmt.Sprint(at.Unix())
		}
		return fmt.Sprint(at.UnixMilli())
	})
}
