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

// go-redis logs errors to standard error. The log would contain the time of day, and its
// order depends on chance. It is not needed: all errors that concern a lock are also
// returned.
func init() { logging.Disable() }

// noTimeout is the value for no timeout in go-redis's options.
const noTimeout = -1

// RedisClient returns the client that a process has of a node, counted from 0. It returns the same
// client at every call; it must be called in [Kind].New and not concurrently. The client dials by
// Env.Dial.
//
// It is no method of Env, because each package that knows the type Env would then compile 1,700
// functions of go-redis once more, which takes a second.
//
// Its profile is strict, so that a lock does exactly what its author wrote, with one
// request per command:
//
//   - ContextTimeoutEnabled: a context also bounds the read of the answer. By
//     default, in go-redis a deadline bounds everything but that read.
//   - MaxRetries -1: by default go-redis sends a command whose answer was lost
//     up to three times more, and a SET NX that is sent again meets its own key.
//   - DialerRetries 1: each failed dial is one failed request, for the same
//     reason. A request dials by itself, under its own deadline and for at most
//     five seconds; go-redis would dial in the background.
//   - DisableIdentity, and no maintenance notifications: a connection begins with
//     HELLO and nothing else. Notifications would also look up host names.
//   - PoolSize 32, far more than the concurrent requests of one client: no request
//     ever waits for a connection.
//   - MinIdleConns 0, ConnMaxIdleTime -1, no pool for pipelines: connections are
//     made when a request needs them and last until they break.
//   - Buffers of 1 KiB, which hold any request of a lock: worlds are many and
//     short, and the default is 64 KiB for each connection.
//
// All other settings are go-redis's defaults: RESP3, and five seconds for a read and a
// write, counted by the connection. The five seconds of a dial are counted by the process's
// clock.
func RedisClient(e *Env, node int) *redis.Client {
	return Share(e, "redis "+strconv.Itoa(node), func() *redis.Client { return strictClient(e, e.Nodes[node], 0) })
}

// patientClients returns a client for every node. The clients wait for an answer as long as
// the request's context allows: locks that use Env.Clock set a deadline for each request on
// that clock.
func patientClients(e *Env) []*redis.Client {
	nodes := make([]*redis.Client, len(e.Nodes))
	for i := range nodes {
		nodes[i] = strictClient(e, e.Nodes[i], noTimeout)
	}
	return nodes
}

// counterClients returns a client for every node that counts tokens. It returns the same
// clients at every call. The clients wait for answers as those of patientClients do.
func counterClients(e *Env) []*redis.Client {
	return Share(e, "redis counters", func() (clients []*redis.Client) {
		for _, addr := range e.Counters {
			clients = append(clients, strictClient(e, addr, noTimeout))
		}
		return clients
	})
}

// strictClient makes a strict client; a timeout of 0 is go-redis's default.
func strictClient(e *Env, addr string, timeout time.Duration) *redis.Client {
	return newClient(e, &redis.Options{
		Addr:                     addr,
		Dialer:                   e.dialer(addr),
		DialTimeout:              noTimeout, // newConnection has the timeout
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

// newClient makes a client that Env.Close will close.
func newClient(e *Env, o *redis.Options) *redis.Client {
	c := redis.NewClient(withoutPipelinePool(o))
	if e.WaitTurn != nil {
		c.AddHook(redisTurns{e.WaitTurn, o.Addr})
	}
	e.closeLater(c)
	e.OnWarmUp(func(ctx context.Context) { c.Ping(ctx) })
	return c
}

// withoutPipelinePool turns off the pool for pipelines, which go-redis has since v9.22. The
// oldest version that this is built with has no such option. With the pool, a lock's
// pipelines would use connections of their own, and its traces would depend on the version.
func withoutPipelinePool(o *redis.Options) *redis.Options {
	if size := reflect.ValueOf(o).Elem().FieldByName("PipelinePoolSize"); size.IsValid() {
		size.SetInt(-1)
	}
	return o
}
