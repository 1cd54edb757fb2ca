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

// requestError returns the error of a failed request. If the request's context has ended,
// the error contains the reason. what says what was not done.
func requestError(ctx context.Context, what string, err error) error {
	return answers.WithCause(ctx, fmt.Errorf("etcd: %s: %s", what, describeError(err)))
}

// notAcquired returns the error of a failed attempt to acquire.
func notAcquired(ctx context.Context, err error) error {
	return answers.WithCause(ctx, fmt.Errorf("%w: etcd: %s", locks.ErrNotAcquired, describeError(err)))
}

// describeError returns a text for an error that is equal in every run. The client's
// goroutines report a broken connection in different words, and it is random which of them
// is the first to see it.
func describeError(err error) string {
	reason := answers.Reason(err)
	if errors.Is(err, concurrency.ErrLocked) {
		return "taken"
	}
	if reason == "timed out" || reason == "cancelled" {
		return reason
	}
	// The client replaces the errors of servers that it knows by its own.
	if st, ok := status.FromError(err); ok {
		switch st.Code() {
		case codes.DeadlineExceeded:
			return "timed out"
		case codes.Canceled:
			return "cancelled"
		case codes.Unavailable:
			return "the connection broke"
		}
		return st.Message()
	}
	return reason
}
