package locks

import (
	"runtime"
	"testing"
)

// On Linux, where the reference traces are made, go-redis checks its idle connections.
func TestChecksIdle(t *testing.T) {
	if runtime.GOOS == "linux" && !ChecksIdle() {
		t.Error("go-redis does not look at idle connections any more, or in another way: traces will differ")
	}
}
