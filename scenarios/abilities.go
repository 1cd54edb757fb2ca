package scenarios

import (
	"fmt"

	"github.com/locksim/locksim/sim"
)

// checkAbilities returns an error if the scenario needs something of its lock that the lock
// of the world cannot do.
func checkAbilities(c sim.Config) error {
	for _, client := range c.Clients {
		if client.ExtendsEvery > 0 && c.Lock.Kind.CannotExtend {
			return fmt.Errorf("%s extends its lease, and this lock cannot be asked to extend one", client.Name)
		}
	}
	for i, f := range c.Faults {
		if m, ok := f.Message(); ok && m.Step.AtStorage() && c.Lock.Kind.KeepsData {
			return fmt.Errorf("fault %d (%s): the client reads and writes over the connection of this lock, and sends nothing to another storage", i+1, f.Text)
		}
	}
	return nil
}
