package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Unheard are the servers whose answers a client still waits for at the end, and that lost
// their power meanwhile, by name. Nobody tells the client: only a deadline would end the
// wait. Where one server is all there is, to set one is up to the caller.
func (h *History) Unheard(client string) []string {
	type wire struct {
		server string
		conn   int
	}
	waits, dark := map[wire]bool{}, map[wire]bool{}
	for i := range h.Trace.Events {
		ev := &h.Trace.Events[i]
		w := wire{ev.Peer, ev.Conn}
		switch {
		case ev.Kind == trace.KindCrash && (ev.Text == string(trace.PowerLoss) || ev.Text == string(trace.FailOver)):
			for w := range waits {
				if w.server == ev.Process {
					dark[w] = true
				}
			}
		case ev.Kind == trace.KindSend && ev.Reply && ev.Peer == client:
			waits[wire{ev.Process, ev.Conn}] = false // it is on its way
		case ev.Process != client:
		case ev.Kind == trace.KindConnect:
			waits[w] = false
		case ev.Kind == trace.KindSend && !ev.Reply:
			waits[w] = true
		case ev.Kind == trace.KindClose, ev.Kind == trace.KindReset, ev.Kind == trace.KindTimeout:
			delete(waits, w)
			delete(dark, w)
		}
	}
	var found []string
	for w := range dark {
		if waits[w] {
			found = append(found, w.server)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
