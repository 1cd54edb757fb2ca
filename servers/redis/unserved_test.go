package redis_test

import (
	"context"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// If a client sends a command that real servers have and this one does not, the trace names
// the command and the run is inconclusive. A command that no server has is refused as in
// Redis.
func TestWhatIsNotServed(t *testing.T) {
	const knows = ", which a real Redis server knows and this one does not"
	for command, want := range map[string]string{
		"BITFIELD k GET u8 0":          "redis-1 was sent BITFIELD" + knows,
		"config get save":              "redis-1 was sent CONFIG" + knows,
		"ROLE":                         "redis-1 was sent ROLE" + knows,
		"FCALL f 0":                    "redis-1 was sent FCALL" + knows,
		"ZDIFF 2 z z":                  "redis-1 was sent ZDIFF" + knows,
		"WAITAOF 0 0 0":                "redis-1 was sent WAITAOF" + knows,
		"JSON.SET k $ 1":               "redis-1 was sent JSON.SET" + knows,
		"CLIENT ID":                    "redis-1 was sent CLIENT ID" + knows,
		"CLIENT tracking ON":           "redis-1 was sent CLIENT TRACKING" + knows,
		"OBJECT ENCODING k":            "redis-1 was sent OBJECT ENCODING" + knows,
		"SCRIPT KILL":                  "redis-1 was sent SCRIPT KILL" + knows,
		"MEMORY USAGE k":               "redis-1 was sent MEMORY USAGE" + knows,
		"COMMAND COUNT":                "redis-1 was sent COMMAND" + knows,
		"INFO":                         "redis-1 was sent INFO" + knows,
		"INFO Replication":             "redis-1 was sent INFO replication" + knows,
		"XINFO STREAM x FULL":          "redis-1 was sent XINFO STREAM with FULL" + knows,
		"EVAL return(bit.band(1,3)) 0": "redis-1 was sent a script with the library bit" + knows,
		"EVAL return(redis.pcall('SORT',KEYS[1])) 1 l": "redis-1 was sent SORT" + knows,
		"EVAL return(redis.call('TIME','x')) 0":        "",
		"EVAL return(nothing) 0":                       "",
		"NOTHING k":                                    "",
		"CLIENT NOTHING":                               "",
		"CLIENT SETINFO LIB-NAME x":                    "",
		"GET":                                          "",
	} {
		var answer error
		tr := RunWorld(t, story(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			var words []any
			for _, word := range strings.Fields(command) {
				words = append(words, word)
			}
			answer = p.Env().Redis(0).Do(ctx, words...).Err()
			return nil
		})))
		Equal(t, command, strings.Join(tr.Doubts, "; "), want)
		v := checks.Check(history.New(tr), nil)
		if want != "" && (v.Verdict != checks.Undecided || len(v.Reasons) != 1 || !strings.Contains(v.Reasons[0].String(), want)) {
			t.Errorf("%s is answered by %v, and the verdict is %s, %v", command, answer, v.Verdict, v.Reasons)
		}
	}
}

// No node belongs to a Redis cluster, and each answers CLUSTER accordingly.
func TestThereIsNoCluster(t *testing.T) {
	tr := RunWorld(t, story(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		for _, words := range [][]any{{"CLUSTER", "SLOTS"}, {"CLUSTER", "INFO"}, {"CLUSTER", "KEYSLOT", "k"}, {"READONLY"}} {
			err := p.Env().Redis(0).Do(ctx, words...).Err()
			if err == nil || err.Error() != "ERR This instance has cluster support disabled" {
				t.Errorf("%v: %v", words, err)
			}
		}
		return nil
	})))
	Equal(t, "doubts", strings.Join(tr.Doubts, "; "), "")
}
