package etcd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// The parts into which the framer splits the bytes that a client sends: HTTP/2
// (https://httpwg.org/specs/rfc9113.html) with gRPC over it
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
type (
	// A piece is a part of one call. It opens the call, cancels it, or contains bytes of
	// the client's requests.
	piece struct {
		stream         uint32
		path           string
		opens, cancels bool
		// needsLeader is true if the new call should fail when the member knows no leader.
		needsLeader bool
		// timeout is how long the client waits for the call; 0 if the client sets no limit.
		timeout time.Duration
		// size is the number of bytes that flow control counts. messages are the gRPC
		// messages that this piece completes.
		size     int
		messages [][]byte
		// problem is why the piece cannot be read, or "".
		problem string
		// ends is true if the client will send no more in this call.
		ends bool
	}
	// settings are the client's HTTP/2 settings: the window of a new stream, and the size
	// of the table for the compression of headers.
	settings struct {
		window, table uint32
		hasWindow     bool
		hasTable      bool
	}
	// windowUpdate allows the member to send more bytes on a stream; stream 0 is the whole
	// connection.
	windowUpdate struct{ stream, increment uint32 }
	// ping asks for the same bytes back.
	ping [8]byte
	// violation says why the client's bytes violate HTTP/2.
	violation struct {
		code http2.ErrCode
		why  string
	}
)

const (
	frameHeader = 9 // the size of a frame's header in bytes
	// largestFrame is the largest size of a frame in bytes, unless the receiver has allowed
	// more.
	largestFrame = 16 << 10
	// largestHeaders is the largest size of a call's headers in bytes, as they are sent.
	largestHeaders = 1 << 20
	// largestMessage is the largest size of a gRPC message in bytes: the default of etcd's
	// --max-request-bytes plus the overhead that etcd allows. See
	// maxRequestBytesWithOverhead in server/config.
	largestMessage = 3<<19 + 512<<10
)

// A framer splits the bytes that a gRPC client sends on one connection into the messages on
// which faults act. Each of them is a [sim.Frame], and consists of HTTP/2 frames. It ends
// with the first HTTP/2 frame that completes a gRPC message, that ends or cancels a call,
// or that contains a gRPC message which the server refuses. If there is no such HTTP/2
// frame, all HTTP/2 frames that have been written are one message. The framer reads the
// HTTP/2 frames as they are written, because the meaning of each depends on those before
// it.
type framer struct {
	names       *sim.Names // replaces random values in texts by names that are equal in every run
	prefaceRead bool       // the bytes with which each HTTP/2 connection begins have been read
	// settingsRead: the settings, which must be the first frame, have been read.
	settingsRead bool
	isBroken     bool // the client has violated HTTP/2, so nothing more can be read
	// http2Reader reads from input, which holds one whole frame.
	input       bytes.Reader
	http2Reader *http2.Framer
	lastStream  uint32         // the highest stream so far
	decoder     *hpack.Decoder // decompresses headers into fields
	fields      []hpack.HeaderField
	// headerBlock holds the bytes of a block of headers that continues in the next frame.
	// openingPiece is the piece that opens the call of these headers.
	headerBlock  []byte
	openingPiece *piece
	calls        map[uint32]*incomingCall // the calls that their client has not ended, by stream
}

// An incomingCall is what a framer knows of a call that its client has not ended.
type incomingCall struct {
	path       string
	incomplete []byte // the bytes of a gRPC message that is not complete yet
}

// newFramer returns the framer of a new connection.
func newFramer(names *sim.Names) sim.Framer {
	f := &framer{names: names, calls: map[uint32]*incomingCall{}}
	f.decoder = hpack.NewDecoder(4096, func(h hpack.HeaderField) { f.fields = append(f.fields, h) })
	f.decoder.SetMaxStringLength(largestHeaders)
	f.http2Reader = http2.NewFramer(nil, &f.input)
	return f
}

// Next implements [sim.Framer]. The Body of the [sim.Frame] is a list of the parts that are
// declared above: one for each HTTP/2 frame that the server needs to know.
func (f *framer) Next(b []byte) (int, sim.Frame) {
	if f.isBroken {
		return len(b), sim.Frame{Text: "more bytes after those that violate HTTP/2"}
	}
	offset := 0
	if !f.prefaceRead {
		if preface := []byte(http2.ClientPreface); !bytes.HasPrefix(b, preface) {
			if bytes.HasPrefix(preface, b) {
				return 0, sim.Frame{}
			}
			return f.rejectRest(b, nil, http2.ErrCodeProtocol, "they do not begin like HTTP/2")
		}
		f.prefaceRead = true
		offset = len(http2.ClientPreface)
	}
	var body []any
	for len(b)-offset >= frameHeader {
		size := int(b[offset])<<16 | int(b[offset+1])<<8 | int(b[offset+2])
		if size > largestFrame {
			return f.rejectRest(b, body, http2.ErrCodeFrameSize, fmt.Sprintf("a frame of %d bytes, and at most %d are allowed", size, largestFrame))
		}
		if len(b)-offset < frameHeader+size {
			break
		}
		f.input.Reset(b[offset : offset+frameHeader+size])
		part, err := f.readFrame(http2.FrameType(b[offset+3]))
		if err != nil {
			return f.rejectRest(b, body, err.code, err.why)
		}
		offset += frameHeader + size
		if part == nil {
			continue
		}
		body = append(body, part)
		if endsMessage(part) {
			break
		}
	}
	if offset == 0 {
		return 0, sim.Frame{}
	}
	text, handshake := f.describe(body)
	return offset, sim.Frame{Body: body, Text: text, Handshake: handshake, KeepAlive: onlyKeepsAlive(body)}
}

// endsMessage reports whether a message ends with this part: after it, the client may wait
// for a response.
func endsMessage(part any) bool {
	p, is := part.(piece)
	return is && (p.cancels || p.ends || len(p.messages) > 0 || p.problem != "")
}

// rejectRest returns one message with all remaining bytes, which violate the protocol. body
// are the parts that were read before.
func (f *framer) rejectRest(b []byte, body []any, code http2.ErrCode, why string) (int, sim.Frame) {
	f.isBroken = true
	return len(b), sim.Frame{Body: append(body, violation{code, why}), Text: "bytes that violate HTTP/2: " + why}
}

// newViolation returns a violation with a formatted text.
func newViolation(code http2.ErrCode, format string, args ...any) *violation {
	return &violation{code, fmt.Sprintf(format, args...)}
}

// readFrame reads the HTTP/2 frame in f.input, whose type is kind. It returns nil for a
// frame that means nothing to a server, and for headers that are not complete yet.
func (f *framer) readFrame(kind http2.FrameType) (any, *violation) {
	frame, err := f.http2Reader.ReadFrame()
	if err != nil {
		return nil, f.readError(kind, err)
	}
	h := frame.Header()
	if !f.settingsRead && (kind != http2.FrameSettings || h.Flags.Has(http2.FlagSettingsAck)) {
		return nil, newViolation(http2.ErrCodeProtocol, "%s before SETTINGS", kind)
	}
	f.settingsRead = true
	switch typed := frame.(type) {
	case *http2.HeadersFrame:
		if h.StreamID%2 == 0 || h.StreamID <= f.lastStream {
			return nil, newViolation(http2.ErrCodeProtocol, "stream %d is opened, but its number must be odd and greater than %d", h.StreamID, f.lastStream)
		}
		f.lastStream = h.StreamID
		f.openingPiece = &piece{stream: h.StreamID, opens: true, ends: typed.StreamEnded()}
		return f.readBlock(typed.HeadersEnded(), typed.HeaderBlockFragment())
	case *http2.ContinuationFrame:
		return f.readBlock(typed.HeadersEnded(), typed.HeaderBlockFragment())
	case *http2.DataFrame:
		return f.readData(typed)
	case *http2.RSTStreamFrame:
		if h.StreamID > f.lastStream {
			return nil, newViolation(http2.ErrCodeProtocol, "%s of a stream that is idle", kind)
		}
		p := piece{stream: h.StreamID, cancels: true}
		if call := f.calls[h.StreamID]; call != nil { // the call has not ended
			p.path = call.path
		}
		delete(f.calls, h.StreamID)
		return p, nil
	case *http2.SettingsFrame:
		if typed.IsAck() {
			return nil, nil
		}
		return readSettings(typed), nil
	case *http2.PingFrame:
		if typed.IsAck() {
			return nil, nil
		}
		return ping(typed.Data), nil
	case *http2.WindowUpdateFrame:
		return windowUpdate{h.StreamID, typed.Increment}, nil
	case *http2.PushPromiseFrame:
		return nil, newViolation(http2.ErrCodeProtocol, "%s from a client, but only a server may send it", kind)
	}
	return nil, nil // PRIORITY, GOAWAY, and unknown frames
}

// readError returns the violation for a frame that package http2 cannot read. Its text is
// http2's own text or, if http2 has none, the name of the error code.
func (f *framer) readError(kind http2.FrameType, err error) *violation {
	code := http2.ErrCodeProtocol
	if connErr, is := errors.AsType[http2.ConnectionError](err); is {
		code = http2.ErrCode(connErr)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) { // the frame is shorter than its contents
		code = http2.ErrCodeFrameSize
	}
	if detail := f.http2Reader.ErrorDetail(); detail != nil {
		return newViolation(code, "%s: %v", kind, detail)
	}
	return newViolation(code, "%s: %v", kind, code)
}

// readBlock adds bytes to the current block of headers. If they are the last of the block,
// it returns the piece that opens the call of these headers.
func (f *framer) readBlock(isLast bool, b []byte) (any, *violation) {
	if f.headerBlock = append(f.headerBlock, b...); len(f.headerBlock) > largestHeaders {
		return nil, newViolation(http2.ErrCodeEnhanceYourCalm, "headers of more than %d bytes", largestHeaders)
	}
	if !isLast {
		return nil, nil
	}
	f.fields = f.fields[:0]
	_, err := f.decoder.Write(f.headerBlock)
	if err == nil {
		err = f.decoder.Close()
	}
	opening := *f.openingPiece
	f.headerBlock, f.openingPiece = f.headerBlock[:0], nil
	if err != nil {
		return nil, newViolation(http2.ErrCodeCompression, "headers that are wrongly compressed")
	}
	for _, h := range f.fields {
		switch h.Name {
		case ":path":
			opening.path = h.Value
		case "hasleader":
			opening.needsLeader = h.Value == "true"
		case "grpc-timeout":
			opening.timeout = parseTimeout(h.Value)
		}
	}
	if !opening.ends {
		f.calls[opening.stream] = &incomingCall{path: opening.path}
	}
	return opening, nil
}

// readData returns the piece for bytes of a call, with the gRPC messages that they
// complete.
func (f *framer) readData(frame *http2.DataFrame) (any, *violation) {
	stream := frame.StreamID
	if stream > f.lastStream {
		return nil, newViolation(http2.ErrCodeProtocol, "data of a stream that is idle")
	}
	data := piece{stream: stream, size: int(frame.Length)}
	call := f.calls[stream]
	if call == nil { // the call has ended
		return data, nil
	}
	data.path, data.ends = call.path, frame.StreamEnded()
	call.incomplete = append(call.incomplete, frame.Data()...)
	for len(call.incomplete) >= 5 && data.problem == "" {
		size := binary.BigEndian.Uint32(call.incomplete[1:])
		switch {
		case call.incomplete[0] != 0:
			data.problem = "grpc: Decompressor is not installed for grpc-encoding \"\""
		case size > largestMessage:
			data.problem = fmt.Sprintf("grpc: received message larger than max (%d vs. %d)", size, largestMessage)
		}
		if data.problem != "" || len(call.incomplete)-5 < int(size) {
			break
		}
		data.messages = append(data.messages, call.incomplete[5:5+size:5+size])
		call.incomplete = call.incomplete[5+size:]
	}
	if data.ends || data.problem != "" {
		delete(f.calls, stream)
	}
	return data, nil
}

// readSettings returns the settings that concern the member.
func readSettings(frame *http2.SettingsFrame) (s settings) {
	_ = frame.ForeachSetting(func(setting http2.Setting) error {
		switch setting.ID {
		case http2.SettingInitialWindowSize:
			s.window, s.hasWindow = setting.Val, true
		case http2.SettingHeaderTableSize:
			s.table, s.hasTable = setting.Val, true
		}
		return nil
	})
	return s
}

// onlyKeepsAlive reports whether the parts do nothing but renew leases.
func onlyKeepsAlive(body []any) bool {
	found := false
	for _, part := range body {
		if p, is := part.(piece); is {
			if p.path != pb.Lease_LeaseKeepAlive_FullMethodName {
				return false
			}
			found = true
		}
	}
	return found
}

// describe returns the text by which the trace shows a message. It also reports whether the
// message is only a handshake: whether none of its parts belongs to a call, so that it
// concerns only the connection (see [sim.Frame]).
func (f *framer) describe(body []any) (text string, handshake bool) {
	var texts, connTexts []string // the texts of calls, and those of the connection
	fallback, hasCalls := "a part of a call", false
	for _, parsed := range body {
		switch p := parsed.(type) {
		case piece:
			hasCalls = true
			for _, m := range p.messages {
				texts = append(texts, describeRequest(f.names, p.path, m))
			}
			switch {
			case p.cancels:
				texts = append(texts, trace.CancelPrefix+"s "+methodName(p.path)) // "cancels ..."
			case p.opens && p.ends:
				texts = append(texts, "opens and ends "+methodName(p.path))
			case p.opens:
				fallback = "opens " + methodName(p.path)
			case p.ends && len(p.messages) == 0:
				texts = append(texts, "ends "+methodName(p.path))
			}
		case settings:
			connTexts = append(connTexts, "SETTINGS")
		case ping:
			connTexts = append(connTexts, "PING")
		case windowUpdate:
			connTexts = append(connTexts, "WINDOW_UPDATE")
		}
	}
	switch {
	case hasCalls && texts == nil:
		return fallback, false
	case hasCalls:
		return strings.Join(slices.Compact(texts), "; "), false
	case connTexts == nil:
		return "an acknowledgement", true
	}
	return strings.Join(slices.Compact(connTexts), ", "), true
}

// parseTimeout parses the timeout in a gRPC header: up to eight digits and a unit. It
// returns 0 for any other text.
func parseTimeout(text string) time.Duration {
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond}
	if len(text) < 2 || len(text) > 9 || units[text[len(text)-1]] == 0 {
		return 0
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if unit := units[text[len(text)-1]]; err == nil && time.Duration(n) <= math.MaxInt64/unit {
		return time.Duration(n) * unit
	}
	return 0
}
