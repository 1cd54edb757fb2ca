package website

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/quiz"
	"github.com/locksim/locksim/internal/webpage"
)

// QuestionPages runs all questions, and returns a page for each, and a page with the list of
// them. next is called before each.
func (s Site) QuestionPages(next func(name string)) ([]Page, error) {
	topics := quiz.Topics()
	var links []webpage.Link
	for _, t := range topics {
		for _, item := range t.Items {
			links = append(links, webpage.Link{To: item.Name + ".html", Text: item.Title})
		}
	}
	var pages []Page
	for _, t := range topics {
		for _, item := range t.Items {
			next(item.Name)
			card, err := quiz.OfItem(item, t).Card(true)
			if err != nil {
				return nil, err
			}
			body := g.Group{
				h.P(h.Class("soft"), g.Text(t.Title)), question(card), forecast(card), s.answer(card),
				neighbours("Questions", links, len(pages)),
			}
			pages = append(pages, s.page(QuestionsFolder, item.Name, item.Title, body, progressScript, questionScript))
		}
	}
	list := g.Group{
		h.H1(g.Text("Questions")),
		h.P(
			g.Text("Give a forecast, and say how sure you are. Then see the run, why it came out so, and what an interviewer wants to hear.\nIn a terminal, "),
			h.Code(g.Text("locksim ask")), g.Text(" asks the same questions."),
		),
		g.Map(topics, listTopic), progress(),
	}
	return append(pages, s.page(QuestionsFolder, "index", "Questions", list, progressScript)), nil
}

// listTopic lists the questions of a topic.
func listTopic(t quiz.Topic) g.Node {
	return g.Group{h.H2(g.Text(t.Title)), h.Ul(h.Class("entries"), g.Map(t.Items, func(item *quiz.Item) g.Node {
		return h.Li(
			webpage.A(item.Name+".html", item.Title),
			g.If(item.IsMyth, g.Group{g.Text(" "), h.Span(h.Class("soft"), g.Text("(people say so)"))}),
			g.Text(" "), progressOf("questions/"+item.Name),
		)
	}))}
}

// question is what readers see before they give a forecast.
func question(c *quiz.Card) g.Node {
	remark := ""
	switch {
	case c.IsMyth:
		remark = "People say so. Is it right? The question below asks for a forecast."
	case c.IsAsked:
		remark = "An interviewer asks so. The question below asks for a forecast."
	}
	return g.Group{
		h.H1(g.Text(c.Title)),
		g.If(remark != "", h.P(h.Em(g.Text(remark)))),
		h.P(g.Text(c.Opening)),
		g.If(len(c.Setting) > 0, h.Details(g.Attr("open"), h.Summary(g.Text("The setting")),
			h.Div(h.Class("scroll"), h.Table(h.TBody(g.Map(c.Setting, func(row [2]string) g.Node {
				return h.Tr(h.Th(h.Scope("row"), g.Text(row[0])), h.Td(g.Text(row[1])))
			})))))),
	}
}

// forecast is the form in which readers give a forecast. The script of the page grades it.
func forecast(c *quiz.Card) g.Node {
	form := g.Group{h.ID("forecast"), h.Data("question", c.Name)}
	for i, q := range c.Questions {
		form = append(form, fields(strconv.Itoa(i), q))
	}
	return h.Form(form, h.P(h.Class("screen"), h.Button(h.Type("submit"), h.Class("first"), g.Attr("hidden"), g.Text("Show the run"))))
}

// fields are the fields of the form for the question with a number, which is part of their names.
func fields(number string, q *quiz.Question) g.Node {
	kind := "radio"
	if q.IsSet {
		kind = "checkbox"
	}
	return h.FieldSet(h.Data("set", strconv.FormatBool(q.IsSet)),
		h.Legend(g.Text(q.Text)),
		g.If(q.Terms != "", h.P(h.Class("soft"), g.Text(q.Terms))),
		g.If(q.IsSet, h.P(h.Class("soft"), g.Text("Choose none, one or several."))),
		g.Map(q.Offered(), func(c quiz.Choice) g.Node {
			return h.Label(h.Input(h.Type(kind), h.Name("q"+number), h.Data("grade", grade(c)), h.Data("remark", c.Remark)), g.Text(" "+c.Text))
		}),
		h.P(h.Class("sure"), g.Text("How sure are you?\n"),
			sureness(number, "1", "a guess"), sureness(number, "2", "fairly sure", h.Checked()), sureness(number, "3", "certain")),
		h.P(h.Class("grade"), h.Role("status")),
	)
}

// grade is how right an answer is, in the words of the script.
func grade(c quiz.Choice) string {
	switch {
	case c.IsRight:
		return "right"
	case c.IsClose:
		return "close"
	}
	return "wrong"
}

// sureness is a button with which readers say how sure they are.
func sureness(number, value, text string, more ...g.Node) g.Node {
	return h.Label(h.Input(h.Type("radio"), h.Name("s"+number), h.Value(value), g.Group(more)), g.Text(" "+text))
}

// answer is what the run shows. It is folded until the reader has given a forecast.
func (s Site) answer(c *quiz.Card) g.Node {
	return h.Details(h.ID("answer"), h.Summary(g.Text("What the run shows")),
		h.Dl(h.Class("facts"), g.Map(c.Results, func(row [2]string) g.Node {
			return g.Group{h.Dt(g.Text(row[0])), h.Dd(g.Text(row[1]))}
		})),
		g.Map(c.Questions, func(q *quiz.Question) g.Node {
			return g.Group{
				h.H2(g.Text(q.Text)), h.P(h.Strong(g.Text(q.Answer()))),
				g.If(q.Reason != "", h.P(g.Text(q.Reason))),
			}
		}),
		g.Map(c.Lesson, func(l [2]string) g.Node { return g.Group{h.H3(g.Text(l[0])), h.P(g.Text(l[1]))} }),
		g.Iff(c.Trial != nil, func() g.Node {
			return g.Group{h.H3(g.Text("Try")), h.P(g.Text(c.Trial.Asks+" "), h.Code(g.Text(c.Trial.Command)), g.Textf(" shows: %s.", c.Trial.Shows))}
		}),
		h.H3(g.Text("Replay")), g.Map(c.Replays, func(command string) g.Node { return h.P(h.Code(g.Text(command))) }),
		s.runsOf(c),
	)
}

// runsOf links to the pages of the scenarios that answer the question, and to the same scenarios
// in the playground.
func (s Site) runsOf(c *quiz.Card) g.Node {
	var stories, plays g.Group
	for _, name := range c.Scenarios {
		if s.Scenarios[name] {
			stories = append(stories, g.Text(" "), webpage.A("../"+ScenariosFolder+"/"+name+".html", name))
		}
		if s.HasPlayground {
			plays = append(plays, g.Text(" "), webpage.A("../"+PlaygroundFolder+"/index.html#scenario="+name, name+" in the playground"))
		}
	}
	return g.Group{
		g.If(len(stories) > 0, h.P(g.Text("Step through the run:"), stories)),
		g.If(len(plays) > 0, h.P(g.Text("Change it and see:"), plays)),
	}
}
