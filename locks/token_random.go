package locks

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// The lock has a random value already, so why not use one as the token? Because
// a storage can tell that two random values differ, but not which of the two is
// the later.
func init() {
	RegisterTokenSource(TokenSource{
		Name:      "random",
		Title:     "63 random bits",
		Unordered: true,
		Mint: func(_ context.Context, e *Env) (uint64, error) {
			for {
				var b [8]byte
				if _, err := io.ReadFull(e.Rand, b[:]); err != nil {
					return 0, fmt.Errorf("%w: no random bits: %w", ErrNoToken, err)
				}
				// One bit less than there is room for: many a database has signed
				// integers only.
				if token := binary.BigEndian.Uint64(b[:]) >> 1; token != 0 {
					return token, nil
				}
			}
		},
	})
}
