package trace

import (
	"fmt"
	"slices"
	"strings"
)

// Step is a step of a client's critical section.
type Step string

const (
	Acquire Step = "acquire"
	Mint    Step = "mint" // mints a fencing token
	Mark    Step = "mark" // marks an object with the token
	Read    Step = "read"
	Work    Step = "work"
	Check   Step = "check" // checks that the lease has not ended
	Write   Step = "write"
	Extend  Step = "extend"
	Release Step = "release"
)

// Steps lists the steps of a section, in their usual order.
func Steps() []Step {
	return []Step{Acquire, Mint, Mark, Read, Work, Check, Write, Extend, Release}
}

// AtLock reports whether the step is a call of the lock.
func (s Step) AtLock() bool { return s == Acquire || s == Extend || s == Release }

// AtStorage reports whether the step is a request to the storage.
func (s Step) AtStorage() bool { return s == Mark || s == Read || s == Write }

// A StepPoint is the beginning of a client's step, as in "client-1 write" or "client-1
// write, 2nd time". Nth 0 means the first time.
type StepPoint struct {
	Client string
	Step   Step
	Nth    int
}

// ParseStepPoint parses a step of a client, such as "client-1 write, 2nd time".
func ParseStepPoint(s string) (StepPoint, error) {
	s = strings.Join(strings.Fields(s), " ")
	head, nth, err := parseNth(s)
	if err != nil {
		return StepPoint{}, err
	}
	words := strings.Fields(head)
	if len(words) != 2 || strings.HasSuffix(words[0], "'s") || !slices.Contains(Steps(), Step(words[1])) {
		return StepPoint{}, newParseError(s, "is not a step", fmt.Sprintf("write a client and one of %s, such as \"client-1 write\"", listSteps()))
	}
	return StepPoint{words[0], Step(words[1]), nth}, nil
}

func listSteps() string { return strings.Join(toStrings(Steps()...), ", ") }

// IsZero reports whether p is the zero StepPoint, which means that there is no step.
func (p StepPoint) IsZero() bool { return p == StepPoint{} }

// String returns the step in the form that [ParseStepPoint] parses.
func (p StepPoint) String() string {
	s := p.Client + " " + string(p.Step)
	if p.Nth <= 1 {
		return s
	}
	return s + ", " + NthTime(p.Nth)
}

// EndPoint returns the point at which the step has ended, whether it succeeded or not.
func (p StepPoint) EndPoint() Point { return AnyOf(p.endAlternative()) }

// endAlternative returns the alternative that is reached when the step has ended.
func (p StepPoint) endAlternative() Alternative {
	return Alternative{Nth: p.Nth, Happening: StepEnded{p.Client, p.Step}}
}

// Rename returns the step with its client renamed.
func (p StepPoint) Rename(name func(string) string) StepPoint {
	if !p.IsZero() {
		p.Client = name(p.Client)
	}
	return p
}

// MarshalText returns what String returns; the zero StepPoint gives empty text.
func (p StepPoint) MarshalText() ([]byte, error) {
	if p.IsZero() {
		return nil, nil
	}
	return []byte(p.String()), nil
}

// UnmarshalText parses a step; empty text gives the zero StepPoint.
func (p *StepPoint) UnmarshalText(text []byte) (err error) {
	*p = StepPoint{}
	if len(text) > 0 {
		*p, err = ParseStepPoint(string(text))
	}
	return err
}
