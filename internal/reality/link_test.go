package reality

import (
	"sync"
	"testing"
	"time"
)

// The end of a connection travels like a message: it is delayed, and a partition cuts it.
func TestEndOfAStream(t *testing.T) {
	r := &run{began: time.Now(), started: true}
	r.changed = sync.NewCond(&r.mu)
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &link{delay: 30 * time.Millisecond}
	s := &stream{r: r, link: l}
	closed := r.now()
	s.close()
	if m := s.next(nil); m != nil || r.now()-closed < 30*time.Millisecond {
		t.Errorf("the end arrives after %v, and the link has a delay of 30 ms", r.now()-closed)
	}
	l.cuts, l.delay = 1, 0
	s = &stream{r: r, link: l}
	closed = r.now()
	s.close()
	r.after(40*time.Millisecond, func() { l.cuts = 0 })
	if m := s.next(nil); m != nil || r.now()-closed < 40*time.Millisecond {
		t.Errorf("the end arrives after %v, and a partition cuts the link for 40 ms", r.now()-closed)
	}
}
