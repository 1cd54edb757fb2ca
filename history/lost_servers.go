package history

// LostServers returns how many of the servers that keep the locks went down and did not
// come back, and how many such servers there are. If a replica was promoted, it may have
// taken the place of a lost server, so no server counts as lost.
func (h *History) LostServers() (lost, total int) {
	servers := map[string]bool{}
	for _, l := range h.Trace.Locks {
		for _, m := range l.Members {
			servers[m] = true
		}
		for _, s := range l.Slots {
			if len(l.Members) == 0 {
				servers[s.Node] = true
			}
		}
	}
	if len(h.Promotions()) > 0 {
		return 0, len(servers)
	}
	for _, s := range h.Spells() {
		if servers[s.Process] && s.State == Down && s.Ended == nil {
			lost++
		}
	}
	return lost, len(servers)
}
