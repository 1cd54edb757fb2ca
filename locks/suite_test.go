package locks_test

import (
	"github.com/locksim/locksim/internal/locksuite"
)

// The words of the suite.
type (
	cluster = locksuite.Cluster
	node    = locksuite.Node
	setting = locksuite.Setting
)

const (
	key = locksuite.Key
	ttl = locksuite.TTL
)

var (
	inBubble    = locksuite.InBubble
	takes       = locksuite.Takes
	without     = locksuite.Without
	asking      = locksuite.Asking
	fallingBack = locksuite.FallingBack
	lasting     = locksuite.Lasting
	by          = locksuite.By
	acquire     = locksuite.Acquire
	fail        = locksuite.Fail
	release     = locksuite.Release
	extend      = locksuite.Extend
	expires     = locksuite.Expires
	left        = locksuite.Left
	equal       = locksuite.Equal
	contains    = locksuite.Contains
	world       = locksuite.World
	play        = locksuite.Play
	strike      = locksuite.Strike
	step        = locksuite.Step
	longWork    = locksuite.LongWork
)
