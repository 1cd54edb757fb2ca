// Package docs has the documents that the program itself reads.
package docs

import _ "embed"

// Glossary is the text of glossary.md, which gives one meaning for each word.
//
//go:embed glossary.md
var Glossary string
