package scenarios

import (
	"fmt"
	"maps"
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Change is what is different in the world of a story. The zero Change is nothing.
type Change struct {
	// Clients are those that take part; nil are all of them.
	Clients []string `json:"clients,omitempty"`
	// Nodes is how many nodes the lock has; 0 is as many as in the story.
	Nodes int `json:"nodes,omitempty"`
	// Starts are points at which clients start instead, by their names.
	Starts map[string]trace.Point `json:"starts,omitempty"`
	// Persistence is what nodes write to their disks instead, by their names.
	Persistence map[string]sim.Persistence `json:"persistence,omitempty"`
}

// keeps says whether a client takes part.
func (c Change) keeps(client string) bool {
	return c.Clients == nil || slices.Contains(c.Clients, client)
}

// IsZero says that nothing is different.
func (c Change) IsZero() bool {
	return c.Clients == nil && c.Nodes == 0 && len(c.Starts) == 0 && len(c.Persistence) == 0
}

// With is the story with a change. What no file may say no change can make: the error is
// that of a file which says it, and tells where the story's own says what the change
// contradicts.
func (v *Variant) With(c Change) (*Variant, error) {
	if c.IsZero() {
		return v, nil
	}
	if v.written == nil {
		return nil, fmt.Errorf("%s was read from no scenario file, so nothing can be changed in it", v.Scenario)
	}
	d := v.written.again()
	d.spec = c.of(v.spec)
	d.cast = d.spec.cast()
	if d.check(); len(d.errs) > 0 {
		return nil, d.errs.tidied()
	}
	changed := *v
	changed.spec = d.spec
	changed.changes = append(slices.Clip(v.changes), c)
	return &changed, nil
}

// of is what a file says with the change.
func (c Change) of(s spec) spec {
	if c.Nodes > 0 {
		s.Lock.Nodes = &c.Nodes
	}
	clients := mapping[client]{}
	for _, e := range s.Clients {
		if !c.keeps(e.name) {
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

// write makes the change in the text of a story.
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
		case !c.keeps(name):
			d.Delete("clients." + name)
		case starts:
			d.Set("clients."+name+".starts", at.String())
		}
	}
}
