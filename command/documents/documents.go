// Package documents lets the command site turn the project's documents into pages. It contains
// the documents and a converter of Markdown, which most programs do not need: a program that
// imports this package can make a site.
package documents

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"github.com/locksim/locksim/docs"
	"github.com/locksim/locksim/internal/website"
)

func init() { website.Documents, website.Convert = docs.All, convert }

// converter converts the Markdown of GitHub. The documents may contain HTML, because they are
// the project's own.
var converter = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe()),
)

// convert converts a document. resolve returns the address of a link in the site.
func convert(source []byte, resolve func(link string) string) (website.Document, error) {
	var d website.Document
	root := converter.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 && d.Title == "" {
				d.Title = plainText(n, source)
			}
		case *ast.Paragraph:
			if d.Summary == "" && n.Parent() == root {
				d.Summary = plainText(n, source)
			}
		case *ast.Link:
			n.Destination = []byte(resolve(string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return d, err
	}
	var b bytes.Buffer
	err = converter.Renderer().Render(&b, source, root)
	d.Body = reachable.Replace(b.String())
	return d, err
}

// reachable lets readers scroll wide code and tables with the keyboard.
var reachable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>")

// plainText returns the text of a heading or paragraph without its marks.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if leaf, isText := n.(*ast.Text); isText && entering {
			b.Write(leaf.Value(source))
			if leaf.SoftLineBreak() || leaf.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// anchors counts how often the headings of a document have each anchor.
type anchors map[string]int

// Generate implements [parser.IDs]. It returns the anchor that GitHub gives to a heading: in
// small letters, without punctuation, with a hyphen for each space, and with a number if an
// earlier heading has the same.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	anchor := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(heading)))
	a[anchor]++
	if n := a[anchor]; n > 1 {
		anchor = fmt.Sprintf("%s-%d", anchor, n-1)
	}
	return []byte(anchor)
}

// Put implements [parser.IDs]. No document gives a heading an anchor itself.
func (a anchors) Put([]byte) {}
