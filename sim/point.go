package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Point is a point in the story, such as "client-1's keys expired" or "5s
// after client-1 acquired". The zero Point is none.
//
// The grammar, with CLIENT, NODE and PROCESS standing for names:
//
//	CLIENT acquired | failed to acquire | minted | marked | read | worked
//	CLIENT checked | wrote | extended | released | cancelled | was refused | gave up
//	CLIENT finished
//	CLIENT holds NODE
//	CLIENT's keys expired
//	CLIENT's key expired on NODE
//	storage applied | refused | checked CLIENT's STEP
//	PROCESS paused | resumed | crashed | restarted | synced | was promoted
//	PROCESS's clock jumped
//	MESSAGE is in flight | MESSAGE arrived
//	every reply to CLIENT's STEP is in flight | every request of CLIENT's STEP arrived
//	the start
//	POINT, 2nd time
//	DURATION after POINT
//	POINT or POINT
//
// A MESSAGE is written as for [ParseMessage].
type Point struct {
	text    string
	clauses []clause
}

// clause is one alternative of a point.
type clause struct {
	delay time.Duration
	nth   int // 0 is every time
	what  happening
}

// A happening recognises one kind of event.
type happening interface {
	parts() []part
	// matcher returns a function that is called with every event of a run, in
	// order.
	matcher(*Trace) func(*Event) bool
}

// A part is a process that a happening speaks of, and the roles that it can have
// in it; none is any.
type part struct {
	name  string
	roles []Role
}

// IsZero says that there is no point.
func (p Point) IsZero() bool { return len(p.clauses) == 0 }

// String is the point as it was written.
func (p Point) String() string { return p.text }

// Clause says that something happens at the point: "when client-1 wrote", "5s after
// client-1 wrote".
func (p Point) Clause() string {
	if strings.HasPrefix(p.text, "after ") || p.text != "" && '0' <= p.text[0] && p.text[0] <= '9' {
		return p.text
	}
	return "when " + p.text
}

// MarshalText writes the point as it was written.
func (p Point) MarshalText() ([]byte, error) { return []byte(p.text), nil }

// Names lists the processes that the point speaks of.
func (p Point) Names() []string {
	var names []string
	for _, c := range p.clauses {
		for _, part := range c.what.parts() {
			names = append(names, part.name)
		}
	}
	return names
}

// Fits returns an error if a process could never do what the point says of it:
// only clients write, only nodes are promoted. role tells what a process is; a
// process that it does not know fits.
func (p Point) Fits(role func(name string) (Role, bool)) error {
	for _, c := range p.clauses {
		for _, part := range c.what.parts() {
			r, known := role(part.name)
			if known && len(part.roles) > 0 && !slices.Contains(part.roles, r) {
				return fmt.Errorf("%q can never happen: %s is no %s", p.text, part.name, tellRoles(part.roles))
			}
		}
	}
	return nil
}

func tellRoles(roles []Role) string {
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	return strings.Join(words, " or ")
}

// Matcher recognises the point's occurrences in the events of one run, which it
// must see from the first. A delay ("5s after …") is left out.
func (p Point) Matcher(t *Trace) *Matcher {
	m := &Matcher{}
	for _, c := range p.clauses {
		m.clauses = append(m.clauses, c.matcher(t))
	}
	return m
}

// A Matcher recognises a point.
type Matcher struct{ clauses []func(*Event) bool }

// Match takes the next event and says whether the point has just been reached.
func (m *Matcher) Match(ev *Event) bool {
	matched := false
	for _, c := range m.clauses {
		// Every clause must see every event.
		matched = c(ev) || matched
	}
	return matched
}

func (c clause) matcher(t *Trace) func(*Event) bool {
	match := c.what.matcher(t)
	if c.nth == 0 {
		return match
	}
	seen := 0
	return func(ev *Event) bool {
		if !match(ev) {
			return false
		}
		seen++
		return seen == c.nth
	}
}

// ParsePoint reads a point.
func ParsePoint(s string) (Point, error) {
	p := Point{text: strings.Join(strings.Fields(s), " ")}
	if p.text == "" {
		return p, fmt.Errorf("the point is empty")
	}
	for alternative := range strings.SplitSeq(p.text, " or ") {
		c, err := parseClause(alternative)
		if err != nil {
			return Point{}, err
		}
		p.clauses = append(p.clauses, c)
	}
	return p, nil
}

func parseClause(s string) (clause, error) {
	var c clause
	if d, rest, ok := strings.Cut(s, " after "); ok {
		delay, err := time.ParseDuration(d)
		if err != nil || delay < 0 {
			return c, fmt.Errorf("%q: before \"after\" there must be a duration such as 5s, not %q", s, d)
		}
		c.delay, s = delay, rest
	}
	s, nth, err := parseNth(s)
	if err != nil {
		return c, err
	}
	c.nth = nth
	c.what, err = parseHappening(s)
	if _, ok := c.what.(theStart); ok && nth > 0 {
		err = fmt.Errorf("%q: there is only one start", s)
	}
	return c, err
}

// parseNth splits ", 2nd time" off.
func parseNth(s string) (string, int, error) {
	head, tail, ok := strings.Cut(s, ", ")
	if !ok {
		return s, 0, nil
	}
	number, isTime := strings.CutSuffix(tail, " time")
	if isTime && len(number) > 2 {
		for _, suffix := range []string{"st", "nd", "rd", "th"} {
			if digits, ok := strings.CutSuffix(number, suffix); ok {
				if n, err := strconv.Atoi(digits); err == nil && n > 0 && n < 1_000_000 {
					return head, n, nil
				}
			}
		}
	}
	return s, 0, fmt.Errorf("%q: after the comma there must be something like \"2nd time\", not %q", s, tail)
}

// NthTime writes "2nd time".
func NthTime(n int) string {
	suffix := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s time", n, suffix)
}

var (
	ofClient = []Role{RoleClient}
	ofCaller = []Role{RoleClient, RoleService}
	ofNode   = []Role{RoleNode}
	ofServer = []Role{RoleNode, RoleService, RoleStorage}
	ofAny    []Role
)

// verbs are what a process can be said to have done.
var verbs = []struct {
	verb  string
	roles []Role
	match func(*Event) bool
}{
	{"acquired", ofClient, ended(Acquire)},
	{"failed to acquire", ofClient, func(ev *Event) bool { return ev.Kind == KindEnd && ev.Step == Acquire && !ev.OK }},
	{"minted", ofClient, ended(Mint)},
	{"marked", ofClient, ended(Mark)},
	{"read", ofClient, ended(Read)},
	{"worked", ofClient, ended(Work)},
	{"checked", ofClient, ended(Check)},
	{"wrote", ofClient, ended(Write)},
	{"extended", ofClient, ended(Extend)},
	{"released", ofClient, func(ev *Event) bool { return ev.Kind == KindEnd && ev.Step == Release }},
	{"cancelled", ofClient, ofKind(KindCancel)},
	{"was refused", ofClient, func(ev *Event) bool { return ev.Kind == KindEnd && ev.Refused }},
	{"gave up", ofClient, func(ev *Event) bool {
		return ev.Kind == KindEnd && ev.Step.AtStorage() && !ev.OK && !ev.Refused
	}},
	{"finished", ofClient, ofKind(KindDone)},
	{"paused", ofAny, ofKind(KindPause)},
	{"resumed", ofAny, ofKind(KindResume)},
	{"crashed", ofAny, ofKind(KindCrash)},
	{"restarted", ofServer, ofKind(KindRestart)},
	{"synced", ofNode, ofKind(KindSync)},
	{"was promoted", ofNode, ofKind(KindPromote)},
}

func ended(s Step) func(*Event) bool {
	return func(ev *Event) bool { return ev.Kind == KindEnd && ev.Step == s && ev.OK }
}

func ofKind(k Kind) func(*Event) bool { return func(ev *Event) bool { return ev.Kind == k } }

func parseHappening(s string) (happening, error) {
	words := strings.Fields(s)
	if strings.Join(words, " ") == "the start" {
		return theStart{}, nil
	}
	if len(words) < 2 {
		return nil, misread(s, "is no point", `write who, then what happened, such as "client-1 acquired"`)
	}
	for _, tail := range []struct {
		words   string
		arrived bool
	}{{" is in flight", false}, {" are in flight", false}, {" arrived", true}} {
		if head, ok := strings.CutSuffix(s, tail.words); ok {
			return parseTransit(head, tail.arrived)
		}
	}
	if words[0] == StorageName && len(words) == 4 {
		match, known := answers[words[1]]
		client, ok := strings.CutSuffix(words[2], "'s")
		step := Step(words[3])
		if known && ok && step.AtStorage() {
			return served{client, step, match}, nil
		}
	}
	if owner, ok := strings.CutSuffix(words[0], "'s"); ok {
		switch rest := strings.Join(words[1:], " "); {
		case rest == "keys expired":
			return keysExpired{owner}, nil
		case strings.HasPrefix(rest, "key expired on ") && len(words) == 5:
			return keyExpired{owner, words[4]}, nil
		case rest == "clock jumped":
			return simple{part{owner, ofAny}, func(ev *Event) bool { return ev.Kind == KindClock && ev.Clocks.Why == "jump" }}, nil
		}
		return nil, misread(s, "is no point", fmt.Sprintf("after %q comes one of: keys expired; key expired on NODE; clock jumped; request to PROCESS is in flight; reply to CLIENT arrived", words[0]))
	}
	rest := strings.Join(words[1:], " ")
	if words[1] == "holds" && len(words) == 3 {
		return holds{words[0], words[2]}, nil
	}
	known := make([]string, len(verbs))
	for i, v := range verbs {
		if v.verb == rest {
			return simple{part{words[0], v.roles}, v.match}, nil
		}
		known[i] = v.verb
	}
	return nil, misread(s, "is no point", fmt.Sprintf("after %q comes one of: %s, holds NODE; after %q: keys expired, key expired on NODE, clock jumped", words[0], strings.Join(known, ", "), words[0]+"'s"))
}

// simple is a kind of event of one process.
type simple struct {
	process part
	match   func(*Event) bool
}

func (s simple) parts() []part { return []part{s.process} }
func (s simple) matcher(*Trace) func(*Event) bool {
	return func(ev *Event) bool { return ev.Process == s.process.name && s.match(ev) }
}

// holds: a key that a client has set stands on a node.
type holds struct{ client, node string }

func (h holds) parts() []part { return []part{{h.client, ofClient}, {h.node, ofNode}} }
func (h holds) matcher(*Trace) func(*Event) bool {
	return func(ev *Event) bool {
		return ev.Kind == KindSet && ev.Process == h.node && ev.Owner != nil && ev.Owner.Client == h.client
	}
}

// theStart is the start of the run. No event tells it to those who wait for a point
// in the course of the run: see [World.when].
type theStart struct{}

func (theStart) parts() []part { return nil }
func (theStart) matcher(*Trace) func(*Event) bool {
	return func(ev *Event) bool { return ev.Seq == 1 }
}

type keyExpired struct{ client, node string }

func (k keyExpired) parts() []part { return []part{{k.client, ofClient}, {k.node, ofNode}} }
func (k keyExpired) matcher(*Trace) func(*Event) bool {
	return func(ev *Event) bool {
		return ev.Kind == KindExpire && ev.Process == k.node && ev.Owner != nil && ev.Owner.Client == k.client
	}
}

// keysExpired: the last key that a client had set, and that still stood, has
// expired. Keys that never expire, such as a counter of tokens, do not count.
type keysExpired struct{ client string }

func (k keysExpired) parts() []part { return []part{{k.client, ofClient}} }
func (k keysExpired) matcher(*Trace) func(*Event) bool {
	type place struct{ node, key string }
	standing := map[place]bool{}
	// What a node that is down still holds nobody can tell.
	isDown := map[string]bool{}
	return func(ev *Event) bool {
		at := place{ev.Process, ev.Key}
		switch ev.Kind {
		case KindCrash:
			isDown[ev.Process] = true
		case KindRestart:
			delete(isDown, ev.Process)
		case KindSet, KindTouch, KindRestore:
			if ev.Owner != nil && ev.Owner.Client == k.client && ev.TTL > 0 {
				standing[at] = true
			} else {
				delete(standing, at)
			}
		case KindDelete, KindForget:
			delete(standing, at)
		case KindExpire:
			if standing[at] {
				delete(standing, at)
				for other := range standing {
					if !isDown[other.node] {
						return false
					}
				}
				return true
			}
		}
		return false
	}
}

// answers are what the storage can be said to have done with a request.
var answers = map[string]func(*Event) bool{
	"applied": func(ev *Event) bool { return ev.Kind == KindServe && ev.OK },
	"refused": func(ev *Event) bool { return ev.Kind == KindServe && !ev.OK },
	"checked": func(ev *Event) bool { return ev.Kind == KindCheck && ev.OK },
}

// served: the storage did something with a client's request.
type served struct {
	client string
	step   Step
	match  func(*Event) bool
}

func (s served) parts() []part { return []part{{s.client, ofClient}} }
func (s served) matcher(*Trace) func(*Event) bool {
	return func(ev *Event) bool {
		return s.match(ev) && ev.Step == s.step && ev.Client() == s.client
	}
}

// A StepPoint is a client's step: "client-1 write", or "client-1 write, 2nd
// time". Nth 0 is the first.
type StepPoint struct {
	Client string
	Step   Step
	Nth    int
}

// ParseStepPoint reads a step of a client.
func ParseStepPoint(s string) (StepPoint, error) {
	s = strings.Join(strings.Fields(s), " ")
	head, nth, err := parseNth(s)
	if err != nil {
		return StepPoint{}, err
	}
	words := strings.Fields(head)
	if len(words) != 2 || strings.HasSuffix(words[0], "'s") || !slices.Contains(Steps(), Step(words[1])) {
		return StepPoint{}, misread(s, "is no step", fmt.Sprintf("write a client and one of %s, such as \"client-1 write\"", tellSteps()))
	}
	return StepPoint{words[0], Step(words[1]), nth}, nil
}

func tellSteps() string {
	words := make([]string, len(Steps()))
	for i, s := range Steps() {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

// IsZero says that there is no step.
func (p StepPoint) IsZero() bool { return p == StepPoint{} }

// String is the step as one writes it.
func (p StepPoint) String() string {
	s := p.Client + " " + string(p.Step)
	if p.Nth <= 1 {
		return s
	}
	return s + ", " + NthTime(p.Nth)
}

// Done is the point at which the step has ended, whatever came of it.
func (p StepPoint) Done() Point {
	return Point{
		text: "after " + p.String(),
		clauses: []clause{{nth: p.Nth, what: simple{part{p.Client, ofClient}, func(ev *Event) bool {
			return ev.Kind == KindEnd && ev.Step == p.Step
		}}}},
	}
}
