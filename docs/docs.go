// Package docs has the documents that the program itself reads.
package docs

import "embed"

// Files has glossary.md, which gives one meaning for each word, and the chapters of locksim learn,
// as learn/01-NAME.md and so on.
//
//go:embed glossary.md learn/[0-9][0-9]-*.md
var Files embed.FS
