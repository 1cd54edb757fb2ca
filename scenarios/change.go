package scenarios

import (
	"fmt"
	"maps"
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Change describes how a world differs from that of its scenario. The zero Change changes
// nothing.
type Change struct {
	// Clients are the clients that take part; nil means all clients.
	Clients []string `json:"clients,omitempty"`
	// Nodes is the number of nodes that the lock has; 0 means as many as in the scenario.
	Nodes int `json:"nodes,omitempty"`
	// Starts replaces the points at which clients start; its keys are the names of clients.
	Starts map[string]trace.Point `json:"starts,omitempty"`
	// Persistence replaces what nodes write to their disks; its keys are the names of
	// nodes.
	Persistence map[string]sim.Persistence `json:"persistence,omitempty"`
}

// keepsClient reports whether a client of the scenario takes part.
func (c Change) keepsClient(client string) bool {
	return c.Clients == nil || slices.Contains(c.Clients, client)
}

// IsZero reports whether the change changes nothing.
func (c Change) IsZero() bool {
	return c.Clients == nil && c.Nodes == 0 && len(c.Starts) == 0 && len(c.Persistence) == 0
}

// WithChange returns the variant with a change. It fails if [Parse] would refuse the
// changed scenario, with the error that Parse would return. The error names the line of the
// file that contradicts the change.
func (v *Variant) WithChange(c Change) (*Variant, error) {
	if c.IsZero() {
		return v, nil
	}
	if v.places == nil {
		return nil, fmt.Errorf("%s was not read from a scenario file, so it cannot be changed", v.Scenario)
	}
	d := v.places.cleanDraft()
	d.spec = c.apply(v.spec)
	d.participants = d.spec.collectParticipants()
	if d.check(); len(d.errs) > 0 {
		return nil, d.errs.summarize()
	}
	changed := *v
	changed.spec = d.spec
	changed.changes = append(slices.Clip(v.changes), c)
	return &changed, nil
}

// apply returns s with the change.
func (c Change) apply(s spec) spec {
	if c.Nodes > 0 {
		s.Lock.Nodes = &c.Nodes
	}
	clients := mapping[client]{}
	for _, e := range s.Clients {
		if !c.keepsClient(e.name) {
			continue
		}
		if at, ok := c.Starts[e.name]; ok {
			e.value.Starts = at
		}
		clients = append(clients, e)
	}
	s.Clients = clients
	s.Nodes = slices.Clone(s.Nodes)
	for _, name := range slices.Sorted(maps.Keys(c.Persistence)) {
		n, _ := s.Nodes.get(name)
		n.Persistence = persistence(c.Persistence[name])
		s.Nodes.set(name, n)
	}
	return s
}

// write makes the change in a document.
func (c Change) write(d *Document) {
	if c.Nodes > 0 {
		d.Set("lock.nodes", c.Nodes)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Persistence)) {
		d.Set("nodes."+name+".persistence", string(c.Persistence[name]))
	}
	for _, name := range d.names("clients") {
		at, starts := c.Starts[name]
		switch {
		case !c.keepsClient(name):
			d.Delete("clients." + name)
		case starts:
			d.Set("clients."+name+".starts", at.String())
		}
	}
}
