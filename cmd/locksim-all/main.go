// Command locksim-all is the command locksim with the locks of all libraries that locksim
// knows. Releases contain it under the name locksim.
package main

import (
	"github.com/locksim/locksim/command"

	_ "github.com/locksim/locksim/command/documents"
	_ "github.com/locksim/locksim/command/png"
	_ "github.com/locksim/locksim/libraries"
)

func main() { command.Main() }
