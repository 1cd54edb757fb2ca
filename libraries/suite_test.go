package libraries_test

import (
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/internal/testkit/suites"
	_ "github.com/locksim/locksim/libraries"
)

// Short names for types of package roof.
type (
	cluster = suites.Cluster
	setting = suites.Setting
)

const (
	key = suites.Key
	ttl = suites.TTL
)

var (
	inBubble = suites.InBubble
	lasting  = suites.WithTTL
	acquire  = suites.Acquire
	fail     = suites.MustNotAcquire
	release  = suites.Release
	extend   = suites.Extend
	left     = suites.TimeLeft
	equal    = suites.EqualNodes
	contains = suites.Contains
	world    = suites.World
	play     = suites.RunWithoutDoubts
	strike   = suites.TimedFault
	step     = suites.FirstStepEnd
	longWork = suites.LongWork
	point    = simtest.Point
)
