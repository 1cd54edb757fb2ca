package quiz

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// refusalForm asks which request the storage refuses first in the run with fencing tokens, and
// why.
var refusalForm = Form{Name: "refusal", Title: "which request the storage refuses, and why", ask: askRefusal}

// A refusal is a request of a client that the storage refuses, with the reason. The request
// is the step of the client and the object that it is about.
type refusal struct {
	client string
	step   trace.Step
	object string
	reason refusalReason
}

// A refusalReason says why a storage refuses a request.
type refusalReason string

// The reasons for which a storage refuses a request.
const (
	staleToken  refusalReason = "the storage has already seen a newer token"
	noToken     refusalReason = "it carries no token"
	otherMark   refusalReason = "the object does not have the mark of this client"
	newVersion  refusalReason = "the object has changed since the client read it"
	noVersion   refusalReason = "it does not say which version the client has read"
	keyIsGone   refusalReason = "the client's key no longer exists"
	periodTaken refusalReason = "the job of this period has a row already"
)

// text returns the refusal as a choice.
func (r refusal) text() string {
	return fmt.Sprintf("%s %s of %s, because %s", story.Possessive(r.client), r.step, r.object, r.reason)
}

func askRefusal(c *Case) *Question {
	h := c.On.History
	policy := storage.Policy(h.Trace.Fencing)
	served := h.ServedRequests()
	first := slices.IndexFunc(served, func(ev *trace.Event) bool { return !ev.OK })
	overlaps := c.On.Verdict.Finding(checks.SectionExclusion).Outcome == checks.Violated
	if first < 0 && (!overlaps || policy == storage.None || policy == "") {
		return nil // nobody expects a refusal
	}
	q := &Question{
		Text: "Which request does the storage refuse first in the run with fencing tokens, and why?",
	}
	var right refusal
	if first >= 0 {
		right = refusalOf(h, served[first])
		q.Reason = string(story.Sentence(fmt.Sprintf("at %s the storage refuses %s %s of %s: %s", story.Time(served[first].At), story.Possessive(right.client), right.step, right.object, story.Quoted(served[first].Text))))
	} else {
		q.Reason = "The storage refuses nothing in this run."
	}
	offered := offeredRefusals(h, right)
	if len(offered) < 2 {
		return nil // nothing is left to choose from
	}
	for _, r := range offered {
		choice := Choice{Text: r.text(), IsRight: r == right}
		switch {
		case choice.IsRight || first < 0:
		case r.client == right.client && r.step == right.step && r.object == right.object:
			choice.IsClose, choice.Remark = true, "the right request, for another reason"
		case r.client == right.client && r.reason == right.reason:
			choice.IsClose, choice.Remark = true, "the right client and reason, but another request is refused first"
		}
		q.Choices = append(q.Choices, choice)
	}
	q.Choices = append(q.Choices, Choice{Text: "none: the storage refuses nothing", IsRight: first < 0})
	return q
}

// mostClients is the greatest number of clients that a question offers; the client of the right
// answer can be one more.
const mostClients = 3

// offeredRefusals returns the refusals to choose from. So that the right answer does not stand out,
// it offers the same reasons for each request. It offers the requests that have the step and the
// object of the right answer, and the first write of each client. right is zero if nothing was
// refused.
func offeredRefusals(h *history.History, right refusal) []refusal {
	reasons := usualReasons(h)
	if right.reason != "" && !slices.Contains(reasons, right.reason) {
		reasons[1] = right.reason
	}
	var clients []string
	var requests []refusal // without a reason
	for _, ev := range h.ServedRequests() {
		name := ev.Client()
		isRightKind := ev.Step == right.step && ev.Object == right.object
		isFirstWrite := ev.Step == trace.Write && !slices.ContainsFunc(requests, func(r refusal) bool { return r.client == name && r.step == trace.Write })
		if !isRightKind && !isFirstWrite {
			continue
		}
		if !slices.Contains(clients, name) {
			if len(clients) >= mostClients && name != right.client {
				continue
			}
			clients = append(clients, name)
		}
		if r := (refusal{name, ev.Step, ev.Object, ""}); !slices.Contains(requests, r) {
			requests = append(requests, r)
		}
	}
	var offered []refusal
	for _, name := range h.InWorldOrder(clients) {
		for _, r := range requests {
			for _, reason := range reasons {
				if r.client == name {
					r.reason = reason
					offered = append(offered, r)
				}
			}
		}
	}
	return offered
}

// usualReasons returns two reasons for which the storage of a run may refuse a request,
// depending on how it checks requests.
func usualReasons(h *history.History) []refusalReason {
	switch policy := storage.Policy(h.Trace.Fencing); {
	case policy == storage.Optimistic:
		return []refusalReason{newVersion, noVersion}
	case policy == storage.Owner:
		return []refusalReason{keyIsGone, staleToken}
	case policy == storage.CheckAndSet:
		return []refusalReason{otherMark, noToken}
	case h.Trace.Schedule != nil:
		return []refusalReason{staleToken, periodTaken}
	}
	return []refusalReason{staleToken, noToken}
}

// refusalOf returns the refusal that an event records.
func refusalOf(h *history.History, ev *trace.Event) refusal {
	r := refusal{client: ev.Client(), step: ev.Step, object: ev.Object}
	policy := storage.Policy(h.Trace.Fencing)
	switch isClaim := h.Trace.Schedule != nil && ev.Object == trace.PeriodRecord; {
	case policy == storage.Optimistic:
		r.reason = newVersion
	case policy == storage.Owner:
		r.reason = keyIsGone
	case isClaim && ev.Token >= newestToken(h, ev):
		r.reason = periodTaken
	case ev.Token == 0:
		r.reason = noToken
	case policy == storage.CheckAndSet:
		r.reason = otherMark
	default:
		r.reason = staleToken
	}
	return r
}

// newestToken returns the highest token that the storage had accepted before an event.
func newestToken(h *history.History, ev *trace.Event) uint64 {
	var newest uint64
	for _, earlier := range h.StorageDecisions() {
		if earlier.Seq < ev.Seq && earlier.OK {
			newest = max(newest, earlier.Token)
		}
	}
	return newest
}
