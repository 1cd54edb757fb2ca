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
	inBubble    = suites.InBubble
	takes       = suites.TakesKey
	without     = suites.WithoutFeatures
	asking      = suites.WithAskOrder
	fallingBack = suites.WithFallback
	lasting     = suites.WithTTL
	by          = suites.WithClock
	acquire     = suites.Acquire
	fail        = suites.MustNotAcquire
	release     = suites.Release
	extend      = suites.Extend
	expires     = suites.Expires
	left        = suites.TimeLeft
	equal       = suites.EqualNodes
	contains    = suites.Contains
	world       = suites.World
	play        = suites.RunWithoutDoubts
	strike      = suites.TimedFault
	step        = suites.FirstStepEnd
	longWork    = suites.LongWork
)
