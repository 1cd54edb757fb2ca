package story

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// maxSentences is the highest number of sentences in a paragraph.
const maxSentences = 5

// Text returns the paragraph as text.
func (p *Paragraph) Text() Raw {
	var end []sentence
	if p.end != "" {
		end = []sentence{{text: p.end}}
	}
	sentences := p.sentences()
	for len(sentences)+len(end) > maxSentences {
		at := 0
		for i := range len(sentences) - 1 {
			if joinCost(sentences, i) < joinCost(sentences, at) {
				at = i
			}
		}
		sentences[at].text += "; " + sentences[at+1].text
		sentences[at].keepSeparate = true
		sentences = slices.Delete(sentences, at+1, at+2)
	}
	var texts []string
	for _, s := range append(sentences, end...) {
		texts = append(texts, p.makeSentence(s.text))
	}
	return Raw(strings.Join(texts, " "))
}

// A sentence of a paragraph, without its capital letter and its full stop.
type sentence struct {
	text             string
	keepSeparate     bool // the sentence describes a fault, or has already been joined with another
	returnsToSubject bool // its subject occurred in an earlier sentence, not in the last
}

// joinCost says how bad it is to join sentence i with the next one; a greater number is worse.
func joinCost(sentences []sentence, i int) int {
	n := len(sentences[i].text) + len(sentences[i+1].text)
	if sentences[i].keepSeparate || sentences[i+1].keepSeparate {
		n += 1000
	}
	return n
}

// sentences turns the statements into sentences. Consecutive actions of one subject become one
// sentence. A statement also goes into the sentence before it if it has joinsPrevious set, or if
// the statement before has joinsNext set.
func (p *Paragraph) sentences() []sentence {
	var all []sentence
	var subjects []Subject // the subjects so far
	for i := 0; i < len(p.statements); {
		first := p.statements[i]
		actions := []string{first.predicate}
		for i++; i < len(p.statements) && continuesSentence(first, p.statements[i]); i++ {
			actions = append(actions, p.statements[i].predicate)
		}
		n := len(subjects)
		text := shortSubject(first.subject, subjects) + " " + joinActions(actions)
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
		back := n > 0 && first.when == "" && subjects[n-1] != first.subject && slices.Contains(subjects, owner)
		subjects = append(subjects, first.subject)
		if n > 0 && (first.joinsPrevious || p.statements[i-len(actions)-1].joinsNext) {
			all[len(all)-1].text += ", and " + text
			continue
		}
		all = append(all, sentence{text: text, keepSeparate: first.fault != "", returnsToSubject: back})
	}
	if n := len(all); n > 0 && all[n-1].returnsToSubject {
		all[n-1].text = "then " + all[n-1].text
	}
	return all
}

// continuesSentence reports whether the statement next goes into the sentence that begins with
// the statement first. Usually it does if it has the same subject and no clause of time of its
// own. If first is about a fault and has a clause of time, the sentence takes only the return
// from the fault: "just before it writes, client-1 crashes and is back after 5s". After a pause
// of a process it takes any action, but not after a suspension ("is suspended with its machine").
func continuesSentence(first, next statement) bool {
	if next.subject != first.subject || next.when != "" {
		return false
	}
	pauses := first.fault == trace.StopsProcess && !strings.HasPrefix(first.predicate, "is ")
	return first.fault == "" || first.when == "" || next.isReturn || pauses
}

// shortSubject returns the subject of a statement. It returns "it" if the statement before has
// the same subject, and "its keys" or the like if the subject of the statement before owns s.
// subjects are the subjects of the statements before.
func shortSubject(s Subject, subjects []Subject) string {
	if len(subjects) == 0 {
		return s.String()
	}
	switch before := subjects[len(subjects)-1]; {
	case before == s:
		return "it"
	case before.Process != "" && before == Subject{Process: s.Process}:
		return "its " + s.Thing
	}
	return s.String()
}

// joinActions lists the actions of a subject. If an action other than the last contains "and",
// "although" or a comma, there is a comma before the last "and".
func joinActions(actions []string) string {
	n := len(actions)
	long := func(s string) bool {
		return strings.Contains(s, " and ") || strings.Contains(s, " although ") || strings.Contains(s, ",")
	}
	if n > 1 && slices.ContainsFunc(actions[:n-1], long) {
		return strings.Join(actions[:n-1], ", ") + ", and " + actions[n-1]
	}
	return List(actions)
}

// makeSentence makes a sentence of words: it adds a capital letter and a full stop. A
// sentence that begins with the name of a process keeps the name's lower case.
func (p *Paragraph) makeSentence(words string) string {
	first, _, _ := strings.Cut(words, " ")
	name := func(p trace.ProcessInfo) bool {
		return p.Role != trace.RoleStorage && strings.TrimRight(strings.TrimSuffix(first, "'s"), "',;:.") == p.Name
	}
	if slices.ContainsFunc(p.history.Trace.Processes, name) {
		return fullStop(words)
	}
	return string(Sentence(words))
}
