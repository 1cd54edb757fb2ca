package zookeeper

import (
	"encoding/binary"
	"testing"

	"github.com/locksim/locksim/sim"
)

// encodeRequest returns a request as a client writes it, beginning with its length.
func encodeRequest(xid int32, op opcode, body func(*writer)) []byte {
	var w writer
	w.int(xid)
	w.int(int32(op))
	if body != nil {
		body(&w)
	}
	return w.framed()
}

// hello returns the first message of a connection. It asks for a new session if session is
// 0, and else for the session with this ID and secret.
func hello(session int64, secret []byte) []byte {
	var w writer
	w.int(0)
	w.long(0)
	w.int(10_000)
	w.long(session)
	w.buffer(secret)
	return w.framed()
}

// samples returns the later messages of a connection: at least one request of each kind.
func samples() [][]byte {
	acl := func(w *writer) { w.acl(openACL) }
	create := func(path string, flags int32) func(*writer) {
		return func(w *writer) { w.string(path); w.buffer([]byte("data")); acl(w); w.int(flags) }
	}
	watch := func(path string) func(*writer) { return func(w *writer) { w.string(path); w.bool(true) } }
	anyVersion := func(path string) func(*writer) { return func(w *writer) { w.string(path); w.int(-1) } }
	return [][]byte{
		encodeRequest(1, opCreate, create("/a", 0)),
		encodeRequest(2, opCreate2, create("/a/b-", 3)),
		encodeRequest(3, opCreate, create("/a/_c_0123456789abcdef0123456789abcdef-lock-", 3)),
		encodeRequest(4, opExists, watch("/a")),
		encodeRequest(5, opGetData, watch("/a")),
		encodeRequest(6, opGetChildren2, watch("/a")),
		encodeRequest(7, opSetData, func(w *writer) { w.string("/a"); w.buffer(nil); w.int(0) }),
		encodeRequest(8, opGetACL, func(w *writer) { w.string("/a") }),
		encodeRequest(9, opSetACL, func(w *writer) { w.string("/a"); acl(w); w.int(-1) }),
		encodeRequest(10, opSync, func(w *writer) { w.string("/a") }),
		encodeRequest(11, opMulti, func(w *writer) {
			for _, op := range []opcode{opCheck, opDelete} {
				w.int(int32(op))
				w.bool(false)
				w.int(-1)
				anyVersion("/a")(w)
			}
			w.int(-1)
			w.bool(true)
			w.int(-1)
		}),
		encodeRequest(12, opSetWatches, func(w *writer) { w.long(0); w.strings([]string{"/a"}); w.strings(nil); w.strings([]string{"/"}) }),
		encodeRequest(13, opAuth, func(w *writer) { w.int(0); w.string("digest"); w.buffer([]byte("a:b")) }),
		encodeRequest(14, opDelete, anyVersion("/a")),
		encodeRequest(-2, opPing, nil),
		encodeRequest(15, opContainer, create("/c", 4)),
		encodeRequest(16, opCreateTTL, func(w *writer) { create("/t", 5)(w); w.long(10) }),
		encodeRequest(17, opReconfig, nil),
		encodeRequest(18, 107, nil),
		encodeRequest(19, opClose, nil),
	}
}

// The messages do not depend on the pieces in which the bytes of a connection arrive.
func TestFramerCutsMessages(t *testing.T) {
	all := append([][]byte{hello(0, make([]byte, 16))}, samples()...)
	var stream []byte
	for _, m := range all {
		stream = append(stream, m...)
	}
	f := &framer{names: sim.NewNames()}
	for i, m := range all {
		if size, _ := f.Next(stream[:len(m)-1]); size != 0 {
			t.Fatalf("message %d without its last byte: size %d, want 0", i, size)
		}
		size, frame := f.Next(stream)
		if size != len(m) {
			t.Fatalf("message %d: size %d, want %d", i, size, len(m))
		}
		if q, ok := frame.Body.(*request); !ok || q.malformed {
			t.Errorf("message %d: got %+v, want a well-formed request", i, frame.Body)
		}
		stream = stream[size:]
	}
}

// The text of a message in the trace contains no random words.
func TestTextOfRequests(t *testing.T) {
	f := &framer{names: sim.NewNames("/a"), hasStarted: true}
	for i, want := range []string{
		"create /a", "create ephemeral sequential /a/b-", "create ephemeral sequential /a/lock-",
		"exists /a, watch", "getData /a, watch", "getChildren /a, watch", "setData /a", "getACL /a", "setACL /a",
		"sync /a", "multi: check /a; delete /a", "setWatches: 2 watches", "addAuth", "delete /a", "ping",
		"createContainer /c", "createTTL /t", "reconfig", "whoAmI", "closeSession",
	} {
		if _, frame := f.Next(samples()[i]); frame.Text != want {
			t.Errorf("message %d: text %q, want %q", i, frame.Text, want)
		}
	}
}

// Bytes that do not begin with a message count as one piece of garbage.
func TestMalformedMessages(t *testing.T) {
	for name, b := range map[string][]byte{
		"a four-letter command":      []byte("ruok"),
		"a negative length":          {0xff, 0xff, 0xff, 0xff},
		"a message without a header": {0, 0, 0, 2, 1, 2},
	} {
		f := &framer{names: sim.NewNames(), hasStarted: true}
		if size, frame := f.Next(b); size != len(b) || frame.Body != (garbage{}) {
			t.Errorf("%s: got size %d and %+v, want size %d and garbage", name, size, frame.Body, len(b))
		}
	}
}

// The framer cuts any bytes into messages that are not longer than the bytes. begun reports
// whether the first message of the connection was read already.
func FuzzFramer(f *testing.F) {
	for _, m := range samples() {
		f.Add(m, true)
		f.Add(m[:len(m)-1], true)
		f.Add(append(binary.BigEndian.AppendUint32(nil, uint32(len(m)-6)), m[4:len(m)-2]...), true)
	}
	f.Add(hello(1, []byte("x")), false)
	f.Add([]byte("stat"), false)
	f.Fuzz(func(t *testing.T, b []byte, begun bool) {
		c := &framer{names: sim.NewNames(), hasStarted: begun}
		for len(b) > 0 {
			size, frame := c.Next(b)
			if size < 0 || size > len(b) {
				t.Fatalf("a message of size %d in %d bytes", size, len(b))
			}
			if size == 0 {
				return
			}
			if frame.Body == nil {
				t.Fatalf("the message %q has no body", b[:size])
			}
			b = b[size:]
		}
	})
}
