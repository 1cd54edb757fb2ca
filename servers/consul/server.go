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

// A server is a simulated Consul server, the only one of its datacenter.
type server struct {
	*http1.Server
	host     *sim.Host
	dice     *rand.Rand // for session IDs, and for times that Consul draws
	timers   *agenda.Timers
	locks    []string // the keys of the world's locks
	store    *store
	sessions *sessions

	// A crash loses the following fields.
	isLeader bool
	queries  []*query // those that wait, in the order of their arrival
}

// boot makes a server that has no keys and is already the leader: the Boot of [sim.System].
func boot(host *sim.Host) sim.Server {
	s := &server{host: host, dice: host.Random(), locks: host.Keys(), store: newStore(), isLeader: true}
	s.Server = http1.NewServer(host, s.serve)
	s.timers = agenda.NewTimers(host, s.Do)
	s.sessions = &sessions{s: s, all: map[string]*session{}}
	return s
}

// serve answers a request now, or keeps it to be answered later.
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
	case rest == "" && endpoint.missingNameError != "":
		refuse(call, http.StatusBadRequest, endpoint.missingNameError)
	default:
		endpoint.serve(s, call, rest)
	}
}

// waitForLeader keeps a request until the server is the leader, and refuses it after a
// timeout. It checks repeatedly, after random pauses that grow, as Consul's function
// forwardRequestToLeader does:
// https://github.com/hashicorp/consul/blob/v1.21.0/agent/consul/rpc.go
func (s *server) waitForLeader(call *http1.Call) {
	start := s.timers.Now()
	limit := leaderTimeout
	if q, why := parseQuery(call); why == "" && q.knownIndex > 0 {
		limit += q.waitDuration() + q.waitDuration()/jitterDivisor
	}
	most, pause := leaderTimeout/jitterDivisor, time.Duration(0)
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

// becomeLeader makes the server the leader.
func (s *server) becomeLeader() {
	s.isLeader = true
	s.host.Emit(trace.Event{Kind: trace.KindLead})
	// A new leader does not know when the sessions were last renewed, so each of them
	// gets its whole time again.
	for _, id := range slices.Sorted(maps.Keys(s.sessions.all)) {
		s.sessions.renew(s.sessions.all[id])
	}
}

// ClockChanged implements [sim.Server].
func (s *server) ClockChanged() { s.timers.Arm() }

// Crash implements [sim.Server]. No crash loses what was written.
func (s *server) Crash(trace.Crash) {
	s.Server.Crash()
	s.timers.Clear()
	s.isLeader, s.queries = false, nil
}

// Restart implements [sim.Server]. A real server executes its log again when it starts,
// including the ends of sessions. A lock-delay is the time after the end of a session
// during which no client can acquire the locks that the session held. So every lock-delay
// that there ever was begins again.
func (s *server) Restart() {
	for key, delay := range s.store.lastDelays {
		s.store.delayedUntil[key] = s.timers.Now() + int64(delay)
	}
	s.timers.After(electionTime+time.Duration(s.dice.Int64N(int64(electionTime))), s.becomeLeader)
}
