package explore

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// mostSentences is how long a story is at most.
const mostSentences = 5

// tell is the story in at most five sentences; end, if not empty, is the last of them.
func (t *tale) tell(end string) string {
	most := mostSentences
	if end != "" {
		most--
	}
	sentences := t.sentences()
	for len(sentences) > most {
		at := 0
		for i := range len(sentences) - 1 {
			if joint(sentences, i) < joint(sentences, at) {
				at = i
			}
		}
		sentences[at].text += "; " + sentences[at+1].text
		sentences[at].fault = true
		sentences = slices.Delete(sentences, at+1, at+2)
	}
	if end != "" {
		sentences = append(sentences, sentence{text: end})
	}
	var story []string
	for _, s := range sentences {
		story = append(story, t.begin(s.text)+".")
	}
	return strings.Join(story, " ")
}

// A sentence of a story, without its capital letter and its full stop.
type sentence struct {
	text  string
	fault bool // it tells of one, or is long enough as it is
	back  bool // it comes back to somebody
}

// joint is how bad it would be to join a sentence with the next.
func joint(sentences []sentence, i int) int {
	n := len(sentences[i].text) + len(sentences[i+1].text)
	if sentences[i].fault || sentences[i+1].fault {
		n += 1000
	}
	return n
}

// sentences are the clauses, put together: what one subject does in a row goes into
// one sentence, and so does what only leads to something or follows from it.
func (t *tale) sentences() []sentence {
	var all []sentence
	var told []story.Subject // all so far
	for i := 0; i < len(t.clauses); {
		first := t.clauses[i]
		does := []string{first.does}
		for i++; i < len(t.clauses) && goesOn(first, t.clauses[i]); i++ {
			does = append(does, t.clauses[i].does)
		}
		n := len(told)
		text := t.subject(first, told) + " " + series(does)
		switch {
		case first.when == "then":
			text = "then " + text
		case first.when != "":
			text = first.when + ", " + text
		}
		owner := first.subject
		if owner.Process != "" {
			owner.Thing = ""
		}
		back := n > 0 && first.when == "" && told[n-1] != first.subject && slices.Contains(told, owner)
		told = append(told, first.subject)
		if n > 0 && (first.follows || t.clauses[i-len(does)-1].leads) {
			all[len(all)-1].text += ", and " + text
			continue
		}
		all = append(all, sentence{text: text, fault: first.fault != "", back: back})
	}
	if n := len(all); n > 0 && all[n-1].back {
		all[n-1].text = "then " + all[n-1].text
	}
	return all
}

// goesOn says whether a clause goes into one sentence with what the same subject did
// before. What comes of a fault does, and what follows one at the start.
func goesOn(first, next clause) bool {
	if next.subject != first.subject || next.when != "" {
		return false
	}
	return first.fault == "" || first.when == "" || next.returns || first.fault == trace.StopsProcess && first.common
}

// subject is the subject of a clause: "it" or "its keys" if the sentence before was
// about the same.
func (t *tale) subject(c clause, told []story.Subject) string {
	if len(told) == 0 {
		return c.subject.String()
	}
	switch before := told[len(told)-1]; {
	case before == c.subject:
		return "it"
	case before.Process != "" && before == story.Subject{Process: c.subject.Process}:
		return "its " + c.subject.Thing
	}
	return c.subject.String()
}

// series is a list of clauses, which may be lists themselves.
func series(does []string) string {
	n := len(does)
	long := func(s string) bool {
		return strings.Contains(s, " and ") || strings.Contains(s, " although ") || strings.Contains(s, ",")
	}
	if n > 1 && slices.ContainsFunc(does[:n-1], long) {
		return strings.Join(does[:n-1], ", ") + ", and " + does[n-1]
	}
	return story.List(does)
}

// begin begins a sentence. A name stays as it is.
func (t *tale) begin(sentence string) string {
	first, _, _ := strings.Cut(sentence, " ")
	name := func(p trace.ProcessInfo) bool {
		return p.Role != trace.RoleStorage && strings.TrimRight(strings.TrimSuffix(first, "'s"), ",;:.") == p.Name
	}
	if slices.ContainsFunc(t.history.Trace.Processes, name) {
		return sentence
	}
	return strings.ToUpper(sentence[:1]) + sentence[1:]
}
