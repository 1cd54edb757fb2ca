package libraries_test

import (
	"github.com/locksim/locksim/internal/locksuite"
	_ "github.com/locksim/locksim/internal/simtest"
	_ "github.com/locksim/locksim/libraries"
)

// The words of the suite.
type (
	cluster = locksuite.Cluster
	setting = locksuite.Setting
)

const (
	key = locksuite.Key
	ttl = locksuite.TTL
)

var (
	inBubble = locksuite.InBubble
	lasting  = locksuite.Lasting
	acquire  = locksuite.Acquire
	fail     = locksuite.Fail
	release  = locksuite.Release
	extend   = locksuite.Extend
	left     = locksuite.Left
	equal    = locksuite.Equal
	contains = locksuite.Contains
	world    = locksuite.World
	play     = locksuite.Play
	strike   = locksuite.Strike
	step     = locksuite.Step
	longWork = locksuite.LongWork
	point    = locksuite.Point
)
