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
	return &serviceEnd{s: s, c: c, nextConns: map[string]*storageConn{}}
}

// crash, restart and stop have nothing to do: the service keeps no data, and the world
// itself ends its connections.
func (s *service) crash(trace.Crash) {}
func (s *service) restart()          {}
func (s *service) stop()             {}

// A serviceEnd is a service's end of one connection. It has its own connections to the next
// processes, so the requests of one client never wait for those of another.
type serviceEnd struct {
	s         *service
	c         *conn
	nextConns map[string]*storageConn // by the name of the next process
}

// receive passes a request on, without its token if the service drops tokens, and passes
// the response back.
func (p *serviceEnd) receive(m *message) {
	e := m.body.(serviceRequest)
	if p.s.cfg.DropsToken && e.request.Token != 0 {
		p.s.w.emit(trace.Event{Kind: trace.KindStrip, Process: p.s.p.name, By: m.origin.actor(), Section: m.origin.section, Step: m.origin.step, Token: e.request.Token})
		e.request.Token = 0
	}
	next, rest := trace.StorageName, e.remainingServices
	if len(e.remainingServices) > 0 {
		next, rest = e.remainingServices[0], e.remainingServices[1:]
	}
	to := p.nextConns[next]
	if to == nil {
		to = &storageConn{p: p.s.p, peer: p.s.w.byName[next]}
		p.nextConns[next] = to
	}
	to.call(&storageCall{e.request, rest, m.origin, func(r storage.Response, err error) {
		answer := &message{body: r, text: describeResponse(e.request.Op, r)}
		if err != nil {
			answer = &message{body: serviceFailure{err}, text: "error: " + errorText(err)}
		}
		p.c.reply(answer)
	}})
}

// hangUp does nothing, because a request that was passed on cannot be stopped: it may still
// take effect.
func (p *serviceEnd) hangUp(bool) {}
