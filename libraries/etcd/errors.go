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

// requestError is the error of a request, with the reason for which its context ended, if
// it did.
func requestError(ctx context.Context, what string, err error) error {
	return answers.WithCause(ctx, fmt.Errorf("etcd: %s: %s", what, describeError(err)))
}

// notAcquired is the error of an attempt to acquire.
func notAcquired(ctx context.Context, err error) error {
	return answers.WithCause(ctx, fmt.Errorf("%w: etcd: %s", locks.ErrNotAcquired, describeError(err)))
}

// describeError returns the text of an error, without what depends on which of the client's
// goroutines saw it first: each of them reports a broken connection in its own words.
func describeError(err error) string {
	reason := answers.Reason(err)
	if errors.Is(err, concurrency.ErrLocked) {
		return "taken"
	}
	if reason == "timed out" || reason == "cancelled" {
		return reason
	}
	// The client has errors of its own for those that it knows from servers.
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
	return reason
}
