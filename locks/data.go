package locks

import (
	"context"
	"errors"
)

// A DataClient is a lock whose servers can also store the data that the lock protects. It reads
// and writes the data with the lock's client, but in separate requests, whether or not the
// client holds the lock at that time. (A [Keeper] reads and writes in the transaction in which
// the lock is held.)
type DataClient interface {
	Lock
	// Read returns the version of an object: how often it was written, 0 if never.
	Read(ctx context.Context, object string) (version int, err error)
	// Write writes an object and returns its new version. knew is the version that the writer
	// knows. If [Data.ComparesVersion] is set and the object's version is not knew, the server
	// writes nothing, and the error wraps [ErrChanged]. The server compares and writes in one
	// step.
	Write(ctx context.Context, object, value string, knew int) (version int, err error)
}

// ErrChanged is returned for a write that was refused because the object is not at the
// version that its writer knew.
var ErrChanged = errors.New("another client has written it in the meantime")

// ErrGone is returned for a write that was refused because the key with which its writer
// had acquired the lock does not exist any more.
var ErrGone = errors.New("the key with which it acquired the lock is gone")

// Data describes the data that a process stores on the servers of its lock.
type Data struct {
	// Objects are the names of the objects. [DataKey] returns their keys.
	Objects []string
	// ReadMode is how an object is read, in the system's own terms; "" is the client's
	// default.
	ReadMode string
	// ComparesVersion makes each write compare the object's version with the version that
	// the writer knew.
	ComparesVersion bool
	// ChecksOwner makes each write check, in one step with the write, that the key with
	// which the handle last acquired the lock still exists. If the key does not exist, the
	// error wraps [ErrGone]. Only some kinds can check that: see [Kind.ChecksOwner].
	ChecksOwner bool
	// SeparateClient gives the process a second client for its data, on another server than
	// the lock's client. The lock's client uses the server with the process's own number;
	// the data's client uses the next server.
	SeparateClient bool
}

// DataKey returns the key of an object on the servers of a lock.
func DataKey(object string) string { return "data-" + object }
