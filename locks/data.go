package locks

import (
	"context"
	"errors"
)

// DataClient is a lock on whose servers data can be kept beside it, and which reads and writes
// that with the client that it has: each for itself, and whoever holds the lock. (A [Keeper] is
// a lease that does so in the transaction in which the lock is held.)
type DataClient interface {
	Lock
	// Read is at which version an object is: how often it was written, 0 if it never was.
	Read(ctx context.Context, object string) (version int, err error)
	// Write writes an object, and returns at which version it is then. If [Data] says so
	// that is only done if the object is at the version that the writer knew, in one step
	// with the write; the error wraps [ErrChanged] if it is not.
	Write(ctx context.Context, object, value string, knew int) (version int, err error)
}

// ErrChanged is what a write returns that was refused because the object is at another
// version than the one that its writer knew.
var ErrChanged = errors.New("somebody else has written it since")

// ErrGone is what a write returns that was refused because the key by which its writer had
// asked for the lock does not stand any more.
var ErrGone = errors.New("the key by which it had asked for the lock is gone")

// Data is what a process keeps on the servers of its lock, and how it gets at it.
type Data struct {
	// Objects are the names of what is kept. [DataKey] is under which keys.
	Objects []string
	// Reads is how it is read: a word of the system's. "" is as its client does by itself.
	Reads string
	// Compares has each write look at the version.
	Compares bool
	// AsksOwner has each write look whether the key by which the handle got the lock last
	// still stands, in one step with the write; the error wraps [ErrGone] if it does not. Only
	// a kind that says so can do that ([Kind.AsksOwner]).
	AsksOwner bool
	// Apart says that the process has another client for its data than for the lock, on
	// another server: that after the one which has the process's own number.
	Apart bool
}

// DataKey is the key that an object is kept under on the servers of a lock.
func DataKey(object string) string { return "data-" + object }
