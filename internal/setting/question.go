package setting

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// DescribeForQuestion is [Describe] for readers who have to predict the result. A scenario often
// defines a moment by what a client achieves: a fault lasts "until client-2 released". That gives
// away that client-2 gets the lock. DescribeForQuestion gives the times of the run instead. If a
// time is itself an answer, which isAnswer reports, the description only says whether it is longer
// than the TTL. The run must have a history.
func DescribeForQuestion(run scenarios.RunResult, seed uint64, isAnswer func(time.Duration) bool) []Row {
	h := run.History
	return describe(run, seed, func(config *sim.Config, hidden *hints) {
		hidden.isAnswer, hidden.phrase = isAnswer, presentPhrase
		config.Clients, config.Faults = slices.Clone(config.Clients), slices.Clone(config.Faults)
		for i := range config.Clients {
			hideOutcomesOfClient(h, &config.Clients[i], hidden)
		}
		for i := range config.Faults {
			sayHowItCrashes(&config.Faults[i])
			hideOutcomesOfFault(h, i+1, &config.Faults[i], hidden)
		}
	})
}

// crashTexts says in words what a kind of crash is.
var crashTexts = map[trace.Crash]string{
	trace.Kill: "its process is killed", trace.PowerLoss: "its machine loses power",
	trace.Shutdown: "it ends in an orderly way", trace.FailOver: "its machine is lost for good",
}

// sayHowItCrashes replaces the text of a crash, which is in the language of scenarios, by a
// text in words.
func sayHowItCrashes(f *sim.Fault) {
	if c, isCrash := f.Action.(*sim.CrashFault); isCrash && c.How != "" {
		f.Text = fmt.Sprintf("crash %s (%s)", c.Process, crashTexts[c.How])
	}
}

// hints are texts such as "works for longer than the TTL", which the rows of a setting have
// in place of times that give an answer away.
type hints struct {
	ttl      time.Duration
	isAnswer func(time.Duration) bool
	// byRow has the hints for each row. The keys are the rows' About texts.
	byRow map[string][]string
	// phrase says in words when a point of the scenario is reached. A point is a condition,
	// such as "client-1 acquired".
	phrase func(trace.Point) string
}

// hides adds a hint to the row about, if the length of the interval, or its end, is an answer. It
// reports whether it has added one. verb begins the hint and says what lasts that long, as in
// "works for".
func (n *hints) hides(about, verb string, from, to time.Duration) bool {
	if !n.isAnswer(to-from) && !n.isAnswer(to) {
		return false
	}
	length := "a while"
	switch {
	case n.ttl > 0 && to-from > n.ttl:
		length = "longer than the TTL"
	case n.ttl > 0:
		length = "at most the TTL"
	}
	n.byRow[about] = append(n.byRow[about], verb+" "+length)
	return true
}

// hidesMoment adds the hint to the row about, if the time at is an answer. It reports whether it
// has added the hint.
func (n *hints) hidesMoment(about, hint string, at time.Duration) bool {
	if !n.isAnswer(at) {
		return false
	}
	n.byRow[about] = append(n.byRow[about], hint)
	return true
}

// hideOutcomesOfClient replaces the points of a client that give away a result: by times of
// the run, or by hints if the times give it away, too.
func hideOutcomesOfClient(h *history.History, c *sim.Client, hidden *hints) {
	var began time.Duration
	var work *history.Call
	for _, call := range h.Calls() {
		if call.Client != c.Name || call.Began == nil {
			continue
		}
		if began == 0 {
			began = call.Began.At
		}
		if call.Step == trace.Work && work == nil && call.Ended != nil {
			work = call
		}
	}
	if !c.WorksUntil.IsZero() {
		c.WorksUntil, c.Works = trace.Point{}, 0
		if work != nil && !hidden.hides(c.Name, "works for", work.Began.At, work.Ended.At) {
			c.Works = (work.Ended.At - work.Began.At).Round(time.Millisecond)
		}
	}
	if c.Starts.IsZero() || !isOutcome(h, c.Starts) {
		return
	}
	c.Starts = trace.Point{}
	if began > 0 && !hidden.hidesMoment(c.Name, "but only when some time has passed", began) {
		c.Starts = afterStart(began)
	}
}

// hideOutcomesOfFault does the same for the points of a fault. n is the fault's number.
func hideOutcomesOfFault(h *history.History, n int, f *sim.Fault, hidden *hints) {
	i := slices.IndexFunc(h.Acts(), func(a *history.Act) bool { return a.Fault == n })
	if i < 0 {
		return // the fault did not act
	}
	act, about := h.Acts()[i], fmt.Sprintf("fault %d", n)
	isBeforeOther := !f.Strikes.Before.IsZero() && f.Strikes.Before.Client != firstHolder(h)
	if isBeforeOther || !f.Strikes.When.IsZero() && isOutcome(h, f.Strikes.When) {
		f.Strikes = trace.Trigger{}
		if !hidden.hidesMoment(about, "at some time", act.Struck.At) {
			f.Strikes.At = max(act.Struck.At.Round(time.Millisecond), time.Millisecond)
		}
	}
	if f.Until.IsZero() {
		return
	}
	f.Until = trace.Point{}
	if act.Lifted != nil && !hidden.hides(about, "for", act.Struck.At, act.Lifted.At) {
		f.For = (act.Lifted.At - act.Struck.At).Round(time.Millisecond)
	}
}

// isOutcome reports whether a point gives away what a client achieves with the lock. What the first
// holder achieves is no secret, except for a refusal by the lock or the storage.
func isOutcome(h *history.History, p trace.Point) bool {
	return slices.ContainsFunc(p.Alternatives(), func(c trace.Alternative) bool {
		switch what := c.Happening.(type) {
		case trace.Action:
			if slices.Contains(refusals, what.Verb) {
				return true
			}
			return h.IsClient(what.Process) && what.Process != firstHolder(h) && !slices.Contains(neutralVerbs, what.Verb)
		case trace.StepEnded:
			return what.Client != firstHolder(h)
		case trace.KeysExpired:
			return what.Client != firstHolder(h)
		case trace.RequestServed:
			return true
		}
		return false
	})
}

// refusals are the verbs of points that say that a client is refused something. neutralVerbs say
// nothing about what a client achieves.
var (
	refusals     = []trace.Verb{trace.NotAcquired, trace.WasRefused}
	neutralVerbs = []trace.Verb{trace.Asked, trace.Paused, trace.Resumed, trace.Crashed, trace.Cancelled}
)

// firstHolder returns the client that was granted a lock first; "" if there is none.
func firstHolder(h *history.History) string {
	if len(h.Sections()) == 0 {
		return ""
	}
	return h.Sections()[0].Client
}

// afterStart returns the point at a time of the run.
func afterStart(at time.Duration) trace.Point {
	p, err := trace.ParsePoint(at.Round(time.Millisecond).String() + " after the start")
	if err != nil {
		panic(err) // the text is valid
	}
	return p
}

// presentVerbs say what a process does at a point, for readers who do not know the language of
// scenarios: there "client-1 paused" is the beginning of a pause.
var presentVerbs = map[trace.Verb]string{
	trace.Asked: " asks for the lock", trace.Acquired: " is granted the lock", trace.HasRead: " has read the data",
	trace.Worked: " has worked", trace.Wrote: " has written", trace.Released: " has released the lock",
	trace.Paused: "'s pause begins", trace.Resumed: "'s pause ends", trace.Crashed: " crashes", trace.Restarted: " restarts",
}

// presentPhrase returns a point as [trace.Point.Phrase] does, but in the present tense.
func presentPhrase(p trace.Point) string {
	var alternatives []string
	for _, c := range p.Alternatives() {
		alternatives = append(alternatives, presentAlternative(c))
	}
	phrase := strings.Join(alternatives, " or ")
	if p.Phrase() == p.String() { // it is an adverbial phrase as it is: "5s after …"
		return phrase
	}
	return "when " + phrase
}

// presentAlternative returns an alternative of a point in the present tense.
func presentAlternative(c trace.Alternative) string {
	var text string
	switch what := c.Happening.(type) {
	case trace.Action:
		if present := presentVerbs[what.Verb]; present != "" {
			text = what.Process + present
		}
	case trace.KeysExpired:
		text = what.Client + "'s keys have expired"
	}
	if text == "" {
		return trace.AnyOf(c).String()
	}
	if c.Nth > 0 {
		text += ", " + trace.NthTime(c.Nth)
	}
	if c.Delay > 0 {
		text = trace.ShortDuration(c.Delay) + " after " + text
	}
	return text
}
