package locks_test

import (
	"github.com/locksim/locksim/internal/testkit/roof"
)

// These are short names for types of the shared test suite.
type (
	cluster = roof.Cluster
	node    = roof.Node
	setting = roof.Setting
)

const (
	key = roof.Key
	ttl = roof.TTL
)

var (
	inBubble    = roof.InBubble
	takes       = roof.TakesKey
	without     = roof.WithoutFeatures
	asking      = roof.WithAskOrder
	fallingBack = roof.WithFallback
	lasting     = roof.WithTTL
	by          = roof.WithClock
	acquire     = roof.Acquire
	fail        = roof.MustNotAcquire
	release     = roof.Release
	extend      = roof.Extend
	expires     = roof.Expires
	left        = roof.TimeLeft
	equal       = roof.EqualNodes
	contains    = roof.Contains
	world       = roof.World
	play        = roof.RunWithoutDoubts
	strike      = roof.TimedFault
	step        = roof.FirstStepEnd
	longWork    = roof.LongWork
)
