package docs

import "embed"

// Chapters has the chapters of locksim learn, as files learn/01-NAME.md and so on.
//
//go:embed learn/[0-9][0-9]-*.md
var Chapters embed.FS
