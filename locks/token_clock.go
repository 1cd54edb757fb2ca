package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// This source uses the time as a token. Time increases, so it seems to be a growing number
// that no server has to store. But each client reads its own clock: if a new holder's clock
// is behind, its token is smaller than that of the holder before.
func init() {
	registerTokenSource(TokenSource{
		Name:     "clock",
		OwnClock: true,
		Title:    "the client's wall clock, in milliseconds since 1970",
		Mint: func(_ context.Context, e *Env) (uint64, error) {
			token := e.Clock.Read(fakeclock.Wall).Nanos / int64(time.Millisecond)
			if token <= 0 {
				return 0, fmt.Errorf("%w: the wall clock shows a time before 1970", ErrNoToken)
			}
			return uint64(token), nil
		},
	})
}
