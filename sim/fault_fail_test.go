package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/trace"
)

// said is what a node answers to one command each second, from a second on: the
// first line of each reply.
func said(t *testing.T, commands []string, faults ...Fault) (answers []string, tr *trace.Trace) {
	t.Helper()
	tr = play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		conn, err := dialTo(ctx, p, 0)
		if err != nil {
			return err
		}
		for i, command := range commands {
			sleepUntil(p, time.Duration(i+1)*time.Second)
			answer, err := ask(conn, command)
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

// While it lasts a node executes nothing and says why. Only what sets a
// connection up is served.
func TestFail(t *testing.T) {
	commands := []string{
		"SET k one", "SET k two", "GET k", "EVAL return(1) 0", "SELECT 0", "HELLO 2", "PING", "WAIT 0 1", "NONSENSE", "GET k", "SET k three",
	}
	without, _ := said(t, commands)
	same(t, "without the fault", strings.Join(without, ", "), "+OK, +OK, $3, :1, +OK, *14, +PONG, :0, -ERR unknown command 'NONSENSE', with args beginning with: , $3, +OK")
	for with, text := range map[string]string{
		"":                         "-LOADING Redis is loading the dataset in memory",
		"MISCONF No space is left": "-MISCONF No space is left",
	} {
		got, tr := said(t, commands, lasting(8*time.Second, at(1500*time.Millisecond, &Fail{"redis-1", with})))
		struck(t, tr)
		want := append([]string{"+OK", text, text, text}, without[4:7]...)
		want = append(want, text, text, "$3", "+OK")
		same(t, "with the fault", strings.Join(got, ", "), strings.Join(want, ", "))
		fails, recovers := only(t, tr, trace.KindFail, "redis-1"), only(t, tr, trace.KindRecover, "redis-1")
		same(t, "the error is told", "-"+fails.Text, text)
		about(t, "it fails", fails.At, 1500*time.Millisecond)
		about(t, "it recovers", recovers.At, 9500*time.Millisecond)
		sets := events(tr, trace.KindSet, "redis-1")
		if len(sets) != 2 || sets[0].Value != "one" || sets[1].Value != "three" {
			t.Errorf("with %q the key was set %d times\n%s", with, len(sets), tell(tr))
		}
		same(t, "the assumption", tr.Faults[0].Assumption, "process")
	}
}

// Of several that last at once the first to strike says what, and the node serves
// again when the last is over. A crash ends none of them: a node that restarts
// may well have to load its data first.
func TestSeveralFailures(t *testing.T) {
	read := make([]string, 6)
	for i := range read {
		read[i] = "GET k"
	}
	got, tr := said(t, read,
		lasting(3*time.Second, at(1500*time.Millisecond, &Fail{"redis-1", "ERR one"})),
		lasting(3*time.Second, at(2500*time.Millisecond, &Fail{"redis-1", "ERR two"})),
	)
	struck(t, tr)
	same(t, "the answers", strings.Join(got, ", "), "$-1, -ERR one, -ERR one, -ERR one, -ERR two, $-1")
	fails := events(tr, trace.KindFail, "redis-1")
	if len(fails) != 2 || fails[0].Text != "ERR one" || fails[1].Text != "ERR two" {
		t.Errorf("it is told to fail with %+v", fails)
	}
	about(t, "it recovers", only(t, tr, trace.KindRecover, "redis-1").At, 5500*time.Millisecond)

	var answers []string
	tr = play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		for i := range 4 {
			sleepUntil(p, time.Duration(i+1)*time.Second)
			conn, err := dialTo(ctx, p, 0)
			if err != nil {
				answers = append(answers, "down")
				continue
			}
			answer, err := ask(conn, "GET k")
			if err != nil {
				return err
			}
			answers = append(answers, strings.TrimSpace(answer))
		}
		return nil
	})),
		lasting(time.Second, at(1500*time.Millisecond, crashed("redis-1", trace.Kill))),
		lasting(2*time.Second, at(1700*time.Millisecond, &Fail{Node: "redis-1"})),
	))
	struck(t, tr)
	same(t, "around a crash", strings.Join(answers, ", "), "$-1, down, -LOADING Redis is loading the dataset in memory, $-1")
}

// An error in the middle of a transaction discards all of it.
func TestFailInATransaction(t *testing.T) {
	const ok, queued, loading = "+OK", "+QUEUED", "-LOADING Redis is loading the dataset in memory"
	for _, test := range []struct {
		name   string
		at     time.Duration // it lasts one second
		says   []string
		second string // the value of b at the end
	}{
		{"none", 0, []string{ok, queued, queued, "*2", "$1"}, "2"},
		{"a command of it", 2500 * time.Millisecond, []string{ok, queued, loading, "-EXECABORT Transaction discarded because of previous errors.", "$-1"}, ""},
		{"its beginning", 500 * time.Millisecond, []string{loading, ok, ok, "-ERR EXEC without MULTI", "$1"}, "2"},
		{"its end", 3500 * time.Millisecond, []string{ok, queued, queued, "-EXECABORT Transaction discarded because of: " + loading[1:], "$-1"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var faults []Fault
			if test.at > 0 {
				faults = append(faults, lasting(time.Second, at(test.at, &Fail{Node: "redis-1"})))
			}
			got, tr := said(t, []string{"MULTI", "SET a 1", "SET b 2", "EXEC", "GET b"}, faults...)
			same(t, "the answers", strings.Join(got, ", "), strings.Join(test.says, ", "))
			second := ""
			for _, ev := range events(tr, trace.KindSet, "redis-1") {
				if ev.Key == "b" {
					second = ev.Value
				}
			}
			same(t, "b", second, test.second)
		})
	}
}

// What does not come from a client goes on: keys expire, the disk is written, a
// replica follows; and so does a command that was waiting already.
func TestFailLeavesTheRestAlone(t *testing.T) {
	var popped []string
	cfg := story(
		client(t, "client-1", func(ctx context.Context, p *Program) error {
			if err := p.Redis(0).Set(ctx, "k", "v", 5*time.Second).Err(); err != nil {
				return err
			}
			sleepUntil(p, 10*time.Second)
			return nil
		}),
		client(t, "client-2", func(ctx context.Context, p *Program) (err error) {
			popped, err = p.Redis(0).BLPop(ctx, 2*time.Second, "list").Result()
			if err == nil || strings.Contains(err.Error(), "LOADING") {
				t.Errorf("BLPOP came to %q, %v; nothing was pushed", popped, err)
			}
			return nil
		}),
	)
	cfg.Nodes = []Node{{Name: "redis-1", Persistence: Everysec}, {Name: "redis-2", ReplicaOf: "redis-1", Lag: 100 * time.Millisecond}}
	tr := play(t, with(cfg, at(50*time.Millisecond, &Fail{Node: "redis-1"})))
	struck(t, tr)
	// A dial, a HELLO, and the way of the SET.
	about(t, "the key ends", only(t, tr, trace.KindExpire, "redis-1").At, 5*time.Second+5*hop)
	if sync := first(t, tr, trace.KindSync, "redis-1"); sync.At < 50*time.Millisecond {
		t.Errorf("the disk was written at %v, before the fault", sync.At)
	}
	if copied := first(t, tr, trace.KindRestore, "redis-2"); copied.At < 50*time.Millisecond {
		t.Errorf("the replica had the key at %v, before the fault", copied.At)
	}
}

func TestFailThatMakesNoSense(t *testing.T) {
	topology := Topology{Clients: map[string]bool{"client-1": true}, Nodes: map[string]Node{"redis-1": {}}}
	for _, test := range []struct {
		fail *Fail
		err  string
	}{
		{&Fail{"redis-1", ""}, ""},
		{&Fail{"redis-1", "OOM command not allowed"}, ""},
		{&Fail{"", ""}, "fail: name a process"},
		{&Fail{"redis-2", ""}, `fail: there is no process "redis-2"; there are client-1, redis-1, storage`},
		{&Fail{"client-1", ""}, "fail: client-1 is no Redis node; name the node whose commands fail"},
		{&Fail{"storage", ""}, "fail: storage is no Redis node; name the node whose commands fail"},
		{&Fail{"redis-1", "ERR a\nb"}, "with: an error of Redis is one line, such as LOADING Redis is loading the dataset in memory"},
		{&Fail{"redis-1", " "}, "with: an error of Redis is one line, such as LOADING Redis is loading the dataset in memory"},
	} {
		told := ""
		if err := test.fail.Check(topology); err != nil {
			told = err.Error()
		}
		same(t, fmt.Sprintf("%+v", *test.fail), told, test.err)
	}
}
