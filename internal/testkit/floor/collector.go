package floor

import (
	"os"
	"runtime/debug"
)

// Tests run worlds by the thousand, each of which is garbage a millisecond later: the
// collector has more than half of the work unless it waits for more of them.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
}
