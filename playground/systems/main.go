// Command systems runs scenarios in a browser, as command engine does. It has the locks on the
// other systems, too. A page loads this program when a reader chooses one of these locks.
package main

import (
	"github.com/locksim/locksim/playground/internal/bridge"

	_ "github.com/locksim/locksim/playground/locks/systems"
)

func main() { bridge.Run() }
