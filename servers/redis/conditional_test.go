package redis_test

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// newFidelityCases are the cases for commands that exist since Redis 8.4: scripts in which
// each line is a command and its expected reply. They cannot be compared with an older
// Redis, such as that of Debian 12. The answers are those of the documentation.
var newFidelityCases = []fidelityCase{
	{name: "DELEX", script: `
		SET lock a                => +OK
		DELEX lock IFEQ b         => :0
		GET lock                  => $1 a
		DELEX lock ifeq a         => :1
		GET lock                  => $-1
		DELEX lock IFEQ a         => :0
		SET lock a PX 30000       => +OK
		DELEX lock IFNE a         => :0
		DELEX lock IFNE b         => :1
		SET lock a                => +OK
		DELEX lock                => :1
		DELEX lock                => :0
		RPUSH list a              => :1
		DELEX list IFEQ a         => -ERR Key should be of string type if conditions are specified
		DELEX list                => :1
		DELEX lock IFEQ           => -ERR wrong number of arguments for 'delex' command`},
	{name: "DELEX of an expired key", script: `
		SET lock a NX PX 1000     => +OK
		pass 1001ms
		DELEX lock IFEQ a         => :0`},
	{name: "SET with a condition on the value", script: `
		SET lock a IFEQ a             => $-1
		GET lock                      => $-1
		SET lock a PX 30000           => +OK
		SET lock b IFEQ c             => $-1
		SET lock b IFEQ c GET         => $1 a
		PTTL lock                     => :30000
		SET lock a PX 40000 IFEQ a    => +OK
		PTTL lock                     => :40000
		SET lock b ifeq a keepttl     => +OK
		PTTL lock                     => :40000
		SET lock c GET IFEQ b         => $1 b
		TTL lock                      => :-1
		SET lock d IFNE c             => $-1
		SET lock d IFNE d             => +OK
		SET other a IFNE a            => +OK
		SET lock e NX IFEQ d          => -ERR syntax error
		SET lock e IFEQ d XX          => -ERR syntax error
		SET lock e IFEQ d IFNE f      => -ERR syntax error
		SET lock e IFEQ               => -ERR syntax error
		GET lock                      => $1 d
		RPUSH list a                  => :1
		SET list a IFEQ a             => -WRONGTYPE Operation against a key holding the wrong kind of value`},
	{name: "DELEX in a script", script: `
		SET lock a                                                        => +OK
		EVAL 'return redis.call("DELEX", KEYS[1], "IFEQ", ARGV[1])' 1 lock b  => :0
		EVAL 'return redis.call("DELEX", KEYS[1], "IFEQ", ARGV[1])' 1 lock a  => :1`},
}

// If a command changes a key only on a condition, and the condition is met, the trace shows
// the change.
func TestConditionalCommandsInATrace(t *testing.T) {
	tr := RunWorld(t, redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		r := locks.RedisClient(p.Env(), 0)
		for _, words := range [][]any{
			{"SET", "k", "v", "PX", 10_000},
			{"SET", "k", "v", "IFEQ", "v", "PX", 20_000},
			{"DELEX", "k", "IFEQ", "w"},
			{"DELEX", "k", "IFEQ", "v"},
		} {
			if err := r.Do(ctx, words...).Err(); err != nil {
				return err
			}
		}
		return nil
	})))
	var kinds []trace.Kind
	for _, ev := range tr.Events {
		if ev.Process == "redis-1" && ev.Key == "k" {
			kinds = append(kinds, ev.Kind)
		}
	}
	if want := []trace.Kind{trace.KindSet, trace.KindTouch, trace.KindDelete}; !slices.Equal(kinds, want) {
		t.Errorf("the key's events are %v, want %v", kinds, want)
	}
	Equal(t, "the TTL of the key after SET IFEQ", OnlyEvent(t, tr, trace.KindTouch, "redis-1").TTL, 20*time.Second)
}

// This server cannot compute a digest of a value, so a run that needs one is inconclusive.
func TestDigestsAreRefused(t *testing.T) {
	for _, words := range [][]any{{"DELEX", "k", "IFDEQ", "0"}, {"SET", "k", "v", "IFDNE", "0"}} {
		var failed error
		tr := RunWorld(t, redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			failed = locks.RedisClient(p.Env(), 0).Do(ctx, words...).Err()
			return nil
		})))
		if failed == nil || len(tr.Doubts) != 1 {
			t.Errorf("%v: got error %v and doubts %q, want an error and one doubt", words, failed, tr.Doubts)
		}
	}
}
