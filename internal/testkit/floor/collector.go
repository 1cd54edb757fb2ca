package floor

import (
	"os"
	"runtime/debug"
)

// Tests run thousands of worlds, each of which is garbage a millisecond later. With the
// usual setting, garbage collection takes more than half of the processor time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
}
