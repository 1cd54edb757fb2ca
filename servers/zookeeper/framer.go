package zookeeper

import (
	"encoding/binary"
	"slices"

	"github.com/locksim/locksim/sim"
)

// maxMessage is the maximum size of a message, in bytes: the default of jute.maxbuffer, a
// setting of ZooKeeper.
const maxMessage = 0xfffff

// A framer cuts the bytes that a client writes into messages. Each message begins with its
// length. The first message of a connection, which opens or resumes a session, has another
// format than the rest.
type framer struct {
	names      *sim.Names
	hasStarted bool
}

// garbage is the body of a frame with bytes that are not a message. command is set if they
// are a four-letter command.
type garbage struct{ command string }

// commands are the four-letter commands, such as ruok. An operator sends one in place of
// the first message: ServerCnxn of the real server.
var commands = []string{
	"conf", "cons", "crst", "dirs", "dump", "envi", "gtmk", "hash", "isro", "lsnp", "mntr", "orst", "ruok", "srst", "srvr",
	"stat", "stmk", "wchc", "wchp", "wchs", "icfg",
}

// Next implements [sim.Framer].
func (f *framer) Next(b []byte) (int, sim.Frame) {
	if len(b) < 4 {
		return 0, sim.Frame{}
	}
	n := binary.BigEndian.Uint32(b)
	if n > maxMessage {
		if word := string(b[:4]); !f.hasStarted && slices.Contains(commands, word) {
			return len(b), sim.Frame{Body: garbage{word}, Text: word}
		}
		return len(b), sim.Frame{Body: garbage{}, Text: "a malformed message"}
	}
	size := 4 + int(n)
	if len(b) < size {
		return 0, sim.Frame{}
	}
	q := f.request(b[4:size])
	if q == nil || q.op == opConnect && q.malformed {
		return size, sim.Frame{Body: garbage{}, Text: "a malformed request"}
	}
	return size, sim.Frame{Body: q, Text: q.describe(f.names), Handshake: q.op == opConnect || q.op == opPing}
}

// request parses a message, which may be the first of the connection. It returns nil if the
// header is incomplete.
func (f *framer) request(b []byte) *request {
	if !f.hasStarted {
		f.hasStarted = true
		return connectRequest(b)
	}
	return newRequest(b)
}
