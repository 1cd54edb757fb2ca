package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// SilentServers returns, sorted, the servers that lost their power and whose answers the client
// still awaits at the end of the run. A server without power closes no connection, so only a
// deadline can end the wait. A lock with several servers has to set a deadline and ask the other
// servers. If there is no other server, the caller of the lock has to set the deadline.
func (h *History) SilentServers(client string) []string {
	type wire struct {
		server string
		conn   int
	}
	awaitsReply, lostPower := map[wire]bool{}, map[wire]bool{}
	for i := range h.Trace.Events {
		ev := &h.Trace.Events[i]
		w := wire{ev.Peer, ev.Conn}
		switch {
		case ev.Kind == trace.KindCrash && (ev.Text == string(trace.PowerLoss) || ev.Text == string(trace.FailOver)):
			for w := range awaitsReply {
				if w.server == ev.Process {
					lostPower[w] = true
				}
			}
		case ev.Kind == trace.KindSend && ev.Reply && ev.Peer == client:
			awaitsReply[wire{ev.Process, ev.Conn}] = false // the reply is in flight
		case ev.Process != client:
		case ev.Kind == trace.KindConnect:
			awaitsReply[w] = false
		case ev.Kind == trace.KindSend && !ev.Reply:
			awaitsReply[w] = true
		case ev.Kind == trace.KindClose, ev.Kind == trace.KindReset, ev.Kind == trace.KindTimeout:
			delete(awaitsReply, w)
			delete(lostPower, w)
		}
	}
	var found []string
	for w := range lostPower {
		if awaitsReply[w] {
			found = append(found, w.server)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
