package docs

import "embed"

// All has all documents, chapters and pages of libraries. Only the site needs them.
//
//go:embed *.md learn/[0-9][0-9]-*.md libraries/*.md
var All embed.FS
