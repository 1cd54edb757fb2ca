package consul

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/trace"
)

// A query is a read that can wait for a change. Each change has a number, its index. The query
// waits until what it reads has a change with a greater index than the client knows. See Query in
// https://github.com/hashicorp/consul/blob/v1.21.0/agent/blockingquery/blockingquery.go
type query struct {
	call     *http1.Call
	key      string // the key or the ID of the session that it reads
	isPrefix bool   // it reads all keys that begin with key
	// knownIndex is the index that the client knows. If it is 0, the query does not wait. wait is
	// how long the client wants to wait at most; 0 means the default.
	knownIndex uint64
	wait       time.Duration
	// wasMissing reports whether the key did not exist when the query last looked. If the key still
	// does not exist, nothing has changed.
	wasMissing bool
	timer      *agenda.Timer
	// lookUp returns the index of the latest change of what the query reads, and whether it
	// exists.
	lookUp func() (index uint64, found bool)
	// answer answers the query with what it reads now.
	answer func(clientEvents []trace.Event)
}

// parseQuery parses the parameters that say whether and how long a request waits. If they
// are invalid, it returns the text of the error.
func parseQuery(call *http1.Call) (q *query, why string) {
	q, params := &query{call: call}, call.URL.Query()
	if wait := params.Get("wait"); wait != "" {
		d, err := time.ParseDuration(wait)
		if err != nil {
			return nil, "Invalid wait time"
		}
		q.wait = d
	}
	if index := params.Get("index"); index != "" {
		n, err := strconv.ParseUint(index, 10, 64)
		if err != nil {
			return nil, "Invalid index"
		}
		q.knownIndex = n
	}
	if params.Has("stale") && params.Has("consistent") {
		return nil, "Cannot specify ?stale with ?consistent, conflicting semantics."
	}
	return q, ""
}

// withQuery parses the query of a call and passes it to next, or refuses the call.
func (s *server) withQuery(call *http1.Call, next func(*query)) {
	q, why := parseQuery(call)
	if why != "" {
		refuse(call, http.StatusBadRequest, why)
		return
	}
	next(q)
}

// waitDuration returns how long the query waits, without the random addition.
func (q *query) waitDuration() time.Duration {
	if q.wait <= 0 {
		return defaultWait
	}
	return min(q.wait, longestWait)
}

// answerOrWait answers a query now, or makes it wait for a change or its timeout.
func (s *server) answerOrWait(q *query) {
	if q.knownIndex == 0 || s.isReady(q) {
		q.answer(nil)
		return
	}
	wait := q.waitDuration()
	if most := int64(wait / jitterDivisor); most > 0 {
		wait += time.Duration(s.dice.Int64N(most))
	}
	s.queries = append(s.queries, q)
	q.timer = s.timers.After(wait, func() {
		s.removeQuery(q)
		q.answer(nil)
	})
	q.call.OnGone(func() { s.removeQuery(q) })
}

// removeQuery removes a query that no longer waits.
func (s *server) removeQuery(q *query) {
	s.timers.Stop(q.timer)
	s.queries = slices.DeleteFunc(s.queries, func(o *query) bool { return o == q })
}

// isReady reports whether what the query reads has changed since the index that the client
// knows.
func (s *server) isReady(q *query) bool {
	index, found := q.lookUp()
	if !found {
		if q.wasMissing {
			q.knownIndex = index
		}
		q.wasMissing = true
	}
	return index > q.knownIndex
}

// notifyWaiters answers the queries that wait for a change of a key or a session.
func (s *server) notifyWaiters(key string) {
	for _, q := range slices.Clone(s.queries) {
		if q.key != key && !(q.isPrefix && strings.HasPrefix(key, q.key)) || !s.isReady(q) {
			continue
		}
		s.removeQuery(q)
		q.call.OnGone(nil)
		ev := trace.Event{Kind: trace.KindNotify, Peer: s.host.Node().Name}
		if s.host.Names().IsKey(key) {
			ev.Key = key
		}
		q.answer([]trace.Event{ev})
	}
}
