package reality

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A call is one request to a member of a cluster, as far as the harness needs it.
type call struct {
	// id identifies the call in its answer: the number of the stream for etcd, the number of
	// the request for ZooKeeper.
	id int64
	// isWhole says that the request is complete; the server then answers it. isShort says
	// that the answer comes soon.
	isWhole, isShort bool
	isCancel         bool // the client no longer waits for the answer to id
	// effect is what the request may change; nil if it changes nothing.
	effect *effect
	// opens and renews say that the answer reports a session that was opened or renewed.
	opens, renews bool
}

// An etcdCutter cuts the bytes of a connection with an etcd member: HTTP/2 with gRPC.
// Requests are cut as the simulated member cuts them. If the client has sent all of its
// call, an answer is all frames up to the end of the call. Otherwise it is all frames up to
// the next frame with data.
type etcdCutter struct {
	sim.Framer
	r *run

	// mu guards the fields below, because one goroutine cuts the requests and another the
	// answers.
	mu       sync.Mutex
	hasBegun bool // the preface, which begins the connection, has been read
	streams  map[uint32]*http2Stream
}

// An http2Stream is the state of one call.
type http2Stream struct {
	isEnded bool // the client has sent all of the call
	// incomplete are the bytes of a gRPC message that is not complete yet, by direction.
	incomplete [2][]byte
}

// These are the directions of a stream.
const (
	fromClient = iota
	fromServer
)

func newEtcdCutter(r *run, f sim.Framer) *etcdCutter {
	return &etcdCutter{Framer: f, r: r, streams: map[uint32]*http2Stream{}}
}

// The types and flags of HTTP/2 frames that the harness knows: RFC 9113, section 6.
const (
	http2Preface   = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	http2Header    = 9 // bytes before the payload of a frame
	typeData       = 0
	typeHeaders    = 1
	typeReset      = 3
	typeContinued  = 9
	flagEndStream  = 1
	flagPadded     = 8
	largestWaiting = 32 << 10 // bytes of an answer that the harness keeps until it is complete
)

// An http2Frame is one frame.
type http2Frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
	size        int // with the header
}

// readFrame returns the first frame of b. ok is false if b does not contain it whole.
func readFrame(b []byte) (f http2Frame, ok bool) {
	if len(b) < http2Header {
		return f, false
	}
	f.size = http2Header + (int(b[0])<<16 | int(b[1])<<8 | int(b[2]))
	if len(b) < f.size {
		return f, false
	}
	f.kind, f.flags = b[3], b[4]
	f.stream = binary.BigEndian.Uint32(b[5:]) &^ (1 << 31)
	f.payload = b[http2Header:f.size]
	return f, true
}

// endsStream reports whether the frame is the last one that its sender sends on the stream.
func (f http2Frame) endsStream() bool {
	return f.kind == typeReset || (f.kind == typeData || f.kind == typeHeaders) && f.flags&flagEndStream != 0
}

// data returns the data of a frame without its padding.
func (f http2Frame) data() []byte {
	if f.kind != typeData {
		return nil
	}
	if f.flags&flagPadded == 0 {
		return f.payload
	}
	if len(f.payload) == 0 || int(f.payload[0]) >= len(f.payload) {
		return nil
	}
	return f.payload[1 : len(f.payload)-int(f.payload[0])]
}

// stream returns the state of a stream, which it makes if the stream is new. The mutex is held.
func (c *etcdCutter) stream(id uint32) *http2Stream {
	if c.streams[id] == nil {
		c.streams[id] = &http2Stream{}
	}
	return c.streams[id]
}

// complete adds data to a stream and returns the last gRPC message that it completes; nil if
// it completes none.
func (s *http2Stream) complete(direction int, data []byte) (message []byte) {
	all := append(s.incomplete[direction], data...)
	for len(all) >= 5 {
		size := int(binary.BigEndian.Uint32(all[1:]))
		if len(all)-5 < size {
			break
		}
		message, all = all[5:5+size:5+size], all[5+size:]
	}
	s.incomplete[direction] = all
	if len(all) > largestWaiting { // no lock sends such messages
		s.incomplete[direction] = nil
	}
	return message
}

// Next implements [sim.Framer]. The beginning of a call and its first request are one message,
// also if they do not arrive together.
func (c *etcdCutter) Next(b []byte) (int, sim.Frame) {
	if c.awaitsRequest(b) {
		return 0, sim.Frame{}
	}
	size, frame := c.Framer.Next(b)
	if size > 0 {
		frame.Body = c.readRequest(b[:size], frame.Text)
	}
	return size, frame
}

// awaitsRequest reports whether a client has begun a call whose first request has not arrived
// yet.
func (c *etcdCutter) awaitsRequest(b []byte) (awaits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hasBegun {
		b = bytes.TrimPrefix(b, []byte(http2Preface))
	}
	for f, ok := readFrame(b); ok; f, ok = readFrame(b) {
		b = b[f.size:]
		if f.kind == typeData || f.endsStream() {
			return false
		}
		awaits = awaits || f.kind == typeHeaders
	}
	return awaits
}

// readRequest reads the frames of a client. text begins with the name of the method.
func (c *etcdCutter) readRequest(b []byte, text string) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hasBegun {
		c.hasBegun = true
		b = bytes.TrimPrefix(b, []byte(http2Preface))
	}
	q := &call{}
	for f, ok := readFrame(b); ok; f, ok = readFrame(b) {
		b = b[f.size:]
		if f.kind != typeData && f.kind != typeHeaders && f.kind != typeReset {
			continue
		}
		q.id = int64(f.stream)
		s := c.stream(f.stream)
		s.isEnded = s.isEnded || f.endsStream()
		if f.kind == typeReset {
			q.isCancel = true
			delete(c.streams, f.stream)
		}
		if message := s.complete(fromClient, f.data()); message != nil {
			q.isWhole, q.isShort = true, s.isEnded
			describeCall(q, strings.Fields(text + " -")[0], message)
		}
	}
	return q
}

// answerSize implements [cutter].
func (c *etcdCutter) answerSize(b []byte) (size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	isOpen := false // whether the answer has begun
	for f, ok := readFrame(b); ok; f, ok = readFrame(b[size:]) {
		size += f.size
		switch f.kind {
		case typeData, typeHeaders, typeReset, typeContinued:
			s := c.streams[f.stream]
			isStreaming := s == nil || !s.isEnded // nil if the client has cancelled the call
			if f.endsStream() || f.kind == typeData && isStreaming || size > largestWaiting {
				return size
			}
			isOpen = true
		default:
			if !isOpen {
				return size
			}
		}
	}
	return 0
}

// read implements [cutter].
func (c *etcdCutter) read(b []byte, asked []*message) reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	decoded := reading{completes: -1, isHandshake: true, text: "settings of the connection"}
	var message []byte
	var last http2Frame
	for f, ok := readFrame(b); ok; f, ok = readFrame(b) {
		b = b[f.size:]
		switch f.kind {
		case typeData, typeHeaders, typeReset, typeContinued:
			decoded.isHandshake, last = false, f
			if m := c.stream(f.stream).complete(fromServer, f.data()); m != nil {
				message = m
			}
		}
	}
	if decoded.isHandshake {
		return decoded
	}
	isOver := last.endsStream()
	for i, m := range asked {
		if q := m.body.(sim.Frame).Body.(*call); q.id == int64(last.stream) && (message != nil || isOver) {
			decoded.completes = i
			c.describeAnswer(&decoded, message, m, q)
			break
		}
	}
	if decoded.completes < 0 {
		c.describeAnswer(&decoded, message, nil, &call{})
	}
	if isOver {
		delete(c.streams, last.stream)
	}
	return decoded
}

// isAnswered implements [cutter]. It is false for a watch and a keep-alive, whose answers
// come with later events.
func (c *etcdCutter) isAnswered(f sim.Frame) bool { return f.Body.(*call).isShort }

// expect implements [cutter].
func (c *etcdCutter) expect(asked []*message, m *message) []*message { return expectCall(asked, m) }

// expectCall returns the requests that have reached a member and have no answer yet. m is the
// request that has reached it now.
func expectCall(asked []*message, m *message) []*message {
	q := m.body.(sim.Frame).Body.(*call)
	if q.isCancel {
		var left []*message
		for _, o := range asked {
			if o.body.(sim.Frame).Body.(*call).id != q.id {
				left = append(left, o)
			}
		}
		return left
	}
	if q.isWhole {
		asked = append(asked, m)
	}
	return asked
}

// describeAnswer describes an answer of the server, and records what the answer says about a
// session. The answer belongs to the request m, whose call is q. m is nil if the answer belongs
// to no request. The mutex of the run is held.
func (c *etcdCutter) describeAnswer(decoded *reading, message []byte, m *message, q *call) {
	if message == nil {
		decoded.text = "an error, or the end of a call"
		return
	}
	a := readAnswer(message)
	decoded.revision = a.revision
	decoded.text = fmt.Sprintf("revision %d", a.revision)
	names := c.r.names
	switch {
	case q.opens && a.id != 0:
		id := strconv.FormatInt(a.id, 16)
		c.r.cluster.open(id, m.event.Process, time.Duration(a.ttl)*time.Second, m.due)
		decoded.learned = c.r.cluster.alive(id, m.sentAt)
		decoded.text = fmt.Sprintf("%s for %d s", nameSession(names, id), a.ttl)
	case q.renews && a.id != 0 && a.ttl > 0:
		id := strconv.FormatInt(a.id, 16)
		c.r.cluster.renew(id, m.due)
		decoded.learned = c.r.cluster.alive(id, m.sentAt)
		decoded.text = fmt.Sprintf("%s for %d s", nameSession(names, id), a.ttl)
	case q.renews && a.id != 0:
		decoded.text = nameSession(names, strconv.FormatInt(a.id, 16)) + " has ended"
	case m == nil && len(a.changed) > 0:
		var texts []string
		for _, key := range a.changed {
			key = nameEtcdKey(names, key)
			texts = append(texts, key+" has changed")
			decoded.learned = append(decoded.learned, trace.Event{Kind: trace.KindNotify, Key: key})
		}
		decoded.text += ": " + strings.Join(texts, ", ")
	}
}

// nameEtcdKey returns a key as the trace shows it. The keys in the queue of a lock end in the
// number of a session, which the trace replaces by a name.
func nameEtcdKey(names *sim.Names, key string) string {
	if folder, last, ok := cutLast(key, "/"); ok && len(last) >= 15 {
		return folder + "/" + nameSession(names, last)
	}
	return names.Value(key)
}

// cutLast cuts a text at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
