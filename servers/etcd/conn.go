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
	m     *member
	end   *sim.End
	w     *writer
	calls map[uint32]*rpc // the open calls, by their HTTP/2 streams
	// uncredited is how many bytes have arrived since the member last allowed the client to
	// send more.
	unreported int
	// stopped: the member reads nothing more; closed: it has closed the connection
	stopped, closed bool
}

// An rpc is one call by a client, of a unary method or a streaming one.
type rpc struct {
	piece       // the part that opened the call
	c           *conn
	method      *method
	lastRequest *sim.Request // the message in which the latest part of the call arrived
	unreported  int          // as in conn, for the call's stream
	headersSent bool         // the headers of the response have been sent
	done        bool
	flow        flow // nil for a unary method
}

// A streamHandler serves one call of a streaming method, in which the client sends several
// requests.
type flow interface {
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
	c.w.pack(parcel{request: r, text: "an acknowledgement"})
	c.m.settle()
}

// receive handles one of the parts into which the framer has split a message.
func (c *conn) receive(r *sim.Request, part any) {
	switch f := part.(type) {
	case settings:
		if !c.markGreeted() {
			_ = c.w.frames.WriteSettings()
		}
		c.w.applySettings(f)
	case ping:
		_ = c.w.frames.WritePing(true, f)
	case windowUpdate:
		if !c.w.widenWindow(f) {
			c.hangUp(r, http2.ErrCodeFlowControl, "a window beyond what can be")
		}
	case piece:
		c.receivePiece(r, f)
	case violation:
		c.hangUp(r, f.code, f.why)
	}
}

// markSettingsSent marks the member's HTTP/2 settings as sent, and reports whether they
// were sent before.
func (c *conn) markGreeted() bool {
	was := c.w.greeted
	c.w.greeted = true
	return was
}

// receivePiece handles a part of a call.
func (c *conn) receivePiece(r *sim.Request, f piece) {
	switch {
	case f.opens:
		call := &rpc{piece: f, c: c, lastRequest: r}
		c.calls[f.stream] = call
		c.w.openStream(f.stream)
		call.start()
		if f.ends {
			call.close()
		}
		return
	case f.cancels:
		c.w.forgetStream(f.stream)
		if call := c.calls[f.stream]; call != nil {
			call.cancel()
		}
		return
	}
	if c.unreported += f.size; c.unreported >= firstWindow/4 {
		_ = c.w.frames.WriteWindowUpdate(0, uint32(c.unreported))
		c.unreported = 0
	}
	call := c.calls[f.stream]
	if call == nil {
		return
	}
	if call.unreported += f.size; call.unreported >= firstWindow/4 && !f.ends {
		_ = c.w.frames.WriteWindowUpdate(f.stream, uint32(call.unreported))
		call.unreported = 0
	}
	call.lastRequest = r
	for _, m := range f.messages {
		if !call.done {
			call.receive(m)
		}
	}
	switch {
	case call.done:
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
	_ = c.w.frames.WriteGoAway(0, code, []byte(why))
	c.w.pack(parcel{request: r, text: "GOAWAY: " + why})
	c.m.host.Doubt(fmt.Sprintf("%s sent %s bytes that are not HTTP/2: %s", c.end.Peer(), c.m.host.Node().Name, why))
	c.stopped = true
	c.drop()
}

// HangUp implements [sim.Endpoint].
func (c *conn) HangUp(bool) {
	c.stopped = true
	c.drop()
	c.w.takePackets()
	c.m.conns = slices.DeleteFunc(c.m.conns, func(o *conn) bool { return o == c })
	c.m.settle()
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
	for _, p := range c.w.takePackets() {
		sent := sim.Packet{Bytes: p.bytes, Text: p.text, ClientEvents: p.learns}
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
	if call.method.flow != nil {
		call.flow = call.method.flow(call)
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
	if call.flow != nil {
		call.flow.receive(request)
		return
	}
	call.method.once(call.c.m, call, request)
}

// close handles that the client will send no more requests.
func (call *rpc) close() {
	if call.done || call.flow == nil {
		return
	}
	call.flow.clientEnded(false)
}

// cancel handles that the client does not want any more responses.
func (call *rpc) cancel() {
	if call.done {
		return
	}
	call.finish()
	if call.flow != nil {
		call.flow.clientEnded(true)
	}
}

// finish marks the call as ended and removes it from the connection.
func (call *rpc) finish() {
	call.done = true
	delete(call.c.calls, call.stream)
}

// answer sends the only response of a call and ends the call. text is what the trace shows,
// and clientEvents are the events by which the trace shows what the client learns.
func (call *rpc) answer(m proto.Message, text string, learns ...trace.Event) {
	if call.done {
		return
	}
	call.finish()
	call.c.w.write(call.stream, item{headers: responseHeaders}, item{message: frameMessage(m)},
		item{headers: trailers(codes.OK, ""), ends: true, parcel: &parcel{call.lastRequest, text, learns}})
}

// send sends one response of a streaming call. request is the message that it answers, or
// nil.
func (call *rpc) send(request *sim.Request, m proto.Message, text string, learns ...trace.Event) {
	if call.done {
		return
	}
	if !call.headersSent {
		call.headersSent = true
		call.c.w.write(call.stream, item{headers: responseHeaders})
	}
	call.c.w.write(call.stream, item{message: frameMessage(m), parcel: &parcel{request, text, learns}})
}

// fail ends the call with a gRPC error.
func (call *rpc) fail(err error) {
	s, _ := status.FromError(err)
	call.end(s.Code(), s.Message(), "error: "+truncate(s.Message()))
}

// end ends the call with a gRPC status. text is what the trace shows.
func (call *rpc) end(code codes.Code, message, text string) {
	if call.done {
		return
	}
	call.finish()
	fields := trailers(code, message)
	if !call.headersSent {
		fields = append(slices.Clone(responseHeaders), fields...)
	}
	call.c.w.write(call.stream, item{headers: fields, ends: true, parcel: &parcel{call.lastRequest, text, nil}})
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
