package redis_test

import (
	"context"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// If a client sends a command that real servers have and this one does not, the trace names
// the command and the run is inconclusive. A command that no server has is refused as in
// Redis.
func TestCommandsThatAreNotServed(t *testing.T) {
	const unserved = ", which a real Redis server knows and this one does not"
	for command, want := range map[string]string{
		"BITFIELD k GET u8 0":          "redis-1 was sent BITFIELD" + unserved,
		"config get save":              "redis-1 was sent CONFIG" + unserved,
		"ROLE":                         "redis-1 was sent ROLE" + unserved,
		"FCALL f 0":                    "redis-1 was sent FCALL" + unserved,
		"ZDIFF 2 z z":                  "redis-1 was sent ZDIFF" + unserved,
		"WAITAOF 0 0 0":                "redis-1 was sent WAITAOF" + unserved,
		"JSON.SET k $ 1":               "redis-1 was sent JSON.SET" + unserved,
		"CLIENT ID":                    "redis-1 was sent CLIENT ID" + unserved,
		"CLIENT tracking ON":           "redis-1 was sent CLIENT TRACKING" + unserved,
		"OBJECT ENCODING k":            "redis-1 was sent OBJECT ENCODING" + unserved,
		"SCRIPT KILL":                  "redis-1 was sent SCRIPT KILL" + unserved,
		"MEMORY USAGE k":               "redis-1 was sent MEMORY USAGE" + unserved,
		"COMMAND COUNT":                "redis-1 was sent COMMAND" + unserved,
		"INFO":                         "redis-1 was sent INFO" + unserved,
		"INFO Replication":             "redis-1 was sent INFO replication" + unserved,
		"XINFO STREAM x FULL":          "redis-1 was sent XINFO STREAM with FULL" + unserved,
		"EVAL return(bit.band(1,3)) 0": "redis-1 was sent a script with the library bit" + unserved,
		"EVAL return(redis.pcall('SORT',KEYS[1])) 1 l": "redis-1 was sent SORT" + unserved,
		"EVAL return(redis.call('TIME','x')) 0":        "",
		"EVAL return(nothing) 0":                       "",
		"NOTHING k":                                    "",
		"CLIENT NOTHING":                               "",
		"CLIENT SETINFO LIB-NAME x":                    "",
		"GET":                                          "",
	} {
		var answer error
		tr := RunWorld(t, redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			var words []any
			for _, word := range strings.Fields(command) {
				words = append(words, word)
			}
			answer = locks.RedisClient(p.Env(), 0).Do(ctx, words...).Err()
			return nil
		})))
		Equal(t, "the doubts of the run after "+command, strings.Join(tr.Doubts, "; "), want)
		v := checks.Check(history.New(tr), nil)
		if want != "" && (v.Verdict != checks.Undecided || len(v.Reasons) != 1 || !strings.Contains(v.Reasons[0].String(), want)) {
			t.Errorf("%s: got error %v, verdict %s and reasons %v, want verdict %s and one reason with %q", command, answer, v.Verdict, v.Reasons, checks.Undecided, want)
		}
	}
}

// No node belongs to a Redis cluster, and each answers CLUSTER accordingly.
func TestClusterCommandsAreRefused(t *testing.T) {
	tr := RunWorld(t, redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		for _, words := range [][]any{{"CLUSTER", "SLOTS"}, {"CLUSTER", "INFO"}, {"CLUSTER", "KEYSLOT", "k"}, {"READONLY"}} {
			err := locks.RedisClient(p.Env(), 0).Do(ctx, words...).Err()
			if err == nil || err.Error() != "ERR This instance has cluster support disabled" {
				t.Errorf("%v: got error %v, want that cluster support is disabled", words, err)
			}
		}
		return nil
	})))
	Equal(t, "the doubts of the run", strings.Join(tr.Doubts, "; "), "")
}
