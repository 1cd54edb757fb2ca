package reality

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/jute"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// zkLargest is the largest size of a message, in bytes: the default of jute.maxbuffer.
const zkLargest = 0xfffff

// A zooKeeperCutter cuts the bytes of a connection with a ZooKeeper server. Each message
// begins with its length, and an answer has the number of its request.
type zooKeeperCutter struct {
	sim.Framer
	r *run
	// hasAsked and hasAnswered say that the first message in that direction was read, which
	// opens or continues a session.
	hasAsked, hasAnswered bool
	session               string // in hexadecimal; "" if it is not known yet
}

// connectNumber is our number for the first request of a connection, which has none of its own.
const connectNumber = math.MinInt64

// Next implements [sim.Framer].
func (c *zooKeeperCutter) Next(b []byte) (int, sim.Frame) {
	size, frame := c.Framer.Next(b)
	if size > 0 {
		frame.Body = c.readRequest(b[:size])
	}
	return size, frame
}

// readRequest reads a message of a client.
func (c *zooKeeperCutter) readRequest(b []byte) *call {
	q := &call{isWhole: true, isShort: true}
	if !c.hasAsked {
		c.hasAsked = true
		q.id, q.opens = connectNumber, true
		return q
	}
	body := jute.NewReader(b)
	body.Int() // the length
	q.id = int64(body.Int())
	op := body.Int()
	e := &effect{session: c.session}
	if op == zkCloseSession {
		e.ends = c.session
	} else {
		e.addOperation(op, body, 0)
	}
	if q.renews = op != zkCloseSession; len(e.puts) > 0 || len(e.deletes) > 0 || e.ends != "" {
		q.effect = e
	}
	return q
}

// addOperation adds what an operation may change. The operations of a multi are read one
// after the other.
func (e *effect) addOperation(op int32, body *jute.Reader, depth int) {
	switch op {
	case zkCreate, zkCreate2, zkCreateContainer, zkCreateTTL:
		path := body.Text()
		body.Buffer() // the content
		body.Each(func() {
			body.Int() // the permissions of an identity
			body.Text()
			body.Text()
		})
		const ephemeral, sequential, ephemeralSequential, sequentialTTL = 1, 2, 3, 6
		flags := body.Int()
		if op == zkCreateTTL {
			body.Take(8)
		}
		e.puts = append(e.puts, path)
		e.isSequential = e.isSequential || flags == sequential || flags == ephemeralSequential || flags == sequentialTTL
		if flags != ephemeral && flags != ephemeralSequential {
			e.session = ""
		}
	case zkDelete:
		path := body.Text()
		body.Int() // the version
		e.deletes = append(e.deletes, [2]string{path, path + "\x00"})
	case zkSetData:
		e.puts = append(e.puts, body.Text())
		body.Buffer()
		body.Int()
	case zkMulti:
		for depth == 0 && !body.IsShort() {
			kind := body.Int()
			isLast := body.Bool()
			body.Int() // an error, which requests do not have
			if isLast {
				return
			}
			const check = 13
			if kind == check {
				body.Text()
				body.Int()
				continue
			}
			e.addOperation(kind, body, depth+1)
		}
	}
}

// answerSize implements [cutter].
func (c *zooKeeperCutter) answerSize(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	n := binary.BigEndian.Uint32(b)
	if n > zkLargest { // no message is so long: pass the bytes on
		return len(b)
	}
	if size := 4 + int(n); size <= len(b) {
		return size
	}
	return 0
}

// read implements [cutter].
func (c *zooKeeperCutter) read(b []byte, asked []*message) reading {
	decoded := reading{completes: -1}
	body := jute.NewReader(b)
	body.Int() // the length
	number := int64(connectNumber)
	if c.hasAnswered {
		number = int64(body.Int())
	}
	var m *message
	for i, o := range asked {
		if o.body.(sim.Frame).Body.(*call).id == number {
			decoded.completes, m = i, o
			break
		}
	}
	switch {
	case !c.hasAnswered:
		c.hasAnswered = true
		c.readWelcome(&decoded, body, m)
		return decoded
	case number == zkNotification:
		body.Take(12)
		kind := body.Int()
		body.Int()
		path := nameZooKeeperPath(c.r.names, body.Text())
		decoded.text = fmt.Sprintf("event %d: %s", kind, path)
		if kind > 0 {
			decoded.learned = []trace.Event{{Kind: trace.KindNotify, Key: path}}
		}
		return decoded
	}
	body.Take(8) // the last change
	decoded.text = "ok"
	if code := body.Int(); code != 0 {
		decoded.text = fmt.Sprintf("error %d", code)
	}
	if m != nil && m.body.(sim.Frame).Body.(*call).renews {
		c.r.cluster.renew(c.session, m.due)
		decoded.learned = c.r.cluster.alive(c.session, m.sentAt)
	}
	return decoded
}

// readWelcome reads the first message of a server, which says which session the client has
// and how long it lasts. m is the request that it answers; nil if it is not known.
func (c *zooKeeperCutter) readWelcome(decoded *reading, body *jute.Reader, m *message) {
	body.Int() // the version of the protocol
	timeout := time.Duration(body.Int()) * time.Millisecond
	id := body.Take(8)
	if len(id) < 8 || m == nil {
		decoded.text = "a malformed answer to a connection"
		return
	}
	if number := binary.BigEndian.Uint64(id); number != 0 && timeout > 0 {
		c.session = strconv.FormatUint(number, 16)
		c.r.cluster.open(c.session, m.event.Process, timeout, m.due)
		decoded.learned = c.r.cluster.alive(c.session, m.sentAt)
		decoded.text = fmt.Sprintf("%s for %v", nameSession(c.r.names, c.session), timeout)
		return
	}
	decoded.text = "the session has expired"
}

// isAnswered implements [cutter].
func (c *zooKeeperCutter) isAnswered(sim.Frame) bool { return true }

// expect implements [cutter].
func (c *zooKeeperCutter) expect(asked []*message, m *message) []*message {
	return expectCall(asked, m)
}

// nameZooKeeperPath returns a path as the trace shows it.
func nameZooKeeperPath(names *sim.Names, path string) string {
	if names.IsKey(path) {
		return path
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = names.Value(p)
	}
	return strings.Join(parts, "/")
}
