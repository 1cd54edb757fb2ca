package locks_test

import (
	"github.com/locksim/locksim/internal/testkit/suites"
)

// These are short names for types of the shared test suite.
type (
	cluster = suites.Cluster
	node    = suites.Node
	setting = suites.Setting
)

const (
	key = suites.Key
	ttl = suites.TTL
)

var (
	inBubble         = suites.InBubble
	takesKey         = suites.TakesKey
	without          = suites.WithoutFeatures
	withAskOrder     = suites.WithAskOrder
	withFallback     = suites.WithFallback
	withTTL          = suites.WithTTL
	withClock        = suites.WithClock
	acquire          = suites.Acquire
	mustNotAcquire   = suites.MustNotAcquire
	release          = suites.Release
	extend           = suites.Extend
	expires          = suites.Expires
	timeLeft         = suites.TimeLeft
	equalNodes       = suites.EqualNodes
	mustContain      = suites.Contains
	world            = suites.World
	runWithoutDoubts = suites.RunWithoutDoubts
	timedFault       = suites.TimedFault
	firstStepEnd     = suites.FirstStepEnd
	longWork         = suites.LongWork
)
