package libraries_test

import (
	"github.com/locksim/locksim/internal/testkit/floor"
	"github.com/locksim/locksim/internal/testkit/roof"
	_ "github.com/locksim/locksim/libraries"
)

// Short names for package roof.
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
	lasting  = roof.Lasting
	acquire  = roof.Acquire
	fail     = roof.Fail
	release  = roof.Release
	extend   = roof.Extend
	left     = roof.Left
	equal    = roof.Equal
	contains = roof.Contains
	world    = roof.World
	play     = roof.Play
	strike   = roof.Strike
	step     = roof.Step
	longWork = roof.LongWork
	point    = floor.Point
)
