// Command engine runs scenarios in a browser. It is small, because it has only locks on Redis:
// those that the debate about Redlock is about.
package main

import (
	"github.com/locksim/locksim/playground/internal/bridge"

	_ "github.com/locksim/locksim/playground/locks"
)

func main() { bridge.Run() }
