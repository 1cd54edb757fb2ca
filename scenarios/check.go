package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// These are the limits of numbers in a scenario. The limits of lists and mappings are in
// the tags of their fields.
const (
	maxNodes = 101       // nodes of the lock
	maxCount = 1_000_000 // sections and attempts
)

// These limit the names of clients, nodes and variants. The JSON Schema uses the pattern, too.
const (
	namePattern = `^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	nameHint    = "a name is lower-case letters, digits and single dashes, as in client-1"
)

var validName = lazy.Regexp(namePattern)

// reservedWords are words of the grammar of points. They cannot be names, because a point
// with such a name could be read in two ways.
var reservedWords = append(toStrings(trace.Steps()...), trace.StorageName, trace.OperatorName,
	"every", "or", "after", "before", "when", "while", "at", "until", "request", "reply", "key", "keys", "clock")

// nameProblem returns why s is not a valid name; "" if it is valid.
func nameProblem(s string) string {
	const longest = 40
	switch {
	case !validName().MatchString(s):
		return quote(s) + " is not a name"
	case len(s) > longest:
		return fmt.Sprintf("%s has more than %d letters", quote(s), longest)
	case slices.Contains(reservedWords, s):
		return quote(s) + " is a reserved word, so it cannot be a name"
	}
	return ""
}

// check reports the problems that reading alone does not find: missing fields, names of
// processes that do not exist, and values that contradict each other.
func (d *draft) check() {
	for _, field := range []string{"title", "lock", "clients"} {
		d.requireField(field)
	}
	if d.hasUnread {
		return // everything in the unread list would be reported as missing
	}
	d.checkLock()
	d.checkNodes()
	d.checkTokens()
	d.checkServices()
	d.checkSchedule()
	d.checkClients()
	d.checkPaths()
	d.checkFaults()
	for i, w := range d.spec.Witnesses {
		d.checkCondition(fmt.Sprintf("witnesses[%d]", i+1), w)
	}
	d.checkExpectations()
	if d.found == d.foundBefore {
		d.checkWorld()
	}
}

// isWritten reports whether the file has a field, even if its value is not valid.
func (d *draft) isWritten(path string) bool {
	_, ok := d.nodes[path]
	return ok
}

// requireField reports a field that is missing.
func (d *draft) requireField(path string) {
	if d.isWritten(path) {
		return
	}
	hint := "every scenario needs it"
	if of := parent(path); of != "" && of != "lock" {
		hint = fmt.Sprintf("add it, or leave %s out", of)
	}
	d.reportAt(path, "it is missing", hint)
}

// checkLock reports settings that the kind of lock does not have, and values that are out
// of range.
func (d *draft) checkLock() {
	if !d.isWritten("lock") {
		return
	}
	d.requireField("lock.kind")
	l := d.spec.Lock
	if kind, ok := locks.Lookup(string(l.Kind)); !ok || !kind.Open && !kind.Endless {
		d.requireField("lock.ttl")
	}
	if n := l.Nodes; n != nil && (*n < 1 || *n > maxNodes) {
		d.reportAt("lock.nodes", "a lock cannot have %d nodes", fmt.Sprintf("it has 1 to %d", maxNodes), *n)
	}
	if kind, ok := locks.Lookup(string(l.Kind)); ok {
		for _, option := range []string{"ask", "clock", "node-timeout", "expects", "failures", "open-for", "fallback", "holders"} {
			if d.isWritten("lock."+option) && !slices.Contains(kind.Accepts, option) {
				d.reportAt("lock."+option, "the lock %s has no such setting", "leave it out", kind.Name)
			}
		}
		for i, f := range l.Without {
			if f != "" && !slices.Contains(kind.Features, string(f)) {
				d.reportAt(fmt.Sprintf("lock.without[%d]", i+1), "the lock %s has no %s to turn off", DidYouMean(string(f), kind.Features), kind.Name, quote(string(f)))
			}
		}
	}
	if quickest := 2 * d.spec.network().Min; l.TTL > 0 && time.Duration(l.TTL) <= quickest {
		d.reportAt("lock.ttl", "a lock with a TTL of %v expires before the fastest reply, which takes %v", "give a longer ttl, or a shorter network.latency",
			time.Duration(l.TTL), quickest)
	}
}

// checkNodes reports nodes that have no part in the scenario, and replicas without a
// master.
func (d *draft) checkNodes() {
	masters, counters := d.spec.masters(), d.spec.counters()
	for _, e := range d.spec.Nodes {
		path := joinPath("nodes", e.name)
		replicaPath := joinPath(path, "replica-of")
		isMaster := slices.Contains(masters, e.name)
		if bad := nameProblem(e.name); bad != "" {
			d.reportAt(path, "%s", nameHint, bad)
		}
		switch {
		case isMaster && d.isWritten(replicaPath):
			d.reportAt(replicaPath, "%s is one of the lock's own nodes, so it cannot be a replica", "give the replica another name", e.name)
		case isMaster && d.isWritten(joinPath(path, "lag")):
			d.reportAt(joinPath(path, "lag"), "only a replica has a lag", "leave it out")
		case slices.Contains(counters, e.name) && d.isWritten(replicaPath):
			d.reportAt(replicaPath, "%s counts fencing tokens, so it cannot be a replica", "give the replica another name", e.name)
		case slices.Contains(counters, e.name):
		case !isMaster && !d.isWritten(replicaPath):
			d.reportAt(path, "the lock has no node of this name, and it is neither a replica nor a node that counts tokens", fmt.Sprintf("%s; a replica needs replica-of, and a node that counts tokens must be listed under tokens.nodes", describeMasters(masters)))
		case d.isWritten(replicaPath) && !slices.Contains(masters, e.value.ReplicaOf) && e.value.ReplicaOf != "":
			if _, replica := d.spec.Nodes.get(e.value.ReplicaOf); replica {
				d.reportAt(replicaPath, "%s is not a master", "a replica follows one of the lock's own nodes", quote(e.value.ReplicaOf))
			} else {
				d.reportAt(replicaPath, "no node is called %s", d.didYouMean(replicaPath, e.value.ReplicaOf, masters), quote(e.value.ReplicaOf))
			}
		}
	}
}

// describeMasters returns a clause that names the lock's own nodes, for a message.
func describeMasters(masters []string) string {
	switch n := len(masters); n {
	case 0:
		return "the lock has no nodes"
	case 1:
		return "the lock's node is " + masters[0]
	default:
		return fmt.Sprintf("the lock's nodes are %s to %s", masters[0], masters[n-1])
	}
}

// checkTokens reports nodes that do not fit the source of the tokens.
func (d *draft) checkTokens() {
	t := d.spec.Tokens
	if d.isWritten("tokens") {
		d.requireField("tokens.source")
	}
	for i, name := range t.Nodes {
		path := fmt.Sprintf("tokens.nodes[%d]", i+1)
		if bad := nameProblem(name); bad != "" {
			d.reportAt(path, "%s", nameHint, bad)
		}
		if slices.Contains(t.Nodes[:i], name) {
			d.reportAt(path, "%s is named twice", "leave one out", name)
		}
	}
	source, ok := locks.LookupTokenSource(string(t.Source))
	switch {
	case !ok:
	case source.Counts && len(t.Nodes) == 0 && len(d.spec.masters()) == 0:
		d.reportAt("tokens", "there is no node to count the tokens on", "name one in tokens.nodes")
	case source.Counts && !source.CountsOnAll && len(t.Nodes) > 1:
		d.reportAt("tokens.nodes[2]", "the source %s counts tokens on one node only", "leave the others out", source.Name)
	case !source.Counts && len(t.Nodes) > 0:
		d.reportAt("tokens.nodes", "the source %s does not count tokens on nodes", "leave the nodes out", source.Name)
	}
}

func (d *draft) checkSchedule() {
	if !d.isWritten("schedule") {
		return
	}
	d.requireField("schedule.every")
	s := d.spec.Schedule
	if n := s.Periods; n != nil && (*n < 1 || *n > trace.MaxPeriods) {
		d.reportAt("schedule.periods", "there cannot be %d periods", fmt.Sprintf("there are 1 to %d", trace.MaxPeriods), *n)
		return
	}
	if last := d.spec.schedule(); last.Periods > 0 && last.PeriodStart(last.Periods) >= d.spec.horizon() {
		d.reportAt("schedule", "the run ends at %v, before the last period begins at %v", "give a longer horizon, or fewer periods", d.spec.horizon(), last.PeriodStart(last.Periods))
	}
}

func (d *draft) checkServices() {
	if d.spec.Services != nil && len(d.spec.Services) == 0 {
		d.reportAt("services", "there are no services here", "leave the field out")
	}
	for _, e := range d.spec.Services {
		path := joinPath("services", e.name)
		if bad := nameProblem(e.name); bad != "" {
			d.reportAt(path, "%s", nameHint, bad)
		}
		if d.participants.isNode[e.name] {
			d.reportAt(path, "a node is already called that", "give the service another name")
		}
		if d.participants.isClient[e.name] {
			d.reportAt(path, "a client is already called that", "give the service another name")
		}
	}
}

// checkPaths reports processes of the network's paths that do not exist.
func (d *draft) checkPaths() {
	for i, p := range d.spec.Network.Paths {
		path := fmt.Sprintf("network.paths[%d]", i+1)
		d.requireField(path + ".from")
		d.requireField(path + ".to")
		d.requireField(path + ".latency")
		if p.From != "" {
			d.checkNames(path+".from", []string{p.From})
		}
		for j, to := range p.To {
			d.checkNames(fmt.Sprintf("%s.to[%d]", path, j+1), []string{to})
			if to == p.From {
				d.reportAt(fmt.Sprintf("%s.to[%d]", path, j+1), "%s sends no messages to itself", "name another process", to)
			}
		}
	}
}

// checkTasks reports tasks, the items of the list does, that a client cannot do.
func (d *draft) checkTasks(path string, c client) {
	if c.Does != nil && len(c.Does) == 0 {
		d.reportAt(joinPath(path, "does"), "the list is empty", "name what the client does, or leave the field out")
	}
	if c.IfNoAnswer == "resends" && !d.isWritten(joinPath(path, "gives-up")) {
		d.reportAt(joinPath(path, "if-no-answer"), "the client waits for an answer for ever", "set how long it waits with gives-up")
	}
	works := 0
	for i, t := range c.Does {
		at := fmt.Sprintf("%s[%d]", joinPath(path, "does"), i+1)
		switch {
		case t.Step == trace.Work:
			if works++; works > 1 {
				d.reportAt(at, "the client works twice", "keep one work step, and set its duration with works")
			}
		case t.Note != "" && !d.isWritten("schedule"):
			d.reportAt(at, "there is no period to %s: the scenario has no schedule", "set under schedule when the job is due, or leave the step out", t.Note)
		case t.Note == "" && t.Object == trace.PeriodRecord && d.isWritten("schedule"):
			d.reportAt(at, "%s is the object in which periods are recorded", "write recall, remember or claim, or name another object", quote(t.Object))
		case t.Step == trace.Mint && d.spec.Tokens.Source == "":
			d.reportAt(at, "the scenario has no source of tokens to mint from", "give tokens a source, or leave the step out")
		case t.Object != "" && nameProblem(t.Object) != "" && !slices.Contains(reservedWords, t.Object):
			d.reportAt(at, "%s is not a name", nameHint, quote(t.Object))
		}
		for _, name := range t.Via {
			if !d.participants.isService[name] {
				d.reportAt(at, "no service is called %s", cmp.Or(d.didYouMean(at, name, d.participants.services), "name it under services"), quote(name))
			}
		}
	}
	if len(c.Does) == 0 || works > 0 {
		return
	}
	for _, field := range []string{"works", "works-until", "extends-every"} {
		if d.isWritten(joinPath(path, field)) {
			d.reportAt(joinPath(path, field), "the client never works: does has no step work", "add work to does")
		}
	}
}

func (d *draft) checkClients() {
	if d.spec.Clients != nil && len(d.spec.Clients) == 0 {
		d.reportAt("clients", "there must be at least one client", "write client-1: {}")
	}
	for _, e := range d.spec.Clients {
		path := joinPath("clients", e.name)
		if bad := nameProblem(e.name); bad != "" {
			d.reportAt(path, "%s", nameHint, bad)
		}
		if d.participants.isNode[e.name] {
			d.reportAt(path, "a node is already called that", "give the client another name")
		}
		d.checkTasks(path, e.value)
		d.checkCount(joinPath(path, "sections"), e.value.Sections)
		if d.isWritten("schedule") && d.isWritten(joinPath(path, "sections")) {
			d.reportAt(joinPath(path, "sections"), "with a schedule a client has one section in each period", "leave it out, and set the number of periods with schedule.periods")
		}
		d.checkCount(joinPath(path, "attempts"), e.value.Attempts)
		d.checkCondition(joinPath(path, "starts"), e.value.Starts)
		d.checkCondition(joinPath(path, "works-until"), e.value.WorksUntil)
		d.checkCondition(joinPath(path, "cancels"), e.value.Cancels)
	}
	d.checkStarts()
}

// checkStarts reports clients of which each waits for another, or for itself: none of them ever
// starts.
func (d *draft) checkStarts() {
	waiting := map[string][]string{}
	for _, e := range d.spec.Clients {
		if names := e.value.Starts.Names(); len(names) > 0 {
			waiting[e.name] = names
		}
	}
	for isSmaller := true; isSmaller; {
		before := len(waiting)
		maps.DeleteFunc(waiting, func(_ string, names []string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return waiting[n] == nil })
		})
		isSmaller = len(waiting) < before
	}
	for _, e := range d.spec.Clients {
		path, stuck := joinPath(joinPath("clients", e.name), "starts"), slices.Sorted(maps.Keys(waiting))
		switch {
		case waiting[e.name] == nil:
		case !slices.ContainsFunc(waiting[e.name], func(n string) bool { return n != e.name }):
			d.reportAt(path, "%s waits for itself and never starts", "start it at a point of another process", e.name)
		default:
			d.reportAt(path, "%s never starts, because each of %s waits for one of these", "start one of them at another point", e.name, strings.Join(stuck, ", "))
		}
	}
}

// checkCount reports a number of critical sections or attempts that is out of range.
func (d *draft) checkCount(path string, n *int) {
	if n != nil && (*n < 1 || *n > maxCount) {
		d.reportAt(path, "it cannot be %d", fmt.Sprintf("it is 1 to %d", maxCount), *n)
	}
}

func (d *draft) checkFaults() {
	for i, f := range d.spec.Faults {
		path := fmt.Sprintf("faults[%d]", i+1)
		if !f.Before.IsZero() {
			d.checkClient(path+".before", f.Before.Client)
		}
		d.checkCondition(path+".after", f.After)
		d.checkCondition(path+".when", f.When)
		d.checkCondition(path+".until", f.Until)
		if f.ByClockOf != "" {
			d.checkNames(path+".by-clock-of", []string{f.ByClockOf})
		}
		if f.At != nil && time.Duration(*f.At) >= d.spec.horizon() {
			d.reportAt(path+".at", "the run ends at %v, before the fault strikes", "give a longer horizon", d.spec.horizon())
		}
	}
}

// checkClient reports the name at path if no client has it.
func (d *draft) checkClient(path, name string) {
	if len(d.participants.clients) > 0 && !d.participants.isClient[name] {
		d.reportAt(path, "no client is called %s", d.didYouMean(path, name, d.participants.clients), quote(name))
	}
}

// A condition is a point or a witness.
type condition interface {
	Names() []string
	Fits(role func(name string) (trace.Role, bool)) error
}

// checkCondition reports the processes in the condition at path that do not exist. If all
// exist, it reports a process that can never do what the condition says.
func (d *draft) checkCondition(path string, t condition) {
	before := d.found
	d.checkNames(path, t.Names())
	if err := t.Fits(d.participants.role); err != nil && d.found == before {
		d.reportAt(path, "%v", "", err)
	}
}

// checkNames reports those names at path that no process has.
func (d *draft) checkNames(path string, names []string) {
	if len(d.participants.clients) == 0 {
		return // check itself reports that there are no clients
	}
	for _, n := range names {
		if _, known := d.participants.role(n); known {
			continue
		}
		what, hint := d.guessName(path, n)
		d.reportAt(path, "no %s is called %s", hint, what, quote(n))
	}
}

// didYouMean is [DidYouMean] for a name at path. The hint is "" if the file has too many
// misspellings.
func (d *draft) didYouMean(path, name string, among []string) string {
	n, _ := d.findWritten(path)
	return d.suggest(n, name, func() suggestion { return suggestion{hint: DidYouMean(name, among)} }).hint
}

// guessName returns the role of the process that the unknown name at path was probably
// meant for, and a hint.
func (d *draft) guessName(path, name string) (what trace.Role, hint string) {
	if strings.HasPrefix(name, d.spec.system().Name+"-") {
		return trace.RoleNode, d.didYouMean(path, name, d.participants.nodes)
	}
	n, _ := d.findWritten(path)
	m := d.suggest(n, name, func() suggestion {
		if nearest(name, d.participants.clients) == "" {
			if all := d.participants.names(); nearest(name, all) != "" {
				return suggestion{"process", DidYouMean(name, all)}
			}
		}
		return suggestion{hint: DidYouMean(name, d.participants.clients)}
	})
	return cmp.Or(m.role, trace.RoleClient), m.hint
}

// checkWorld makes the world and reports what the simulator refuses in it, such as a fault
// that cannot act.
func (d *draft) checkWorld() {
	v := &Variant{Lock: string(d.spec.Lock.Kind), spec: d.spec}
	c, err := v.uncheckedConfig(Options{Fencing: On})
	if err != nil {
		d.reportAt("", "%v", "", err)
		return
	}
	if err := c.Lock.Kind.Check(c.Lock.Options); err != nil {
		d.reportAt("lock", "%v", "", err)
	}
	var missing *sim.MissingSystem
	if errors.As(c.CheckNodes(), &missing) {
		return // only a program that contains these servers can check the rest
	}
	if err := c.CheckSize(); err != nil {
		d.reportAt("clients", "%v", "", err)
		return
	}
	if err := c.CheckNesting(); err != nil {
		path := "clients"
		var bad *sim.BadNesting
		if errors.As(err, &bad) {
			path = fmt.Sprintf("%s[%d]", joinPath(joinPath("clients", bad.Client), "does"), bad.Task)
		}
		d.reportAt(path, "%v", "", err)
		return
	}
	if err := c.CheckStorage(); err != nil {
		path := "storage.fencing"
		if c.Storage.InCluster {
			path = "storage"
		}
		d.reportAt(path, "%v", "", err)
		return
	}
	if err := c.CheckSchedule(); err != nil {
		d.reportAt("schedule", "%v", "", err)
		return
	}
	if err := c.CheckTTL(); err != nil {
		d.reportAt("lock.ttl", "%v", "", err)
		return
	}
	if err := c.CheckNodes(); err != nil {
		path := ""
		var bad *sim.BadNode
		if errors.As(err, &bad) {
			switch path = "tokens.source"; bad.Field {
			case "":
			case "settings":
				path = "servers"
			default:
				path = joinPath(joinPath("nodes", bad.Node), bad.Field)
			}
		}
		d.reportAt(path, "%v", "", err)
		return
	}
	var drifts *sim.TooManyDrifts
	if err := c.CheckDrifts(); errors.As(err, &drifts) {
		d.reportAt(fmt.Sprintf("faults[%d]", drifts.Fault+1), "%v", "", err)
	}
	t := c.Topology()
	for i, f := range c.Faults {
		if err := f.Check(t); err != nil {
			d.reportRefusal(fmt.Sprintf("faults[%d]", i+1), err)
		}
	}
}

// reportRefusal reports why a kind of fault refuses its parameters. Usually the error
// begins with the name of the parameter.
func (d *draft) reportRefusal(path string, err error) {
	var unknown *sim.UnknownProcess
	if errors.As(err, &unknown) {
		d.reportAt(joinPath(path, unknown.Field), "no process is called %s", d.didYouMean(joinPath(path, unknown.Field), unknown.Name, unknown.Known), quote(unknown.Name))
		return
	}
	field, message, ok := strings.Cut(err.Error(), ": ")
	if !ok || strings.Contains(field, " ") {
		d.reportAt(path, "%v", "", err)
		return
	}
	d.reportAt(joinPath(path, field), "%s", "", message)
}
