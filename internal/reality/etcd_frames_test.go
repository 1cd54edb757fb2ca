package reality

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// frame returns an HTTP/2 frame.
func frame(kind, flags byte, stream uint32, payload ...byte) []byte {
	n := len(payload)
	b := []byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// grpcMessage returns a protobuf message as gRPC sends it.
func grpcMessage(fields ...[]byte) []byte {
	message := slices.Concat(fields...)
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// numberField and bytesField return fields of a protobuf message.
func numberField(number int, value int64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(number<<3)), uint64(value))
}

func bytesField(number int, data ...[]byte) []byte {
	all := slices.Concat(data...)
	b := binary.AppendUvarint(nil, uint64(number<<3|2))
	return append(binary.AppendUvarint(b, uint64(len(all))), all...)
}

// revisionOf returns the header of an answer.
func revisionOf(revision int64) []byte { return bytesField(1, numberField(3, revision)) }

// testRun returns a run in which nothing has been started, with the cluster of a kind of
// servers.
func testRun(system string) *run {
	r := &run{names: sim.NewNames(), began: time.Now()}
	r.changed = sync.NewCond(&r.mu)
	r.cluster = &cluster{r: r, name: system, sessions: map[string]*session{}}
	return r
}

// A textFramer is a framer for which all bytes are one message with this text.
type textFramer struct{ text string }

func (f *textFramer) Next(b []byte) (int, sim.Frame) { return len(b), sim.Frame{Text: f.text} }

// An etcdConn is a connection of a test.
type etcdConn struct {
	*testing.T
	framer *textFramer
	cut    *etcdCutter
	asked  []*message
}

func newEtcdConn(t *testing.T) *etcdConn {
	f := &textFramer{}
	return &etcdConn{T: t, framer: f, cut: newEtcdCutter(testRun("etcd"), f)}
}

// ask sends the frames of a client.
func (c *etcdConn) ask(text string, frames ...[]byte) *call {
	c.framer.text = text
	_, f := c.cut.Next(slices.Concat(frames...))
	m := &message{body: f}
	m.event.Process = "client-1"
	c.asked = c.cut.expect(c.asked, m)
	return f.Body.(*call)
}

// answer sends the frames of a server, of which the cutter must make one message.
func (c *etcdConn) answer(frames ...[]byte) reading {
	c.Helper()
	all := slices.Concat(frames...)
	for n := range all {
		if size := c.cut.answerSize(all[:n]); size != 0 {
			c.Fatalf("the first %d of %d bytes are a message of %d bytes", n, len(all), size)
		}
	}
	if size := c.cut.answerSize(all); size != len(all) {
		c.Fatalf("the message has %d bytes, want %d", size, len(all))
	}
	return c.cut.read(all, c.asked)
}

// The answer to a call is all frames up to the end of the call, and has the revision that the
// member names.
func TestAnswerOfEtcd(t *testing.T) {
	c := newEtcdConn(t)
	settings := frame(4, 0, 0)
	if q := c.ask("SETTINGS", []byte(http2Preface), settings); q.isWhole {
		t.Error("the settings of a connection are a request")
	}
	if decoded := c.answer(settings); !decoded.isHandshake || decoded.completes >= 0 {
		t.Errorf("the settings of the server are read as %+v", decoded)
	}
	put := grpcMessage(bytesField(1, []byte("resource/7")))
	if size, _ := c.cut.Next(frame(1, 4, 1)); size != 0 {
		t.Error("the beginning of a call is a message without its request")
	}
	if q := c.ask("Put resource/7", frame(1, 4, 1), frame(0, 1, 1, put...)); !q.isWhole || !q.isShort || q.id != 1 {
		t.Errorf("the call is read as %+v", q)
	}
	c.ask("Put other", frame(1, 4, 3), frame(0, 1, 3, put...))
	decoded := c.answer(frame(1, 4, 3), frame(0, 0, 3, grpcMessage(revisionOf(7))...), frame(1, 5, 3))
	if decoded.completes != 1 || decoded.revision != 7 {
		t.Errorf("the answer is read as %+v, want the second request and revision 7", decoded)
	}
	if decoded := c.answer(frame(1, 5, 1)); decoded.completes != 0 {
		t.Errorf("the error is read as %+v", decoded)
	}
	c.ask("cancels Put", frame(3, 0, 1, 0, 0, 0, 8))
	if len(c.asked) != 1 {
		t.Errorf("%d requests have no answer after a cancel, want 1", len(c.asked))
	}
}

// A watch is answered once; all later messages are notifications.
func TestNotificationsOfEtcd(t *testing.T) {
	c := newEtcdConn(t)
	q := c.ask("Watch resource/7", frame(1, 4, 1), frame(0, 0, 1, grpcMessage(bytesField(1, nil))...))
	if !q.isWhole || q.isShort {
		t.Errorf("the watch is read as %+v", q)
	}
	if decoded := c.answer(frame(1, 4, 1), frame(0, 0, 1, grpcMessage(revisionOf(2), numberField(3, 1))...)); decoded.completes != 0 {
		t.Errorf("the confirmation is read as %+v", decoded)
	}
	c.asked = nil
	event := bytesField(11, numberField(1, 1), bytesField(2, bytesField(1, []byte("resource/7"))))
	decoded := c.answer(frame(0, 0, 1, grpcMessage(revisionOf(3), event)...))
	if decoded.completes >= 0 || decoded.revision != 3 || len(decoded.learned) != 1 || decoded.learned[0].Kind != trace.KindNotify {
		t.Errorf("the notification is read as %+v", decoded)
	}
}

// The answers to a grant and to a keep-alive say which session the client has.
func TestSessionOfEtcd(t *testing.T) {
	c := newEtcdConn(t)
	c.ask("LeaseGrant for 2 s", frame(1, 4, 1), frame(0, 1, 1, grpcMessage(numberField(1, 2))...))
	session := grpcMessage(revisionOf(1), numberField(2, 0x7abc), numberField(3, 2))
	decoded := c.answer(frame(1, 4, 1), frame(0, 0, 1, session...), frame(1, 5, 1))
	if s := c.cut.r.cluster.sessions["7abc"]; s == nil || s.client != "client-1" || s.ttl != 2*time.Second || len(decoded.learned) != 1 {
		t.Errorf("the session is %+v, and the answer %+v", s, decoded)
	}
	c.asked = nil
	c.ask("LeaseKeepAlive session-1", frame(1, 4, 3), frame(0, 0, 3, grpcMessage(numberField(1, 0x7abc))...))
	if decoded := c.answer(frame(1, 4, 3), frame(0, 0, 3, session...)); decoded.completes != 0 || len(decoded.learned) != 1 || decoded.learned[0].TTL != 2*time.Second {
		t.Errorf("the keep-alive is read as %+v", decoded)
	}
}

// The keys that a request may change are those in both branches of a transaction.
func TestEffectsOfEtcd(t *testing.T) {
	key := func(name string) []byte { return bytesField(1, []byte(name)) }
	inner := bytesField(4, bytesField(2, bytesField(2, key("nested"))))
	txn := slices.Concat(bytesField(1, key("compared")), bytesField(2, bytesField(2, key("a"))), bytesField(3, bytesField(3, key("b"))), bytesField(3, inner))
	for _, c := range []struct {
		method        string
		request       []byte
		puts, deletes string // one of each
		ends          string
	}{
		{"Put", key("a"), "a", "", ""},
		{"Delete", key("b"), "", "b", ""},
		{"Delete", slices.Concat(key("b"), bytesField(2, []byte("c"))), "", "bzz", ""},
		{"Txn", txn, "nested", "b", ""},
		{"LeaseRevoke", numberField(1, 0x1f), "", "", "1f"},
		{"Get", key("a"), "", "", ""},
		{"Watch", key("a"), "", "", ""},
	} {
		q := &call{}
		describeCall(q, c.method, c.request)
		e := q.effect
		if c.puts == "" && c.deletes == "" && c.ends == "" {
			if e != nil {
				t.Errorf("%s changes %+v", c.method, e)
			}
			continue
		}
		switch {
		case e == nil:
			t.Errorf("%s changes nothing", c.method)
		case c.puts != "" && !e.causes(change{key: c.puts}), c.deletes != "" && !e.causes(change{key: c.deletes, isDeleted: true}), e.ends != c.ends:
			t.Errorf("%s changes %+v", c.method, e)
		case e.causes(change{key: "compared"}) || e.causes(change{key: "d", isDeleted: true}):
			t.Errorf("%s changes a key that it does not name: %+v", c.method, e)
		}
	}
}

// Bytes that are not HTTP/2, gRPC or protobuf are passed on or kept, and nothing panics.
func FuzzEtcdFrames(f *testing.F) {
	put := grpcMessage(bytesField(1, []byte("resource/7")))
	f.Add(slices.Concat(frame(1, 4, 1), frame(0, 1, 1, put...)), slices.Concat(frame(1, 4, 1), frame(0, 0, 1, put...), frame(1, 5, 1)), "Txn")
	f.Add(frame(0, flagPadded, 1, 9), frame(0, flagPadded, 1), "LeaseGrant")
	f.Add([]byte(http2Preface), []byte("HTTP/1.1 400"), "Delete")
	f.Fuzz(func(t *testing.T, request, answer []byte, method string) {
		cut := newEtcdCutter(testRun("etcd"), &textFramer{method})
		_, asked := cut.Next(request)
		m := &message{body: asked}
		m.event.Process = "client-1"
		for len(answer) > 0 {
			size := cut.answerSize(answer)
			if size == 0 {
				return
			}
			if size > len(answer) {
				t.Fatalf("a message of %d bytes in %d bytes", size, len(answer))
			}
			cut.read(answer[:size], cut.expect(nil, m))
			answer = answer[size:]
		}
	})
}
