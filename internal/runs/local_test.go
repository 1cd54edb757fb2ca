package runs

import (
	"testing"
	"time"
)

// If the lock mints its own tokens, the run with fencing is never skipped, because a token
// may be wrong.
func TestLockWithOwnTokensIsRunWithFencing(t *testing.T) {
	l := NewLocal([]Base{{Name: "tokens", Seed: 1, Text: []byte(`title: tokens
lock: {kind: single-token, ttl: 30s}
clients: {client-1: {works: 1s}}
`)}}, 10*time.Second)
	off, err := l.Report(t.Context(), WorldSpec{}, FencingOff)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := l.Config(WorldSpec{}, FencingOn)
	if err != nil {
		t.Fatal(err)
	}
	if FencingChangesNothing(cfg, off.History) {
		t.Error("FencingChangesNothing is true, so the run with fencing is skipped; want false")
	}
}
