package etcd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/locksim/locksim/sim"
)

// What a client can have written, as https://httpwg.org/specs/rfc9113.html has it, and gRPC
// over it (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
type (
	// opens is a new call.
	opens struct {
		stream uint32
		path   string
		// leads says that the call wants a member that knows a leader.
		leads bool
		// within is how long the client waits; 0 is that it does not say.
		within time.Duration
		// ends says that the client will send no more.
		ends bool
	}
	// sends is a part of what a call sends: the gRPC messages that are whole with it.
	sends struct {
		stream uint32
		path   string
		// size is what flow control counts.
		size     int
		messages [][]byte
		// wrong is why it cannot be read, if it cannot.
		wrong string
		ends  bool
	}
	// cancels ends a call.
	cancels struct {
		stream uint32
		path   string
	}
	// settings are the peer's.
	settings struct {
		window, table uint32
		hasWindow     bool
		hasTable      bool
	}
	// opensWindow lets the server send more; stream 0 is the connection.
	opensWindow struct{ stream, by uint32 }
	// pings wants the same bytes back.
	pings [8]byte
	// breaks is what is no HTTP/2.
	breaks struct {
		code http2.ErrCode
		why  string
	}
)

const (
	frameHeader = 9
	// largestFrame is what one may send who has not been told otherwise.
	largestFrame = 16 << 10
	// largestHeaders bounds the headers of a call, in bytes on the wire.
	largestHeaders = 1 << 20
	// largestMessage is the default of etcd's --max-request-bytes with the overhead that it
	// lets a message have: see maxRequestBytesWithOverhead in server/config.
	largestMessage = 3<<19 + 512<<10
)

// A framer cuts what a client of gRPC writes on one connection. A message for faults to act
// on is everything up to the end of one gRPC message, or what is there of frames that carry
// none. What the frames mean depends on those before, so it reads them as they are written,
// and hands the server what it has read.
type framer struct {
	names *sim.Names
	begun bool // the preface is over
	// settled: so are the settings, which have to be the first frame.
	settled bool
	broken  bool
	last    uint32 // the highest stream
	header  *hpack.Decoder
	fields  []hpack.HeaderField
	// block is a block of headers that goes on in the next frame.
	block   []byte
	blockOf *opens
	calls   map[uint32]*incoming
}

// An incoming is what a framer knows of a call.
type incoming struct {
	path string
	rest []byte // of a message that is not whole
}

func newFramer(names *sim.Names) sim.Framer {
	f := &framer{names: names, calls: map[uint32]*incoming{}}
	f.header = hpack.NewDecoder(4096, func(h hpack.HeaderField) { f.fields = append(f.fields, h) })
	f.header.SetMaxStringLength(largestHeaders)
	return f
}

// Next is as in [sim.Framer].
func (f *framer) Next(b []byte) (int, sim.Frame) {
	if f.broken {
		return len(b), sim.Frame{Text: "more of it"}
	}
	at := 0
	if !f.begun {
		if preface := []byte(http2.ClientPreface); !bytes.HasPrefix(b, preface) {
			if bytes.HasPrefix(preface, b) {
				return 0, sim.Frame{}
			}
			return f.breaks(b, nil, http2.ErrCodeProtocol, "it does not begin as HTTP/2")
		}
		f.begun = true
		at = len(http2.ClientPreface)
	}
	var body []any
	for len(b)-at >= frameHeader {
		size := int(b[at])<<16 | int(b[at+1])<<8 | int(b[at+2])
		if size > largestFrame {
			return f.breaks(b, body, http2.ErrCodeFrameSize, fmt.Sprintf("a frame of %d bytes", size))
		}
		if len(b)-at < frameHeader+size {
			break
		}
		kind, flags := http2.FrameType(b[at+3]), http2.Flags(b[at+4])
		stream := binary.BigEndian.Uint32(b[at+5:]) & (1<<31 - 1)
		read, err := f.read(kind, flags, stream, b[at+frameHeader:at+frameHeader+size])
		if err != nil {
			return f.breaks(b, body, err.code, err.why)
		}
		at += frameHeader + size
		if read == nil {
			continue
		}
		body = append(body, read)
		if whole(read) {
			break
		}
	}
	if at == 0 {
		return 0, sim.Frame{}
	}
	text, handshake := f.tell(body)
	return at, sim.Frame{Body: body, Text: text, Handshake: handshake, KeepAlive: keepsAlive(body)}
}

// whole says that something is complete for which a client may wait.
func whole(read any) bool {
	switch r := read.(type) {
	case opens:
		return r.ends
	case sends:
		return r.ends || len(r.messages) > 0 || r.wrong != ""
	case cancels:
		return true
	}
	return false
}

// breaks is the end of what can be understood.
func (f *framer) breaks(b []byte, body []any, code http2.ErrCode, why string) (int, sim.Frame) {
	f.broken = true
	return len(b), sim.Frame{Body: append(body, breaks{code, why}), Text: "no HTTP/2: " + why}
}

func broken(code http2.ErrCode, format string, args ...any) *breaks {
	return &breaks{code, fmt.Sprintf(format, args...)}
}

// read reads one frame; nothing is what means nothing to a server.
func (f *framer) read(kind http2.FrameType, flags http2.Flags, stream uint32, b []byte) (any, *breaks) {
	if !f.settled && (kind != http2.FrameSettings || flags.Has(http2.FlagSettingsAck)) {
		return nil, broken(http2.ErrCodeProtocol, "%s before SETTINGS", kind)
	}
	f.settled = true
	if f.blockOf != nil && (kind != http2.FrameContinuation || stream != f.blockOf.stream) {
		return nil, broken(http2.ErrCodeProtocol, "%s amid headers", kind)
	}
	switch kind {
	case http2.FrameHeaders, http2.FrameData, http2.FrameRSTStream, http2.FramePriority, http2.FrameContinuation:
		if stream == 0 {
			return nil, broken(http2.ErrCodeProtocol, "%s of no stream", kind)
		}
	case http2.FrameSettings, http2.FramePing, http2.FrameGoAway:
		if stream != 0 {
			return nil, broken(http2.ErrCodeProtocol, "%s of a stream", kind)
		}
	}
	if n, fixed := map[http2.FrameType]int{http2.FrameRSTStream: 4, http2.FramePriority: 5, http2.FramePing: 8, http2.FrameWindowUpdate: 4}[kind]; fixed && len(b) != n {
		return nil, broken(http2.ErrCodeFrameSize, "%s of %d bytes", kind, len(b))
	}
	switch kind {
	case http2.FrameHeaders:
		return f.readHeaders(flags, stream, b)
	case http2.FrameContinuation:
		if f.blockOf == nil {
			return nil, broken(http2.ErrCodeProtocol, "%s of no headers", kind)
		}
		return f.readBlock(flags.Has(http2.FlagContinuationEndHeaders), b)
	case http2.FrameData:
		return f.readData(flags, stream, b)
	case http2.FrameRSTStream:
		if stream > f.last {
			return nil, broken(http2.ErrCodeProtocol, "%s of a stream that is idle", kind)
		}
		call := f.calls[stream]
		delete(f.calls, stream)
		if call == nil { // it is over
			return cancels{stream: stream}, nil
		}
		return cancels{stream, call.path}, nil
	case http2.FrameSettings:
		return readSettings(flags, b)
	case http2.FramePing:
		if flags.Has(http2.FlagPingAck) {
			return nil, nil
		}
		return pings(b), nil
	case http2.FrameWindowUpdate:
		by := binary.BigEndian.Uint32(b) & (1<<31 - 1)
		if by == 0 {
			return nil, broken(http2.ErrCodeProtocol, "%s by nothing", kind)
		}
		return opensWindow{stream, by}, nil
	case http2.FramePushPromise:
		return nil, broken(http2.ErrCodeProtocol, "%s of a client", kind)
	}
	return nil, nil // PRIORITY, GOAWAY, and what is unknown
}

// unpad takes the padding off a frame.
func unpad(padded bool, b []byte) ([]byte, *breaks) {
	if !padded {
		return b, nil
	}
	if len(b) == 0 || int(b[0]) >= len(b) {
		return nil, broken(http2.ErrCodeProtocol, "padding beyond the frame")
	}
	return b[1 : len(b)-int(b[0])], nil
}

func (f *framer) readHeaders(flags http2.Flags, stream uint32, b []byte) (any, *breaks) {
	b, err := unpad(flags.Has(http2.FlagHeadersPadded), b)
	if err != nil {
		return nil, err
	}
	if flags.Has(http2.FlagHeadersPriority) {
		if len(b) < 5 {
			return nil, broken(http2.ErrCodeFrameSize, "a priority of %d bytes", len(b))
		}
		b = b[5:]
	}
	if stream%2 == 0 || stream <= f.last {
		return nil, broken(http2.ErrCodeProtocol, "headers of stream %d after %d", stream, f.last)
	}
	f.last = stream
	f.blockOf = &opens{stream: stream, ends: flags.Has(http2.FlagHeadersEndStream)}
	return f.readBlock(flags.Has(http2.FlagHeadersEndHeaders), b)
}

// readBlock reads on in a block of headers.
func (f *framer) readBlock(over bool, b []byte) (any, *breaks) {
	if f.block = append(f.block, b...); len(f.block) > largestHeaders {
		return nil, broken(http2.ErrCodeEnhanceYourCalm, "headers of more than %d bytes", largestHeaders)
	}
	if !over {
		return nil, nil
	}
	f.fields = f.fields[:0]
	_, err := f.header.Write(f.block)
	if err == nil {
		err = f.header.Close()
	}
	call := *f.blockOf
	f.block, f.blockOf = f.block[:0], nil
	if err != nil {
		return nil, broken(http2.ErrCodeCompression, "headers that are not compressed as they should be")
	}
	for _, h := range f.fields {
		switch h.Name {
		case ":path":
			call.path = h.Value
		case "hasleader":
			call.leads = h.Value == "true"
		case "grpc-timeout":
			call.within = parseTimeout(h.Value)
		}
	}
	if !call.ends {
		f.calls[call.stream] = &incoming{path: call.path}
	}
	return call, nil
}

func (f *framer) readData(flags http2.Flags, stream uint32, b []byte) (any, *breaks) {
	if stream > f.last {
		return nil, broken(http2.ErrCodeProtocol, "data of a stream that is idle")
	}
	data := sends{stream: stream, size: len(b), ends: flags.Has(http2.FlagDataEndStream)}
	b, err := unpad(flags.Has(http2.FlagDataPadded), b)
	if err != nil {
		return nil, err
	}
	call := f.calls[stream]
	if call == nil { // it is over
		return sends{stream: stream, size: data.size}, nil
	}
	data.path = call.path
	call.rest = append(call.rest, b...)
	for len(call.rest) >= 5 && data.wrong == "" {
		size := binary.BigEndian.Uint32(call.rest[1:])
		switch {
		case call.rest[0] != 0:
			data.wrong = "grpc: Decompressor is not installed for grpc-encoding \"\""
		case size > largestMessage:
			data.wrong = fmt.Sprintf("grpc: received message larger than max (%d vs. %d)", size, largestMessage)
		}
		if data.wrong != "" || len(call.rest)-5 < int(size) {
			break
		}
		data.messages = append(data.messages, call.rest[5:5+size:5+size])
		call.rest = call.rest[5+size:]
	}
	if data.ends || data.wrong != "" {
		delete(f.calls, stream)
	}
	return data, nil
}

func readSettings(flags http2.Flags, b []byte) (any, *breaks) {
	if flags.Has(http2.FlagSettingsAck) {
		if len(b) > 0 {
			return nil, broken(http2.ErrCodeFrameSize, "an acknowledgement of settings with %d bytes", len(b))
		}
		return nil, nil
	}
	if len(b)%6 != 0 {
		return nil, broken(http2.ErrCodeFrameSize, "settings of %d bytes", len(b))
	}
	var s settings
	for ; len(b) > 0; b = b[6:] {
		value := binary.BigEndian.Uint32(b[2:])
		switch http2.SettingID(binary.BigEndian.Uint16(b)) {
		case http2.SettingInitialWindowSize:
			if value > 1<<31-1 {
				return nil, broken(http2.ErrCodeFlowControl, "a window of %d bytes", value)
			}
			s.window, s.hasWindow = value, true
		case http2.SettingHeaderTableSize:
			s.table, s.hasTable = value, true
		}
	}
	return s, nil
}

// keepsAlive says that what was read does nothing but renew leases.
func keepsAlive(body []any) bool {
	any := false
	for _, read := range body {
		path := ""
		switch r := read.(type) {
		case opens:
			path = r.path
		case sends:
			path = r.path
		case cancels:
			path = r.path
		default:
			continue
		}
		if path != pb.Lease_LeaseKeepAlive_FullMethodName {
			return false
		}
		any = true
	}
	return any
}

// tell is what was read, for people; it is a handshake if it asks for nothing.
func (f *framer) tell(body []any) (text string, handshake bool) {
	var told []string
	say := func(s string) {
		if len(told) == 0 || told[len(told)-1] != s {
			told = append(told, s)
		}
	}
	asks := false
	for _, read := range body {
		switch r := read.(type) {
		case opens:
			asks = true
			if r.ends {
				say("opens and ends " + call(r.path))
			}
		case sends:
			asks = true
			for _, m := range r.messages {
				say(tellRequest(f.names, r.path, m))
			}
			if len(r.messages) == 0 && r.ends {
				say("ends " + call(r.path))
			}
		case cancels:
			asks = true
			say("cancels " + call(r.path))
		}
	}
	if asks {
		if len(told) == 0 {
			told = append(told, "a part of a call")
			for _, read := range body {
				if r, ok := read.(opens); ok {
					told[0] = "opens " + call(r.path)
				}
			}
		}
		return strings.Join(told, "; "), false
	}
	for _, read := range body {
		switch read.(type) {
		case settings:
			say("SETTINGS")
		case pings:
			say("PING")
		case opensWindow:
			say("WINDOW_UPDATE")
		}
	}
	if len(told) == 0 {
		return "an acknowledgement", true
	}
	return strings.Join(told, ", "), true
}

// parseTimeout reads how long a client waits, as gRPC has it: up to eight digits and a unit; 0 is
// what is no such thing.
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
