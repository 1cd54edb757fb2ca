package locks

import (
	"context"
	"reflect"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// go-redis logs errors to standard error, with the time of day and in the order
// of its goroutines. All that concern a lock are also returned.
func init() { logging.Disable() }

// noTimeout is how go-redis's options spell it.
const noTimeout = -1

// Redis returns the process's client of a node, counted from 0: always the same
// one, to be asked for in [Kind].New and not from several goroutines. It speaks
// through Env.Dial.
//
// Its profile is strict, so that what a lock does is what its author wrote, one
// request per command:
//
//   - ContextTimeoutEnabled: a context bounds the read of the answer too. By
//     default go-redis lets a deadline bound everything but that.
//   - MaxRetries -1: by default go-redis sends a command whose answer was lost
//     up to three times more, and a SET NX that is sent again meets its own key.
//   - DialerRetries 1: each failed dial is one failed request, for the same
//     reason. A request dials by itself, under its own deadline and at most for
//     five seconds; go-redis would do it in the background.
//   - DisableIdentity, and no maintenance notifications: a connection begins with
//     HELLO and nothing else. Notifications would also look up host names.
//   - PoolSize 32, far above the requests that one client has under way at once:
//     nobody ever waits for a connection.
//   - MinIdleConns 0, ConnMaxIdleTime -1, no pool for pipelines: connections are
//     made when a request needs them and last until they break.
//   - Buffers of 1 KiB, which hold any request of a lock: worlds are many and
//     short, and the default is 64 KiB for each connection.
//
// All else is go-redis's default: RESP3, and five seconds for a read and a write,
// counted by the connection. A dial's five seconds are counted by the process's
// clock.
func (e *Env) Redis(node int) *redis.Client {
	return Share(e, "redis "+strconv.Itoa(node), func() *redis.Client { return e.open(e.Nodes[node], 0) })
}

// patient returns a client of every node that waits for an answer as long as
// the request's context allows: locks that keep time by Env.Clock bound their
// requests on it.
func (e *Env) patient() []*redis.Client {
	nodes := make([]*redis.Client, len(e.Nodes))
	for i := range nodes {
		nodes[i] = e.open(e.Nodes[i], noTimeout)
	}
	return nodes
}

// counters returns a client of every node that keeps a counter, always the same
// ones, as patient as those of patient.
func (e *Env) counters() []*redis.Client {
	return Share(e, "redis counters", func() (counting []*redis.Client) {
		for _, addr := range e.Counters {
			counting = append(counting, e.open(addr, noTimeout))
		}
		return counting
	})
}

// open makes a strict client; a timeout of 0 is go-redis's default.
func (e *Env) open(addr string, timeout time.Duration) *redis.Client {
	return e.opens(&redis.Options{
		Addr:                     addr,
		Dialer:                   e.dialer(addr),
		DialTimeout:              noTimeout, // newConnection sees to it
		ReadTimeout:              timeout,
		WriteTimeout:             timeout,
		ContextTimeoutEnabled:    true,
		MaxRetries:               -1,
		DialerRetries:            1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PoolSize:                 32,
		ConnMaxIdleTime:          -1,
		ReadBufferSize:           1 << 10,
		WriteBufferSize:          1 << 10,
	})
}

// opens makes a client that Close will close.
func (e *Env) opens(o *redis.Options) *redis.Client {
	c := redis.NewClient(withoutPipelinePool(o))
	if e.Turn != nil {
		c.AddHook(redisTurns{e.Turn, o.Addr})
	}
	e.Opened(c)
	e.Warm(func(ctx context.Context) { c.Ping(ctx) })
	return c
}

// withoutPipelinePool turns the pool for pipelines off, where go-redis has one: since
// v9.22, and the oldest that this is built with has no such option. A lock's pipelines
// would go over connections of their own, and its traces depend on the version.
func withoutPipelinePool(o *redis.Options) *redis.Options {
	if size := reflect.ValueOf(o).Elem().FieldByName("PipelinePoolSize"); size.IsValid() {
		size.SetInt(-1)
	}
	return o
}
