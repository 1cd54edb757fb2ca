package locks

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// This source uses a random value as a token, because many locks already have one. A
// storage can see that two random values differ, but not which of them is the later one.
func init() {
	registerTokenSource(TokenSource{
		Name:      "random",
		Title:     "63 random bits",
		Unordered: true,
		Mint: func(_ context.Context, e *Env) (uint64, error) {
			for {
				var b [8]byte
				if _, err := io.ReadFull(e.Rand, b[:]); err != nil {
					return 0, fmt.Errorf("%w: cannot draw random bits: %w", ErrNoToken, err)
				}
				// The highest bit is 0, because many databases have only signed integers.
				if token := binary.BigEndian.Uint64(b[:]) >> 1; token != 0 {
					return token, nil
				}
			}
		},
	})
}
