package libraries_test

import (
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/internal/testkit/suites"
	_ "github.com/locksim/locksim/libraries"
)

// Short names of package suites, which documents them.
type (
	cluster = suites.Cluster
	setting = suites.Setting
)

const (
	key = suites.Key
	ttl = suites.TTL
)

var (
	inBubble         = suites.InBubble
	lasting          = suites.WithTTL
	acquire          = suites.Acquire
	mustNotAcquire   = suites.MustNotAcquire
	release          = suites.Release
	extend           = suites.Extend
	timeLeft         = suites.TimeLeft
	equalNodes       = suites.EqualNodes
	contains         = suites.Contains
	world            = suites.World
	runWithoutDoubts = suites.RunWithoutDoubts
	timedFault       = suites.TimedFault
	firstStepEnd     = suites.FirstStepEnd
	longWork         = suites.LongWork
	point            = simtest.Point
)
