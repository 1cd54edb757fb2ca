package libraries_test

import (
	"github.com/locksim/locksim/internal/testkit/floor"
	"github.com/locksim/locksim/internal/testkit/roof"
	_ "github.com/locksim/locksim/libraries"
)

// Short names for types of package roof.
type (
	cluster = roof.Cluster
	setting = roof.Setting
)

const (
	key = roof.Key
	ttl = roof.TTL
)

var (
	inBubble = roof.InBubble
	lasting  = roof.WithTTL
	acquire  = roof.Acquire
	fail     = roof.MustNotAcquire
	release  = roof.Release
	extend   = roof.Extend
	left     = roof.TimeLeft
	equal    = roof.EqualNodes
	contains = roof.Contains
	world    = roof.World
	play     = roof.RunWithoutDoubts
	strike   = roof.TimedFault
	step     = roof.FirstStepEnd
	longWork = roof.LongWork
	point    = floor.Point
)
