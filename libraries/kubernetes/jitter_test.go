package kubernetes

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/locksim/locksim/locks"
)

// drawPauses returns the pauses of an elector that retries each second.
func drawPauses(e *locks.Env) (pauses [5]time.Duration) {
	withJitterSource(jitterSource(e), func() {
		for i := range pauses {
			pauses[i] = wait.Jitter(time.Second, 1)
		}
	})
	return pauses
}

// In a world, what an elector draws depends only on the seed, not on the time or on what
// other electors draw. Outside of worlds, an elector draws as client-go does.
func TestJitterDependsOnTheSeed(t *testing.T) {
	process := func(random string) *locks.Env {
		return &locks.Env{Rand: strings.NewReader(random), WaitAfterTimer: func(context.Context, ...string) {}}
	}
	first := drawPauses(process("client-1"))
	var again [5]time.Duration
	withJitterSource(jitterSource(process("client-2")), func() { // another elector, which runs meanwhile in its own goroutine
		done := make(chan struct{})
		go func() {
			defer close(done)
			again = drawPauses(process("client-1"))
		}()
		<-done
	})
	if first != again {
		t.Errorf("an elector draws the pauses %v, and the same elector in another run %v", first, again)
	}
	if other := drawPauses(process("client-2")); other == first {
		t.Errorf("two processes draw the same pauses: %v", first)
	}
	if outside := drawPauses(&locks.Env{}); outside == drawPauses(&locks.Env{}) {
		t.Errorf("outside of worlds the same pauses are drawn twice: %v", outside)
	}
	if wait.Jitter(time.Second, 1) == first[0] {
		t.Error("the random source of an elector is still used after the elector has ended")
	}
	for _, d := range first {
		if d < time.Second || d >= 2*time.Second {
			t.Errorf("a pause is %v, want from 1s up to 2s", d)
		}
	}
}
