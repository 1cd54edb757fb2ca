package consul

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A server is a Consul server.
type server struct {
	*http1.Server
	host     *sim.Host
	dice     *rand.Rand
	timers   *agenda.Timers
	locks    []string // the keys of the world's locks
	store    *store
	sessions *sessions

	// The following fields are lost in a crash.
	isLeader bool
	queries  []*query // in the order of their arrival
}

func boot(host *sim.Host) sim.Server {
	s := &server{host: host, dice: host.Random(), locks: host.Keys(), store: newStore(), isLeader: true}
	s.Server = http1.NewServer(host, s.serve)
	s.timers = agenda.NewTimers(host, s.Do)
	s.sessions = &sessions{s: s, all: map[string]*session{}}
	return s
}

// serve answers a request, now or later.
func (s *server) serve(call *http1.Call) {
	if why := s.host.Failure(); why != "" {
		refuse(call, http.StatusInternalServerError, why)
		return
	}
	endpoint, rest := route(call.URL.Path)
	switch {
	case endpoint == nil:
		s.refusePath(call)
	case !slices.Contains(endpoint.methods, call.Method):
		endpoint.refuseMethod(call)
	case !s.checkParameters(call, endpoint):
	case !s.isLeader && endpoint.needsLeader:
		s.waitForLeader(call)
	case rest == "" && endpoint.missing != "":
		refuse(call, http.StatusBadRequest, endpoint.missing)
	default:
		endpoint.serve(s, call, rest)
	}
}

// waitForLeader keeps a request until there is a leader, for a while. It checks again and
// again, after random and growing pauses: forwardRequestToLeader in
// https://github.com/hashicorp/consul/blob/v1.21.0/agent/consul/rpc.go
func (s *server) waitForLeader(call *http1.Call) {
	start := s.timers.Now()
	limit := leaderTimeout
	if q, why := parseQuery(call); why == "" && q.after > 0 {
		limit += q.waitDuration() + q.waitDuration()/jitter
	}
	most, pause := leaderTimeout/jitter, time.Duration(0)
	var check func()
	retry := func() {
		pause += time.Duration(s.dice.Int64N(int64(most - pause)))
		most *= 2
		timer := s.timers.After(pause, check)
		call.OnGone(func() { s.timers.Stop(timer) })
	}
	check = func() {
		switch {
		case s.isLeader:
			call.OnGone(nil)
			s.serve(call)
		case time.Duration(s.timers.Now()-start) > limit:
			refuse(call, http.StatusInternalServerError, noLeader)
		default:
			retry()
		}
	}
	retry()
}

// becomeLeader makes the server lead.
func (s *server) becomeLeader() {
	s.isLeader = true
	s.host.Emit(trace.Event{Kind: trace.KindLead})
	// It does not know when the sessions were last renewed.
	for _, id := range slices.Sorted(maps.Keys(s.sessions.all)) {
		s.sessions.renew(s.sessions.all[id])
	}
}

// ClockChanged implements [sim.Server].
func (s *server) ClockChanged() { s.timers.Arm() }

// Crash implements [sim.Server]. It loses nothing that was written.
func (s *server) Crash(trace.Crash) {
	s.Server.Crash()
	s.timers.Clear()
	s.isLeader, s.queries = false, nil
}

// Restart implements [sim.Server]. The server replays its log, so every lock-delay that
// there ever was starts again.
func (s *server) Restart() {
	for key, delay := range s.store.lastDelays {
		s.store.delays[key] = s.timers.Now() + int64(delay)
	}
	s.timers.After(electionTime+time.Duration(s.dice.Int64N(int64(electionTime))), s.becomeLeader)
}
