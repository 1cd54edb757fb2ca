package website

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/repository"
	"github.com/locksim/locksim/internal/webpage"
)

// DocumentPages returns a page for each Markdown file, and a page with the list of them for
// each folder. Files of docs/learn are the chapters, in the order of their names.
func (s Site) DocumentPages() ([]Page, error) {
	var pages []Page
	lists := map[string]*documentList{
		".":         {Folder: DocumentsFolder, Title: "Documentation", Opening: "What the program does, how to use it, and what was measured."},
		"libraries": {Folder: LibrariesFolder, Title: "Libraries", Opening: "What the suite finds in locks that others use, one page for each."},
		"learn":     {Folder: ChaptersFolder, Title: "Learn", Opening: "Read the chapters in this order. Before each run, say what you expect."},
	}
	err := fs.WalkDir(Documents, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != ".md" {
			return err
		}
		list := lists[path.Dir(file)]
		if list == nil {
			return fmt.Errorf("website: %s is in a folder that the site does not have", file)
		}
		source, err := fs.ReadFile(Documents, file)
		if err != nil {
			return err
		}
		document, err := Convert(source, func(link string) string { return s.resolve(path.Join("docs", file), link) })
		if err != nil {
			return fmt.Errorf("website: %s: %w", file, err)
		}
		list.Entries = append(list.Entries, documentEntry{document, strings.TrimSuffix(path.Base(file), ".md")})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"learn", "libraries", "."} {
		list := lists[dir]
		for i := range list.Entries {
			pages = append(pages, s.documentPage(list, i))
		}
		pages = append(pages, s.listPage(list))
	}
	return pages, nil
}

// documentPage returns the page of a document in a list.
func (s Site) documentPage(l *documentList, index int) Page {
	d := l.Entries[index]
	if l.Folder != ChaptersFolder {
		return s.page(l.Folder, d.Name, d.Title, h.Article(h.Class("document"), g.Raw(d.Body)))
	}
	var links []webpage.Link
	for _, e := range l.Entries {
		links = append(links, webpage.Link{To: e.Name + ".html", Text: e.Title})
	}
	return s.page(l.Folder, d.Name, d.Title, g.Group{
		h.Article(h.Class("document"), h.Data("chapter", d.Name), g.Raw(foldAnswers(d.Body))),
		h.P(h.Class("screen"), button("done", "Mark as read", g.Attr("hidden")), g.Text(" "), h.Span(h.ID("said"), h.Role("status"))),
		neighbours("Chapters", links, index),
	}, progressScript)
}

// listPage returns the page that lists the documents of a folder. The chapters have an order,
// and the page shows which of them the reader has read.
func (s Site) listPage(l *documentList) Page {
	isOfChapters := l.Folder == ChaptersFolder
	entries := g.Group{h.Class("entries"), g.Map(l.Entries, func(e documentEntry) g.Node {
		return h.Li(
			webpage.A(e.Name+".html", e.Title),
			g.If(isOfChapters, g.Group{g.Text(" "), progressOf("chapters/" + e.Name)}),
			g.If(e.Summary != "", g.Group{h.Br(), h.Span(h.Class("soft"), g.Text(e.Summary))}),
		)
	})}
	body := g.Group{h.H1(g.Text(l.Title)), h.P(g.Text(l.Opening))}
	if isOfChapters {
		body = append(body, h.Ol(entries), progress())
	} else {
		body = append(body, h.Ul(entries))
	}
	return s.page(l.Folder, "index", l.Title, body, progressScript)
}

// foldAnswers folds what follows each question of a chapter, up to the next part, the next question
// or the next code: readers see it after they have said what they expect.
func foldAnswers(body string) string {
	var folded strings.Builder
	for {
		question := questionInChapter().FindStringIndex(body)
		if question == nil {
			return folded.String() + body
		}
		folded.WriteString(body[:question[1]])
		body = body[question[1]:]
		end := len(body)
		if next := afterAnswer().FindStringIndex(body); next != nil {
			end = next[0]
		}
		folded.WriteString("\n<details><summary>Show the answer</summary>" + body[:end] + "</details>\n")
		body = body[end:]
	}
}

// questionInChapter matches a question of a chapter, and afterAnswer what can follow its answer.
var (
	questionInChapter = lazy.Regexp(`(?s)<p><strong>What do you expect\?</strong>.*?</p>`)
	afterAnswer       = lazy.Regexp(`<h2|<p><strong>What do you expect\?</strong>|<!-- file: `)
)

// A documentList is the documents of a folder, with the texts of the page that lists them.
type documentList struct {
	Folder, Title, Opening string
	Entries                []documentEntry
}

// A documentEntry is a document with the name of its page, without the extension.
type documentEntry struct {
	Document
	Name string
}

// resolve returns the address of a link in a document, whose path in the project is file.
func (s Site) resolve(file, link string) string {
	target, anchor, _ := strings.Cut(link, "#")
	if target == "" || strings.Contains(target, ":") {
		return link
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	from := pageOf(file)
	target = path.Join(path.Dir(file), target)
	to := cmp.Or(pageOf(target), s.scenarioPage(target))
	if to == "" {
		return repository.Files + target + anchor // the file has no page in the site
	}
	return relative(path.Dir(from), to) + anchor
}

// pageOf returns the page of a document, whose path in the project is file; "" if it has none.
func pageOf(file string) string {
	name, isMarkdown := strings.CutSuffix(path.Base(file), ".md")
	switch {
	case !isMarkdown:
		return ""
	case path.Dir(file) == "docs":
		return DocumentsFolder + "/" + name + ".html"
	case path.Dir(file) == "docs/libraries":
		return LibrariesFolder + "/" + name + ".html"
	case file == "docs/learn/README.md":
		return ChaptersFolder + "/index.html"
	case path.Dir(file) == "docs/learn":
		return ChaptersFolder + "/" + name + ".html"
	}
	return ""
}

// scenarioPage returns the page of a scenario, whose path in the project is file; "" if it has
// none.
func (s Site) scenarioPage(file string) string {
	name, isYAML := strings.CutSuffix(path.Base(file), ".yaml")
	if path.Dir(file) == "scenarios" && isYAML && s.Scenarios[name] {
		return ScenariosFolder + "/" + name + ".html"
	}
	return ""
}

// relative returns the address of a page, seen from a folder of the site.
func relative(folder, page string) string {
	if name, isHere := strings.CutPrefix(page, folder+"/"); isHere {
		return name
	}
	return "../" + page
}
