package locks

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// retryBackoff is the pause before a command is sent again. By default go-redis pauses
// between 10 ms and 30, 50 or 90 ms; 20 ms is possible each time.
const retryBackoff = 20 * time.Millisecond

// DefaultRedisClient returns a new client of a node, counted from 0, with the defaults of
// go-redis v9, as most programs create it. It differs from [RedisClient], which is strict:
//
//   - A context bounds the wait for a connection, but not the wait for an answer, which
//     takes up to five seconds whatever the context says.
//   - A command whose answer was lost is sent again, up to three times.
//   - Connections are dialled in the background, each up to five times for up to
//     five seconds, with 100 ms in between. The dial continues after the request that
//     needed it has given up.
//   - A connection that was idle for half an hour is not used any more.
//
// These settings are not go-redis's defaults:
//
//   - MinRetryBackoff and MaxRetryBackoff are equal, so that the pause before a
//     command is sent again is always 20 ms. By default it is drawn from a source
//     that all goroutines of the program share.
//   - PoolSize is 1024 instead of ten for each processor, so that no request ever waits
//     for a place in the pool. Failed dials never fill the pool either; if they did,
//     go-redis would dial once a second in the background even without requests. Each
//     dial to a node that does not answer keeps a place for 25.4 seconds, and a lock
//     that retries needs one more several times a second.
//   - DialerRetries is 1, but the dialer itself dials five times, because go-redis's
//     loop does not end with its client.
//   - DisableIdentity, no maintenance notifications, no pool for pipelines and
//     buffers of 1 KiB, as in the strict profile.
func DefaultRedisClient(e *Env, node int) *redis.Client {
	life := e.Lifetime()
	return newClient(e, &redis.Options{
		Addr: e.Nodes[node],
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(life, cancel)()
			return dialWithRetries(ctx, func(ctx context.Context) (net.Conn, error) { return e.Dial(ctx, network, addr) })
		},
		// A minute is longer than dialWithRetries takes. Some releases of go-redis treat "no timeout"
		// as a deadline that has passed.
		DialTimeout:              time.Minute,
		DialerRetries:            1,
		MinRetryBackoff:          retryBackoff,
		MaxRetryBackoff:          retryBackoff,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PoolSize:                 1024,
		ReadBufferSize:           1 << 10,
		WriteBufferSize:          1 << 10,
	})
}

// dialWithRetries dials as often and as long as go-redis does by default.
func dialWithRetries(ctx context.Context, dial func(context.Context) (net.Conn, error)) (conn net.Conn, err error) {
	for attempt := range 5 {
		if attempt > 0 {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				return nil, err
			}
		}
		if conn, err = dialWithTimeout(ctx, dial); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// dialWithTimeout dials once, for as long as go-redis does by default.
func dialWithTimeout(ctx context.Context, dial func(context.Context) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return dial(ctx)
}
