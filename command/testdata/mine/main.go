// Command mine is locksim with a lock of one's own.
package main

import (
	"github.com/locksim/locksim/command"
	_ "github.com/locksim/locksim/libraries/redsync" // to compare with

	_ "example.com/mine/lock"
)

func main() { command.Main() }
