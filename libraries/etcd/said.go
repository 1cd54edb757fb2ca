package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
)

// failed is the error of a request, and of what its context has to say about it.
func failed(ctx context.Context, what string, err error) error {
	return answers.Because(ctx, fmt.Errorf("etcd: %s: %s", what, because(err)))
}

// notAcquired is the error of an attempt.
func notAcquired(ctx context.Context, err error) error {
	return answers.Because(ctx, fmt.Errorf("%w: etcd: %s", locks.ErrNotAcquired, because(err)))
}

// because says what an error was, without what depends on which of the client's
// goroutines has seen it first: that a connection breaks is told by each of them in its
// own words.
func because(err error) string {
	said := answers.Reason(err)
	if errors.Is(err, concurrency.ErrLocked) {
		return "taken"
	}
	if said == "timed out" || said == "cancelled" {
		return said
	}
	// The client makes errors of its own of those that it knows of a server.
	if of, ok := status.FromError(err); ok {
		switch of.Code() {
		case codes.DeadlineExceeded:
			return "timed out"
		case codes.Canceled:
			return "cancelled"
		case codes.Unavailable:
			return "the connection broke"
		}
		return of.Message()
	}
	return said
}
