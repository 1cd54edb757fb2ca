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

// A conn is a member's end of a connection of a client's.
type conn struct {
	m     *member
	end   *sim.End
	w     *writer
	calls map[uint32]*rpc
	// read is how much has come since the client was last told to go on sending.
	read int
	// over: nothing is understood any more, and closed that the client has been told.
	over, closed bool
}

// An rpc is one call of a client's, of a method that answers once or one that goes on.
type rpc struct {
	piece  // that has opened it
	c      *conn
	method *method
	asked  *sim.Request // what it has sent last
	read   int
	opened bool // the answer has begun
	over   bool
	flow   flow // of a method that goes on
}

// A flow is what goes on in a call that does.
type flow interface {
	// take takes the next request.
	take(request proto.Message)
	// ended says that the client will send no more, or, if cancelled, does not want to hear
	// more either.
	ended(cancelled bool)
}

// Receive is as in [sim.Endpoint].
func (c *conn) Receive(r *sim.Request) {
	body, _ := r.Body.([]any)
	for _, read := range body {
		if !c.over {
			c.receive(r, read)
		}
	}
	c.w.pack(parcel{answers: r, text: "an acknowledgement"})
	c.m.settle()
}

func (c *conn) receive(r *sim.Request, read any) {
	switch f := read.(type) {
	case settings:
		if !c.greeted() {
			_ = c.w.frames.WriteSettings()
		}
		c.w.settle(f)
	case pings:
		_ = c.w.frames.WritePing(true, f)
	case opensWindow:
		if !c.w.widen(f) {
			c.hangUp(r, http2.ErrCodeFlowControl, "a window beyond what can be")
		}
	case piece:
		c.receivePiece(r, f)
	case breaks:
		c.hangUp(r, f.code, f.why)
	}
}

// greeted says that the member has sent its settings, and that from now on it has.
func (c *conn) greeted() bool {
	was := c.w.greeted
	c.w.greeted = true
	return was
}

func (c *conn) receivePiece(r *sim.Request, f piece) {
	switch {
	case f.opens:
		call := &rpc{piece: f, c: c, asked: r}
		c.calls[f.stream] = call
		c.w.open(f.stream)
		call.begin()
		if f.ends {
			call.close()
		}
		return
	case f.cancels:
		c.w.forget(f.stream)
		if call := c.calls[f.stream]; call != nil {
			call.cancel()
		}
		return
	}
	if c.read += f.size; c.read >= firstWindow/4 {
		_ = c.w.frames.WriteWindowUpdate(0, uint32(c.read))
		c.read = 0
	}
	call := c.calls[f.stream]
	if call == nil {
		return
	}
	if call.read += f.size; call.read >= firstWindow/4 && !f.ends {
		_ = c.w.frames.WriteWindowUpdate(f.stream, uint32(call.read))
		call.read = 0
	}
	call.asked = r
	for _, m := range f.messages {
		if !call.over {
			call.take(m)
		}
	}
	switch {
	case call.over:
	case f.wrong != "":
		code := codes.ResourceExhausted
		if strings.Contains(f.wrong, "Decompressor") {
			code = codes.Unimplemented
		}
		call.fail(status.Error(code, f.wrong))
	case f.ends:
		call.close()
	}
}

// hangUp is how a server ends a connection on which it does not understand the client.
func (c *conn) hangUp(r *sim.Request, code http2.ErrCode, why string) {
	_ = c.w.frames.WriteGoAway(0, code, []byte(why))
	c.w.pack(parcel{answers: r, text: "GOAWAY: " + why})
	c.m.host.Doubt(fmt.Sprintf("%s wrote to %s what is no HTTP/2: %s", c.end.Peer(), c.m.host.Node().Name, why))
	c.over = true
	c.drop()
}

// HangUp is as in [sim.Endpoint].
func (c *conn) HangUp(bool) {
	c.over = true
	c.drop()
	c.w.take()
	c.m.conns = slices.DeleteFunc(c.m.conns, func(o *conn) bool { return o == c })
	c.m.settle()
}

// drop ends all calls.
func (c *conn) drop() {
	for _, stream := range c.streams() {
		c.calls[stream].cancel()
	}
}

// streams are those of the calls, in the order in which they began.
func (c *conn) streams() []uint32 { return slices.Sorted(maps.Keys(c.calls)) }

// flush sends what is ready.
func (c *conn) flush() {
	for _, p := range c.w.take() {
		sent := sim.Packet{Bytes: p.bytes, Text: p.text, Learns: p.learns}
		if p.answers != nil {
			c.end.Answer(p.answers, sent)
		} else {
			c.end.Send(sent)
		}
	}
	if c.over && !c.closed {
		c.closed = true
		c.end.Close()
	}
}

// begin looks up what is called.
func (call *rpc) begin() {
	call.method = methods[call.path]
	if call.method == nil {
		call.fail(unknown(call.path))
		if _, methods := real(); methods[call.path] {
			call.c.m.host.Doubt(fmt.Sprintf("%s called %s, which a real member knows and %s does not", call.c.end.Peer(), call.path, call.c.m.host.Node().Name))
		}
		return
	}
	if call.leads && call.c.m.leader() == 0 {
		call.fail(rpctypes.ErrGRPCNoLeader)
		return
	}
	if call.method.flow != nil {
		call.flow = call.method.flow(call)
	}
}

// unknown is the error of gRPC's server for a method that it does not have: handleStream in
// https://github.com/grpc/grpc-go/blob/master/server.go
func unknown(path string) error {
	name := strings.TrimPrefix(path, "/")
	i := strings.LastIndexByte(name, '/')
	services, _ := real()
	switch {
	case i < 0:
		return status.Errorf(codes.Unimplemented, "malformed method name: %q", path)
	case services[name[:i]]:
		return status.Errorf(codes.Unimplemented, "unknown method %v for service %v", name[i+1:], name[:i])
	}
	return status.Errorf(codes.Unimplemented, "unknown service %v", name[:i])
}

// take takes a request.
func (call *rpc) take(message []byte) {
	request := call.method.request()
	if proto.Unmarshal(message, request) != nil {
		// The words of its errors differ from one build to another, on purpose.
		call.fail(status.Error(codes.Internal, "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data"))
		return
	}
	if why := call.c.m.host.Failure(); why != "" && !call.asked.Handshake() {
		call.fail(status.Error(codeOf(why), why))
		return
	}
	if call.flow != nil {
		call.flow.take(request)
		return
	}
	call.method.once(call.c.m, call, request)
}

// close says that the client will send no more.
func (call *rpc) close() {
	if call.over || call.flow == nil {
		return
	}
	call.flow.ended(false)
}

// cancel says that the client does not want to hear more.
func (call *rpc) cancel() {
	if call.over {
		return
	}
	call.finish()
	if call.flow != nil {
		call.flow.ended(true)
	}
}

func (call *rpc) finish() {
	call.over = true
	delete(call.c.calls, call.stream)
}

// answer answers the call, which is over.
func (call *rpc) answer(m proto.Message, text string, learns ...trace.Event) {
	if call.over {
		return
	}
	call.finish()
	call.c.w.write(call.stream, item{headers: opening}, item{message: enclose(m)},
		item{headers: ending(codes.OK, ""), ends: true, parcel: &parcel{call.asked, text, learns}})
}

// send sends a message of a call that goes on. answers is what it answers, if anything.
func (call *rpc) send(answers *sim.Request, m proto.Message, text string, learns ...trace.Event) {
	if call.over {
		return
	}
	if !call.opened {
		call.opened = true
		call.c.w.write(call.stream, item{headers: opening})
	}
	call.c.w.write(call.stream, item{message: enclose(m), parcel: &parcel{answers, text, learns}})
}

// fail ends the call with an error.
func (call *rpc) fail(err error) {
	s, _ := status.FromError(err)
	call.end(s.Code(), s.Message(), "error: "+visible(s.Message()))
}

// end ends the call with a status.
func (call *rpc) end(code codes.Code, message, text string) {
	if call.over {
		return
	}
	call.finish()
	fields := ending(code, message)
	if !call.opened {
		fields = append(slices.Clone(opening), fields...)
	}
	call.c.w.write(call.stream, item{headers: fields, ends: true, parcel: &parcel{call.asked, text, nil}})
}

// visible bounds what a client may have made of the text of an error.
func visible(text string) string {
	if len(text) > 200 {
		return text[:200] + "..."
	}
	return text
}

// codeOf is the code with which etcd says the text of an error, for those that a fault can
// have a member answer with.
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
