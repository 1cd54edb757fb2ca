package etcd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A conn is a member's end of a client's connection. It serves the client's gRPC calls.
type conn struct {
	m      *member
	end    *sim.End
	writer *writer
	calls  map[uint32]*rpc // the open calls, by their HTTP/2 streams
	// uncredited is how many bytes have arrived since the member last allowed the client to
	// send more.
	uncredited int
	// stopped: the member reads nothing more; closed: it has closed the connection
	stopped, closed bool
}

// An rpc is one call by a client, of a unary method or a streaming one.
type rpc struct {
	piece       // the part that opened the call
	c           *conn
	method      *method
	lastRequest *sim.Request // the message in which the latest part of the call arrived
	uncredited  int          // as in conn, for the call's stream
	headersSent bool         // the headers of the response have been sent
	isDone      bool
	handler     streamHandler // nil for a unary method
}

// A streamHandler serves one call of a streaming method, in which the client sends several
// requests.
type streamHandler interface {
	// receive handles the client's next request.
	receive(request proto.Message)
	// clientEnded is called when the client will send no more requests. If cancelled is
	// true, the client does not want any more responses either.
	clientEnded(cancelled bool)
}

// Receive implements [sim.Endpoint].
func (c *conn) Receive(r *sim.Request) {
	body, _ := r.Body.([]any)
	for _, part := range body {
		if !c.stopped {
			c.receive(r, part)
		}
	}
	c.writer.pack(packetInfo{request: r, text: "an acknowledgement"})
	c.m.finishInput()
}

// receive handles one of the parts into which the framer has split a message.
func (c *conn) receive(r *sim.Request, part any) {
	switch f := part.(type) {
	case settings:
		if !c.markSettingsSent() {
			_ = c.writer.frames.WriteSettings()
		}
		c.writer.applySettings(f)
	case ping:
		_ = c.writer.frames.WritePing(true, f)
	case windowUpdate:
		if !c.writer.widenWindow(f) {
			c.hangUp(r, http2.ErrCodeFlowControl, "a window beyond the maximum")
		}
	case piece:
		c.receivePiece(r, f)
	case violation:
		c.hangUp(r, f.code, f.why)
	}
}

// markSettingsSent marks the member's HTTP/2 settings as sent, and reports whether they
// were sent before.
func (c *conn) markSettingsSent() bool {
	wasSent := c.writer.settingsSent
	c.writer.settingsSent = true
	return wasSent
}

// receivePiece handles a part of a call.
func (c *conn) receivePiece(r *sim.Request, f piece) {
	switch {
	case f.opens:
		call := &rpc{piece: f, c: c, lastRequest: r}
		c.calls[f.stream] = call
		c.writer.openStream(f.stream)
		call.start()
		if f.ends {
			call.close()
		}
		return
	case f.cancels:
		c.writer.forgetStream(f.stream)
		if call := c.calls[f.stream]; call != nil {
			call.cancel()
		}
		return
	}
	if c.uncredited += f.size; c.uncredited >= firstWindow/4 {
		_ = c.writer.frames.WriteWindowUpdate(0, uint32(c.uncredited))
		c.uncredited = 0
	}
	call := c.calls[f.stream]
	if call == nil {
		return
	}
	if call.uncredited += f.size; call.uncredited >= firstWindow/4 && !f.ends {
		_ = c.writer.frames.WriteWindowUpdate(f.stream, uint32(call.uncredited))
		call.uncredited = 0
	}
	call.lastRequest = r
	for _, m := range f.messages {
		if !call.isDone {
			call.receive(m)
		}
	}
	switch {
	case call.isDone:
	case f.problem != "":
		code := codes.ResourceExhausted
		if strings.Contains(f.problem, "Decompressor") {
			code = codes.Unimplemented
		}
		call.fail(status.Error(code, f.problem))
	case f.ends:
		call.close()
	}
}

// hangUp closes a connection on which the client has violated the protocol.
func (c *conn) hangUp(r *sim.Request, code http2.ErrCode, why string) {
	_ = c.writer.frames.WriteGoAway(0, code, []byte(why))
	c.writer.pack(packetInfo{request: r, text: "GOAWAY: " + why})
	c.m.host.Doubt(fmt.Sprintf("%s sent %s bytes that violate HTTP/2: %s", c.end.Peer(), c.m.host.Node().Name, why))
	c.stopped = true
	c.drop()
}

// HangUp implements [sim.Endpoint].
func (c *conn) HangUp(bool) {
	c.stopped = true
	c.drop()
	c.writer.takePackets()
	c.m.conns = slices.DeleteFunc(c.m.conns, func(o *conn) bool { return o == c })
	c.m.finishInput()
}

// drop cancels all calls of the connection.
func (c *conn) drop() {
	for _, stream := range c.streams() {
		c.calls[stream].cancel()
	}
}

// streams returns the streams of the open calls, in the order in which they began.
func (c *conn) streams() []uint32 { return slices.Sorted(maps.Keys(c.calls)) }

// flush sends the packets that are ready.
func (c *conn) flush() {
	for _, p := range c.writer.takePackets() {
		sent := sim.Packet{Bytes: p.bytes, Text: p.text, ClientEvents: p.clientEvents}
		if p.request != nil {
			c.end.ReplyTo(p.request, sent)
		} else {
			c.end.Send(sent)
		}
	}
	if c.stopped && !c.closed {
		c.closed = true
		c.end.Close()
	}
}

// start looks up the method of the call and, for a streaming method, makes the handler.
func (call *rpc) start() {
	call.method = methods[call.path]
	if call.method == nil {
		call.fail(unknownMethodError(call.path))
		if _, methods := realMethods(); methods[call.path] {
			call.c.m.host.Doubt(fmt.Sprintf("%s called %s, which a real member knows and %s does not", call.c.end.Peer(), call.path, call.c.m.host.Node().Name))
		}
		return
	}
	if call.needsLeader && call.c.m.leader() == 0 {
		call.fail(rpctypes.ErrGRPCNoLeader)
		return
	}
	if call.method.newHandler != nil {
		call.handler = call.method.newHandler(call)
	}
}

// unknownMethodError returns the error with which a gRPC server answers the call of a
// method that it does not have. See handleStream in
// https://github.com/grpc/grpc-go/blob/master/server.go.
func unknownMethodError(path string) error {
	name := strings.TrimPrefix(path, "/")
	i := strings.LastIndexByte(name, '/')
	services, _ := realMethods()
	switch {
	case i < 0:
		return status.Errorf(codes.Unimplemented, "malformed method name: %q", path)
	case services[name[:i]]:
		return status.Errorf(codes.Unimplemented, "unknown method %v for service %v", name[i+1:], name[:i])
	}
	return status.Errorf(codes.Unimplemented, "unknown service %v", name[:i])
}

// receive handles one request of the call.
func (call *rpc) receive(message []byte) {
	request := call.method.request()
	if proto.Unmarshal(message, request) != nil {
		// protobuf deliberately varies the words of its errors from one build to another.
		call.fail(status.Error(codes.Internal, "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data"))
		return
	}
	if why := call.c.m.host.Failure(); why != "" && !call.lastRequest.IsHandshake() {
		call.fail(status.Error(codeOf(why), why))
		return
	}
	if call.handler != nil {
		call.handler.receive(request)
		return
	}
	call.method.serveOnce(call.c.m, call, request)
}

// close notifies the handler, if there is one, that the client will send no more requests.
func (call *rpc) close() {
	if call.isDone || call.handler == nil {
		return
	}
	call.handler.clientEnded(false)
}

// cancel ends a call whose responses the client no longer wants.
func (call *rpc) cancel() {
	if call.isDone {
		return
	}
	call.finish()
	if call.handler != nil {
		call.handler.clientEnded(true)
	}
}

// finish marks the call as ended and removes it from the connection.
func (call *rpc) finish() {
	call.isDone = true
	delete(call.c.calls, call.stream)
}

// answer sends the only response of a call and ends the call. text is what the trace shows,
// and clientEvents are the events by which the trace shows what the client learns.
func (call *rpc) answer(m proto.Message, text string, clientEvents ...trace.Event) {
	if call.isDone {
		return
	}
	call.finish()
	call.c.writer.write(call.stream, item{headers: responseHeaders}, item{message: frameMessage(m)},
		item{headers: trailers(codes.OK, ""), ends: true, packet: &packetInfo{call.lastRequest, text, clientEvents}})
}

// send sends one response of a streaming call. request is the message that it answers, or
// nil.
func (call *rpc) send(request *sim.Request, m proto.Message, text string, clientEvents ...trace.Event) {
	if call.isDone {
		return
	}
	if !call.headersSent {
		call.headersSent = true
		call.c.writer.write(call.stream, item{headers: responseHeaders})
	}
	call.c.writer.write(call.stream, item{message: frameMessage(m), packet: &packetInfo{request, text, clientEvents}})
}

// fail ends the call with a gRPC error.
func (call *rpc) fail(err error) {
	s, _ := status.FromError(err)
	call.end(s.Code(), s.Message(), "error: "+truncate(s.Message()))
}

// end ends the call with a gRPC status. text is what the trace shows.
func (call *rpc) end(code codes.Code, message, text string) {
	if call.isDone {
		return
	}
	call.finish()
	fields := trailers(code, message)
	if !call.headersSent {
		fields = append(slices.Clone(responseHeaders), fields...)
	}
	call.c.writer.write(call.stream, item{headers: fields, ends: true, packet: &packetInfo{call.lastRequest, text, nil}})
}

// truncate shortens the text of an error, which a client may have made long.
func truncate(text string) string {
	if len(text) > 200 {
		return text[:200] + "..."
	}
	return text
}

// codeOf returns the gRPC code that belongs to the text of one of etcd's errors. It knows
// the errors with which a fault can make a member answer.
func codeOf(text string) codes.Code {
	for _, err := range []error{
		rpctypes.ErrGRPCRequestTooManyRequests, rpctypes.ErrGRPCNoSpace, rpctypes.ErrGRPCCorrupt, rpctypes.ErrGRPCNotCapable,
	} {
		if s, _ := status.FromError(err); s.Message() == text {
			return s.Code()
		}
	}
	return codes.Unavailable
}
