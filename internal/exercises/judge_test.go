package exercises

import "testing"

// A stack is shown as places in the lock's files, with their functions. A place that the
// compiler has given line 1 has no line.
func TestOwnFrames(t *testing.T) {
	trial := &Trial{dir: "/home/a/mylock", path: "example.com/lock"}
	got := trial.ownFrames(`goroutine 5 [running]:
example.com/lock.(*Lock).Acquire(0xc000012345, {0x1, 0x2})
	/home/a/mylock/lock.go:1 +0x1d
example.com/lock.(*Lock).Acquire.func1(...)
	/home/a/mylock/lock.go:45
main.adapter.Acquire({0x1}, {0x2, 0x3})
	/tmp/locksim-learn-1/main.go:50 +0x25
created by example.com/lock.New in goroutine 1
	/home/a/mylock/lock.go:20 +0x12
`)
	want := `  at lock.go, in (*Lock).Acquire
  at lock.go:45, in (*Lock).Acquire.func1
  at lock.go:20
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
