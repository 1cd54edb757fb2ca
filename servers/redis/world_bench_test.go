//go:build unix

package redis_test

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	mserver "github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/servers/redis/internal/script"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// BenchmarkWorld runs the world of gc-pause without fencing: two clients, five nodes,
// Redlock. It reports the overhead: the world's processor time divided by that of sending
// the same Redis commands without a simulation. Without a simulation, as many go-redis
// clients send the commands to new miniredis nodes, over plain pipes. Both sides do the same
// work: they make the nodes and the clients, connect each client to each node with a PING, and
// send the commands. All are measured in turn, with the setting of the garbage collector of the
// command locksim.
//
// miniredis makes a new interpreter for each script, which takes most of the time of the
// commands. For the column pooled-overhead, it runs the scripts in the interpreters of the
// simulated nodes, which are kept.
func BenchmarkWorld(b *testing.B) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		b.Fatal(err)
	}
	config, err := s.Variants[0].Config(scenarios.Options{Seed: 1, Fencing: scenarios.Off})
	if err != nil {
		b.Fatal(err)
	}
	tr, err := sim.Run(config)
	if err != nil {
		b.Fatal(err)
	}
	commands := commandsOf(tr)
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	var world, bare, pooled time.Duration
	interpreters := interpreterPool{}
	b.ReportAllocs()
	for b.Loop() {
		start := simtest.ProcessorTime(b)
		if _, err := sim.Run(config); err != nil {
			b.Fatal(err)
		}
		world += simtest.ProcessorTime(b) - start
		b.StopTimer()
		bare += replayBare(b, commands, nil)
		pooled += replayBare(b, commands, interpreters)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)/world.Seconds(), "worlds/s")
	b.ReportMetric(float64(b.N*len(tr.Events))/world.Seconds(), "events/s")
	b.ReportMetric(world.Seconds()/bare.Seconds(), "overhead")
	b.ReportMetric(world.Seconds()/pooled.Seconds(), "pooled-overhead")
	b.ReportMetric(float64(len(commands)), "commands")
}

// interpreterPool has an interpreter for each node, by the node's name.
type interpreterPool map[string]*script.Interpreter

// serve makes a node run its scripts in its interpreter of the pool.
func (p interpreterPool) serve(name string, node *miniredis.Miniredis) {
	if p[name] == nil {
		p[name] = script.NewInterpreter()
	}
	server, known := node.Server(), map[string]*script.Script{}
	var out bytes.Buffer
	inner := mserver.NewPeer(bufio.NewWriter(&out))
	call := func(words []string, _ bool) []byte {
		out.Reset()
		server.Dispatch(inner, words)
		inner.Flush()
		return bytes.Clone(out.Bytes())
	}
	server.SetPreHook(func(c *mserver.Peer, command string, args ...string) bool {
		if command != "EVAL" && command != "EVALSHA" {
			return false
		}
		s := known[args[0]]
		if command == "EVAL" {
			s, _ = script.Compile(args[0])
			known[s.SHA] = s
		}
		if s == nil {
			c.WriteError("NOSCRIPT No matching script. Please use EVAL.")
			return true
		}
		keys, _ := strconv.Atoi(args[1])
		reply, _ := p[name].Run(s, args[2:2+keys], args[2+keys:], c.Resp3, script.Limits{Bytes: 1 << 20, Stop: func() bool { return false }}, call)
		c.WriteRaw(string(reply))
		return true
	})
}

// A command is one Redis command that a client sent to a node.
type command struct {
	client, node string
	words        []any
}

// removeIfMine is the only script that is used in the world.
const removeIfMine = `if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end`

// commandsOf returns the commands that the clients of a run sent to nodes, without those
// that set up connections. Where the trace names a script, the command has the script's
// text.
func commandsOf(t *trace.Trace) []command {
	var commands []command
	for _, ev := range t.Events {
		if ev.Kind != trace.KindSend || ev.Reply || ev.Handshake || ev.Peer == trace.StorageName {
			continue
		}
		c := command{client: ev.Process, node: ev.Peer}
		eval := strings.HasPrefix(ev.Text, "EVAL ")
		for _, word := range strings.Fields(ev.Text) {
			switch {
			case word == "script-1" && eval:
				c.words = append(c.words, removeIfMine)
			case word == "script-1":
				c.words = append(c.words, redis.NewScript(removeIfMine).Hash())
			default:
				c.words = append(c.words, word)
			}
		}
		commands = append(commands, c)
	}
	return commands
}

// replayBare sends the commands to fresh nodes, over connections that it makes, and returns
// the processor time for all that. The nodes run their scripts in the interpreters of the
// pool, unless it is nil.
func replayBare(b *testing.B, commands []command, pool interpreterPool) time.Duration {
	ctx := context.Background()
	nodes := map[string]*miniredis.Miniredis{}
	clients := map[[2]string]*redis.Client{}
	start := simtest.ProcessorTime(b)
	for _, c := range commands {
		if nodes[c.node] == nil {
			nodes[c.node] = miniredis.NewMiniRedis()
			if conn, err := nodes[c.node].Dial(); err == nil {
				conn.Close() // Dial starts a node
			}
			if pool != nil {
				pool.serve(c.node, nodes[c.node])
			}
		}
	}
	for _, c := range commands {
		pair := [2]string{c.client, c.node}
		if clients[pair] != nil {
			continue
		}
		clients[pair] = redis.NewClient(&redis.Options{
			Dialer:          func(context.Context, string, string) (net.Conn, error) { return nodes[c.node].Dial() },
			DisableIdentity: true, MaxRetries: -1, ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		if err := clients[pair].Ping(ctx).Err(); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range commands {
		err := clients[[2]string{c.client, c.node}].Do(ctx, c.words...).Err()
		if err != nil && err != redis.Nil && !strings.HasPrefix(err.Error(), "NOSCRIPT") {
			b.Fatal(err)
		}
	}
	took := simtest.ProcessorTime(b) - start
	for _, c := range clients {
		c.Close()
	}
	for _, n := range nodes {
		n.Close()
	}
	return took
}
