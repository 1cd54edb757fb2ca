package etcd

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/sim"
)

// A scribe writes HTTP/2 frames and gRPC calls into a buffer, as a client may send them.
type scribe struct {
	bytes.Buffer
	frames *http2.Framer
	header *hpack.Encoder
	block  bytes.Buffer
}

// newScribe returns a scribe that has written the beginning of a connection.
func newScribe() *scribe {
	s := &scribe{}
	s.frames = http2.NewFramer(&s.Buffer, nil)
	s.frames.AllowIllegalWrites = true
	s.header = hpack.NewEncoder(&s.block)
	s.WriteString(http2.ClientPreface)
	_ = s.frames.WriteSettings()
	return s
}

// headers returns the compressed headers of a call, as one block.
func (s *scribe) headers(path string) []byte {
	s.block.Reset()
	for _, f := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", path}, {"content-type", "application/grpc"}, {"user-agent", "scribe"}} {
		_ = s.header.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	return bytes.Clone(s.block.Bytes())
}

// open writes the headers of a call.
func (s *scribe) open(stream uint32, path string) {
	_ = s.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: s.headers(path), EndHeaders: true})
}

// data writes one DATA frame.
func (s *scribe) data(stream uint32, ends bool, b []byte) { _ = s.frames.WriteData(stream, ends, b) }

// call writes a whole call with one message.
func (s *scribe) call(stream uint32, path string, m proto.Message) {
	s.open(stream, path)
	s.data(stream, true, frameMessage(m))
}

// splitMessages splits bytes with a framer. It returns the texts of the messages, and the
// bytes after the last message.
func splitMessages(f sim.Framer, b []byte) (texts []string, rest []byte) {
	for len(b) > 0 {
		size, frame := f.Next(b)
		if size == 0 {
			break
		}
		texts = append(texts, frame.Text)
		b = b[size:]
	}
	return texts, b
}

func put(key, value string) *pb.PutRequest {
	return &pb.PutRequest{Key: []byte(key), Value: []byte(value)}
}

// A message is everything up to the end of a request. A frame without a request, such as PING,
// belongs to the message of the next request. If no request follows, it is a message itself.
// Requests that one frame completes are one message.
func TestFramerSplitsBytesIntoMessages(t *testing.T) {
	const lease = 0x1234567890abcdef
	s := newScribe()
	s.call(1, pb.KV_Put_FullMethodName, put("x", "1"))
	s.call(3, pb.KV_Txn_FullMethodName, &pb.TxnRequest{
		Compare: []*pb.Compare{{Key: []byte("/lock/1234567890abcdef"), Target: pb.Compare_CREATE, TargetUnion: &pb.Compare_CreateRevision{}}},
		Success: []*pb.RequestOp{{Request: &pb.RequestOp_RequestPut{RequestPut: put("/lock/1234567890abcdef", "")}}},
		Failure: []*pb.RequestOp{{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: []byte("/lock/"), RangeEnd: []byte("/lock0")}}}},
	})
	s.open(5, pb.Lease_LeaseKeepAlive_FullMethodName)
	s.data(5, false, append(frameMessage(&pb.LeaseKeepAliveRequest{ID: lease}), frameMessage(&pb.LeaseKeepAliveRequest{ID: lease + 1})...))
	_ = s.frames.WritePing(false, [8]byte{})
	_ = s.frames.WriteWindowUpdate(0, 100)
	s.data(5, false, frameMessage(&pb.LeaseKeepAliveRequest{ID: lease}))
	_ = s.frames.WriteRSTStream(5, http2.ErrCodeCancel)
	s.open(7, pb.Watch_Watch_FullMethodName)
	s.data(7, false, frameMessage(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("/lock/1234567890abcdef"), StartRevision: 7}}}))
	_ = s.frames.WriteSettingsAck()
	want := []string{
		"Put x",
		"Txn if create(/lock/session-1) = 0 then Put /lock/session-1 else Get /lock/*",
		"LeaseKeepAlive session-1; LeaseKeepAlive session-2",
		"LeaseKeepAlive session-1",
		"cancels LeaseKeepAlive",
		"Watch /lock/session-1 from revision 7",
		"an acknowledgement",
	}
	got, rest := splitMessages(newFramer(sim.NewNames("/lock")), s.Bytes())
	if !slices.Equal(got, want) || len(rest) > 0 {
		t.Errorf("messages: got %q and %d bytes after them, want %q and none", got, len(rest), want)
	}

	// If the bytes arrive one by one, the messages to which a client may expect a response
	// are the same.
	f := newFramer(sim.NewNames("/lock"))
	var byteByByte []string
	var pending []byte
	for _, c := range s.Bytes() {
		texts, rest := splitMessages(f, append(pending, c))
		byteByByte, pending = append(byteByByte, texts...), rest
	}
	byteByByte = slices.DeleteFunc(byteByByte, func(s string) bool { return !slices.Contains(want, s) || s == "an acknowledgement" })
	if want := want[:len(want)-1]; !slices.Equal(byteByByte, want) || len(pending) > 0 {
		t.Errorf("messages of single bytes: got %q and %d bytes after them, want %q and none", byteByByte, len(pending), want)
	}
}

func TestFramerJoinsHeadersInParts(t *testing.T) {
	s := newScribe()
	block := s.headers(pb.KV_Put_FullMethodName)
	_ = s.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:5], PadLength: 9, Priority: http2.PriorityParam{Weight: 3}})
	_ = s.frames.WriteContinuation(1, false, block[5:10])
	_ = s.frames.WriteContinuation(1, true, block[10:])
	_ = s.frames.WriteDataPadded(1, true, frameMessage(put("x", "1")), make([]byte, 30))
	// The compressed headers of this call refer to those of the call before.
	s.call(3, pb.KV_Put_FullMethodName, put("y", "1"))
	if got, _ := splitMessages(newFramer(sim.NewNames()), s.Bytes()); !slices.Equal(got, []string{"Put x", "Put y"}) {
		t.Errorf("messages: got %q, want Put x and Put y", got)
	}
}

func TestFramerJoinsFramesOfAMessage(t *testing.T) {
	s := newScribe()
	s.open(1, pb.KV_Put_FullMethodName)
	b := frameMessage(put("x", strings.Repeat("1", 40_000)))
	s.data(1, false, b[:16_000])
	s.data(1, false, b[16_000:32_000])
	s.data(1, true, b[32_000:])
	if got, _ := splitMessages(newFramer(sim.NewNames()), s.Bytes()); !slices.Equal(got, []string{"Put x"}) {
		t.Errorf("messages: got %q, want Put x", got)
	}
}

// The last message of bytes that violate HTTP/2 says what is wrong with them.
func TestFramerRejectsInvalidHTTP2(t *testing.T) {
	// frame returns a function that writes one frame.
	frame := func(kind http2.FrameType, flags http2.Flags, stream uint32, b ...byte) func(*scribe) {
		return func(s *scribe) { _ = s.frames.WriteRawFrame(kind, flags, stream, b) }
	}
	for _, c := range []struct {
		why   string // what is wrong
		write func(*scribe)
	}{
		{"they do not begin like HTTP/2", func(s *scribe) { s.Reset(); s.WriteString("GET / HTTP/1.1\r\n\r\n") }},
		{"PING before SETTINGS", func(s *scribe) {
			s.Reset()
			s.WriteString(http2.ClientPreface)
			_ = s.frames.WritePing(false, [8]byte{})
		}},
		{"a frame of 16385 bytes, and at most 16384 are allowed", func(s *scribe) { s.Write([]byte{0, 64, 1, 0, 0, 0, 0, 0, 1}) }},
		{"HEADERS: HEADERS frame with stream ID 0", frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 0)},
		{"SETTINGS: PROTOCOL_ERROR", frame(http2.FrameSettings, 0, 1)},
		{"SETTINGS: FRAME_SIZE_ERROR", frame(http2.FrameSettings, 0, 0, 1, 2, 3, 4, 5)},
		{"SETTINGS: FRAME_SIZE_ERROR", frame(http2.FrameSettings, http2.FlagSettingsAck, 0, 1, 2, 3, 4, 5, 6)},
		{"SETTINGS: FLOW_CONTROL_ERROR", frame(http2.FrameSettings, 0, 0, 0, 4, 0x80, 0, 0, 0)},
		{"PING: FRAME_SIZE_ERROR", frame(http2.FramePing, 0, 0, 1, 2, 3, 4, 5, 6, 7)},
		{"WINDOW_UPDATE: PROTOCOL_ERROR", frame(http2.FrameWindowUpdate, 0, 0, 0, 0, 0, 0)},
		{"RST_STREAM of a stream that is idle", frame(http2.FrameRSTStream, 0, 9, 0, 0, 0, 0)},
		{"data of a stream that is idle", frame(http2.FrameData, 0, 9)},
		{"stream 2 is opened, but its number must be odd and greater than 0", frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 2)},
		{"stream 1 is opened, but its number must be odd and greater than 1", func(s *scribe) { s.open(1, "/x/y"); s.open(1, "/x/y") }},
		{"DATA: got DATA for stream 1; expected CONTINUATION following HEADERS for stream 1", func(s *scribe) {
			_ = s.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: s.headers("/x/y")})
			s.data(1, true, nil)
		}},
		{"CONTINUATION: unexpected CONTINUATION for stream 1", frame(http2.FrameContinuation, 0, 1)},
		{"HEADERS: PROTOCOL_ERROR", frame(http2.FrameHeaders, http2.FlagHeadersPadded, 1, 1)},
		{"HEADERS: FRAME_SIZE_ERROR", frame(http2.FrameHeaders, http2.FlagHeadersPriority, 1, 0, 0)},
		{"headers that are wrongly compressed", frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)},
		{"PUSH_PROMISE: FRAME_SIZE_ERROR", frame(http2.FramePushPromise, 0, 1)},
	} {
		s := newScribe()
		c.write(s)
		got, _ := splitMessages(newFramer(sim.NewNames()), append(s.Bytes(), "more"...))
		if want := "bytes that violate HTTP/2: " + c.why; len(got) == 0 || got[len(got)-1] != want {
			t.Errorf("messages: got %q, want %q as the last one", got, want)
		}
	}
}

// A frame of a keep-alive is marked as one, because a keep-alive is not a step of the client.
func TestFramerMarksKeepAlives(t *testing.T) {
	s := newScribe()
	s.open(1, pb.Lease_LeaseKeepAlive_FullMethodName)
	s.data(1, false, frameMessage(&pb.LeaseKeepAliveRequest{ID: 1}))
	f := newFramer(sim.NewNames())
	if _, frame := f.Next(s.Bytes()); !frame.KeepAlive || frame.Handshake {
		t.Errorf("the frame of a keep-alive: got %+v, want KeepAlive and no Handshake", frame)
	}
	s.Reset()
	s.call(3, pb.KV_Put_FullMethodName, put("x", "1"))
	if _, frame := f.Next(s.Bytes()); frame.KeepAlive {
		t.Errorf("the frame of a put: got %+v, want no KeepAlive", frame)
	}
}

// A client can read what a member writes. The member sends no more bytes than the client's
// flow control windows allow.
func TestWriterRespectsFlowControlWindows(t *testing.T) {
	w := newWriter()
	w.applySettings(settings{window: 10_000, hasWindow: true})
	w.openStream(1)
	value := strings.Repeat("v", 90_000)
	sent := frameMessage(&pb.RangeResponse{More: true, Kvs: nil, Header: &pb.ResponseHeader{}})
	sent = append(sent, value...)
	w.write(1, item{headers: responseHeaders}, item{message: bytes.Clone(sent)}, item{headers: trailers(0, "done: 100%\n"), ends: true, packet: &packetInfo{text: "all of it"}})

	var texts []string
	var all bytes.Buffer
	for _, p := range w.takePackets() {
		texts = append(texts, p.text)
		all.Write(p.bytes)
	}
	if want := []string{"a part of an answer"}; !slices.Equal(texts, want) {
		t.Fatalf("packets before the windows are widened: got %q, want %q", texts, want)
	}
	for range 20 {
		w.widenWindow(windowUpdate{0, 10_000})
		w.widenWindow(windowUpdate{1, 10_000})
	}
	for _, p := range w.takePackets() {
		texts = append(texts, p.text)
		all.Write(p.bytes)
	}
	if texts[len(texts)-1] != "all of it" {
		t.Fatalf("packets in the end: got %q, want %q as the last one", texts, "all of it")
	}

	var read []byte
	var fields []string
	frames := http2.NewFramer(nil, &all)
	frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		f, err := frames.ReadFrame()
		if err != nil {
			break
		}
		switch f := f.(type) {
		case *http2.DataFrame:
			read = append(read, f.Data()...)
		case *http2.MetaHeadersFrame:
			for _, h := range f.Fields {
				fields = append(fields, h.Name+"="+h.Value)
			}
		}
	}
	if !bytes.Equal(read, sent) {
		t.Errorf("the client read %d bytes, which differ from the %d bytes written", len(read), len(sent))
	}
	if want := []string{":status=200", "content-type=application/grpc", "grpc-status=0", "grpc-message=done: 100%25%0A"}; !slices.Equal(fields, want) {
		t.Errorf("headers %q, want %q", fields, want)
	}
}

// FuzzFramer gives arbitrary bytes to two framers, in the same two pieces. It checks that
// equal bytes give equal messages, and that at most one frame is left over.
func FuzzFramer(f *testing.F) {
	s := newScribe()
	s.call(1, pb.KV_Put_FullMethodName, put("/lock/1234567890abcdef", "1"))
	s.open(3, pb.Watch_Watch_FullMethodName)
	s.data(3, false, frameMessage(&pb.WatchRequest{}))
	_ = s.frames.WritePing(false, [8]byte{})
	f.Add(s.Bytes(), 40)
	f.Add(s.Bytes(), len(http2.ClientPreface)+3)
	f.Add([]byte("GET / HTTP/1.1\r\n"), 3)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		at = max(0, min(at, len(b)))
		one, other := newFramer(sim.NewNames("/lock")), newFramer(sim.NewNames("/lock"))
		texts, rest := splitMessages(one, b[:at])
		more, rest := splitMessages(one, append(bytes.Clone(rest), b[at:]...))
		again, left := splitMessages(other, b[:at])
		againMore, left := splitMessages(other, append(bytes.Clone(left), b[at:]...))
		if fmt.Sprint(texts, more, rest) != fmt.Sprint(again, againMore, left) {
			t.Errorf("messages of the first framer: %q, of the second: %q", append(texts, more...), append(again, againMore...))
		}
		if len(rest) > largestFrame+frameHeader {
			t.Errorf("%d bytes are left over, more than a frame", len(rest))
		}
	})
}
