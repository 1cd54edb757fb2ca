//go:build amd64 || arm64

// The sizes in this file do not fit into an int of 32 bits.

package redis_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// hostileVariable is the environment variable by which the test passes the name of a world
// to a process that it starts. The process runs that world.
const hostileVariable = "LOCKSIM_TEST_HOSTILE"

const gigabyte = 1 << 30

// A hostileClient is a client that takes as much memory as it can.
type hostileClient struct {
	run func(ctx context.Context, p *sim.Program, c *redis.Client) error
	// ownBytes is how much memory the client's own code takes. The world has no influence
	// on that.
	ownBytes int
	// worlds is how many times the process runs the world; 0 means once.
	worlds int
	// want is a regular expression for the error with which the world must end. "" allows
	// any error, and none.
	want string
}

const (
	tooLarge = "the world is too large"
	tooMuch  = "too much happens in this world: a script executes more than 1000000 instructions"
	tooHeavy = "the world takes too much memory"
)

// scriptClient returns a client that runs a script. want is the error of the world.
func scriptClient(want, text string) hostileClient {
	return hostileClient{want: want, run: func(ctx context.Context, _ *sim.Program, c *redis.Client) error {
		return c.Eval(ctx, text, nil).Err()
	}}
}

// writeClient returns a client that opens a connection to a node, writes first on it, and
// then writes again over and over, up to 4 GiB.
func writeClient(first, again string) hostileClient {
	return hostileClient{want: tooLarge, run: func(ctx context.Context, p *sim.Program, _ *redis.Client) error {
		conn, err := Dial(ctx, p, 0)
		if err != nil {
			return err
		}
		_, err = conn.Write([]byte(first))
		for n := 0; err == nil && n < 4*gigabyte; n += len(again) {
			_, err = conn.Write([]byte(again))
		}
		return err
	}}
}

// spawnClient returns a client that starts n goroutines at the same time, which run do.
func spawnClient(n int, want string, do func(context.Context, *sim.Program, *redis.Client)) hostileClient {
	return hostileClient{want: want, run: func(ctx context.Context, p *sim.Program, c *redis.Client) error {
		for range n {
			go do(ctx, p, c)
		}
		return p.Sleep(time.Second)
	}}
}

// inWorlds returns a client of n worlds, which one process runs one after the other.
func inWorlds(n int, h hostileClient) hostileClient {
	h.worlds = n
	return h
}

// hostileClients are the clients by what they do.
var hostileClients = map[string]hostileClient{
	"no command": {run: func(context.Context, *sim.Program, *redis.Client) error { return nil }},
	// Either the command or the memory of the client's own code may be noticed first.
	"SET of 1 GiB": {ownBytes: gigabyte, want: tooLarge + "|" + tooHeavy, run: func(ctx context.Context, _ *sim.Program, c *redis.Client) error {
		return c.Set(ctx, "k", strings.Repeat("x", gigabyte), 0).Err()
	}},
	"SET of 150 MB": {ownBytes: 150 << 20, run: func(ctx context.Context, _ *sim.Program, c *redis.Client) error {
		return c.Set(ctx, "k", strings.Repeat("x", 150<<20), 0).Err()
	}},
	"SET of 1 GiB in pieces":                      writeClient("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n", strings.Repeat("x", 1<<20)),
	"100,000 commands at once":                    writeClient("", strings.Repeat("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4096\r\n"+strings.Repeat("x", 4096)+"\r\n", 256)),
	"string.rep of 1 GiB":                         scriptClient(tooLarge, "return string.rep('x', 2^30)"),
	"string.rep with all results kept":            scriptClient(tooLarge, "local t = {} for i = 1, 1000 do t[i] = string.rep('x', 2^24 + i) end return #t"),
	"concatenation that doubles a string":         scriptClient(tooLarge, "local s = 'x' for i = 1, 34 do s = s .. s end return #s"),
	"concatenation of 100 operands":               scriptClient(tooLarge, "local s = string.rep('x', 2^24) return #("+strings.Repeat("s..", 99)+"s)"),
	"concatenation of 100 operands in loadstring": scriptClient(tooLarge, "return #loadstring('local s = string.rep([[x]], 2^24) return "+strings.Repeat("s..", 99)+"s')()"),
	"table.concat":                                scriptClient(tooLarge, "local s, t = string.rep('x', 2^24), {} for i = 1, 200 do t[i] = s end return #table.concat(t)"),
	"string.gsub":                                 scriptClient(tooLarge, "local s = string.rep('x', 2^16) return #string.gsub(s, '.', s)"),
	"string.format":                               scriptClient(tooLarge, "local s = string.rep('x', 2^24) return #string.format(string.rep('%s', 100), "+strings.Repeat("s,", 99)+"s)"),
	"cjson.encode":                                scriptClient(tooLarge, "local s, t = string.rep('x', 2^24), {} for i = 1, 200 do t[i] = s end return #cjson.encode(t)"),
	"table of numbers":                            scriptClient(tooMuch, "local t = {} for i = 1, 2^31 do t[i] = i end"),
	"sparse table":                                {run: scriptClient("", "local t = {} t[2^26-1] = 1 return #t").run},
	"sparse tables":                               scriptClient(tooMuch+"|"+tooHeavy, "local t = {} for i = 1, 2^31 do t[i] = {} t[i][999999] = i end"),
	"table of tables":                             scriptClient(tooMuch, "local t = {} for i = 1, 2^31 do t[i] = {i} end"),
	"table in coroutine":                          scriptClient(tooMuch, "return coroutine.wrap(function() local t = {} for i = 1, 2^31 do t[i] = {i} end end)()"),
	"string.rep with its errors caught":           scriptClient(tooLarge, "for i = 1, 2^31 do pcall(string.rep, 'x', 2^30) end"),
	"large reply of a script":                     scriptClient(tooLarge, "local s, t = string.rep('x', 2^24), {} for i = 1, 200 do t[i] = s end return t"),
	"SETRANGE at 400 MiB": {want: tooLarge, run: func(ctx context.Context, _ *sim.Program, c *redis.Client) error {
		return c.SetRange(ctx, "k", 400<<20, "x").Err()
	}},
	"SETRANGE at 1 TiB": {run: func(ctx context.Context, _ *sim.Program, c *redis.Client) error {
		return c.SetRange(ctx, "k", 1<<40, "x").Err()
	}},
	"SETBIT of 100 keys": scriptClient(tooLarge, "for i = 1, 100 do redis.call('SETBIT', i, 2^28, 1) end"),
	"APPEND in a script": scriptClient(tooLarge, "local s = string.rep('x', 2^22) for i = 1, 1000 do redis.call('APPEND', 'k', s) end"),
	"APPEND of 1 MiB a thousand times": {want: tooLarge, run: func(ctx context.Context, _ *sim.Program, c *redis.Client) error {
		for range 1000 {
			if err := c.Append(ctx, "k", strings.Repeat("x", 1<<20)).Err(); err != nil {
				return err
			}
		}
		return nil
	}},
	"MGET of 1 MiB 4,000 times": {want: tooLarge, run: func(ctx context.Context, _ *sim.Program, c *redis.Client) error {
		if err := c.Set(ctx, "k", strings.Repeat("x", 1<<20), 0).Err(); err != nil {
			return err
		}
		keys := make([]string, 4000)
		for i := range keys {
			keys[i] = "k"
		}
		return c.MGet(ctx, keys...).Err()
	}},
	"100,000 goroutines": spawnClient(100_000, "goroutines outlived the world", func(context.Context, *sim.Program, *redis.Client) {
		time.Sleep(1000 * time.Hour)
	}),
	"100,000 goroutines in each of 20 worlds": inWorlds(20, spawnClient(100_000, tooHeavy, func(context.Context, *sim.Program, *redis.Client) {
		time.Sleep(1000 * time.Hour)
	})),
	"300,000 goroutines": spawnClient(300_000, tooHeavy, func(context.Context, *sim.Program, *redis.Client) {
		time.Sleep(1000 * time.Hour)
	}),
	"100,000 goroutines that dial": spawnClient(100_000, tooLarge, func(ctx context.Context, p *sim.Program, _ *redis.Client) {
		if c, err := Dial(ctx, p, 0); err == nil {
			_, _ = ReadReply(c)
		}
	}),
	"100,000 goroutines that wait for the clock": spawnClient(100_000, "", func(ctx context.Context, p *sim.Program, _ *redis.Client) {
		_ = p.Clock().Sleep(ctx, time.Hour)
	}),
	"4 GiB in the client's own code": {ownBytes: 4 * gigabyte, want: tooHeavy, run: func(ctx context.Context, p *sim.Program, _ *redis.Client) error {
		var all [][]byte
		for range 64 {
			b := make([]byte, 64<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
			if err := p.Sleep(time.Millisecond); err != nil {
				return err
			}
		}
		fmt.Fprint(os.Stderr, len(all))
		return nil
	}},
}

// TestHostileWorld does nothing unless [TestMemory] has started this process. Then it runs
// a world.
func TestHostileWorld(t *testing.T) {
	h, ok := hostileClients[os.Getenv(hostileVariable)]
	if !ok {
		t.Skip("TestMemory runs this test in processes of its own")
	}
	debug.SetGCPercent(800) // as the command locksim does
	debug.SetMemoryLimit(600 << 20)
	cfg := SoloWorld(t, Lock(t, "single"), func(ctx context.Context, p *sim.Program) error {
		c := locks.RedisClient(p.Env(), 0)
		err := h.run(ctx, p, c)
		fmt.Printf("client: %.200v\n", err)
		return nil
	})
	began := time.Now()
	var err error
	for range max(h.worlds, 1) {
		_, err = sim.Run(cfg)
	}
	fmt.Printf("error: %.300v\n", err)
	status, failed := os.ReadFile("/proc/self/status")
	if failed != nil {
		t.Fatal(failed)
	}
	fmt.Printf("peak: %s (%v)\n", regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status)[1], time.Since(began))
}

// A world may use 512 MB. At its peak, it takes at most twice as much memory, plus what the
// client's own code takes.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes gigabytes of memory for seconds")
	}
	for name, h := range hostileClients {
		t.Run(name, func(t *testing.T) {
			binary, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			p := exec.Command(binary, "-test.run=^TestHostileWorld$", "-test.v")
			p.Env = append(os.Environ(), hostileVariable+"="+name)
			out, err := p.CombinedOutput()
			m := regexp.MustCompile(`peak: (\d+)`).FindSubmatch(out)
			if err != nil || m == nil {
				t.Fatalf("%v\n%.3000s", err, out)
			}
			peak, _ := strconv.Atoi(string(m[1]))
			t.Logf("%d MB\n%s", peak>>10, out)
			if most := h.ownBytes>>10 + 1<<20; peak > most {
				t.Errorf("at its peak the process took %d kB, want at most %d kB", peak, most)
			}
			if said := regexp.MustCompile(`error: (.*)`).FindSubmatch(out)[1]; !regexp.MustCompile(h.want).Match(said) {
				t.Errorf("the world ended with error %q, want one that matches %q", said, h.want)
			}
		})
	}
}
