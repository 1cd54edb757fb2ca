package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
)

// The finding names a client that was not granted the lock, although another had asked before
// it, and says whose release it waits for.
func TestProgressNamesTheClientThatWaits(t *testing.T) {
	f := Check(history.New(parseScript(t, `
		1s c1 acquires rank=1
		2s c1 asks-to-release
		3s c2 fails
		9s c1 is-cut-off`).trace), nil).Finding(Progress)
	if f.Outcome != Violated || f.Reason.Code != Code(noProgress) {
		t.Fatalf("progress is %s with the reason %+v, want that no client makes progress", f.Outcome, f.Reason)
	}
	if client := f.Reason.Args[1]; client != "c2" {
		t.Errorf("the client that wanted the lock is %v, want c2", client)
	}
	if len(f.Reason.More) != 1 || f.Reason.More[0].Code != Code(releaseOpen) || f.Reason.More[0].Args[0] != "c1" {
		t.Errorf("the reason is also %+v, want the open release of c1", f.Reason.More)
	}
}
