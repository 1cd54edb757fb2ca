package docs

import "embed"

// All has all documents and chapters. Only the site needs them.
//
//go:embed *.md learn/[0-9][0-9]-*.md
var All embed.FS
