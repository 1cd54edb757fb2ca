// Package storyboard draws what matters in the runs of one world as one slide: a few lanes, a few
// critical sections, and at most eight marked moments. The space-time diagram of package diagram
// shows everything; a storyboard shows only what the first finding, which is the worst violation,
// is about.
//
// A storyboard is made in three steps. cast.go chooses the clients, sections and objects.
// moments.go and the files beside it list the moments at which something happens to them,
// and choice.go keeps the most important ones. layout.go and the files with its methods give
// everything a position; the result is a [Board], a list of shapes and texts.
//
// The common part of two runs of a world is drawn once. From the first difference on, each run
// has a row of its own below the lanes.
package storyboard

import (
	"github.com/locksim/locksim/internal/story"
)

// The most that a storyboard shows.
const (
	maxClients  = 3
	maxSections = 4
	maxMoments  = 8
	// maxEndMoments is the largest number of these moments in one run's ending, the part after
	// the runs have begun to differ.
	maxEndMoments = 2
	// minMoments is the least number of moments, of those that all runs share, that are shown even
	// if there is not enough room for their texts.
	minMoments = 3
)

// MaxSteps is the most builds that a storyboard has: see [Board.Build].
const MaxSteps = maxMoments + maxEndMoments

// The styles in which the picture of a run is drawn: everything, or what matters.
const (
	FullStyle       = "full"
	StoryboardStyle = "storyboard"
)

// Draw draws the storyboard of runs of one world, which differ in the storage's fencing.
// If there is no room for all texts, it shows fewer moments.
func Draw(title string, runs []story.Run) *Board {
	s := newPlan(runs)
	for {
		l := newLayout(title, s)
		board := l.draw()
		if !l.isClipped || len(s.common) <= minMoments {
			return board
		}
		s.dropLightest()
	}
}

// A plan is what a storyboard shows, without positions.
type plan struct {
	runs []story.Run
	cast *cast
	// common are the moments that all runs share, in order.
	common []*moment
	// endings are the runs' own moments. Runs without any difference share one ending.
	endings []ending
	// dropped counts the moments of the cast that are not shown.
	dropped int
}

// An ending is how one run, or several equal runs, ended.
type ending struct {
	runs    []story.Run
	moments []*moment
}

// steps returns how many steps of the storyboard the ending has.
func (e ending) steps() int { return max(1, len(e.moments)) }

// newPlan chooses what the storyboard of some runs shows.
func newPlan(runs []story.Run) *plan {
	s := &plan{runs: runs, cast: newCast(runs)}
	lists := make([][]*moment, len(runs))
	for i, run := range runs {
		lists[i] = readMoments(run, s.cast)
	}
	s.choose(lists)
	return s
}
