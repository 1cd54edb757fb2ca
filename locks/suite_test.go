package locks_test

import (
	"github.com/locksim/locksim/internal/testkit/roof"
)

// Short names for the suite's types.
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
	takes       = roof.Takes
	without     = roof.Without
	asking      = roof.Asking
	fallingBack = roof.FallingBack
	lasting     = roof.Lasting
	by          = roof.By
	acquire     = roof.Acquire
	fail        = roof.Fail
	release     = roof.Release
	extend      = roof.Extend
	expires     = roof.Expires
	left        = roof.Left
	equal       = roof.Equal
	contains    = roof.Contains
	world       = roof.World
	play        = roof.Play
	strike      = roof.Strike
	step        = roof.Step
	longWork    = roof.LongWork
)
