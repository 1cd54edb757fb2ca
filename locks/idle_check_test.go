package locks

import (
	"runtime"
	"testing"
)

// On Linux, where the reference traces are made, go-redis checks its idle connections.
func TestChecksIdle(t *testing.T) {
	if runtime.GOOS == "linux" && !ChecksIdle() {
		t.Error("ChecksIdle is false: go-redis no longer checks idle connections, or does so in another way, and traces will differ")
	}
}
