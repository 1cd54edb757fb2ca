package simtest

import (
	"os"
	"runtime/debug"
)

// This garbage collection setting makes tests faster. They run thousands of worlds, each of
// which is garbage a millisecond later. With Go's default setting, garbage collection takes
// more than half of the processor time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
}
