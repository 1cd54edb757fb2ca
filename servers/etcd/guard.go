package etcd

// Stands is as in [sim.Guard]: whether a key under a lock's name that a section has made is
// there. That of somebody who waits in line is, too: it is what Mutex.IsOwner compares.
func (m *member) Stands(client string, section int) bool {
	for _, lock := range m.cluster.locks {
		for _, c := range lock.claims {
			if by := c.by; by != nil && by.Client == client && by.Section == section {
				return true
			}
		}
	}
	return false
}
