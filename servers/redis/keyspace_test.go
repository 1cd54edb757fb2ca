package redis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// keyEvents returns what happened to keys on a node, one line for each event. An actor is
// written as CLIENT/SECTION: "by" is the client that caused the event, "of" the owner of
// the key, and "prior" the owner of the key that was overwritten.
func keyEvents(tr *trace.Trace, node string) string {
	actor := func(a *trace.Actor) string {
		if a == nil {
			return "nobody"
		}
		return fmt.Sprintf("%s/%d", a.Client, a.Section)
	}
	var lines []string
	for _, ev := range tr.Events {
		if ev.Process != node {
			continue
		}
		switch ev.Kind {
		case trace.KindSet:
			lines = append(lines, fmt.Sprintf("set %s = %s for %v, by %s, prior %s", ev.Key, ev.Value, ev.TTL, actor(ev.By), actor(ev.Prior)))
		case trace.KindTouch:
			lines = append(lines, fmt.Sprintf("touch %s = %s for %v, by %s, of %s", ev.Key, ev.Value, ev.TTL, actor(ev.By), actor(ev.Owner)))
		case trace.KindDelete, trace.KindExpire, trace.KindForget:
			lines = append(lines, fmt.Sprintf("%s %s = %s, by %s, of %s", ev.Kind, ev.Key, ev.Value, actor(ev.By), actor(ev.Owner)))
		}
	}
	return strings.Join(lines, "\n")
}

// commands returns a client that sends commands, one each second, the first one at the
// given time.
func commands(t *testing.T, name string, first time.Duration, commands ...string) sim.Client {
	return Client(t, name, func(ctx context.Context, p *sim.Program) error {
		conn, err := Dial(ctx, p, 0)
		if err != nil {
			return err
		}
		for i, command := range commands {
			SleepUntil(first + time.Duration(i)*time.Second)
			reply, err := Ask(conn, command)
			if err != nil {
				return err
			}
			if strings.HasPrefix(reply, "-") {
				t.Errorf("%s was answered with the error %s", command, reply)
			}
		}
		return p.Clock().Sleep(ctx, time.Second)
	})
}

// The trace shows which client has set a key, which client has changed it, and whose key it
// was before.
func TestKeyEvents(t *testing.T) {
	for _, test := range []struct {
		name string
		// The commands of two clients. The second client sends its commands half a second
		// after the first.
		one, two []string
		want     string
	}{
		{"set and delete", []string{"SET k v", "DEL k"}, nil, `
set k = v for 0s, by one/0, prior nobody
delete k = v, by one/0, of one/0`},
		{"another client deletes the key", []string{"SET k v"}, []string{"DEL k"}, `
set k = v for 0s, by one/0, prior nobody
delete k = v, by two/0, of one/0`},
		{"another client overwrites the key", []string{"SET k v PX 10000"}, []string{"SET k w PX 20000"}, `
set k = v for 10s, by one/0, prior nobody
set k = w for 20s, by two/0, prior one/0`},
		{"SET NX of a key that exists changes nothing", []string{"SET k v"}, []string{"SET k w NX"}, `
set k = v for 0s, by one/0, prior nobody`},
		{"another client changes the expiry", []string{"SET k v PX 10000"}, []string{"PEXPIRE k 20000"}, `
set k = v for 10s, by one/0, prior nobody
touch k = v for 20s, by two/0, of one/0`},
		{"a SET of the same value only changes the expiry", []string{"SET k v PX 10000"}, []string{"SET k v PX 20000"}, `
set k = v for 10s, by one/0, prior nobody
touch k = v for 20s, by two/0, of one/0`},
		{"PERSIST removes the expiry", []string{"SET k v PX 10000"}, []string{"PERSIST k"}, `
set k = v for 10s, by one/0, prior nobody
touch k = v for 0s, by two/0, of one/0`},
		{"reading changes nothing", []string{"SET k v PX 10000"}, []string{"GET k"}, `
set k = v for 10s, by one/0, prior nobody`},
		{"the key expires", []string{"SET k v PX 700", "GET k"}, nil, `
set k = v for 700ms, by one/0, prior nobody
expire k = v, by nobody, of one/0`},
		{"the owner stays the same when clients change the expiry", []string{"SET k v PX 10000", "PEXPIRE k 300"}, []string{"PEXPIRE k 20000"}, `
set k = v for 10s, by one/0, prior nobody
touch k = v for 20s, by two/0, of one/0
touch k = v for 300ms, by one/0, of one/0
expire k = v, by nobody, of one/0`},
		{"PEXPIRE 0 deletes the key", []string{"SET k v"}, []string{"PEXPIRE k 0"}, `
set k = v for 0s, by one/0, prior nobody
delete k = v, by two/0, of one/0`},
		{"a script deletes the key", []string{"SET k v"}, []string{"EVAL \"return redis.call('del','k')\" 0"}, `
set k = v for 0s, by one/0, prior nobody
delete k = v, by two/0, of one/0`},
		{"keys of two databases", []string{"SET k v", "SELECT 1", "SET k w", "FLUSHALL"}, nil, `
set k = v for 0s, by one/0, prior nobody
set k (database 1) = w for 0s, by one/0, prior nobody
delete k = v, by one/0, of one/0
delete k (database 1) = w, by one/0, of one/0`},
		{"fields of a hash", []string{"HSET k holder one", "HDEL k holder count"}, []string{"HINCRBY k count 1"}, `
set k = hash(holder one) for 0s, by one/0, prior nobody
set k = hash(count 1 holder one) for 0s, by two/0, prior one/0
delete k = hash(count 1 holder one), by one/0, of two/0`},
		{"RENAME deletes a key and sets another", []string{"SET k v"}, []string{"RENAME k l"}, `
set k = v for 0s, by one/0, prior nobody
delete k = v, by two/0, of one/0
set l = v for 0s, by two/0, prior nobody`},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, redisWorld(
				commands(t, "one", 500*time.Millisecond, test.one...),
				commands(t, "two", time.Second, test.two...),
			))
			if got := keyEvents(tr, "redis-1"); got != strings.TrimSpace(test.want) {
				t.Errorf("got\n%s\nwant%s", got, test.want)
			}
		})
	}
}

// An event about a key says who has changed it. Sent is the number of the event by which
// the command has left its client, and Section is the acquisition that the command belongs
// to.
func TestActorsOfKeyEvents(t *testing.T) {
	tr := RunWorld(t, redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		r := locks.RedisClient(p.Env(), 0)
		for range 2 {
			if err := p.Step(trace.Acquire, func() error { return r.Set(ctx, "k", Now().String(), time.Minute).Err() }); err != nil {
				return err
			}
		}
		return p.Step(trace.Release, func() error { return r.Del(ctx, "k").Err() })
	})))
	sets := Events(tr, trace.KindSet, "redis-1")
	if len(sets) != 2 {
		t.Fatalf("%d SETs, want 2\n%s", len(sets), Dump(tr))
	}
	gone := OnlyEvent(t, tr, trace.KindDelete, "redis-1")
	for i, actor := range []*trace.Actor{sets[0].By, sets[1].By, gone.By} {
		Equal(t, "the section of the actor", actor.Section, []int{1, 2, 2}[i])
		sent := tr.Events[actor.Sent-1]
		Equal(t, "the kind of the event Sent", sent.Kind, trace.KindSend)
		Equal(t, "the process of the event Sent", sent.Process, "client-1")
		Equal(t, "the step of the event Sent", sent.Step, []trace.Step{trace.Acquire, trace.Acquire, trace.Release}[i])
		Equal(t, "the command of the event Sent", strings.Fields(sent.Text)[0], []string{"SET", "SET", "DEL"}[i])
	}
	Equal(t, "the owner of the key that the second SET overwrote", *sets[1].Prior, *sets[0].By)
	Equal(t, "the owner of the deleted key", *gone.Owner, *sets[1].By)
	EqualTime(t, "the first SET expires", sets[0].Expires, sets[0].At+time.Minute)
}

// Random values are replaced by aliases in traces, so that equal worlds have equal traces:
// the first value is value-1, and so on.
func TestAliases(t *testing.T) {
	const one, two = "0123456789abcdef0123456789abcdef", "fedcba98765432100123456789abcdef"
	tr := RunWorld(t, redisWorld(commands(t, "one", 0, "SET a "+one, "SET b "+two, "SET c "+one, "SET d plain")))
	if got, want := keyEvents(tr, "redis-1"), strings.TrimSpace(`
set a = value-1 for 0s, by one/0, prior nobody
set b = value-2 for 0s, by one/0, prior nobody
set c = value-1 for 0s, by one/0, prior nobody
set d = plain for 0s, by one/0, prior nobody`); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(Dump(tr), one) {
		t.Error("the trace shows a random value, want only its alias")
	}
}

// The names of random keys are replaced, too, as in the commands. If several disappear at
// once, their order does not depend on the names.
func TestAliasesOfKeys(t *testing.T) {
	const one, two = "lock-0123456789abcdef0123456789abcdef", "lock-fedcba98765432100123456789abcdef"
	run := func(first, second string) *trace.Trace {
		return RunWorld(t, redisWorld(commands(t, "one", 0, "SET "+first+" a", "SET "+second+" b", "FLUSHALL")))
	}
	tr, swapped := run(one, two), run(two, one)
	if got, want := keyEvents(tr, "redis-1"), strings.TrimSpace(`
set value-1 = a for 0s, by one/0, prior nobody
set value-2 = b for 0s, by one/0, prior nobody
delete value-1 = a, by one/0, of one/0
delete value-2 = b, by one/0, of one/0`); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if tr.Hash() != swapped.Hash() {
		t.Errorf("two runs that differ only in the names of random keys have different traces: %v", trace.FirstDifference(tr, swapped))
	}
}
