package redis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	server "github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// firstReplies returns the first line of a node's reply to each command. One command is
// sent each second, from 1 s on.
func firstReplies(t *testing.T, commands []string, faults ...sim.Fault) (answers []string, tr *trace.Trace) {
	t.Helper()
	tr = RunWorld(t, WithFaults(redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		conn, err := Dial(ctx, p, 0)
		if err != nil {
			return err
		}
		for i, command := range commands {
			SleepUntil(time.Duration(i+1) * time.Second)
			answer, err := Ask(conn, command)
			if err != nil {
				return fmt.Errorf("%s: %w", command, err)
			}
			first, _, _ := strings.Cut(answer, "\r\n")
			answers = append(answers, first)
		}
		return nil
	})), faults...))
	return answers, tr
}

// While the fault lasts, the node executes no commands and answers each with the error.
// Only commands that set up a connection are executed.
func TestFail(t *testing.T) {
	commands := []string{
		"SET k one", "SET k two", "GET k", "EVAL return(1) 0", "SELECT 0", "HELLO 2", "PING", "WAIT 0 1", "NONSENSE", "GET k", "SET k three",
	}
	without, _ := firstReplies(t, commands)
	Equal(t, "the answers without the fault", strings.Join(without, ", "), "+OK, +OK, $3, :1, +OK, *14, +PONG, :0, -ERR unknown command 'NONSENSE', with args beginning with: , $3, +OK")
	// The errors that the fault is given, "" for its default, and the answers of the node.
	for with, text := range map[string]string{
		"":                         "-LOADING Redis is loading the dataset in memory",
		"MISCONF No space is left": "-MISCONF No space is left",
	} {
		got, tr := firstReplies(t, commands, Lasting(8*time.Second, At(1500*time.Millisecond, &sim.Fail{Node: "redis-1", With: with})))
		AllFaultsStruck(t, tr)
		want := append([]string{"+OK", text, text, text}, without[4:7]...)
		want = append(want, text, text, "$3", "+OK")
		Equal(t, "the answers with the fault", strings.Join(got, ", "), strings.Join(want, ", "))
		fails, recovers := OnlyEvent(t, tr, trace.KindFail, "redis-1"), OnlyEvent(t, tr, trace.KindRecover, "redis-1")
		Equal(t, "the error in the trace", "-"+fails.Text, text)
		EqualTime(t, "the node begins to fail", fails.At, 1500*time.Millisecond)
		EqualTime(t, "the node recovers", recovers.At, 9500*time.Millisecond)
		sets := Events(tr, trace.KindSet, "redis-1")
		if len(sets) != 2 || sets[0].Value != "one" || sets[1].Value != "three" {
			t.Errorf("with error %q the key was set %d times, want twice: to one and to three\n%s", with, len(sets), Dump(tr))
		}
		Equal(t, "the assumption that the fault breaks", tr.Faults[0].Assumption, "process")
	}
}

// An error in the middle of a transaction discards the whole transaction.
func TestFailInATransaction(t *testing.T) {
	const ok, queued, loading = "+OK", "+QUEUED", "-LOADING Redis is loading the dataset in memory"
	for _, test := range []struct {
		name    string
		at      time.Duration // when the fault strikes, for one second; 0 if there is no fault
		answers []string      // the answers to MULTI, SET a, SET b, EXEC and GET b
		second  string        // the value of b when the world ends
	}{
		{"no fault", 0, []string{ok, queued, queued, "*2", "$1"}, "2"},
		{"the second SET of the transaction fails", 2500 * time.Millisecond, []string{ok, queued, loading, "-EXECABORT Transaction discarded because of previous errors.", "$-1"}, ""},
		{"MULTI fails", 500 * time.Millisecond, []string{loading, ok, ok, "-ERR EXEC without MULTI", "$1"}, "2"},
		{"EXEC fails", 3500 * time.Millisecond, []string{ok, queued, queued, "-EXECABORT Transaction discarded because of: " + loading[1:], "$-1"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var faults []sim.Fault
			if test.at > 0 {
				faults = append(faults, Lasting(time.Second, At(test.at, &sim.Fail{Node: "redis-1"})))
			}
			got, tr := firstReplies(t, []string{"MULTI", "SET a 1", "SET b 2", "EXEC", "GET b"}, faults...)
			Equal(t, "the answers", strings.Join(got, ", "), strings.Join(test.answers, ", "))
			second := ""
			for _, ev := range Events(tr, trace.KindSet, "redis-1") {
				if ev.Key == "b" {
					second = ev.Value
				}
			}
			Equal(t, "the value of b", second, test.second)
		})
	}
}

// The fault affects only new commands of clients. Keys still expire, the disk is written,
// and a replica still follows. A command that was already waiting is answered, too.
func TestFailAffectsOnlyNewCommands(t *testing.T) {
	var popped []string
	cfg := redisWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			if err := locks.RedisClient(p.Env(), 0).Set(ctx, "k", "v", 5*time.Second).Err(); err != nil {
				return err
			}
			SleepUntil(10 * time.Second)
			return nil
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) (err error) {
			popped, err = locks.RedisClient(p.Env(), 0).BLPop(ctx, 2*time.Second, "list").Result()
			if err == nil || strings.Contains(err.Error(), "LOADING") {
				t.Errorf("BLPOP ended with %q and error %v, want its timeout, because nothing was pushed", popped, err)
			}
			return nil
		}),
	)
	cfg.Nodes = []sim.Node{{Name: "redis-1", System: "redis", Persistence: server.Everysec}, {Name: "redis-2", System: "redis", ReplicaOf: "redis-1", Lag: 100 * time.Millisecond}}
	tr := RunWorld(t, WithFaults(cfg, At(50*time.Millisecond, &sim.Fail{Node: "redis-1"})))
	AllFaultsStruck(t, tr)
	// 5 hops before the SET is executed: two for the dial, two for HELLO, and one for the
	// SET itself.
	EqualTime(t, "the key expires", OnlyEvent(t, tr, trace.KindExpire, "redis-1").At, 5*time.Second+5*Hop)
	if sync := FirstEvent(t, tr, trace.KindSync, "redis-1"); sync.At < 50*time.Millisecond {
		t.Errorf("the disk was written at %v, want a time after the fault", sync.At)
	}
	if copied := FirstEvent(t, tr, trace.KindRestore, "redis-2"); copied.At < 50*time.Millisecond {
		t.Errorf("the replica had the key at %v, want a time after the fault", copied.At)
	}
}

// An invalid fault is refused with an error that says what is wrong.
func TestFailIsChecked(t *testing.T) {
	topology := sim.Topology{Clients: map[string]bool{"client-1": true}, Nodes: map[string]sim.Node{"redis-1": {System: "redis"}}}
	for _, test := range []struct {
		fail *sim.Fail
		err  string
	}{
		{&sim.Fail{Node: "redis-1"}, ""},
		{&sim.Fail{Node: "redis-1", With: "OOM command not allowed"}, ""},
		{&sim.Fail{}, "fail: name a process"},
		{&sim.Fail{Node: "redis-2"}, `fail: there is no process "redis-2"; there are client-1, redis-1, storage`},
		{&sim.Fail{Node: "client-1"}, "fail: client-1 is not a node; name the node whose commands fail"},
		{&sim.Fail{Node: "storage"}, "fail: storage is not a node; name the node whose commands fail"},
		{&sim.Fail{Node: "redis-1", With: "ERR a\nb"}, "with: must be one line, such as LOADING Redis is loading the dataset in memory"},
		{&sim.Fail{Node: "redis-1", With: " "}, "with: must be one line, such as LOADING Redis is loading the dataset in memory"},
	} {
		got := ""
		if err := (sim.Fault{Action: test.fail}).Check(topology); err != nil {
			got = err.Error()
		}
		Equal(t, fmt.Sprintf("the error for %+v", *test.fail), got, test.err)
	}
}
