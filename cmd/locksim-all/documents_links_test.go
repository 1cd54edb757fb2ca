package main

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// maxLines is the greatest number of lines of README.md, which everybody reads. Texts for
// only some readers belong in docs/.
const maxLines = 250

func TestReadmeIsAFrontPage(t *testing.T) {
	readme := read(t, "README.md")[0]
	if lines := strings.Count(readme.text, "\n"); lines > maxLines {
		t.Errorf("README.md has %d lines, which is more than %d; what only some readers want belongs in docs/", lines, maxLines)
	}
	links := linksOf(readme.text)
	for _, d := range read(t, "docs/*.md") {
		if !slices.Contains(links, d.path) {
			t.Errorf("README.md has no link to %s", d.path)
		}
	}
}

// sourceFile matches the name of a source file in a document: `sim/world.go`.
var sourceFile = regexp.MustCompile("`([a-z]+(?:/[a-z_]+)*/[a-z_]+\\.go)`")

// Each source file that a document names exists.
func TestDocumentsNameFilesThatExist(t *testing.T) {
	found := 0
	for _, d := range read(t, "README.md", "CONTRIBUTING.md", "docs/*.md", "docs/learn/*.md", "docs/libraries/*.md", "*/README.md") {
		for _, m := range sourceFile.FindAllStringSubmatch(d.text, -1) {
			found++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s names the source file %s, which does not exist", d.path, m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("the documents name only %d source files, want at least 20", found)
	}
}

// The target of each link between documents exists, both the file and the heading.
func TestDocumentsHaveNoBrokenLinks(t *testing.T) {
	all := read(t, "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/learn/*.md", "docs/libraries/*.md", "spread/README.md", "trackrecord/README.md")
	found := 0
	for _, d := range all {
		for _, link := range linksOf(d.text) {
			found++
			if err := follow(d, link); err != nil {
				t.Errorf("%s: the link to %s: %v", d.path, link, err)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d links were found, want at least 100", found)
	}
}

// follow returns an error if the target of a link in a document does not exist. It does not
// check addresses on the web.
func follow(from document, link string) error {
	to, err := url.Parse(link)
	switch {
	case err != nil:
		return err
	case to.Scheme == "https" || to.Scheme == "http":
		return nil
	case to.Scheme != "" || to.Host != "" || strings.HasPrefix(to.Path, "/"):
		return fmt.Errorf("write it as seen from the folder of the document")
	}
	target := from
	if to.Path != "" {
		target.path = path.Join(path.Dir(from.path), to.Path)
		if strings.HasPrefix(target.path, "../") {
			return fmt.Errorf("it leads out of the repository")
		}
		info, err := os.Stat(filepath.Join(root, target.path))
		if err != nil {
			return fmt.Errorf("there is no such file")
		}
		if to.Fragment == "" {
			return nil
		}
		if info.IsDir() || path.Ext(target.path) != ".md" {
			return fmt.Errorf("only documents have headings")
		}
		text, err := os.ReadFile(filepath.Join(root, target.path))
		if err != nil {
			return err
		}
		target.text = string(text)
	}
	if anchors := anchorsOf(target.text); !slices.Contains(anchors, to.Fragment) {
		return fmt.Errorf("%s has no such heading; it has %s", target.path, strings.Join(anchors, ", "))
	}
	return nil
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
	// inlineLink matches [text](target), also for a picture. namedLink matches [name]:
	// target. elementLink matches a link in an HTML element.
	inlineLink  = regexp.MustCompile(`\]\((<[^>\n]*>|[^)\s]*)(?: +"[^"\n]*")?\)`)
	namedLink   = regexp.MustCompile(`(?m)^\[[^]\n]+\]: *(\S+)`)
	elementLink = regexp.MustCompile(`<[a-z]+ [^>]*(?:href|src)="([^"]*)"`)
	heading     = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
)

// linksOf returns the targets of the links in a document, outside of code.
func linksOf(text string) []string {
	text = codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(text, ""), "code")
	var links []string
	for _, link := range []*regexp.Regexp{inlineLink, namedLink, elementLink} {
		for _, part := range link.FindAllStringSubmatch(text, -1) {
			links = append(links, strings.Trim(part[1], "<>"))
		}
	}
	return links
}

// anchorsOf returns the anchors of a document's headings, as GitHub makes them.
func anchorsOf(text string) []string {
	var anchors []string
	times := map[string]int{}
	for _, part := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		anchor := anchorOf(part[1])
		if n := times[anchor]; n > 0 {
			anchors = append(anchors, fmt.Sprintf("%s-%d", anchor, n))
		} else {
			anchors = append(anchors, anchor)
		}
		times[anchor]++
	}
	return anchors
}

// anchorOf returns a heading in small letters, without punctuation, and with a hyphen for
// each space.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

func TestLinksAndAnchors(t *testing.T) {
	text := "# A `fault`, step by step\n\n## Faults\n\n[one](a.md#b) `[no](code)` ![two](<p q.svg>)\n" +
		"## Faults\n\n```sh\n# no heading\n[no](code)\n```\n<img src=\"three.svg\">\n\n[four]: https://example.org\n"
	if got, want := anchorsOf(text), []string{"a-fault-step-by-step", "faults", "faults-1"}; !slices.Equal(got, want) {
		t.Errorf("the anchors are %q, want %q", got, want)
	}
	if got, want := linksOf(text), []string{"a.md#b", "p q.svg", "https://example.org", "three.svg"}; !slices.Equal(got, want) {
		t.Errorf("the links are %q, want %q", got, want)
	}
	from := document{"docs/matrix.md", text}
	for _, link := range []string{"../README.md", "#faults-1", "../docs", "https://example.org/x"} {
		if err := follow(from, link); err != nil {
			t.Errorf("the link %s is refused: %v", link, err)
		}
	}
	for _, link := range []string{"README.md", "#fault", "../go.mod#module", "../../x", "/docs", "../README.md#no-such-heading", "../docs#x"} {
		if follow(from, link) == nil {
			t.Errorf("the link %s is accepted, want an error", link)
		}
	}
}
