// Package website makes the pages of the static site that are not reports: the start page,
// the documents, the chapters, and the questions. The site is one folder whose links are
// relative, so it can be put anywhere. It asks no other host for anything.
//
// A page keeps its address: documents and chapters have the names of their files, and
// questions and scenarios their own.
package website

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"sync"

	g "maragu.dev/gomponents"

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

//go:embed html
var files embed.FS

var templates = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "html/*.html")) })

// fill returns the result of a template.
func fill(name string, data any) template.HTML {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("website: %s: %v", name, err)) // a strings.Builder never fails, and the templates are tested
	}
	return template.HTML(b.String())
}

// asset returns the contents of a file in the folder html.
func asset(name string) string {
	data, err := files.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

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

// page returns a page of the site. up is as in Links.
func (s Site) page(up, title string, body template.HTML) webpage.Page {
	p := webpage.New(title, g.Raw(string(body)), asset("site.css"))
	p.Links = s.Links(up)
	return p
}

// Start returns the start page.
func (s Site) Start() Page {
	page := s.page("", "locksim: distributed locks, and what breaks them", fill("start.html", s.parts()))
	page.Links = nil
	return Page{"index.html", page.HTML()}
}
