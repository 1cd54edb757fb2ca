package locktest

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// whenAny returns the point that is reached as soon as one of the happenings occurs.
func whenAny(happenings ...trace.Happening) trace.Point {
	alternatives := make([]trace.Alternative, len(happenings))
	for i, h := range happenings {
		alternatives[i].Happening = h
	}
	return trace.AnyOf(alternatives...)
}

// delayedAlternative returns the alternative that is reached some time after a happening's first
// occurrence.
func delayedAlternative(delay time.Duration, h trace.Happening) trace.Alternative {
	return trace.Alternative{Delay: delay, Nth: 1, Happening: h}
}

// actionOf returns the happening that a process did something, such as acquire the lock, or
// that something was done to it, such as a crash.
func actionOf(process string, verb trace.Verb) trace.Happening {
	return trace.Action{Process: process, Verb: verb}
}

// keysExpired returns the happening that the last of a client's keys on the nodes expires.
func keysExpired(client string) trace.Happening { return trace.KeysExpired{Client: client} }

// keySetOn returns the happening that a client sets its key on a node.
func keySetOn(client, node string) trace.Happening {
	return trace.HoldsNode{Client: client, Node: node}
}
