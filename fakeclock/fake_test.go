package fakeclock_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

const (
	percent = 10_000_000 // in parts per billion
	year    = 365 * 24 * time.Hour
)

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A change is a change of a clock at a true time.
type change struct {
	at time.Duration
	do func(*fakeclock.Fake)
}

// jump and rate return a function that makes one change of a clock.
func jump(d time.Duration) func(*fakeclock.Fake) { return func(c *fakeclock.Fake) { c.Jump(d) } }

func rate(ppb int64) func(*fakeclock.Fake) {
	return func(c *fakeclock.Fake) {
		if err := c.SetRate(ppb); err != nil {
			panic(err)
		}
	}
}

var (
	stop    = (*fakeclock.Fake).Stop
	suspend = (*fakeclock.Fake).Suspend
	resume  = (*fakeclock.Fake).Resume
)

// TestChanges checks, after each kind of change, what both clocks read 100 s after the
// start, and when a timer of 60 s fires.
func TestChanges(t *testing.T) {
	tests := []struct {
		name       string
		changes    []change
		wall, mono time.Duration // expected readings of the clocks after 100 s
		fires      time.Duration // true time at which the timer fires
	}{
		{"no change", nil, 100 * time.Second, 100 * time.Second, 60 * time.Second},
		{"jump forward", []change{{10 * time.Second, jump(30 * time.Second)}}, 130 * time.Second, 100 * time.Second, 60 * time.Second},
		{"jump back", []change{{10 * time.Second, jump(-time.Hour)}}, 100*time.Second - time.Hour, 100 * time.Second, 60 * time.Second},
		{"fast", []change{{0, rate(25 * percent)}}, 125 * time.Second, 125 * time.Second, 48 * time.Second},
		{"slow", []change{{0, rate(-20 * percent)}}, 80 * time.Second, 80 * time.Second, 75 * time.Second},
		{"fast for a while", []change{{10 * time.Second, rate(50 * percent)}, {20 * time.Second, rate(0)}}, 105 * time.Second, 105 * time.Second, 55 * time.Second},
		{"fast, then a jump", []change{{0, rate(25 * percent)}, {50 * time.Second, jump(-time.Second)}}, 124 * time.Second, 125 * time.Second, 48 * time.Second},
		{"stopped when the timer is due", []change{{50 * time.Second, stop}, {90 * time.Second, resume}}, 100 * time.Second, 100 * time.Second, 90 * time.Second},
		{"stopped and resumed before the timer is due", []change{{10 * time.Second, stop}, {20 * time.Second, resume}}, 100 * time.Second, 100 * time.Second, 60 * time.Second},
		{"suspended", []change{{50 * time.Second, suspend}, {70 * time.Second, resume}}, 100 * time.Second, 80 * time.Second, 80 * time.Second},
		{"suspended twice", []change{{10 * time.Second, suspend}, {15 * time.Second, resume}, {20 * time.Second, suspend}, {25 * time.Second, resume}}, 100 * time.Second, 90 * time.Second, 70 * time.Second},
		{"suspended while fast", []change{{0, rate(50 * percent)}, {20 * time.Second, suspend}, {40 * time.Second, resume}}, 150 * time.Second, 120 * time.Second, 60 * time.Second},
		{"jump while suspended", []change{{50 * time.Second, suspend}, {60 * time.Second, jump(5 * time.Second)}, {70 * time.Second, resume}}, 105 * time.Second, 80 * time.Second, 80 * time.Second},
		{"new rate while suspended", []change{{50 * time.Second, suspend}, {60 * time.Second, rate(50 * percent)}, {70 * time.Second, resume}}, 120 * time.Second, 95 * time.Second, 70*time.Second + 6666666667},
		{"suspended while stopped", []change{{30 * time.Second, stop}, {40 * time.Second, suspend}, {80 * time.Second, resume}}, 100 * time.Second, 60 * time.Second, 100 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
				var fired time.Duration
				c.AfterFunc(60*time.Second, func() { fired = w.Now() })
				for _, change := range test.changes {
					w.runTo(change.at)
					change.do(c)
				}
				w.runTo(100 * time.Second)
				if got := wall(c); got != test.wall {
					t.Errorf("wall clock reads %v, want %v", got, test.wall)
				}
				if got := mono(c); got != test.mono {
					t.Errorf("monotonic clock reads %v, want %v", got, test.mono)
				}
				if fired != test.fires {
					t.Errorf("timer fired at %v, want %v", fired, test.fires)
				}
			})
		})
	}
}

// While the machine is suspended, neither clock runs. On resume the wall clock shows the
// time that it would show without the suspension, and the monotonic clock continues.
func TestSuspendHaltsBothClocks(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		must(t, c.SetRate(7))
		w.runTo(10 * time.Second)
		c.Suspend()
		before := c.State()
		w.runTo(20 * time.Second)
		if after := c.State(); after != before || !after.Halted || after.RatePPB != 7 {
			t.Errorf("while suspended, the state went from %+v to %+v; want no change, halted, with the rate 7", before, after)
		}
		c.Suspend() // a second suspension changes nothing
		w.runTo(30 * time.Second)
		c.Resume()
		after := c.State()
		if after.Halted || after.Monotonic != before.Monotonic || after.Wall != before.Wall+int64(20*time.Second)+140 { // 20 s at +7 ppb are 140 ns more
			t.Errorf("over a suspension of 20 s, the state went from %+v to %+v; want the wall clock 20 s and 140 ns later", before, after)
		}
	})
}

func TestTimersDueWhileStoppedFireInOrder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		var mu sync.Mutex // timers of one moment fire together, so several goroutines use the results
		var fired []int
		for _, seconds := range []int{5, 3, 9, 3, 1, 40} {
			c.AfterFunc(time.Duration(seconds)*time.Second, func() {
				mu.Lock()
				defer mu.Unlock()
				fired = append(fired, seconds)
			})
		}
		c.Stop()
		w.runTo(30 * time.Second)
		if len(fired) != 0 {
			t.Errorf("timers fired while stopped: %v", fired)
		}
		c.Resume()
		w.runTo(30 * time.Second)
		if want := []int{1, 3, 3, 5, 9}; !slices.Equal(fired, want) {
			t.Errorf("timers fired in order %v, want %v", fired, want)
		}
	})
}

func TestStoppedTimerDoesNotFire(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		fired := ""
		first := c.AfterFunc(time.Second, func() { fired += "first " })
		c.AfterFunc(2*time.Second, func() { fired += "second " })
		third := c.AfterFunc(3*time.Second, func() { fired += "third " })
		if !first() || !third() {
			t.Error("stop of a waiting timer returned false, want true: it prevented the call")
		}
		if first() {
			t.Error("the second stop of a timer returned true, want false: it prevented nothing")
		}
		w.runTo(time.Minute)
		if fired != "second " {
			t.Errorf("the timers that fired are %q, want only the second", fired)
		}
	})
}

func TestSleep(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		var woke time.Duration
		go func() {
			if c.Sleep(t.Context(), 5*time.Second) == nil {
				woke = w.Now()
			}
		}()
		w.runTo(3 * time.Second)
		c.Suspend()
		w.runTo(13 * time.Second)
		c.Resume()
		w.runTo(time.Minute)
		if woke != 15*time.Second {
			t.Errorf("Sleep returned at %v, want 15s: 3s before and 2s after a suspension of 10s", woke)
		}
	})
}

func TestSleepEndsWithItsContext(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		var err error
		go func() { err = c.Sleep(ctx, time.Hour) }()
		w.runTo(time.Second)
		cancel(enough)
		w.runTo(time.Second)
		if err != enough {
			t.Errorf("Sleep returned %v, want the context's cause", err)
		}
		if err := c.Sleep(ctx, 0); err != enough {
			t.Errorf("Sleep with a context that is done returned %v, want its cause", err)
		}
		if w.alarm != nil {
			t.Error("the timer of a cancelled Sleep is still set")
		}
	})
}

// NextWall returns the true time at which the wall clock will first show a reading. Each
// case asks for it at 10 s, after a change of the clock.
func TestNextWall(t *testing.T) {
	tests := []struct {
		name   string
		before func(*fakeclock.Fake) // the change of the clock; nil for none
		wall   time.Duration         // reading of the wall clock, since its start
		want   time.Duration         // true time
	}{
		{"a later reading", nil, time.Minute, time.Minute},
		{"an earlier reading", nil, time.Second, 10 * time.Second},
		{"after a jump forward", jump(30 * time.Second), time.Minute, 30 * time.Second},
		{"after a jump past the reading", jump(90 * time.Second), time.Minute, 10 * time.Second},
		{"after a jump back", jump(-30 * time.Second), time.Minute, 90 * time.Second},
		{"after a jump back to before a reading that has passed", jump(-9 * time.Second), 5 * time.Second, 14 * time.Second},
		{"fast", rate(25 * percent), time.Minute, 50 * time.Second},
		{"slow", rate(-50 * percent), time.Minute, 110 * time.Second},
		{"a clock that gains 1 ppb: the time is rounded up", rate(1), 10*time.Second + 1, 10*time.Second + 1},
		{"a clock that has gained 10 ns", rate(1), 20*time.Second + 10, 20 * time.Second},
		{"stopped", stop, time.Minute, time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
				w.runTo(10 * time.Second)
				if test.before != nil {
					test.before(c)
				}
				target := start.Add(test.wall)
				at, ok := c.NextWall(target)
				if !ok || at != test.want {
					t.Fatalf("NextWall = %v, %v; want %v", at, ok, test.want)
				}
				if at > w.Now() {
					w.runTo(at - 1)
					if !c.Now().Before(target) {
						t.Error("the clock already reads that a nanosecond before the time that NextWall returned")
					}
				}
				w.runTo(at)
				if c.Now().Before(target) {
					t.Errorf("at the time that NextWall returned the clock reads %v, want at least %v", c.Now(), target)
				}
			})
		})
	}
	t.Run("suspended", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
			c.Suspend()
			if at, ok := c.NextWall(start.Add(time.Hour)); ok {
				t.Errorf("NextWall = %v on a suspended clock, want false", at)
			}
			c.Resume()
			if at, ok := c.NextWall(start.Add(time.Hour)); !ok || at != time.Hour {
				t.Errorf("NextWall = %v, %v after resume, want 1h", at, ok)
			}
		})
	})
	t.Run("out of range", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
			must(t, c.SetRate(-999_999_999))
			if at, ok := c.NextWall(start.Add(time.Hour)); ok {
				t.Errorf("NextWall = %v on a clock that needs 114,000 years for an hour, want false", at)
			}
			w.runTo(time.Hour)
			c.AfterFunc(time.Hour, func() { t.Error("a timer fired that was due in 114,000 years") })
			w.runTo(290 * year)
		})
	})
}

func TestSetRateOutOfRange(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		changes := 0
		c.OnChange(func(string) { changes++ })
		for _, ppb := range []int64{-1_000_000_000, fakeclock.MaxRatePPB, -1 << 63, 1<<63 - 1} {
			if err := c.SetRate(ppb); err == nil || !strings.Contains(err.Error(), "parts per billion") {
				t.Errorf("SetRate(%d) = %v, want an error about parts per billion", ppb, err)
			}
		}
		if c.Rate() != 0 || changes != 0 {
			t.Errorf("after refused rates Rate() = %d, with %d changes; want 0 and none", c.Rate(), changes)
		}
		must(t, c.SetRate(-999_999_999))
		if c.Rate() != -999_999_999 {
			t.Errorf("Rate() = %d, want -999999999", c.Rate())
		}
	})
}

// OnChange reports each change of a clock, but not a stop, a resume after a stop, or a
// second suspension.
func TestOnChange(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		var changes []string
		c.OnChange(func(why string) {
			c.State() // this would hang if a watcher were called with the clock locked
			changes = append(changes, why)
		})
		c.Jump(time.Second)
		must(t, c.SetRate(5))
		c.Stop()
		c.Resume()
		c.Suspend()
		c.Suspend()
		c.Stop()
		c.Resume()
		c.Resume()
		if want := []string{"jump", "drift", "suspend", "resume"}; !slices.Equal(changes, want) {
			t.Errorf("the reported changes are %v, want %v", changes, want)
		}
	})
}

// Close ends every wait with ErrClosed, and no timer fires after it.
func TestClose(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		var slept error
		go func() { slept = c.Sleep(t.Context(), time.Hour) }()
		ctx, cancel := fakeclock.WithTimeout(t.Context(), c, time.Hour)
		defer cancel()
		c.AfterFunc(time.Second, func() { t.Error("a timer fired after Close") })
		synctest.Wait()
		c.Close()
		synctest.Wait()
		if slept != fakeclock.ErrClosed {
			t.Errorf("a Sleep that began before Close returned %v, want ErrClosed", slept)
		}
		if ctx.Err() != fakeclock.ErrClosed {
			t.Errorf("a context from before Close ended with %v, want ErrClosed", ctx.Err())
		}
		if err := c.Sleep(t.Context(), time.Hour); err != fakeclock.ErrClosed {
			t.Errorf("Sleep after Close returned %v, want ErrClosed", err)
		}
		late, cancel := fakeclock.WithTimeout(t.Context(), c, time.Hour)
		defer cancel()
		if late.Err() != fakeclock.ErrClosed {
			t.Errorf("WithTimeout after Close returned a context with the error %v, want ErrClosed", late.Err())
		}
		c.AfterFunc(0, func() { t.Error("a timer set after Close fired") })
		c.Resume()
		w.runTo(2 * time.Hour)
		if !errors.Is(fakeclock.ErrClosed, context.Canceled) {
			t.Error("errors.Is(ErrClosed, context.Canceled) is false, want true")
		}
	})
}

// The clock runs for a year, with a change of its rate every hour. Its readings are
// compared with exact fractions.
func TestReadingsAreExactOverAYear(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		rates := []int64{333_333_333, -333_333_331, 1, -999_999_999, 999_999_999, -7}
		exact := new(big.Int) // in 1e-9 ns
		const step = time.Hour + 7*time.Nanosecond
		for i := 0; w.Now() < year; i++ {
			ppb := rates[i%len(rates)]
			must(t, c.SetRate(ppb))
			w.runTo(w.Now() + step)
			exact.Add(exact, new(big.Int).Mul(big.NewInt(int64(step)), big.NewInt(1_000_000_000+ppb)))
		}
		want := new(big.Int).Div(exact, big.NewInt(1_000_000_000)).Int64()
		if got := int64(mono(c)); got != want {
			t.Errorf("monotonic clock reads %d, want exactly %d: off by %d ns", got, want, got-want)
		}
		if got := int64(wall(c)); got != want {
			t.Errorf("wall clock reads %d, want exactly %d: off by %d ns", got, want, got-want)
		}
	})
}

// The fuzz test makes random changes to a clock and checks what must always be true. A
// clock never goes back unless it is set back. No timer fires before its time on the
// process's own clock, or while the process is stopped. Each timer fires in the end.
// NextWall returns the exact nanosecond.
func FuzzClock(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
			r := rand.New(rand.NewPCG(seed, 0))
			running := true
			var pending atomic.Int32
			before := c.State()
			for range 200 {
				w.runTo(w.Now() + time.Duration(r.Int64N(int64(time.Second))>>r.UintN(30)))
				now := c.State()
				if now.Wall < before.Wall || now.Monotonic < before.Monotonic {
					t.Fatalf("seed %d: clocks went from %+v back to %+v", seed, before, now)
				}
				switch r.IntN(9) {
				case 0:
					d := time.Duration(r.Int64N(int64(time.Minute))) - 30*time.Second
					c.Jump(d)
					now.Wall += int64(d)
				case 1:
					must(t, c.SetRate(r.Int64N(1_999_999_999)-999_999_999))
				case 2:
					c.Stop()
					running = false
				case 3:
					c.Suspend()
					running = false
				case 4:
					c.Resume()
					running = true
				case 5:
					wall := now.Wall + r.Int64N(int64(time.Second))>>r.UintN(30)
					at, ok := c.NextWall(time.Unix(0, wall))
					if !ok || at > w.Now()+time.Minute {
						break
					}
					if at > w.Now() {
						w.runTo(at - 1)
						if read := c.State().Wall; read >= wall {
							t.Errorf("seed %d: the wall clock reads %d a nanosecond before the time that NextWall returned, want less than %d", seed, read, wall)
						}
					}
					w.runTo(at)
					now = c.State()
					if now.Wall < wall {
						t.Errorf("seed %d: the wall clock reads %d at the time that NextWall returned, want at least %d", seed, now.Wall, wall)
					}
				default:
					d := time.Duration(r.Int64N(int64(time.Second)) >> r.UintN(30))
					due := now.Monotonic + int64(d)
					pending.Add(1)
					c.AfterFunc(d, func() {
						pending.Add(-1)
						if !running {
							t.Errorf("seed %d: a timer fired while the process was stopped", seed)
						}
						if read := c.State().Monotonic; read < due {
							t.Errorf("seed %d: a timer that was due at %d fired at %d", seed, due, read)
						}
					})
				}
				if got := c.State(); got.Monotonic != now.Monotonic || got.Wall < now.Wall {
					t.Fatalf("seed %d: clocks read %+v before a change and %+v after it", seed, now, got)
				}
				before = now
			}
			c.Resume()
			running = true
			must(t, c.SetRate(0))
			w.runTo(w.Now() + time.Minute)
			if n := pending.Load(); n != 0 {
				t.Errorf("seed %d: %d timers never fired", seed, n)
			}
		})
	})
}

func TestTimersOfOneMomentFireInOneCall(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		var fired atomic.Int32
		for _, seconds := range []int{1, 1, 2} {
			c.AfterFunc(time.Duration(seconds)*time.Second, func() { fired.Add(1) })
		}
		f, ok := w.pop(time.Second)
		if !ok {
			t.Fatal("no call at the moment of the first timers")
		}
		f()
		synctest.Wait()
		if n := fired.Load(); n != 2 {
			t.Errorf("%d timers fired in the first call, want the 2 of that moment", n)
		}
	})
}

// The due time of the longest possible wait must not overflow, or the timer would fire
// immediately.
func TestLongestWaitNeverFires(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		w.runTo(time.Hour)
		c.Suspend()
		w.runTo(2 * time.Hour)
		c.Resume()
		c.AfterFunc(1<<63-1, func() { t.Error("a timer with the longest possible wait fired") })
		w.runTo(year)
	})
}
