package reports

import (
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/story"
)

func init() {
	Runs.Register(Format[Results]{Name: "svg", Title: "slides and papers: the space-time diagram as a picture", Write: writeSVG, Most: 1, Pages: svgPages})
}

// writeSVG draws every run of a result, one below the other. Those of one variant
// share their time axis.
func writeSVG(w io.Writer, results []*scenarios.Result, _ Options) error {
	for _, r := range results {
		if _, err := w.Write(svg(r, stories(r))); err != nil {
			return err
		}
	}
	return nil
}

// svgPages draws each variant of each scenario into a file of its own.
func svgPages(results []*scenarios.Result, _ Options) []Page {
	var pages []Page
	names := pageNames{}
	for _, r := range results {
		for _, runs := range stories(r) {
			words := []string{r.Scenario.Name, runs[0].Variant.Name}
			if len(runs) == 1 {
				words = runWords(r, runs[0])
			}
			pages = append(pages, Page{names.name(words...) + ".svg", svg(r, [][]scenarios.Outcome{runs})})
		}
	}
	return pages
}

// An svgSheet is a picture of several diagrams.
type svgSheet struct {
	Title         string
	Style         template.CSS
	Width, Height int
	Figures       []svgFigure
	KeyY          int
	Key           figureKey
}

type svgFigure struct {
	Y       int
	Heading string
	Figure  template.HTML
}

// svg draws the runs of some variants of a result.
func svg(r *scenarios.Result, variants [][]scenarios.Outcome) []byte {
	const titleHeight, headingHeight = 44, 34
	s := svgSheet{Title: story.Visible(oneLine(r.Scenario.Title)), Style: template.CSS(paperStyle()), Height: titleHeight}
	s.Width = textWidth(s.Title, 18) + 28
	room := roomFor(slices.Concat(variants...))
	for _, v := range variants {
		var diagrams []*diagram
		for _, run := range v {
			diagrams = append(diagrams, newDiagram(run, room))
		}
		_, laid := figures(diagrams)
		for i, run := range v {
			f := laid[i]
			heading := runTitle(run) + ": " + run.Verdict.Verdict
			if left := diagrams[i].leftOutWords(); left != "" {
				heading += ". " + left
			}
			s.Height += headingHeight
			s.Figures = append(s.Figures, svgFigure{s.Height, heading, f.svg()})
			s.Height += f.Height
			s.Width = max(s.Width, f.Width, textWidth(heading, 14)+28)
		}
	}
	s.Key, s.KeyY = newKey(14), s.Height
	s.Height += s.Key.Height
	s.Width = max(s.Width, s.Key.Width)
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + string(fill("svg.html", s)))
}

var (
	firstColours = regexp.MustCompile(`(?s)^[^{]*:root \{(.*?)\}`)
	colour       = regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]+)`)
	useOfColour  = regexp.MustCompile(`var\(--([a-z0-9-]+)\)`)
)

// paperStyle is the style of a picture that stands alone: with the colours of a light
// page written out, because programs that draw slides and papers know no variables.
func paperStyle() string {
	value := map[string]string{}
	for _, file := range []string{"page.css", "diagram-colours.css"} {
		for _, c := range colour.FindAllStringSubmatch(firstColours.FindString(asset(file)), -1) {
			value[c[1]] = c[2]
		}
	}
	style := useOfColour.ReplaceAllStringFunc(asset("diagram.css"), func(use string) string {
		return value[useOfColour.FindStringSubmatch(use)[1]]
	})
	const headings = ".title { font: 700 18px sans-serif; } .heading { font: 600 14px sans-serif; }\n"
	return strings.TrimSpace(style) + "\n" + headings
}
