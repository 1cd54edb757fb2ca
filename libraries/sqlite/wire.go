package sqlite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/locksim/locksim/sim"
)

// The operations that SQLite requests from its operating system.
const (
	opOpen     = "open"
	opLock     = "lock"     // raise the level of the lock
	opUnlock   = "unlock"   // lower the level of the lock
	opReserved = "reserved" // ask whether any process has reserved the file
	opSync     = "sync"
	opDelete   = "remove"
)

// A level is one of the five states of SQLite's lock on a file, from the weakest to the
// strongest (https://www.sqlite.org/lockingv3.html).
type level int

const (
	unlockedLevel level = iota
	sharedLevel
	reservedLevel
	pendingLevel
	exclusiveLevel
)

// levels are the texts of the levels in the trace.
var levels = []string{"none", "shared", "reserved", "pending", "exclusive"}

// String returns the text of the level for the trace.
func (l level) String() string { return levels[l] }

// A database has two files: the database file and its journal. They are named by what
// follows the name of the database.
const (
	databaseFile = ""
	journal      = "-journal"
)

// A request is a message of a process to the machine: a line of JSON, followed by the bytes
// of its changes.
type request struct {
	Op string `json:"op"`
	// Name is the database to open. All later requests on the connection are about it.
	Name string `json:"name,omitempty"`
	// File is one of the two files of the database.
	File string `json:"file,omitempty"`
	// Durably says that a deletion must be on the disk before the answer.
	Durably bool  `json:"durably,omitempty"`
	Level   level `json:"level,omitempty"`
	// KnownVersion is the version of the files that the process has read. Changes are the process's
	// own changes since then.
	KnownVersion int      `json:"knows"`
	Changes      []change `json:"changes,omitempty"`
}

// A change is what a process does to a file. If Offset is -1, it creates the file. If Size
// is 0, it cuts the file at Offset. Otherwise it writes Size bytes at Offset.
type change struct {
	File   string `json:"file"`
	Offset int64  `json:"at"`
	Size   int    `json:"size"` // in bytes
	data   []byte
}

// An answer is the machine's answer to a request: a line of JSON, followed by the bytes of
// the files.
type answer struct {
	Yes bool `json:"yes"`
	// Why is the error, or "". Now is the time of day in milliseconds since 1970.
	Why string `json:"why,omitempty"`
	Now int64  `json:"now"`
	// Version is the version of the files after the request. Sizes lists the lengths of the
	// files that follow. It is empty if the process already has this version.
	Version  int      `json:"number"`
	Sizes    []size   `json:"files,omitempty"`
	contents contents // the files, if the process does not have this version
}

// A size is the length of an existing file, in bytes.
type size struct {
	File string `json:"file"`
	Size int    `json:"size"`
}

// contents are the bytes of the existing files of a database.
type contents map[string][]byte

// maxFile is the maximum length of a file, in bytes.
const maxFile = 1 << 20

// apply applies a change. It replaces the bytes of the file by a changed copy, because the
// old bytes may still be in use.
func (c contents) apply(ch change) error {
	if ch.Offset > maxFile || ch.Offset+int64(len(ch.data)) > maxFile || ch.Offset < -1 {
		return fmt.Errorf("a file may have %d bytes at most", maxFile)
	}
	old, offset := c[ch.File], ch.Offset
	switch {
	case ch.Offset < 0:
		c[ch.File] = append([]byte{}, old...)
	case len(ch.data) == 0:
		c[ch.File] = append(slices.Clone(old[:min(offset, int64(len(old)))]), make([]byte, max(0, offset-int64(len(old))))...)
	default:
		grown := append(slices.Clone(old), make([]byte, max(0, offset+int64(len(ch.data))-int64(len(old))))...)
		copy(grown[offset:], ch.data)
		c[ch.File] = grown
	}
	return nil
}

// A framer cuts the bytes that a process writes into requests.
type framer struct{}

// maxMessage is the maximum length of a message, in bytes: both files and the JSON.
// maxChanges is how many changes a message may have: SQLite makes four for a page of 4 kB.
const (
	maxMessage = 4 * maxFile
	maxChanges = 4 * maxFile / 4096
)

// encodeMessage returns a message: body as a line of JSON, followed by the raw bytes.
func encodeMessage(body any, raw ...[]byte) ([]byte, error) {
	line, err := json.Marshal(body)
	return bytes.Join(append([][]byte{append(line, '\n')}, raw...), nil), err
}

// malformed is the body of a malformed request.
type malformed struct{}

// Next implements [sim.Framer].
func (framer) Next(b []byte) (int, sim.Frame) {
	line, rest, whole := bytes.Cut(b, []byte("\n"))
	if !whole {
		if len(b) > maxMessage {
			return len(b), sim.Frame{Body: malformed{}, Text: "a malformed request"}
		}
		return 0, sim.Frame{}
	}
	size := len(line) + 1
	var r request
	if json.Unmarshal(line, &r) != nil || !r.isValid() {
		return size, sim.Frame{Body: malformed{}, Text: "a malformed request"}
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		if len(rest) < c.Size {
			return 0, sim.Frame{}
		}
		c.data, rest = bytes.Clone(rest[:c.Size]), rest[c.Size:]
		size += c.Size
	}
	return size, sim.Frame{Body: &r, Text: r.String(), Handshake: r.Op == opOpen}
}

// isValid reports whether the values of a request are valid.
func (r *request) isValid() bool {
	all := 0
	for _, c := range r.Changes {
		if c.File != databaseFile && c.File != journal || c.Size < 0 || c.Size > maxFile {
			return false
		}
		all += c.Size
	}
	return all <= maxMessage && len(r.Changes) <= maxChanges && r.Level >= unlockedLevel && r.Level <= exclusiveLevel && r.Level != pendingLevel && (r.File == databaseFile || r.File == journal) &&
		slices.Contains([]string{opOpen, opLock, opUnlock, opReserved, opSync, opDelete}, r.Op) && len(r.Name) < 1000
}

// String returns the text of the request for the trace.
func (r *request) String() string {
	file := "database"
	if r.File == journal {
		file = "journal"
	}
	switch r.Op {
	case opOpen:
		return "open " + fmt.Sprintf("%q", r.Name)
	case opLock:
		return "lock " + r.Level.String()
	case opUnlock:
		if r.Level == unlockedLevel {
			return "unlock"
		}
		return "unlock to " + r.Level.String()
	case opReserved:
		return "reserved?"
	case opSync:
		return "sync " + file
	}
	return "delete " + file
}
