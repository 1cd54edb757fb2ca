package reports

import (
	"encoding/json"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/snapshot"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/svg"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// diagram returns the space-time diagram of a run.
func (v variantSheet) diagram(run scenarios.RunResult, f diagram.Figure) g.Node {
	return h.Figure(h.Class("run"), h.Data("run", run.Fencing), h.ID(f.ID), onLines(
		h.FigCaption(h.Strong(g.Text(f.Title)), g.If(f.LeftOut != "", g.Group{g.Text(" "), h.Span(h.Class("left-out soft"), g.Text(f.LeftOut))})),
		scrollable("scroller", "Diagram"+v.nameAfter(" of ")+" "+f.Title, f.SVG()),
	))
}

// steps returns the timeline of a run, and the table with the state at one step, which the script
// fills.
func (v variantSheet) steps(run scenarios.RunResult, f diagram.Figure) g.Node {
	columns := g.Map([]string{"who", "does or is", "lease, keys, token"}, func(name string) g.Node { return columnHead(g.Text(name)) })
	var steps g.Group
	last := time.Duration(0)
	for _, e := range f.Steps {
		steps = append(steps, g.Text("\n"), step(run, f, e, e.Wait(last)))
		last = e.End()
	}
	return h.Div(h.Class("told"), h.Data("run", run.Fencing), onLines(
		h.Div(h.Class("state"), g.Attr("hidden"), onLines(
			h.H3(g.Text("Who has what, "+f.Title)),
			h.Table(h.THead(h.Tr(columns)), h.TBody()),
			jsonScript(statesOf(run, f)),
		)),
		h.Div(onLines(
			h.H3(g.Text("What happened, "+f.Title)),
			scrollable("list", "Story"+v.nameAfter(" of ")+" "+f.Title, h.Ol(h.Class("steps"), h.Data("run", run.Fencing), steps)),
		)),
	))
}

// step returns one entry of the timeline. wait describes a long gap before the step; "" if there
// is none. The attributes are for the script: the true time in nanoseconds, the horizontal
// positions in the diagram, and the events that the step covers.
func step(run scenarios.RunResult, f diagram.Figure, e story.Clause, wait string) g.Node {
	to := f.X(e.At)
	from := to
	if ev := run.History.Event(e.First); ev != nil {
		from = min(to, f.X(ev.At))
	}
	separator := " "
	if e.IsAboutPossession { // the text begins with "its": "its lease ends"
		separator = ": "
	}
	return h.Li(h.Class(e.Mood.Class()), h.Data("at", strconv.FormatInt(int64(e.At), 10)), svg.Number("data-from", from), svg.Number("data-x", to),
		svg.Number("data-first", e.First), svg.Number("data-last", e.Last),
		g.If(wait != "", h.Span(h.Class("wait"), g.Text("⋮ "+wait))),
		h.Time(g.Text(story.Moment(e.At, 3))), g.Text(" "),
		h.B(g.Text(e.Subject.String())), g.Text(separator),
		h.Span(h.Class("text"), g.Text(e.Predicate.String())),
		g.Map(e.Marks, func(m story.Mark) g.Node {
			return g.Group{g.Text(" "), h.Span(h.Class("mark "+m.Mood.Class()), g.Text(string(m.Sign)+" "+m.Text.String()))}
		}),
	)
}

// jsonScript returns data for the script of the page.
func jsonScript(data any, attributes ...g.Node) g.Node {
	encoded, err := json.Marshal(data) // it escapes <, > and &
	if err != nil {
		panic(err) // the data consists of texts and numbers
	}
	return h.Script(h.Type("application/json"), g.Group(attributes), g.Raw(string(encoded)))
}

// A stateSheet has the state of each client, lock and object at each step of a run. Names
// are the rows. Changes has, for each step, the rows that differ from those of the step
// before.
type stateSheet struct {
	Names   []string        `json:"names"`
	Changes [][]stateChange `json:"changes"`
}

// A stateChange has the text that a row shows from a step on. The names of its fields are
// short because a page has many.
type stateChange struct {
	Row     int    `json:"r"`
	State   string `json:"s"`
	Holding string `json:"h,omitempty"`
}

// statesOf returns the state of each client, lock and object at each step of a figure.
func statesOf(run scenarios.RunResult, f diagram.Figure) stateSheet {
	var clients []string
	for _, p := range run.History.Trace.Processes {
		if p.Role == trace.RoleClient && f.HasLane(p.Name) {
			clients = append(clients, p.Name)
		}
	}
	camera := snapshot.NewCamera(run.History, clients)
	out := stateSheet{Names: []string{}, Changes: [][]stateChange{}}
	var before []snapshot.Row
	for i, e := range f.Steps {
		rows := camera.At(history.Moment{At: e.At, Seq: e.Last})
		changes := []stateChange{}
		for n, row := range rows {
			if i == 0 {
				out.Names = append(out.Names, row.Who.String())
			}
			if i == 0 || row != before[n] {
				changes = append(changes, stateChange{n, row.State.String(), row.Holding.String()})
			}
		}
		out.Changes = append(out.Changes, changes)
		before = rows
	}
	return out
}
