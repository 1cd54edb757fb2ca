// Package trackrecord shows that locksim finds bugs that lock libraries really had. Each
// folder with a story.yaml is about one bug: the story is a scenario that shows the bug,
// and versions.json lists versions of the unmodified library with the bug and without it.
// The README has a table of all bugs.
//
// The tests in the folder libraries run the story with a library; they use package proof. The
// program in the folder run builds these tests with each version, and runs them.
package trackrecord

import "embed"

// Bugs contains the folders of all bugs, each with its story.yaml and its versions.json.
// They are embedded because a compiled test does not run in this folder.
//
//go:embed */story.yaml */versions.json
var Bugs embed.FS
