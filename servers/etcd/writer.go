package etcd

// This file writes gRPC responses as frames of HTTP/2.

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// firstWindow is how many bytes may be sent on one stream, and how many on the whole
// connection, until the receiver allows more. See RFC 9113, section 6.9.2.
const firstWindow = 65535

// A packetInfo describes one packet: the client's message that it answers, or nil; the text
// by which the trace shows it; and the events by which the trace shows what the client
// learns from it.
type packetInfo struct {
	request      *sim.Request
	text         string
	clientEvents []trace.Event
}

// An item waits to be written on a stream. It is headers or a message; ends is true for the
// last item.
type item struct {
	headers []hpack.HeaderField
	message []byte
	ends    bool
	packet  *packetInfo // the packet that ends with this item; nil if no packet does
}

// A writer writes a gRPC server's responses to one connection, as far as the windows that
// the client has granted allow.
type writer struct {
	out           bytes.Buffer   // what was written since the last packet
	frames        *http2.Framer  // writes to out
	encoder       *hpack.Encoder // compresses headers into block
	block         bytes.Buffer
	settingsSent  bool  // the HTTP/2 settings have been sent
	window        int64 // how many bytes may be sent on the connection
	streams       map[uint32]*outgoingStream
	initialWindow int64 // the window of a new stream
	// packets are ready to be sent, in this order.
	packets []packet
}

// A packet is bytes that are sent together.
type packet struct {
	packetInfo
	bytes []byte
}

// An outgoingStream is a stream with the items that wait to be written, and its window in
// bytes.
type outgoingStream struct {
	id     uint32
	window int64
	items  []item
}

func newWriter() *writer {
	w := &writer{window: firstWindow, initialWindow: firstWindow, streams: map[uint32]*outgoingStream{}}
	w.frames = http2.NewFramer(&w.out, nil)
	w.encoder = hpack.NewEncoder(&w.block)
	return w
}

// openStream adds a new stream. forgetStream removes a stream that has ended.
func (w *writer) openStream(stream uint32) {
	w.streams[stream] = &outgoingStream{id: stream, window: w.initialWindow}
}
func (w *writer) forgetStream(stream uint32) { delete(w.streams, stream) }

// write writes items on a stream as soon as the client's windows allow it.
func (w *writer) write(stream uint32, items ...item) {
	s := w.streams[stream]
	if s == nil {
		return
	}
	s.items = append(s.items, items...)
	w.pump(s)
}

// pump writes as many items of a stream as the windows allow.
func (w *writer) pump(s *outgoingStream) {
	for len(s.items) > 0 {
		i := &s.items[0]
		if i.headers != nil {
			w.writeHeaders(s.id, i.headers, i.ends)
		}
		for len(i.message) > 0 {
			n := min(int64(len(i.message)), s.window, w.window, largestFrame)
			if n <= 0 {
				w.pack(packetInfo{text: "a part of an answer"})
				return
			}
			_ = w.frames.WriteData(s.id, false, i.message[:n]) // writing to a buffer does not fail
			s.window -= n
			w.window -= n
			i.message = i.message[n:]
		}
		if i.packet != nil {
			w.pack(*i.packet)
		}
		if i.ends {
			w.forgetStream(s.id)
		}
		s.items = s.items[1:]
	}
}

// pack makes a packet of what was written since the last packet, if anything was.
func (w *writer) pack(p packetInfo) {
	if w.out.Len() == 0 {
		return
	}
	w.packets = append(w.packets, packet{p, bytes.Clone(w.out.Bytes())})
	w.out.Reset()
}

// takePackets removes and returns the packets that are ready.
func (w *writer) takePackets() []packet {
	p := w.packets
	w.packets = nil
	return p
}

// writeHeaders writes headers on a stream, in several frames if they are long.
func (w *writer) writeHeaders(stream uint32, fields []hpack.HeaderField, ends bool) {
	w.block.Reset()
	for _, f := range fields {
		_ = w.encoder.WriteField(f)
	}
	block := w.block.Bytes()
	first := block[:min(len(block), largestFrame)]
	block = block[len(first):]
	_ = w.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: first, EndStream: ends, EndHeaders: len(block) == 0})
	for len(block) > 0 {
		part := block[:min(len(block), largestFrame)]
		block = block[len(part):]
		_ = w.frames.WriteContinuation(stream, len(block) == 0, part)
	}
}

// applySettings applies the client's HTTP/2 settings.
func (w *writer) applySettings(s settings) {
	if s.hasTable {
		w.encoder.SetMaxDynamicTableSizeLimit(s.table)
	}
	if s.hasWindow {
		growth := int64(s.window) - w.initialWindow
		w.initialWindow = int64(s.window)
		for _, o := range w.sorted() {
			o.window += growth
			w.pump(o)
		}
	}
	_ = w.frames.WriteSettingsAck()
}

// widenWindow handles a window update of the client. It returns false if the window exceeds
// its maximum.
func (w *writer) widenWindow(update windowUpdate) (ok bool) {
	if update.stream == 0 {
		w.window += int64(update.increment)
		for _, s := range w.sorted() {
			w.pump(s)
		}
		return w.window < 1<<31
	}
	if s := w.streams[update.stream]; s != nil {
		s.window += int64(update.increment)
		w.pump(s)
		return s.window < 1<<31
	}
	return true
}

// sorted returns the streams in the order of their IDs.
func (w *writer) sorted() []*outgoingStream {
	return slices.SortedFunc(maps.Values(w.streams), func(a, b *outgoingStream) int { return int(a.id) - int(b.id) })
}

// responseHeaders are the headers of each response.
var responseHeaders = []hpack.HeaderField{{Name: ":status", Value: "200"}, {Name: "content-type", Value: "application/grpc"}}

// trailers returns the headers that end a response: its status, with a text.
func trailers(code codes.Code, text string) []hpack.HeaderField {
	fields := []hpack.HeaderField{{Name: "grpc-status", Value: strconv.Itoa(int(code))}}
	return append(fields, hpack.HeaderField{Name: "grpc-message", Value: percentEncode(text)})
}

// percentEncode encodes a status message for a header, as gRPC does.
func percentEncode(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; ' ' <= c && c <= '~' && c != '%' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(strconv.FormatInt(int64(c)+0x100, 16)[1:]))
		}
	}
	return b.String()
}

// frameMessage returns a message with gRPC's prefix: five bytes, which contain its length.
func frameMessage(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(make([]byte, 5, 64), m)
	if err != nil {
		panic(err) // the server's own messages contain no invalid UTF-8
	}
	binary.BigEndian.PutUint32(b[1:], uint32(len(b)-5))
	return b
}
