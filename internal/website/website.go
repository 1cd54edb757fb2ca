// Package website makes the pages of the static site that are not reports: the start page,
// the documents, the chapters, and the questions. The site is one folder whose links are
// relative, so it can be put anywhere. It asks no other host for anything.
//
// A page keeps its address: documents and chapters have the names of their files, and
// questions and scenarios their own.
package website

import (
	_ "embed"
	"io/fs"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/webpage"
)

// The folders of the site.
const (
	ChaptersFolder   = "learn"
	LibrariesFolder  = "libraries"
	QuestionsFolder  = "questions"
	ScenariosFolder  = "scenarios"
	ComparisonFolder = "compare"
	DocumentsFolder  = "docs"
	PlaygroundFolder = "play"
)

// Documents are the Markdown files of the project's folder docs, and Convert converts such a
// file. Both are nil in a program without package command/documents, which cannot make a site.
var (
	Documents fs.FS
	Convert   func(source []byte, resolve func(link string) string) (Document, error)
)

// A Document is a Markdown file as HTML. Its title is its first heading, and Summary its first
// paragraph as plain text. Body is HTML.
type Document struct {
	Title, Summary string
	Body           string
}

// A Page is a file of the site.
type Page struct {
	// Name is the path of the file in the site, with slashes.
	Name string
	Data []byte
}

// The style of all pages of the site, and the scripts of some of them.
var (
	//go:embed site.css
	style string
	//go:embed progress.js
	progressScript string
	//go:embed question.js
	questionScript string
)

// A Site is what the pages know of the site that they belong to.
type Site struct {
	// Scenarios are the names of the scenarios that have a page, and HasPlayground says whether
	// the playground is part of the site.
	Scenarios     map[string]bool
	HasPlayground bool
}

// A part is a part of the site, with the address of its first page.
type part struct{ To, Title, Summary string }

// parts lists the parts of the site, in the order in which readers should see them.
func (s Site) parts() []part {
	all := []part{
		{ChaptersFolder + "/index.html", "Learn", "Twelve chapters, from why a lock needs an expiry to what you should use. Each is built on runs."},
		{QuestionsFolder + "/index.html", "Questions", "Give a forecast, say how sure you are, and see the run. For interviews, classes and the twelve questions of the debate."},
		{PlaygroundFolder + "/index.html", "Play", "Change the pause, the TTL, the lock and the fencing, and watch the run and the verdict change. It runs in your browser."},
		{ScenariosFolder + "/index.html", "Scenarios", "Every story on the lock that it is about: the picture, the timeline, and which properties broke without fencing and with it."},
		{ComparisonFolder + "/index.html", "Compare", "Which lock survives what, and what it costs: the same stories on all locks."},
		{DocumentsFolder + "/index.html", "Documentation", "The command, the files, the properties, and how to test your own lock."},
	}
	if s.HasPlayground {
		return all
	}
	return append(all[:2:2], all[3:]...)
}

// Links returns the links from a page to the parts of the site. up leads from the page's
// folder to the start page's, as in "../".
func (s Site) Links(up string) []webpage.Link {
	links := []webpage.Link{{To: up + "index.html", Text: "Start"}}
	for _, p := range s.parts() {
		links = append(links, webpage.Link{To: up + p.To, Text: p.Title})
	}
	return links
}

// NavPlace is the place in the page of the playground at which the links to the parts of a site
// belong, if the playground is part of one.
const NavPlace = "<!-- site -->"

// Nav returns the links from a page to the parts of the site in HTML. up is as in Links.
func (s Site) Nav(up string) string { return webpage.Render(webpage.Nav(s.Links(up))) }

// page returns the page with a name in a folder of the site.
func (s Site) page(folder, name, title string, body g.Node, scripts ...string) Page {
	p := webpage.New(title, body, style)
	p.Links = s.Links("../")
	p.Script = strings.Join(scripts, "")
	return Page{folder + "/" + name + ".html", p.HTML()}
}

// Start returns the start page.
func (s Site) Start() Page {
	body := g.Group{
		h.H1(g.Text("What breaks a distributed lock?")),
		h.P(g.Text("A client is paused, its lease expires, another client is granted the lock, and then the first one writes. In 2016 Martin\n" +
			"Kleppmann and Salvatore Sanfilippo (antirez) argued about such stories. Here they run: real lock clients, in virtual time,\n" +
			"against simulated servers, with each fault exactly where the story says. Every verdict is computed from a run.")),
		h.Ul(h.Class("parts"), g.Map(s.parts(), func(p part) g.Node {
			return h.Li(h.H2(webpage.A(p.To, p.Title)), h.P(g.Text(p.Summary)))
		})),
		h.P(h.Class("soft"), g.Text("The pages work without a network. They store your progress only in this browser.")),
	}
	return Page{"index.html", webpage.New("locksim: distributed locks, and what breaks them", body, style).HTML()}
}

// neighbours links to the pages before and after the page with an index.
func neighbours(label string, pages []webpage.Link, index int) g.Node {
	before := h.Span() // which keeps the link to the page after on the right
	var after g.Node
	if index > 0 {
		before = webpage.A(pages[index-1].To, "← "+pages[index-1].Text)
	}
	if index+1 < len(pages) {
		after = webpage.A(pages[index+1].To, pages[index+1].Text+" →")
	}
	return h.Nav(h.Class("neighbours"), h.Aria("label", label), before, after)
}

// progress shows how far the reader has come. The script progress.js fills it.
func progress() g.Node {
	return h.Section(h.Class("progress screen"), h.ID("progress"), g.Attr("hidden"), h.Aria("labelledby", "progress-title"),
		h.H2(h.ID("progress-title"), g.Text("Your progress")),
		h.P(h.ID("count")),
		h.P(
			button("export", "Save to a file"), g.Text(" "), button("import", "Load from a file"), g.Text(" "), button("forget", "Forget"), g.Text("\n"),
			h.Input(h.Type("file"), h.ID("file"), h.Accept("application/json,.json"), g.Attr("hidden"), h.Aria("label", "A file with your progress")),
		),
		h.P(h.ID("said"), h.Role("status")),
	)
}

// progressOf shows whether the reader has read a chapter or answered a question.
func progressOf(name string) g.Node { return h.Span(h.Class("good"), h.Data("progress", name)) }

// button returns a button for a script.
func button(id, text string, more ...g.Node) g.Node {
	return h.Button(h.Type("button"), h.ID(id), g.Group(more), g.Text(text))
}
