package checks

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A version is one state of one object: what one applied write made of it, or
// what it was at first. Two versions can have one number: a storage that lost a
// write gives its number out again.
type version struct {
	object string
	number int
	// by is the section that wrote it and made the write; nil for what the
	// object was at first.
	by   *section
	made *trace.Event
	// replaced is the version that the write found.
	replaced *version
	// issued is the Seq with which the client sent the write, acked the event
	// that told it of the success, if one did. blind: until it sent the write it
	// had not asked to read the object.
	issued int
	acked  *trace.Event
	blind  bool
}

func (v *version) String() string {
	if v.made == nil {
		return fmt.Sprintf("%s as it was at first", v.object)
	}
	return fmt.Sprintf("version %d of %s", v.number, v.object)
}

// An operation is one read or write that a section made.
type operation struct {
	section *section
	// seq is when the storage served it.
	seq int
	// sees is the version that was read or replaced, makes the one that a write
	// made.
	sees, makes *version
}

// knowledge is that a client learnt, with the event seq, that an object was at
// some version: it had read it, or made it and been told so.
type knowledge struct {
	seq int
	*version
}

// knew returns the version of an object that the client knew before the event
// seq, or nil.
func (s *section) knew(object string, seq int) *version {
	var last *version
	for _, k := range s.knows {
		if k.seq < seq && k.object == object {
			last = k.version
		}
	}
	return last
}

// hadRead reports whether the client knew of a version before the event seq.
func (s *section) hadRead(v *version, seq int) bool {
	return slices.ContainsFunc(s.knows, func(k knowledge) bool { return k.seq < seq && k.version == v })
}

// A sight is what an object turned out to be at some moment.
type sight struct {
	ev *trace.Event
	// number is the version's, and version what had last been given it.
	number int
	*version
	// verb says in a sentence how it was seen.
	verb string
}

// other reports that the object was seen with v's number, but as somebody else
// had written it.
func (s sight) other(v *version) bool {
	return s.version != v || s.ev.Kind == trace.KindObject && s.ev.Value != v.made.Value
}

// wish is a section's wish to read an object.
type wish struct {
	acquisition
	object string
}

// storageReader follows the requests to the storage.
type storageReader struct {
	*history
	granted map[acquisition]*section
	loose   map[acquisition]*section
	initial map[string]*version
	// asked is when each section first asked to read each object.
	asked map[wish]int
	// begins are a client's steps, served the reads that the storage answered,
	// reverts what it lost.
	begins, served, reverts []*trace.Event
}

// readStorage finds what the sections did to the storage.
func (h *history) readStorage() {
	r := &storageReader{
		history: h,
		granted: map[acquisition]*section{},
		loose:   map[acquisition]*section{},
		initial: map[string]*version{},
		asked:   map[wish]int{},
	}
	for _, s := range h.sections {
		r.granted[s.acquisition] = s
	}
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		switch ev.Kind {
		case trace.KindBegin:
			r.begins = append(r.begins, ev)
			id := wish{acquisition{ev.Process, ev.Section}, ev.Object}
			if ev.Step == trace.Read && r.asked[id] == 0 {
				r.asked[id] = ev.Seq
			}
		case trace.KindServe:
			r.serve(ev)
		case trace.KindEnd:
			switch {
			case ev.Step == trace.Read && ev.OK && ev.Object != "":
				r.learn(ev)
			case ev.Step == trace.Write && ev.OK:
				r.acknowledge(ev)
			}
		case trace.KindRevert:
			r.reverts = append(r.reverts, ev)
			r.show(ev, ev.Version, "was put back to")
		case trace.KindObject:
			r.show(ev, ev.Version, "ended as")
		}
	}
	for _, v := range h.versions {
		if v.by.granted == nil && v.acked == nil {
			v.by.to = forever
		}
	}
	r.undo()
	for _, s := range slices.Concat(h.sections, h.loose) {
		slices.SortStableFunc(s.operations, func(a, b *operation) int { return a.seq - b.seq })
	}
}

// serve takes in one request that the storage served.
func (r *storageReader) serve(ev *trace.Event) {
	issued := r.issued(ev)
	switch {
	case !ev.OK:
	case ev.Step == trace.Read:
		r.served = append(r.served, ev)
		r.show(ev, ev.Version, "was read as")
	case ev.Step == trace.Write:
		sees := r.find(ev.Object, ev.Replaced, ev.Seq)
		s := r.section(ev.Client(), ev.Section, trace.Write, issued, ev)
		v := &version{object: ev.Object, number: ev.Version, by: s, made: ev, replaced: sees, issued: issued}
		asked := r.asked[wish{acquisition{ev.Client(), ev.Section}, ev.Object}]
		v.blind = asked == 0 || asked > issued
		r.show(ev, ev.Replaced, "was written over as")
		r.versions = append(r.versions, v)
		s.operations = append(s.operations, &operation{section: s, seq: ev.Seq, sees: sees, makes: v})
	}
}

// undo takes the writes from their sections that the storage lost before anybody
// knew of them: the client was not told, and nobody else came upon them. They
// might as well never have been made.
func (r *storageReader) undo() {
	known := map[*version]int{}
	for _, s := range slices.Concat(r.sections, r.history.loose) {
		for _, o := range s.operations {
			known[o.sees]++
		}
	}
	for _, v := range slices.Backward(r.versions) {
		lost := slices.ContainsFunc(r.reverts, func(ev *trace.Event) bool {
			return ev.Object == v.object && ev.Seq > v.made.Seq && ev.Version < v.number
		})
		if lost && v.acked == nil && known[v] == 0 {
			v.by.operations = slices.DeleteFunc(v.by.operations, func(o *operation) bool { return o.makes == v })
			known[v.replaced]--
		}
	}
}

// show notes what an object was when somebody looked.
func (r *storageReader) show(ev *trace.Event, number int, verb string) {
	r.shown = append(r.shown, sight{ev, number, r.find(ev.Object, number, ev.Seq), verb})
}

// issued is when the client sent a request that is being served. A trace that
// does not say so is read as if messages took no time.
func (r *storageReader) issued(ev *trace.Event) int {
	if ev.By != nil && ev.By.Sent > 0 {
		return ev.By.Sent
	}
	return ev.Seq
}

// begun is the last step of its kind that a client had begun before the event
// seq, or nil.
func (r *storageReader) begun(client string, section int, step trace.Step, seq int) *trace.Event {
	for _, ev := range slices.Backward(r.begins) {
		if ev.Seq <= seq && ev.Process == client && ev.Section == section && ev.Step == step {
			return ev
		}
	}
	return nil
}

// find is the version of an object that had a number before the event seq. A
// number that no write had made is what the object was at first.
func (r *storageReader) find(object string, number, seq int) *version {
	for _, v := range slices.Backward(r.versions) {
		if v.object == object && v.number == number && v.made.Seq < seq {
			return v
		}
	}
	if r.initial[object] == nil {
		r.initial[object] = &version{object: object}
	}
	return r.initial[object]
}

// section is what an operation belongs to: the section that was granted, else
// whatever else the client did after the same failed acquire. What a client
// does outside any acquire stands alone.
func (r *storageReader) section(client string, number int, step trace.Step, issued int, ev *trace.Event) *section {
	id := acquisition{client, number}
	if s := r.granted[id]; s != nil {
		return s
	}
	if s := r.loose[id]; s != nil && number > 0 {
		return s
	}
	from := momentOf(ev)
	if begin := r.begun(client, number, step, issued); begin != nil {
		from = momentOf(begin)
	}
	s := &section{acquisition: id, from: from, to: from}
	r.loose[id] = s
	r.history.loose = append(r.history.loose, s)
	return s
}

// learn takes in a read whose answer reached the client.
func (r *storageReader) learn(ev *trace.Event) {
	seq := ev.Seq
	for _, served := range slices.Backward(r.served) {
		if served.Client() == ev.Process && served.Section == ev.Section &&
			served.Object == ev.Object && served.Version == ev.Version {
			seq = served.Seq
			break
		}
	}
	s := r.section(ev.Process, ev.Section, trace.Read, ev.Seq, ev)
	v := r.find(ev.Object, ev.Version, seq)
	s.operations = append(s.operations, &operation{section: s, seq: seq, sees: v})
	s.knows = append(s.knows, knowledge{ev.Seq, v})
	s.finish(ev)
}

// acknowledge takes in a write that the client knows to be applied.
func (r *storageReader) acknowledge(ev *trace.Event) {
	id := acquisition{ev.Process, ev.Section}
	for _, v := range slices.Backward(r.versions) {
		if v.object == ev.Object && v.number == ev.Version && v.by.acquisition == id && v.acked == nil {
			v.acked = ev
			v.by.knows = append(v.by.knows, knowledge{ev.Seq, v})
			v.by.finish(ev)
			return
		}
	}
}

// finish lets what was done without a grant last until its last answer.
func (s *section) finish(ev *trace.Event) {
	if s.granted == nil {
		s.to = momentOf(ev)
	}
}
