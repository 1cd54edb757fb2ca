package storyboard

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A cast is the subject of a storyboard: the clients, sections and objects that the first
// finding names. If the finding names too few clients to show a competition, the cast adds
// the clients of the witnesses and of the faults, and then the clients that were granted
// the lock.
type cast struct {
	history *history.History
	// finding is the property that the first finding is about; "" if there is no finding.
	finding checks.Property
	clients []string
	// sections are the chosen critical sections, in the order of their grants.
	sections []*history.Section
	// objects are the objects of the storage that the finding is about; empty if there are none.
	objects []string
	// otherClients and otherSections count the clients and sections that were left out.
	otherClients, otherSections int
}

// newCast chooses the cast from the first run that violates a property. If there is none, it
// chooses from the first run.
func newCast(runs []story.Run) *cast {
	lead := runs[0]
	if i := slices.IndexFunc(runs, func(r story.Run) bool { return len(r.Verdict.Violations()) > 0 }); i >= 0 {
		lead = runs[i]
	}
	c := &cast{history: lead.History, finding: lead.Verdict.Gravest()}
	evidence := evidenceOf(lead.Verdict)
	c.readObjects(evidence)
	c.chooseClients(lead, evidence)
	c.chooseSections(lead, evidence)
	return c
}

// evidenceOf returns the numbers (Seq) of the events that show the first violation; nil if there
// is none.
func evidenceOf(v *checks.Verdict) []int {
	found := v.Violations()
	if len(found) == 0 {
		return nil
	}
	seqs := append(slices.Clone(found[0].Events), found[0].At)
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

// readObjects sets objects to the objects of the storage in the events of the evidence.
func (c *cast) readObjects(evidence []int) {
	for _, seq := range evidence {
		if ev := c.history.Event(seq); ev != nil && ev.Object != "" && !slices.Contains(c.objects, ev.Object) {
			c.objects = append(c.objects, ev.Object)
		}
	}
}

// acquisitionsOf returns the acquisitions that an event is about. An acquisition is one attempt
// of a client to get the lock, with the critical section that follows.
func acquisitionsOf(ev *trace.Event) []history.Acquisition {
	var all []history.Acquisition
	for _, a := range []*trace.Actor{ev.Prior, ev.Owner, ev.By} {
		if a != nil {
			all = append(all, history.AcquisitionOf(a))
		}
	}
	if ev.By == nil {
		all = append(all, history.Acquisition{Client: ev.Process, Section: ev.Section})
	}
	return all
}

// enoughClients returns how many clients a storyboard needs to show a competition for the lock: one
// more than can hold the lock at the same time.
func (c *cast) enoughClients() int {
	enough := 2
	for _, lock := range c.history.Trace.Locks {
		enough = max(enough, lock.Holders+1)
	}
	return min(enough, maxClients)
}

// chooseClients chooses the clients.
func (c *cast) chooseClients(run story.Run, evidence []int) {
	h, all := run.History, 0
	for _, p := range h.Trace.Processes {
		if p.Role == trace.RoleClient {
			all++
		}
	}
	add := func(limit int, names ...string) {
		for _, name := range names {
			if len(c.clients) < limit && h.IsClient(name) && !slices.Contains(c.clients, name) {
				c.clients = append(c.clients, name)
			}
		}
	}
	for _, seq := range evidence {
		if ev := h.Event(seq); ev != nil {
			for _, id := range acquisitionsOf(ev) {
				add(maxClients, id.Client)
			}
		}
	}
	enough := c.enoughClients()
	for _, w := range run.Witnesses {
		add(enough, w.Names()...)
	}
	for _, act := range h.Acts() {
		add(enough, h.ClientOf(act.Fault))
	}
	for _, s := range h.Sections() {
		add(enough, s.Client)
	}
	for _, p := range h.Trace.Processes {
		add(enough, p.Name)
	}
	c.clients = h.InWorldOrder(c.clients)
	c.otherClients = all - len(c.clients)
}

// chooseSections chooses sections of the chosen clients. It prefers those in the evidence, and
// then those that took part in another violation or in a fault. If these are too few, the
// sections that were granted first follow.
func (c *cast) chooseSections(run story.Run, evidence []int) {
	weight := map[history.Acquisition]int{}
	for id := range run.Verdict.Parties(run.History) {
		weight[id] = 1
	}
	for _, seq := range evidence {
		if ev := run.History.Event(seq); ev != nil {
			for _, id := range acquisitionsOf(ev) {
				weight[id] = 2
			}
		}
	}
	all := run.History.Sections()
	c.sections = slices.DeleteFunc(slices.Clone(all), func(s *history.Section) bool { return !slices.Contains(c.clients, s.Client) })
	slices.SortStableFunc(c.sections, func(a, b *history.Section) int { return weight[b.Acquisition] - weight[a.Acquisition] })
	n := slices.IndexFunc(c.sections, func(s *history.Section) bool { return weight[s.Acquisition] == 0 })
	if n < c.enoughClients() {
		n = len(c.sections) // too few are known to matter
	}
	c.sections = c.sections[:min(n, maxSections)]
	slices.SortStableFunc(c.sections, func(a, b *history.Section) int { return a.From.Seq - b.From.Seq })
	c.otherSections = len(all) - len(c.sections)
}

// hasClient reports whether a client is in the cast.
func (c *cast) hasClient(name string) bool { return slices.Contains(c.clients, name) }

// hasSection reports whether a section is in the cast. The cast was chosen from one run of the
// world. If only another run has the section, the section is in the cast if its client is.
func (c *cast) hasSection(id history.Acquisition) bool {
	isChosen := slices.ContainsFunc(c.sections, func(s *history.Section) bool { return s.Acquisition == id })
	return isChosen || c.hasClient(id.Client) && c.history.Section(id) == nil
}

// hasSeveralLocks reports whether the sections are of several locks.
func (c *cast) hasSeveralLocks() bool {
	return slices.ContainsFunc(c.sections, func(s *history.Section) bool { return s.Lock != c.sections[0].Lock })
}

// hasSeveralObjects reports whether the storyboard shows requests for several objects.
func (c *cast) hasSeveralObjects() bool {
	if len(c.objects) > 0 {
		return len(c.objects) > 1
	}
	return len(objectsOf(c.history)) > 1
}

// hasRequest reports whether a request to the storage belongs to the cast. There are two
// conditions. The request was sent in a section of the cast, or by a client of the cast outside
// any section. And the request is for an object of the cast (if it has any), or it was refused,
// because a refusal can keep a client from the objects.
func (c *cast) hasRequest(ev *trace.Event) bool {
	id := history.Acquisition{Client: ev.Client(), Section: ev.Section}
	isOurs := c.hasSection(id) || c.hasClient(id.Client) && c.history.Section(id) == nil
	return isOurs && (len(c.objects) == 0 || !ev.OK || slices.Contains(c.objects, ev.Object))
}
