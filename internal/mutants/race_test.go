//go:build race

package mutants_test

// With the race detector each world takes ten times as long, and the locks of this package
// need no check for races.
func init() { hasRaceDetector = true }
