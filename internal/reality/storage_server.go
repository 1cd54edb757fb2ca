package reality

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/locksim/locksim/storage"
)

// A storageCall is one line that the harness sends to the storage process.
type storageCall struct {
	Call string `json:"call"`
	storage.Request
	KnownVersion int `json:"known_version,omitempty"`
}

// These are the calls. The first three are the methods of [storage.Store].
const (
	callDo      = "do"
	callCheck   = "check"
	callApply   = "apply"
	callCrash   = "crash"   // only in the file: before this line, the process ended and was started again
	callObjects = "objects" // asks for the data
)

// A storageAnswer is the line with which the storage process answers.
type storageAnswer struct {
	storage.Response
	Objects []storedObject `json:"objects,omitempty"`
}

// A storedObject is the state of one object.
type storedObject struct {
	Object  string `json:"object"`
	Version int    `json:"version"`
	Value   string `json:"value"`
}

// A storageReady is the first line of the storage process: the address, as IP:port, and the losses
// in the crash from which it comes back.
type storageReady struct {
	Address string         `json:"address"`
	Losses  []storage.Loss `json:"losses,omitempty"`
}

// ServeStorage makes this process the storage. It writes its address to out, and serves one
// connection until that ends. A file in the folder has the calls that may change the data, so
// the data outlives the process. State that the policy keeps only in memory is lost with the
// process.
func ServeStorage(out io.Writer, folder string, policy storage.Policy) error {
	file, err := os.OpenFile(filepath.Join(folder, "calls"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	store, kept := storage.New(policy), json.NewEncoder(file)
	for calls := json.NewDecoder(file); ; {
		var c storageCall
		if err := calls.Decode(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("%s cannot be read: %w", file.Name(), err)
		}
		c.carryOut(store)
	}
	losses := store.Crash()
	if err := kept.Encode(storageCall{Call: callCrash}); err != nil {
		return err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(storageReady{l.Addr().String(), losses}); err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	calls, answers := json.NewDecoder(conn), json.NewEncoder(conn)
	for {
		var c storageCall
		if err := calls.Decode(&c); err != nil {
			return err
		}
		if c.Call == callDo || c.Call == callApply {
			if err := kept.Encode(c); err != nil {
				return err
			}
		}
		if err := answers.Encode(c.carryOut(store)); err != nil {
			return err
		}
	}
}

// carryOut carries out a call.
func (c storageCall) carryOut(store *storage.Store) (a storageAnswer) {
	c.Request.KnownVersion = c.KnownVersion
	switch c.Call {
	case callDo:
		a.Response = store.Do(c.Request)
	case callCheck:
		a.Refused = store.Check(c.Request)
	case callApply:
		a.Response = store.Apply(c.Request)
	case callCrash:
		store.Crash()
	case callObjects:
		for _, o := range store.Objects() {
			version, value := store.Object(o)
			a.Objects = append(a.Objects, storedObject{o, version, value})
		}
	}
	return a
}
