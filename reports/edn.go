package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/scenarios"
)

func init() {
	Register(Format{
		Name: "edn", Title: "the histories of each run in Jepsen's form, for Knossos and Elle",
		Write: writeHistories, Pages: historyPages,
	})
}

// A historyDocument is one history of one run, which a checker can read as it is.
type historyDocument struct {
	// name tells the histories of one run apart.
	name string
	// model says what to check it against.
	model   string
	history []ednMap
}

// histories are those of a run that have any operation: of each lock that excludes
// anybody, of each object, and of the sections. They are kept apart because every
// checker knows one kind of operation and refuses all others.
func histories(run scenarios.Outcome) []historyDocument {
	h := run.History
	if h.Last() == nil {
		return nil
	}
	var all []historyDocument
	add := func(name string, i, n int, model string, history []ednMap) {
		if n > 1 {
			name += fmt.Sprintf("-%d", i+1)
		}
		if len(history) > 0 {
			all = append(all, historyDocument{name, model, history})
		}
	}
	locks := h.Trace.Locks
	for i, l := range locks {
		if !l.Open {
			add("lock", i, len(locks), fmt.Sprintf("the lock %s: a mutex (Knossos)", visible(l.Name)), lockHistory(h, l.Name))
		}
	}
	requests := readRequests(h)
	objects := requests.objects()
	for i, object := range objects {
		add("register", i, len(objects), fmt.Sprintf("the object %s: a register (Knossos)", visible(object)), registerHistory(requests, object))
	}
	add("sections", 0, 1, "the sections: transactions on registers (Elle's rw-register)", sectionsHistory(requests))
	return all
}

// writeHistories writes a stream of histories, each after a comment that says what it
// is.
func writeHistories(w io.Writer, results []*scenarios.Result, o Options) error {
	var b strings.Builder
	for _, r := range results {
		for _, run := range r.Runs {
			for _, d := range histories(run) {
				if b.Len() > 0 {
					b.WriteString("\n")
				}
				d.write(&b, r, run, o)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// historyPages has a file for each history.
func historyPages(results []*scenarios.Result, o Options) []Page {
	var pages []Page
	names := pageNames{}
	for _, r := range results {
		for _, run := range r.Runs {
			for _, d := range histories(run) {
				var b strings.Builder
				d.write(&b, r, run, o)
				name := names.name(append(runWords(r, run), d.name)...)
				pages = append(pages, Page{name + ".edn", []byte(b.String())})
			}
		}
	}
	return pages
}

func (d historyDocument) write(b *strings.Builder, r *scenarios.Result, run scenarios.Outcome, o Options) {
	fmt.Fprintf(b, "; %s, %s: the verdict is %s\n", visible(r.Scenario.Name), runTitle(run), run.Verdict.Verdict)
	fmt.Fprintf(b, "; %s\n", d.model)
	fmt.Fprintf(b, "; replay: %s\n", replay(r, o))
	ops := make([]string, len(d.history))
	for i, op := range d.history {
		var line strings.Builder
		writeEDN(&line, op)
		ops[i] = line.String()
	}
	fmt.Fprintf(b, "[%s]\n", strings.Join(ops, "\n "))
}
