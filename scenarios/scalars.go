package scenarios

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A span is a duration that must be longer than zero. A delay must not be negative. A
// time.Duration, as in the parameters of a fault, may be negative.
type (
	span  time.Duration
	delay time.Duration
)

// A latency is the shortest and the longest time that a message may take.
type latency struct{ min, max time.Duration }

// A stepOrPoint is a point. It can be written as a client's step, which means the point at
// which the step has ended.
type stepOrPoint struct{ trace.Point }

// maxDuration bounds every duration: a longer one is surely a mistake.
const maxDuration = 365 * 24 * time.Hour

// scalarParsers has a parser for each type that is written as text. If the parser can say
// what to do about a mistake, its error is a [problem].
var scalarParsers = map[reflect.Type]func(string) (any, error){
	reflect.TypeFor[time.Duration](): func(s string) (any, error) { return parseDuration(s) },
	reflect.TypeFor[span](): func(s string) (any, error) {
		d, err := parseDuration(s)
		if err == nil && d <= 0 {
			err = problem{fmt.Sprintf("%s is not a positive duration", s), "give a duration longer than zero, or leave the field out"}
		}
		return span(d), err
	},
	reflect.TypeFor[delay](): func(s string) (any, error) {
		d, err := parseDuration(s)
		if err == nil && d < 0 {
			err = problem{s + " is negative", "give a duration of zero or more"}
		}
		return delay(d), err
	},
	reflect.TypeFor[latency]():          func(s string) (any, error) { return parseLatency(s) },
	reflect.TypeFor[sim.Rate]():         func(s string) (any, error) { return parseRate(s) },
	reflect.TypeFor[stepOrPoint]():      func(s string) (any, error) { return parseStepOrPoint(s) },
	reflect.TypeFor[trace.Point]():      func(s string) (any, error) { return trace.ParsePoint(s) },
	reflect.TypeFor[trace.StepPoint]():  func(s string) (any, error) { return trace.ParseStepPoint(s) },
	reflect.TypeFor[trace.Message]():    func(s string) (any, error) { return trace.ParseMessage(s) },
	reflect.TypeFor[trace.NthMessage](): func(s string) (any, error) { return trace.ParseNthMessage(s) },
	reflect.TypeFor[trace.Task]():       func(s string) (any, error) { return trace.ParseTask(s) },
	reflect.TypeFor[trace.Witness]():    func(s string) (any, error) { return trace.ParseWitness(s) },
}

// spellers has, for each type of condition, the function that returns a hint for a text
// that is not valid.
var spellers = map[reflect.Type]func(corrector, string) string{
	reflect.TypeFor[stepOrPoint]():      corrector.point,
	reflect.TypeFor[trace.Point]():      corrector.point,
	reflect.TypeFor[trace.StepPoint]():  corrector.step,
	reflect.TypeFor[trace.Message]():    corrector.message,
	reflect.TypeFor[trace.NthMessage](): corrector.message,
	reflect.TypeFor[trace.Witness]():    corrector.witness,
}

// addHints adds hints to the errors about points and similar texts that could not be read.
func (d *draft) addHints() {
	for _, m := range d.pendingHints {
		if hint := spellers[m.textType]; hint != nil {
			d.setHint(m.err, m.reason, d.suggest(m.at, m.text, func() suggestion {
				return suggestion{hint: hint(d.corrector(), m.text)}
			}).hint)
		}
	}
}

// setHint gives an error a hint. It then also removes the list of all forms that could have
// been written, which is no longer needed.
func (d *draft) setHint(e *Error, reason error, hint string) {
	if hint == "" {
		return
	}
	e.Hint = hint
	var misread *trace.ParseError
	if errors.As(reason, &misread) {
		e.Message = misread.Problem
	}
}

// corrector returns a corrector that knows the processes of the draft.
func (d *draft) corrector() corrector { return corrector{d.participants.names(), d.participants.role} }

// A problem is the error about one value: what is wrong with it, and what to do.
type problem struct{ message, hint string }

func (p problem) Error() string { return p.message }

// durationPattern matches a duration, which is written as in Go. The JSON Schema uses it, too.
const durationPattern = `([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+`

var (
	duration   = lazy.Regexp(`^[-+]?` + durationPattern + `$`)
	bareNumber = lazy.Regexp(`^[-+]?[0-9]+(\.[0-9]+)?$`)
)

// parseDuration parses a duration; its error suggests what was probably meant.
func parseDuration(s string) (time.Duration, error) {
	switch {
	case bareNumber().MatchString(s) && strings.Trim(s, "+-0.") == "":
		// "0s" is no suggestion, because most durations must be longer than zero.
		return 0, problem{quote(s) + " has no unit", `write a number and a unit, as in "500ms"`}
	case bareNumber().MatchString(s):
		return 0, problem{quote(s) + " has no unit", "did you mean " + quote(s+"s") + "?"}
	case !duration().MatchString(s):
		if meant := mendDuration(s); meant != "" {
			return 0, problem{quote(s) + " is not a duration", "did you mean " + quote(meant) + "?"}
		}
		return 0, problem{quote(s) + " is not a duration", `write a number and a unit (ns, us, ms, s, m, h), as in "500ms" or "1m30s"`}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d > maxDuration || d < -maxDuration {
		return 0, problem{s + " is longer than a year", "check the unit"}
	}
	return d, nil
}

// parseLatency parses a range of durations, such as "600us-1ms", or one duration.
func parseLatency(s string) (latency, error) {
	shortest, longest, isRange := strings.Cut(s, "-")
	if !isRange {
		longest = shortest
	}
	var l latency
	var err error
	if l.min, err = parseDuration(strings.TrimSpace(shortest)); err == nil {
		l.max, err = parseDuration(strings.TrimSpace(longest))
	}
	switch {
	case err != nil:
		return l, problem{err.Error(), `write the shortest and the longest latency, as in "600us-1ms"`}
	case l.min <= 0:
		return l, problem{"a message cannot arrive at the moment it is sent", "give a latency longer than zero"}
	case l.max < l.min:
		return l, problem{fmt.Sprintf("the longest latency, %v, is below the shortest, %v", l.max, l.min),
			fmt.Sprintf("did you mean %q?", fmt.Sprintf("%s-%s", longest, shortest))}
	}
	return l, nil
}

func parseRate(s string) (sim.Rate, error) {
	rate, err := sim.ParseRate(s)
	if err != nil {
		return 0, problem{err.Error(), ""}
	}
	return rate, nil
}

func parseStepOrPoint(s string) (stepOrPoint, error) {
	if step, err := trace.ParseStepPoint(s); err == nil {
		return stepOrPoint{step.EndPoint()}, nil
	}
	p, err := trace.ParsePoint(s)
	return stepOrPoint{p}, err
}
