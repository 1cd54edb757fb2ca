// Package playground answers the questions of a page on which a reader changes a scenario and sees
// the result. A request and its answer are JSON, so that the page can run this package in the
// browser. The package draws nothing: its answers say where each part of the picture has its place.
package playground

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/commandline"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// The kinds of requests.
const (
	// RunKind asks for both runs of a world, without and with fencing tokens: see [Answer].
	RunKind = "run"
	// PlacesKind asks where the fault can strike: see [Places].
	PlacesKind = "places"
	// CellKind asks for one cell of a danger map: see [Cell].
	CellKind = "cell"
	// TimelineKind asks for the timelines of a world: see [Timeline].
	TimelineKind = "timeline"
)

// A Request is a world that a reader wants to see.
type Request struct {
	Kind string `json:"kind"`
	// Scenario is the name of a built-in scenario. Text is the text of a scenario that the
	// reader has written; if it is not "", Scenario does not matter.
	Scenario string `json:"scenario,omitempty"`
	Text     string `json:"text,omitempty"`
	// Variant is the name of a variant; "" means the first.
	Variant string `json:"variant,omitempty"`
	// Lock replaces the scenario's own lock, unless it is "".
	Lock string `json:"lock,omitempty"`
	// Sets are overrides, in the syntax of the flag --set. Pause, in the syntax of the flag
	// --pause, is how long the scenario's only pause lasts; "" leaves it unchanged.
	Sets  []string `json:"sets,omitempty"`
	Pause string   `json:"pause,omitempty"`
	Seed  uint64   `json:"seed,string"`
	// Fencing is the run to draw: off, on, or "" for both.
	Fencing string `json:"fencing,omitempty"`
	// Fault is the number of the fault that the reader can change, from 1; 0 means the first.
	Fault int `json:"fault,omitempty"`
	// All asks for a timeline with every message, in which no rows are merged.
	All bool `json:"all,omitempty"`
}

// A Problem is a reason why a request cannot be answered.
type Problem struct {
	// Text is the problem as a sentence, with its place in the file.
	Text string `json:"text"`
	// Line and Column are the place in the reader's text, from 1; 0 if there is none.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// A failure says why a request cannot be answered. Spoiled says that a world did not end properly,
// so that the program should be started again. Lacks says that this program does not have the lock
// of the world; a larger one may have it.
type failure struct {
	Problems []Problem `json:"problems"`
	Spoiled  bool      `json:"spoiled,omitempty"`
	Lacks    bool      `json:"lacks,omitempty"`
}

// Serve answers a request in JSON.
func Serve(request []byte) []byte {
	var r Request
	answer, err := any(nil), json.Unmarshal(request, &r)
	if err != nil {
		err = fmt.Errorf("the request is no JSON that this engine understands: %w; reload the page", err)
	} else {
		answer, err = r.answer()
	}
	if err != nil {
		answer = failureOf(err)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err) // impossible: an answer consists of texts and numbers
	}
	return text
}

// answer answers the request by its kind.
func (r Request) answer() (any, error) {
	w, err := r.world()
	if err != nil {
		return nil, err
	}
	switch r.Kind {
	case RunKind:
		return w.run()
	case PlacesKind:
		return w.places()
	case CellKind:
		return w.cell()
	case TimelineKind:
		return w.timeline()
	}
	return nil, fmt.Errorf("the engine knows no request of the kind %q; reload the page", r.Kind)
}

// A lackError is the error of a request for a lock that is not part of this program.
type lackError struct{ error }

// A runError is an error after which the program may still be running parts of a world.
type runError struct{ error }

// failureOf returns the problems of an error. An error of a scenario has one for each mistake
// in it.
func failureOf(err error) failure {
	var f failure
	var mistakes scenarios.Errors
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			// The page shows the line, and its reader has set no flag.
			text := strings.TrimPrefix(m.Error(), fmt.Sprintf("%s:%d: ", m.File, m.Line))
			f.Problems = append(f.Problems, Problem{strings.TrimPrefix(text, "--set "), m.Line, m.Column})
		}
		return f
	}
	var spoiled runError
	var lack lackError
	for text := range strings.Lines(err.Error()) {
		f.Problems = append(f.Problems, Problem{Text: strings.TrimSpace(text)})
	}
	f.Spoiled, f.Lacks = errors.As(err, &spoiled), errors.As(err, &lack)
	return f
}

// ownFile is the name of the file in which a reader saves a scenario of their own, to run it
// with the command.
const ownFile = "scenario.yaml"

// A world is the world of a request: the scenario with the changes that the request makes.
type world struct {
	Request
	// before is the scenario with only the variant of the request, and without the overrides. after
	// is the same with the overrides. variants are the names of all variants.
	before, after *scenarios.Scenario
	variants      []string
}

// world reads the scenario of the request and makes its changes.
func (r Request) world() (*world, error) {
	s, err := r.scenario()
	if err != nil {
		return nil, err
	}
	w := &world{Request: r}
	for _, v := range s.Variants {
		w.variants = append(w.variants, v.Name)
	}
	if r.Variant == "" {
		r.Variant = s.Variants[0].Name
	}
	if w.before, err = s.SelectVariant(r.Variant); err != nil {
		return nil, err
	}
	if r.Fencing != "" && r.Fencing != scenarios.Off && r.Fencing != scenarios.On {
		return nil, fmt.Errorf("fencing is %q; it must be off or on", r.Fencing)
	}
	sets := slices.Clone(r.Sets)
	if r.Pause != "" {
		path, err := whatif.PauseIn(w.before)
		if err != nil {
			return nil, err
		}
		sets = append(sets, path+".for="+r.Pause)
	}
	if w.after, err = w.before.With(sets...); err != nil {
		return nil, err
	}
	if err := checkLock(r.Lock, w.after.Variants[0].Lock); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, w.replay(w.after))
	}
	return w, nil
}

// scenario reads the scenario of the request.
func (r Request) scenario() (*scenarios.Scenario, error) {
	if r.Text != "" {
		return scenarios.Parse(ownFile, []byte(r.Text))
	}
	return scenarios.Open(r.Scenario)
}

// checkLock returns an error if a kind of lock is unknown, or is not part of this program. own
// is the scenario's own lock, which kind replaces unless it is "".
func checkLock(kind, own string) error {
	if kind == "" {
		kind = own
	}
	switch _, known := locks.Lookup(kind); {
	case !known:
		return fmt.Errorf("there is no lock %q; %s", kind, scenarios.DidYouMean(kind, locks.Names()))
	case !isProvided(kind):
		return lackError{fmt.Errorf("the lock %s is not part of this engine; this command has it", kind)}
	}
	return nil
}

// options are the options of the runs.
func (w *world) options() scenarios.RunOptions {
	return scenarios.RunOptions{Seed: w.Seed, Lock: w.Lock, Patience: patience}
}

// replay returns the command that runs a scenario in the same way as the request.
func (w *world) replay(s *scenarios.Scenario) string {
	return commandline.Repeat("run", w.operand(), s, s.Variants, w.Fencing, w.options())
}

// operand returns the scenario's name on a command line.
func (w *world) operand() string {
	if w.Text != "" {
		return ownFile
	}
	return w.before.Name
}
