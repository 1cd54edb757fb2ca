package scenarios

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// participants are the names of the processes of a scenario, by their roles.
type participants struct {
	clients, nodes, services    []string // in the order of the file, but the lock's own nodes come first
	isClient, isNode, isService map[string]bool
}

// collectParticipants returns the names of the clients, the services and the nodes. The
// nodes are the lock's own and all other nodes that the file names.
func (s *spec) collectParticipants() participants {
	c := participants{
		clients: s.Clients.names(), services: s.Services.names(),
		isNode: map[string]bool{},
	}
	c.isClient, c.isService = toSet(c.clients), toSet(c.services)
	for _, names := range [][]string{s.masters(), s.Nodes.names(), s.counters()} {
		for _, name := range names {
			if !c.isNode[name] {
				c.isNode[name] = true
				c.nodes = append(c.nodes, name)
			}
		}
	}
	return c
}

// role returns the role of a process; false if there is no process of this name.
func (c participants) role(name string) (trace.Role, bool) {
	switch {
	case name == trace.StorageName:
		return trace.RoleStorage, true
	case c.isClient[name]:
		return trace.RoleClient, true
	case c.isNode[name]:
		return trace.RoleNode, true
	case c.isService[name]:
		return trace.RoleService, true
	}
	return "", false
}

// names returns the names of all processes, clients first.
func (c participants) names() []string {
	return slices.Concat(c.clients, c.nodes, c.services, []string{trace.StorageName})
}

func toSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
