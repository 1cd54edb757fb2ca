package docs

import "embed"

// Files are the documents and the chapters, in Markdown.
//
//go:embed *.md learn/[0-9][0-9]-*.md
var Files embed.FS
