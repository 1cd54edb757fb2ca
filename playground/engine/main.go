// Command engine runs scenarios in a browser. It has the locks on Redis that the debate about
// Redlock is about, so it is small.
package main

import (
	"github.com/locksim/locksim/playground/internal/bridge"

	_ "github.com/locksim/locksim/playground/locks"
)

func main() { bridge.Run() }
