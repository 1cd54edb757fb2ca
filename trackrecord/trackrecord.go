// Package trackrecord shows that locksim finds bugs that lock libraries really had. Each
// folder here is one bug: its story as a scenario, and the versions of an unmodified
// library that are tested with it. The README has the table of all bugs.
//
// The tests in the folder libraries test a library with a story; they use package proof.
// The program in the folder run runs those tests.
package trackrecord

import "embed"

// Bugs contains the folders, each with its story.yaml and its versions.json. They are
// embedded, so that a test can run anywhere.
//
//go:embed */story.yaml */versions.json
var Bugs embed.FS
