package reports

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/diagram"
)

// diagramKey returns the explanation of the diagrams.
func diagramKey() g.Node {
	item := func(text string, signs ...g.Node) g.Node { return h.Li(g.Text(text), g.Group(signs)) }
	signs := g.Map(diagram.Signs(), func(s diagram.Sign) g.Node {
		return g.Group{g.Text(" "), h.Span(h.Class("sign"), s.SVG(), g.Text(" "+s.Text))}
	})
	return h.Details(h.Class("key"), onLines(h.Summary(g.Text("How to read the diagram")), h.Ul(onLines(
		item("Each process has a lane, except nodes that keep no lock and to which nothing happens. Time runs from left to right. It is not to scale: moments are drawn apart however close they are, and long idle times are shortened, with their length written above the gap."),
		item("A tall bar on a client's lane is its critical section. The low bar below it is its lease: how long the client holds the lock according to the lock itself. A bar on a node's lane is a key on that node. A section that outlives its lease is hatched."),
		item("On a striped band the process is paused, on a crossed one it is down, on a dotted one it is cut off. Where two critical sections overlap, the space between their lanes is hatched."),
		item("A thin bar on a client's line is a call that asks for the lock. Arrows are messages; an answer is dashed, and one that is lost ends in a cross."),
		item("On the storage's lane, R is a read and W a write, with its fencing token; below it is the resulting version. An applied write is filled, with round ends. A refused request is empty, with corners, crossed out and labelled.", signs),
		item("A red line leads from a flag down to the moment at which a property is violated. The line goes around the requests on the storage's lane, and ends above the request that violates the property."),
		item("Keys: → and ← move from step to step, Home and End to the first and the last, Shift with → or ← from message to message; Space plays; F switches between the runs. The box “keys” below turns the keys off."),
	))))
}

// player returns the buttons with which a reader steps through the diagram. The script shows them.
func player() g.Node {
	button := func(does, sign string, attribute g.Node) g.Node {
		return h.Button(h.Type("button"), h.Data("do", does), attribute, g.Text(sign))
	}
	choice := func(fencing, label string) g.Node {
		return h.Label(h.Input(h.Type("radio"), h.Name("fencing"), h.Value(fencing)), g.Text(" "+label))
	}
	return h.Div(h.Class("player"), h.Role("region"), h.Aria("label", "Player"), g.Attr("hidden"), onLines(
		h.Div(h.Class("now"), h.Aria("live", "polite")),
		h.Div(h.Class("buttons"), onLines(
			g.Group{
				button("first", "|◀", h.Aria("label", "first step")),
				button("back", "◀", h.Aria("label", "step back")),
				button("play", "▶ play", h.Aria("pressed", "false")),
				button("next", "▶", h.Aria("label", "step forward")),
				button("last", "▶|", h.Aria("label", "last step")),
				g.Text("\n"),
			},
			h.Label(h.Class("keyboard"), h.Input(h.Type("checkbox"), h.Name("keys"), h.Checked()), g.Text(" keys")),
			h.Span(h.Class("count soft")),
			h.Span(h.Class("detail soft")),
			h.FieldSet(
				h.Legend(h.Class("soft"), g.Text("show")),
				choice("off", "without fencing"), choice("on", "with fencing"), choice("both", "both"),
			),
		)),
	))
}
