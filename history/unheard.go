package history

import "github.com/locksim/locksim/trace"

// Unheard is a server whose answer a client still waits for at the end, and that lost its
// power meanwhile; "" if there is none. Nobody tells the client: only a deadline would
// end the wait, and to set one is up to the caller.
func (h *History) Unheard(client string) string {
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
	found := ""
	for w := range dark {
		if waits[w] && (found == "" || w.server < found) {
			found = w.server
		}
	}
	return found
}
