package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// The limits of a world. The limits of lists and mappings are in the tags of their fields.
const (
	maxNodes = 101       // of the lock's own
	maxCount = 1_000_000 // sections and attempts
)

// The names of clients, nodes and variants. The JSON Schema uses the pattern, too.
const (
	namePattern = `^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	nameHint    = "a name is lower-case letters, digits and single dashes, as in client-1"
)

var validName = lazy.Regexp(namePattern)

// reservedWords are the words of which points are made. They cannot be names.
var reserved = append(texts(trace.Steps()...), trace.StorageName, trace.OperatorName,
	"every", "or", "after", "before", "when", "while", "at", "until", "request", "reply", "key", "keys", "clock")

// nameProblem returns why s cannot be used as a name, or "" if it can.
func badName(s string) string {
	const longest = 40
	switch {
	case !validName().MatchString(s):
		return quoted(s) + " is not a name"
	case len(s) > longest:
		return fmt.Sprintf("%s has more than %d letters", quoted(s), longest)
	case slices.Contains(reserved, s):
		return quoted(s) + " is a reserved word, so it cannot be a name"
	}
	return ""
}

// check reports the problems that decoding does not find: missing fields, names of
// processes that do not exist, and values that contradict each other.
func (d *draft) check() {
	for _, field := range []string{"title", "lock", "clients"} {
		d.need(field)
	}
	if d.crowded {
		return // else everything in the unread list would be reported as missing
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
		d.checkStory(fmt.Sprintf("witnesses[%d]", i+1), w)
	}
	d.checkExpectations()
	if d.found == d.earlier {
		d.checkWorld()
	}
}

// isWritten reports whether a field is in the file, valid or not.
func (d *draft) wrote(path string) bool {
	_, ok := d.nodes[path]
	return ok
}

func (d *draft) need(path string) {
	if d.wrote(path) {
		return
	}
	hint := "every scenario needs it"
	if of := parent(path); of != "" && of != "lock" {
		hint = fmt.Sprintf("add it, or leave %s out", of)
	}
	d.at(path, "it is missing", hint)
}

func (d *draft) checkLock() {
	if !d.wrote("lock") {
		return
	}
	d.need("lock.kind")
	l := d.spec.Lock
	if kind, ok := locks.Lookup(string(l.Kind)); !ok || !kind.Open && !kind.Endless {
		d.need("lock.ttl")
	}
	if n := l.Nodes; n != nil && (*n < 1 || *n > maxNodes) {
		d.at("lock.nodes", "a lock cannot have %d nodes", fmt.Sprintf("it has 1 to %d", maxNodes), *n)
	}
	if kind, ok := locks.Lookup(string(l.Kind)); ok {
		for _, option := range []string{"ask", "clock", "node-timeout", "expects", "failures", "open-for", "fallback", "holders"} {
			if d.wrote("lock."+option) && !slices.Contains(kind.Accepts, option) {
				d.at("lock."+option, "the lock %s has no such setting", "leave it out", kind.Name)
			}
		}
		for i, f := range l.Without {
			if f != "" && !slices.Contains(kind.Features, string(f)) {
				d.at(fmt.Sprintf("lock.without[%d]", i+1), "the lock %s has no %s to turn off", DidYouMean(string(f), kind.Features), kind.Name, quoted(string(f)))
			}
		}
	}
	if quickest := 2 * d.spec.network().Min; l.TTL > 0 && time.Duration(l.TTL) <= quickest {
		d.at("lock.ttl", "a lock with a TTL of %v expires before the fastest reply, which takes %v", "give a longer ttl, or a shorter network.latency",
			time.Duration(l.TTL), quickest)
	}
}

func (d *draft) checkNodes() {
	masters, counters := d.spec.masters(), d.spec.counters()
	for _, e := range d.spec.Nodes {
		path := join("nodes", e.name)
		of := join(path, "replica-of")
		isMaster := slices.Contains(masters, e.name)
		if bad := badName(e.name); bad != "" {
			d.at(path, "%s", nameHint, bad)
		}
		switch {
		case isMaster && d.wrote(of):
			d.at(of, "%s is one of the lock's own nodes, so it cannot be a replica", "give the replica another name", e.name)
		case isMaster && d.wrote(join(path, "lag")):
			d.at(join(path, "lag"), "only a replica has a lag", "leave it out")
		case slices.Contains(counters, e.name) && d.wrote(of):
			d.at(of, "%s counts fencing tokens, so it cannot be a replica", "give the replica another name", e.name)
		case slices.Contains(counters, e.name):
		case !isMaster && !d.wrote(of):
			d.at(path, "the lock has no node of this name, and it is neither a replica nor a node that counts tokens", fmt.Sprintf("%s; a replica needs replica-of, and a node that counts tokens must be listed under tokens.nodes", tellMasters(masters)))
		case d.wrote(of) && !slices.Contains(masters, e.value.ReplicaOf) && e.value.ReplicaOf != "":
			if _, replica := d.spec.Nodes.get(e.value.ReplicaOf); replica {
				d.at(of, "%s is not a master", "a replica follows one of the lock's own nodes", quoted(e.value.ReplicaOf))
			} else {
				d.at(of, "no node is called %s", d.didYouMean(of, e.value.ReplicaOf, masters), quoted(e.value.ReplicaOf))
			}
		}
	}
}

// describeMasters returns a clause with the names of the lock's own nodes.
func tellMasters(masters []string) string {
	switch n := len(masters); n {
	case 0:
		return "the lock has no nodes"
	case 1:
		return "the lock's node is " + masters[0]
	default:
		return fmt.Sprintf("the lock's nodes are %s to %s", masters[0], masters[n-1])
	}
}

func (d *draft) checkTokens() {
	t := d.spec.Tokens
	if d.wrote("tokens") {
		d.need("tokens.source")
	}
	for i, name := range t.Nodes {
		path := fmt.Sprintf("tokens.nodes[%d]", i+1)
		if bad := badName(name); bad != "" {
			d.at(path, "%s", nameHint, bad)
		}
		if slices.Contains(t.Nodes[:i], name) {
			d.at(path, "%s is named twice", "leave one out", name)
		}
	}
	source, ok := locks.LookupTokenSource(string(t.Source))
	switch {
	case !ok:
	case source.Counts && len(t.Nodes) == 0 && len(d.spec.masters()) == 0:
		d.at("tokens", "there is no node to count the tokens on", "name one in tokens.nodes")
	case source.Counts && !source.Several && len(t.Nodes) > 1:
		d.at("tokens.nodes[2]", "the source %s counts tokens on one node only", "leave the others out", source.Name)
	case !source.Counts && len(t.Nodes) > 0:
		d.at("tokens.nodes", "the source %s does not count tokens on nodes", "leave the nodes out", source.Name)
	}
}

func (d *draft) checkSchedule() {
	if !d.wrote("schedule") {
		return
	}
	d.need("schedule.every")
	s := d.spec.Schedule
	if n := s.Periods; n != nil && (*n < 1 || *n > trace.MostPeriods) {
		d.at("schedule.periods", "there cannot be %d periods", fmt.Sprintf("there are 1 to %d", trace.MostPeriods), *n)
		return
	}
	if last := d.spec.schedule(); last.Periods > 0 && last.Begins(last.Periods) >= d.spec.horizon() {
		d.at("schedule", "the run ends at %v, before the last period begins at %v", "give a longer horizon, or fewer periods", d.spec.horizon(), last.Begins(last.Periods))
	}
}

func (d *draft) checkServices() {
	if d.spec.Services != nil && len(d.spec.Services) == 0 {
		d.at("services", "there are no services here", "leave the field out")
	}
	for _, e := range d.spec.Services {
		path := join("services", e.name)
		if bad := badName(e.name); bad != "" {
			d.at(path, "%s", nameHint, bad)
		}
		if d.cast.isNode[e.name] {
			d.at(path, "a node is already called that", "give the service another name")
		}
		if d.cast.isClient[e.name] {
			d.at(path, "a client is already called that", "give the service another name")
		}
	}
}

func (d *draft) checkPaths() {
	for i, p := range d.spec.Network.Paths {
		path := fmt.Sprintf("network.paths[%d]", i+1)
		d.need(path + ".from")
		d.need(path + ".to")
		d.need(path + ".latency")
		if p.From != "" {
			d.checkNames(path+".from", []string{p.From})
		}
		for j, to := range p.To {
			d.checkNames(fmt.Sprintf("%s.to[%d]", path, j+1), []string{to})
			if to == p.From {
				d.at(fmt.Sprintf("%s.to[%d]", path, j+1), "%s sends no messages to itself", "name another process", to)
			}
		}
	}
}

// checkTasks reports the steps of a client that it cannot do.
func (d *draft) checkTasks(path string, c client) {
	if c.Does != nil && len(c.Does) == 0 {
		d.at(join(path, "does"), "the list is empty", "name what the client does, or leave the field out")
	}
	if c.IfNoAnswer == "resends" && !d.wrote(join(path, "gives-up")) {
		d.at(join(path, "if-no-answer"), "the client waits for an answer for ever", "set how long it waits with gives-up")
	}
	works := 0
	for i, t := range c.Does {
		at := fmt.Sprintf("%s[%d]", join(path, "does"), i+1)
		switch {
		case t.Step == trace.Work:
			if works++; works > 1 {
				d.at(at, "the client works twice", "keep one work step, and set its duration with works")
			}
		case t.Note != "" && !d.wrote("schedule"):
			d.at(at, "there is no period to %s: the scenario has no schedule", "set under schedule when the job is due, or leave the step out", t.Note)
		case t.Note == "" && t.Object == trace.Record && d.wrote("schedule"):
			d.at(at, "%s is the object in which periods are recorded", "write recall, remember or claim, or name another object", quoted(t.Object))
		case t.Step == trace.Mint && d.spec.Tokens.Source == "":
			d.at(at, "the scenario has no source of tokens to mint from", "give tokens a source, or leave the step out")
		case t.Object != "" && badName(t.Object) != "" && !slices.Contains(reserved, t.Object):
			d.at(at, "%s is not a name", nameHint, quoted(t.Object))
		}
		for _, name := range t.Via {
			if !d.cast.isService[name] {
				d.at(at, "no service is called %s", cmp.Or(d.didYouMean(at, name, d.cast.services), "name it under services"), quoted(name))
			}
		}
	}
	if len(c.Does) == 0 || works > 0 {
		return
	}
	for _, field := range []string{"works", "works-until", "extends-every"} {
		if d.wrote(join(path, field)) {
			d.at(join(path, field), "the client never works: does has no step work", "add work to does")
		}
	}
}

func (d *draft) checkClients() {
	if d.spec.Clients != nil && len(d.spec.Clients) == 0 {
		d.at("clients", "there must be at least one client", "write client-1: {}")
	}
	for _, e := range d.spec.Clients {
		path := join("clients", e.name)
		if bad := badName(e.name); bad != "" {
			d.at(path, "%s", nameHint, bad)
		}
		if d.cast.isNode[e.name] {
			d.at(path, "a node is already called that", "give the client another name")
		}
		d.checkTasks(path, e.value)
		d.checkCount(join(path, "sections"), e.value.Sections)
		if d.wrote("schedule") && d.wrote(join(path, "sections")) {
			d.at(join(path, "sections"), "with a schedule a client has one section in each period", "leave it out, and set the number of periods with schedule.periods")
		}
		d.checkCount(join(path, "attempts"), e.value.Attempts)
		starts := e.value.Starts.Names()
		d.checkStory(join(path, "starts"), e.value.Starts)
		d.checkStory(join(path, "works-until"), e.value.WorksUntil)
		d.checkStory(join(path, "cancels"), e.value.Cancels)
		if own := func(n string) bool { return n == e.name }; len(starts) > 0 && !slices.ContainsFunc(starts, func(n string) bool { return !own(n) }) {
			d.at(join(path, "starts"), "%s waits for itself and never starts", "start it at a point of another process", e.name)
		}
	}
}

func (d *draft) checkCount(path string, n *int) {
	if n != nil && (*n < 1 || *n > maxCount) {
		d.at(path, "it cannot be %d", fmt.Sprintf("it is 1 to %d", maxCount), *n)
	}
}

func (d *draft) checkFaults() {
	for i, f := range d.spec.Faults {
		path := fmt.Sprintf("faults[%d]", i+1)
		if !f.Before.IsZero() {
			d.checkClient(path+".before", f.Before.Client)
		}
		d.checkStory(path+".after", f.After)
		d.checkStory(path+".when", f.When)
		d.checkStory(path+".until", f.Until)
		if f.ByClockOf != "" {
			d.checkNames(path+".by-clock-of", []string{f.ByClockOf})
		}
		if f.At != nil && time.Duration(*f.At) >= d.spec.horizon() {
			d.at(path+".at", "the run ends at %v, before the fault strikes", "give a longer horizon", d.spec.horizon())
		}
	}
}

// checkClient reports a name at path that is not the name of a client.
func (d *draft) checkClient(path, name string) {
	if len(d.cast.clients) > 0 && !d.cast.isClient[name] {
		d.at(path, "no client is called %s", d.didYouMean(path, name, d.cast.clients), quoted(name))
	}
}

// A condition names processes: it is a point or a witness.
type teller interface {
	Names() []string
	Fits(role func(name string) (trace.Role, bool)) error
}

// checkCondition reports the processes in the condition at path that do not exist. If all
// exist, it reports a process that can never do what the condition says.
func (d *draft) checkStory(path string, t teller) {
	told := d.found
	d.checkNames(path, t.Names())
	if err := t.Fits(d.cast.role); err != nil && d.found == told {
		d.at(path, "%v", "", err)
	}
}

// checkNames reports the processes at path that do not exist.
func (d *draft) checkNames(path string, names []string) {
	if len(d.cast.clients) == 0 {
		return // there are no clients, which check reports itself
	}
	for _, n := range names {
		if _, known := d.cast.role(n); known {
			continue
		}
		what, hint := d.meant(path, n)
		d.at(path, "no %s is called %s", hint, what, quoted(n))
	}
}

// didYouMean is [DidYouMean] for a name at path. It is empty when the problem gets no hint
// of its own.
func (d *draft) didYouMean(path, name string, among []string) string {
	n, _ := d.written(path)
	return d.ask(n, name, func() meaning { return meaning{hint: DidYouMean(name, among)} }).hint
}

// guessName returns the role that the unknown name at path was probably meant to have, and
// the hint.
func (d *draft) meant(path, name string) (what trace.Role, hint string) {
	if strings.HasPrefix(name, d.spec.system().Name+"-") {
		return trace.RoleNode, d.didYouMean(path, name, d.cast.nodes)
	}
	n, _ := d.written(path)
	m := d.ask(n, name, func() meaning {
		if nearest(name, d.cast.clients) == "" {
			if all := d.cast.names(); nearest(name, all) != "" {
				return meaning{"process", DidYouMean(name, all)}
			}
		}
		return meaning{hint: DidYouMean(name, d.cast.clients)}
	})
	return cmp.Or(m.of, trace.RoleClient), m.hint
}

// checkWorld makes the world and reports what the simulator refuses in it, such as faults
// that cannot act.
func (d *draft) checkWorld() {
	v := &Variant{Lock: string(d.spec.Lock.Kind), spec: d.spec}
	c, err := v.config(Options{Fencing: On})
	if err != nil {
		d.at("", "%v", "", err)
		return
	}
	if err := c.Lock.Kind.Check(c.Lock.Options); err != nil {
		d.at("lock", "%v", "", err)
	}
	var missing *sim.MissingSystem
	if errors.As(c.CheckNodes(), &missing) {
		return // only a program with these servers can check the rest
	}
	if err := c.CheckSize(); err != nil {
		d.at("clients", "%v", "", err)
		return
	}
	if err := c.CheckNesting(); err != nil {
		path := "clients"
		var bad *sim.BadNesting
		if errors.As(err, &bad) {
			path = fmt.Sprintf("%s[%d]", join(join("clients", bad.Client), "does"), bad.Task)
		}
		d.at(path, "%v", "", err)
		return
	}
	if err := c.CheckStorage(); err != nil {
		path := "storage.fencing"
		if c.Storage.InCluster {
			path = "storage"
		}
		d.at(path, "%v", "", err)
		return
	}
	if err := c.CheckSchedule(); err != nil {
		d.at("schedule", "%v", "", err)
		return
	}
	if err := c.CheckTTL(); err != nil {
		d.at("lock.ttl", "%v", "", err)
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
				path = join(join("nodes", bad.Node), bad.Field)
			}
		}
		d.at(path, "%v", "", err)
		return
	}
	var drifts *sim.TooManyDrifts
	if err := c.CheckDrifts(); errors.As(err, &drifts) {
		d.at(fmt.Sprintf("faults[%d]", drifts.Fault+1), "%v", "", err)
	}
	t := c.Topology()
	for i, f := range c.Faults {
		if err := f.Check(t); err != nil {
			d.refused(fmt.Sprintf("faults[%d]", i+1), err)
		}
	}
}

// reportRefusal reports why a fault refuses its parameters. The message begins with the
// name of the parameter.
func (d *draft) refused(path string, err error) {
	var unknown *sim.UnknownProcess
	if errors.As(err, &unknown) {
		d.at(join(path, unknown.Field), "no process is called %s", d.didYouMean(join(path, unknown.Field), unknown.Name, unknown.Known), quoted(unknown.Name))
		return
	}
	field, message, ok := strings.Cut(err.Error(), ": ")
	if !ok || strings.Contains(field, " ") {
		d.at(path, "%v", "", err)
		return
	}
	d.at(join(path, field), "%s", "", message)
}
