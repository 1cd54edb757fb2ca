package checks

import "github.com/locksim/locksim/trace"

// Panic and GoroutineLeak are violated by a client's code that ends the run: it panics, or
// leaves goroutines behind. See [trace.Ending]. [Hang] and [EndlessRetry] can be violated
// in this way, too.
const (
	Panic         Property = trace.ConductPanic
	GoroutineLeak Property = trace.ConductLeak
)

// The way in which the run ended shows whether these two are violated: see
// [judgedRun.endingFinding]. So their own functions find nothing.
var noPanic = misconduct(Card{
	Property: Panic, Gravity: 12,
	Title:  "no client's code panics",
	Broken: "a client's code panics",
	Label:  "panic", Meaning: "the code of a client panics",
}, findNothing)

var noLeak = misconduct(Card{
	Property: GoroutineLeak, Gravity: 14,
	Title:  "the lock leaves no goroutine behind",
	Broken: "the lock leaves goroutines behind",
	Label:  "goroutine leak", Meaning: "goroutines of a client continue after the client has ended",
}, findNothing)
