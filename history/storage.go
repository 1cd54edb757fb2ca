package history

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A Version is one state of one object: the result of one applied write, or the initial state. Two
// versions can have the same number: if a storage loses version 2, the next write makes another
// version 2.
type Version struct {
	Object string
	Number int
	// By is the critical section that wrote it, and Made the event of the write; both are nil for
	// the initial state.
	By   *Section
	Made *trace.Event
	// Replaced is the version that the write replaced.
	Replaced *Version
	// Issued is the Seq of the event with which the client sent the write. Acked is the event with
	// which the client learnt that the write succeeded; nil if there is none. Blind says that the
	// client had not asked to read the object before it sent the write.
	Issued int
	Acked  *trace.Event
	Blind  bool
	// IsUndone says that the storage lost the version before anybody knew of it: its client
	// learnt of no success, and no other client saw it. Such a version is treated as if it
	// had never been made.
	IsUndone bool
}

// String returns the version as "version 2 of x".
func (v *Version) String() string {
	if v.Made == nil {
		return fmt.Sprintf("version 0 of %s", v.Object)
	}
	return fmt.Sprintf("version %d of %s", v.Number, v.Object)
}

// An Operation is one read or write that a section made.
type Operation struct {
	Section *Section
	// Seq is the number of the event with which the storage served the operation.
	Seq int
	// Sees is the version that was read or replaced. Makes is the version that a write
	// made; nil for a read.
	Sees, Makes *Version
}

// A knownVersion is a version of an object, and the event seq since which a client has
// known it. The client had read the version, or had made it and then learnt of the success.
type knownVersion struct {
	seq int
	*Version
}

// KnownVersion returns the version of an object that the client knew before the event seq,
// or nil.
func (s *Section) KnownVersion(object string, seq int) *Version {
	var last *Version
	for _, k := range s.known {
		if k.seq < seq && k.Object == object {
			last = k.Version
		}
	}
	return last
}

// KnewVersion reports whether the client knew of a version before the event seq.
func (s *Section) KnewVersion(v *Version, seq int) bool {
	return slices.ContainsFunc(s.known, func(k knownVersion) bool { return k.seq < seq && k.Version == v })
}

// An Observation says in which state an object of the storage was seen at some moment.
type Observation struct {
	Event *trace.Event
	// Number is the number of the observed version. Version is the last version that had
	// been given this number.
	Number int
	*Version
	// Verb says how the object was seen, for use in a sentence: "was read as".
	Verb string
}

// IsOtherWrite reports whether the object was seen with v's number, but with the result of
// another write.
func (s Observation) IsOtherWrite(v *Version) bool {
	return s.Version != v || s.Event.Kind == trace.KindObject && s.Event.Value != v.Made.Value
}

// A readKey identifies the reads of one object in one section.
type readKey struct {
	Acquisition
	object string
}

// A state is an object and a version number. Several versions can have the same number: a
// storage that lost a write reuses its number.
type state struct {
	object string
	number int
}

// An answer is a state of an object with which the storage answered a read in a section.
type answer struct {
	Acquisition
	state
}

// A step identifies the steps of one kind in one section.
type step struct {
	Acquisition
	trace.Step
}

// A storageReader follows the requests to the storage, event by event.
type storageReader struct {
	*reading
	// ungranted are the sections without a grant, and initial is the initial version of
	// each object.
	ungranted map[Acquisition]*Section
	initial   map[string]*Version
	// asked is when each section first asked to read each object.
	asked map[readKey]int
	// served is the last event with which the storage gave each answer to a read, and
	// reverts are the events with which the storage lost versions.
	served  map[answer]*trace.Event
	reverts []*trace.Event
}

// readStorage computes what the sections did to the storage.
func (whole *reading) readStorage() {
	r := &storageReader{
		reading:   whole,
		ungranted: map[Acquisition]*Section{},
		initial:   map[string]*Version{},
		asked:     map[readKey]int{},
		served:    map[answer]*trace.Event{},
	}
	for _, ev := range r.nonMessages {
		switch ev.Kind {
		case trace.KindBegin:
			id := readKey{Acquisition{ev.Process, ev.Section}, ev.Object}
			if ev.Step == trace.Read && r.asked[id] == 0 {
				r.asked[id] = ev.Seq
			}
		case trace.KindServe:
			r.serve(ev)
		case trace.KindEnd:
			switch {
			case ev.Step == trace.Read && ev.OK && ev.Object != "":
				r.recordRead(ev)
			case ev.Step == trace.Write && ev.OK:
				r.acknowledge(ev)
			}
		case trace.KindRevert:
			r.reverts = append(r.reverts, ev)
			r.observe(ev, ev.Version, "was put back to")
		case trace.KindObject:
			r.observe(ev, ev.Version, "ended as")
		}
	}
	for _, v := range r.versions {
		if v.By.Granted == nil && v.Acked == nil {
			v.By.To = Never
		}
	}
	r.undo()
	for _, s := range slices.Concat(r.sections, r.reading.ungranted) {
		slices.SortStableFunc(s.Operations, func(a, b *Operation) int { return a.Seq - b.Seq })
	}
}

// serve processes one request that the storage served.
func (r *storageReader) serve(ev *trace.Event) {
	issued := issued(ev)
	switch {
	case !ev.OK:
	case ev.Step == trace.Read:
		r.served[answer{Acquisition{ev.Client(), ev.Section}, state{ev.Object, ev.Version}}] = ev
		if !r.isFromMember(ev) {
			r.observe(ev, ev.Version, "was read as")
		}
	case ev.Step == trace.Write:
		sees := r.versionOrInitial(ev.Object, ev.Replaced, ev.Seq)
		s := r.sectionFor(ev.Client(), ev.Section, trace.Write, issued, ev)
		v := &Version{Object: ev.Object, Number: ev.Version, By: s, Made: ev, Replaced: sees, Issued: issued}
		asked := r.asked[readKey{Acquisition{ev.Client(), ev.Section}, ev.Object}]
		v.Blind = asked == 0 || asked > issued
		r.observe(ev, ev.Replaced, "was written over as")
		r.versions = append(r.versions, v)
		r.made[state{v.Object, v.Number}] = append(r.made[state{v.Object, v.Number}], v)
		s.Operations = append(s.Operations, &Operation{Section: s, Seq: ev.Seq, Sees: sees, Makes: v})
	}
}

// isFromMember reports whether one member of a cluster has answered by itself. The member
// may lag behind, so a version that it does not know of is not lost.
func (r *storageReader) isFromMember(ev *trace.Event) bool {
	return r.Role(ev.Process) == trace.RoleNode
}

// undo removes from the sections the writes that the storage lost before anybody knew of them.
func (r *storageReader) undo() {
	if len(r.reverts) == 0 {
		return
	}
	known := map[*Version]int{}
	for _, s := range slices.Concat(r.sections, r.reading.ungranted) {
		for _, o := range s.Operations {
			known[o.Sees]++
		}
	}
	for _, v := range slices.Backward(r.versions) {
		lost := slices.ContainsFunc(r.reverts, func(ev *trace.Event) bool {
			return ev.Object == v.Object && ev.Seq > v.Made.Seq && ev.Version < v.Number
		})
		if lost && v.Acked == nil && known[v] == 0 {
			v.IsUndone = true
			v.By.Operations = slices.DeleteFunc(v.By.Operations, func(o *Operation) bool { return o.Makes == v })
			known[v.Replaced]--
		}
	}
}

// observe records the state in which an object was seen.
func (r *storageReader) observe(ev *trace.Event, number int, verb string) {
	r.observations = append(r.observations, Observation{ev, number, r.versionOrInitial(ev.Object, number, ev.Seq), verb})
}

// issued returns the Seq with which the client sent a request that is being served. If the trace
// does not contain it, issued returns the Seq of ev, as if messages took no time.
func issued(ev *trace.Event) int {
	if ev.By != nil && ev.By.Sent > 0 {
		return ev.By.Sent
	}
	return ev.Seq
}

// lastBegun returns the beginning of the client's last step of a kind up to the event seq,
// or nil.
func (r *storageReader) lastBegun(client string, section int, kind trace.Step, seq int) *trace.Event {
	for _, c := range slices.Backward(r.CallsOf(Acquisition{client, section})) {
		if c.Step == kind && c.Began != nil && c.Began.Seq <= seq {
			return c.Began
		}
	}
	return nil
}

// versionOrInitial returns the version of an object that had the given number just before
// the event seq. If no write had made a version with this number, the result is the
// object's initial state.
func (r *storageReader) versionOrInitial(object string, number, seq int) *Version {
	if v := r.version(object, number, seq); v != nil {
		return v
	}
	if r.initial[object] == nil {
		r.initial[object] = &Version{Object: object}
	}
	return r.initial[object]
}

// version returns the version of an object that had the given number just before the event
// seq; nil if no write had made a version with this number.
func (r *reading) version(object string, number, seq int) *Version {
	for _, v := range slices.Backward(r.made[state{object, number}]) {
		if v.Made.Seq < seq {
			return v
		}
	}
	return nil
}

// sectionFor returns the section that an operation belongs to. That is the granted section,
// or else a section for everything that the client did after the same failed acquire. An
// operation outside any acquisition gets a section of its own.
func (r *storageReader) sectionFor(client string, number int, kind trace.Step, issued int, ev *trace.Event) *Section {
	id := Acquisition{client, number}
	if s := r.granted[id]; s != nil {
		return s
	}
	if s := r.ungranted[id]; s != nil && number > 0 {
		return s
	}
	from := MomentOf(ev)
	if begin := r.lastBegun(client, number, kind, issued); begin != nil {
		from = MomentOf(begin)
	}
	s := &Section{Acquisition: id, From: from, To: from}
	r.ungranted[id] = s
	r.reading.ungranted = append(r.reading.ungranted, s)
	return s
}

// recordRead records a read whose answer reached the client.
func (r *storageReader) recordRead(ev *trace.Event) {
	seq := ev.Seq
	if served := r.served[answer{Acquisition{ev.Process, ev.Section}, state{ev.Object, ev.Version}}]; served != nil {
		seq = served.Seq
	}
	s := r.sectionFor(ev.Process, ev.Section, trace.Read, ev.Seq, ev)
	v := r.versionOrInitial(ev.Object, ev.Version, seq)
	s.Operations = append(s.Operations, &Operation{Section: s, Seq: seq, Sees: v})
	s.known = append(s.known, knownVersion{ev.Seq, v})
	s.extendUngranted(ev)
}

// acknowledge records that a client knows that its write was applied.
func (r *storageReader) acknowledge(ev *trace.Event) {
	id := Acquisition{ev.Process, ev.Section}
	for _, v := range slices.Backward(r.made[state{ev.Object, ev.Version}]) {
		if v.By.Acquisition == id && v.Acked == nil {
			v.Acked = ev
			v.By.known = append(v.By.known, knownVersion{ev.Seq, v})
			v.By.extendUngranted(ev)
			return
		}
	}
}

// extendUngranted moves the end of a section without a grant to its last answer, ev.
func (s *Section) extendUngranted(ev *trace.Event) {
	if s.Granted == nil {
		s.To = MomentOf(ev)
	}
}

// DescendsFrom reports whether v is the version ancestor, or was made from it by later writes.
func (v *Version) DescendsFrom(ancestor *Version) bool {
	for ; v != nil; v = v.Replaced {
		if v == ancestor {
			return true
		}
	}
	return false
}

// Versions returns the applied writes, in the order of the storage.
func (h *History) Versions() []*Version { return h.read().versions }

// VersionAt returns the version of an object that had the given number just before the event seq.
// The event is needed because a storage that lost a write reuses its number. VersionAt returns nil
// if no write had made a version with this number; then the object was in its initial state, which
// has this number.
func (h *History) VersionAt(object string, number, seq int) *Version {
	return h.read().version(object, number, seq)
}

// Observations returns the states in which the storage showed its objects, in order.
func (h *History) Observations() []Observation { return h.read().observations }
