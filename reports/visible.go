package reports

import "github.com/locksim/locksim/story"

// Visible is [story.Visible], for who prints texts elsewhere than in a report.
func Visible(s string) string { return visible(s) }

func visible(s string) string { return story.Visible(s) }
