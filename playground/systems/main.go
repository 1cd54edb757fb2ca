// Command systems runs scenarios in a browser, as command engine does. It has the locks on the
// other systems, too. A page loads it when a reader wants one of them.
package main

import (
	"github.com/locksim/locksim/playground/internal/bridge"

	_ "github.com/locksim/locksim/playground/locks/systems"
)

func main() { bridge.Run() }
