// Package trackrecord shows that locksim finds bugs that lock libraries really
// had. Each folder here is one bug: its story as a scenario, and the versions of a
// library, unmodified, that are put through it. The README has the table of them.
//
// What puts a library through a story is a test in the folder libraries, by package
// proof; the program in the folder run runs those tests.
package trackrecord

import "embed"

// Bugs are the folders, each with its story.yaml and its versions.json. A test has them
// inside, wherever it is run.
//
//go:embed */story.yaml */versions.json
var Bugs embed.FS
