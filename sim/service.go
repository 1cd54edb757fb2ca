package sim

import (
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A service passes requests on to the storage, or to the next service on the way there, and
// passes the responses back. It stores nothing, so a crash loses only its connections.
type service struct {
	w   *World
	p   *process
	cfg Service
}

// accept is called for a client, or for the service before this one on the way to the
// storage.
func (s *service) accept(c *conn) endpoint {
	return &servicePeer{s: s, c: c, onward: map[string]*caller{}}
}

// crash, restart and stop have nothing to do: the service keeps no data, and the world
// itself ends its connections.
func (s *service) crash(trace.Crash) {}
func (s *service) restart()          {}
func (s *service) stop()             {}

// A serviceEnd is a service's end of one connection. It has its own connections to the next
// processes, so the requests of one client never wait for those of another.
type servicePeer struct {
	s      *service
	c      *conn
	onward map[string]*caller
}

// receive passes a request on, without its token if the service drops tokens, and passes
// the response back.
func (p *servicePeer) receive(m *message) {
	e := m.body.(serviceRequest)
	if p.s.cfg.DropsToken && e.request.Token != 0 {
		p.s.w.emit(trace.Event{Kind: trace.KindStrip, Process: p.s.p.name, By: m.ctx.actor(), Section: m.ctx.section, Step: m.ctx.step, Token: e.request.Token})
		e.request.Token = 0
	}
	next, rest := trace.StorageName, e.via
	if len(e.via) > 0 {
		next, rest = e.via[0], e.via[1:]
	}
	to := p.onward[next]
	if to == nil {
		to = &caller{p: p.s.p, peer: p.s.w.byName[next]}
		p.onward[next] = to
	}
	to.call(&call{e.request, rest, m.ctx, func(r storage.Response, err error) {
		answer := &message{body: r, text: describeResponse(e.request.Op, r)}
		if err != nil {
			answer = &message{body: serviceFailure{err}, text: "error: " + errorText(err)}
		}
		p.c.reply(answer)
	}})
}

// hangUp does nothing, because a request that was passed on cannot be stopped: it may still
// take effect.
func (p *servicePeer) hangUp(bool) {}
