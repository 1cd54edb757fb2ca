package postgres

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// synchronous is the setting of a primary that has its commits wait for a standby.
const synchronous = "synchronous_standby_names"

var synchronousSetting = sim.Setting{
	Name: synchronous, Title: "a transaction is committed only when this replica has it on its disk; * is any",
	Check: func(value string) error {
		if value == "" || strings.ContainsAny(value, ` ,()"`) {
			return without("%s = %q: it takes the name of one replica, or *", synchronous, value)
		}
		return nil
	},
}

// replication is a server's part in streaming replication: a primary sends what a transaction has
// written to its standbys, as soon as that is on its own disk, and they say when they have it.
// Locks of rows and advisory locks are in nobody's log.
type replication struct {
	s *server
	// A standby's side: its lag is on top of the network's.
	primary *server // nil: it is none
	lag     time.Duration
	// promoted: it was one.
	promoted bool
	// A primary's side: the records that there are, and how many of them each standby has.
	written  int
	standbys []*feed
	has      map[*server]int
}

// A feed is the connection over which a primary sends its log to a standby.
type feed struct {
	primary, standby *server
	// up is the primary's end, and conn the standby's.
	up, conn   *sim.End
	connecting bool
	open       bool
}

// A record is what a primary tells a standby: the tables that a transaction has changed as they
// are with it, and how far the sequences are. (The real one's log has the changes. They come to
// the same.)
type record struct {
	number    int
	xid       uint32 // of the last transaction that has one
	whole     bool   // there is nothing else
	tables    []*table
	sequences []sequence
	// owner is whose the lease in a row is, if it is another one than before.
	owner func(key string) *trace.Actor
}

func (r record) String() string {
	if r.whole {
		return "replicate everything (" + strconv.Itoa(len(r.tables)) + " tables)"
	}
	var words []string
	for _, t := range r.tables {
		words = append(words, t.name)
	}
	if len(r.sequences) > 0 {
		words = append(words, "sequences")
	}
	return "replicate " + strings.Join(words, ", ")
}

// Follow is as in [sim.Replica].
func (s *server) Follow(primary string) { s.follow(s.host.Peer(primary).(*server)) }

func (s *server) follow(primary *server) {
	s.replication.primary = primary
	f := &feed{primary: primary, standby: s}
	primary.replication.standbys = append(primary.replication.standbys, f)
	f.attach()
}

// attach connects as soon as the standby can.
func (f *feed) attach() { f.standby.host.Running(f.connect) }

func (f *feed) connect() {
	if f.open || f.connecting || f.standby.replication.primary != f.primary {
		return
	}
	f.connecting = true
	end := &standbyEnd{f: f}
	f.standby.host.Connect(f.primary.host.Node().Name, end, func(conn *sim.End, err error) {
		f.connecting = false
		if err != nil {
			f.retry()
			return
		}
		end.conn, f.conn = conn, conn
		f.open = true
		f.send(f.primary.everything())
	})
}

// retryInterval is how long a standby waits before it connects again: wal_retrieve_retry_interval.
const retryInterval = 5 * time.Second

func (f *feed) retry() {
	f.open = false
	host := f.standby.host
	host.At(host.Now()+retryInterval, f.attach)
}

func (f *feed) send(r record) {
	f.up.Send(sim.Packet{Body: r, Text: r.String(), Delay: f.standby.replication.lag})
}

// primaryEnd and standbyEnd are the two ends of a feed.
type primaryEnd struct{ f *feed }

func (e primaryEnd) Receive(m *sim.Request) {
	s := e.f.primary
	s.turn(func() { s.replication.has[e.f.standby] = m.Body.(int) })
}

func (e primaryEnd) HangUp(bool) { e.f.open = false }

type standbyEnd struct {
	f    *feed
	conn *sim.End
}

func (e *standbyEnd) Receive(m *sim.Request) {
	r, s := m.Body.(record), e.f.standby
	if s.replication.primary != e.f.primary {
		return // it was promoted, or another one was, while this was on its way
	}
	s.turn(func() { s.replay(r) })
	e.conn.Send(sim.Packet{Body: r.number, Text: "acknowledge " + strconv.Itoa(r.number)})
}

func (e *standbyEnd) HangUp(bool) {
	if e.f.conn == e.conn {
		e.f.retry()
	}
}

// writes puts a transaction into the log, and sends that to the standbys. From here on a crash does
// not take it back.
func (s *server) writes(t *tx) {
	t.durable = true
	for _, f := range t.flushed {
		f()
	}
	t.flushed = nil
	p := &s.replication
	p.written++
	t.record = p.written
	if len(p.standbys) == 0 {
		return
	}
	r := s.everything()
	if !t.defines {
		r.whole, r.tables = false, nil
		for _, one := range t.tables {
			r.tables = append(r.tables, one.durable())
		}
	}
	by := t.b.by()
	r.owner = func(string) *trace.Actor { return by }
	for _, f := range p.standbys {
		if f.open {
			f.send(r)
		}
	}
}

// everything is a record of all that is on the disk.
func (s *server) everything() record {
	r := record{number: s.replication.written, xid: s.xid, whole: true}
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		r.tables = append(r.tables, s.tables[name].durable())
	}
	for _, name := range slices.Sorted(maps.Keys(s.sequences)) {
		r.sequences = append(r.sequences, *s.sequences[name])
	}
	owners := map[string]*trace.Actor{}
	for _, l := range s.register.leases {
		owners[l.key] = l.owner
	}
	r.owner = func(key string) *trace.Actor { return owners[key] }
	return r
}

// durable is the table as it is on the disk.
func (t *table) durable() *table {
	is := func(of *tx) bool { return of.state == committed || of.durable }
	copied := &table{name: t.name, places: t.places, columns: t.columns, keys: t.keys, indexes: t.indexes}
	for _, r := range t.rows {
		for _, v := range slices.Backward(r.versions) {
			if is(v.by) && !(v.over != nil && is(v.over)) {
				copied.rows = append(copied.rows, &row{versions: []*version{{values: v.values, xmin: v.xmin, xmax: v.xmax, at: v.at}}})
				break
			}
		}
	}
	return copied
}

// replay makes a standby's data what the record says.
func (s *server) replay(r record) {
	s.commits++
	by := &tx{state: committed, number: s.commits}
	s.xid = r.xid
	if r.whole {
		for _, t := range s.tables {
			t.dropped = true
		}
		clear(s.tables)
		clear(s.sequences)
		s.changes++
	}
	for _, one := range r.tables {
		t := s.tables[one.name]
		if t == nil {
			t = &table{name: one.name, columns: one.columns, keys: one.keys, indexes: one.indexes}
			s.tables[t.name] = t
		}
		t.rows, t.places = nil, one.places
		for _, from := range one.rows {
			to := &row{of: t}
			was := from.versions[0]
			to.versions = []*version{{row: to, values: was.values, by: by, xmin: was.xmin, xmax: was.xmax, at: was.at}}
			s.keeps(to.versions[0].values)
			t.rows = append(t.rows, to)
		}
	}
	for _, from := range r.sequences {
		q := s.sequences[from.name]
		if q == nil {
			q = &sequence{name: from.name}
			s.sequences[q.name] = q
		}
		q.durable = from.durable
		q.lost()
	}
	s.register.copied(r.owner)
}

// confirmed says whether the standby that a commit has to wait for has it.
func (s *server) confirmed(t *tx) bool {
	name := s.host.Set(synchronous)
	// The setting is of the one that was the primary: who promotes a standby says anew for whom it
	// is to wait.
	if name == "" || s.host.Node().ReplicaOf != "" {
		return true
	}
	for _, f := range s.replication.standbys {
		if (name == "*" || f.standby.host.Node().Name == name) && s.replication.has[f.standby] >= t.record {
			return true
		}
	}
	return false
}

// alone says that it neither has standbys nor is one.
func (s *server) alone() bool {
	return s.replication.primary == nil && len(s.replication.standbys) == 0
}

// readOnly says that it is a standby.
func (s *server) readOnly() bool { return s.replication.primary != nil }

func (p *replication) crash() {
	clear(p.has)
	for _, f := range p.standbys {
		f.open = false
	}
	if f := p.feed(); f != nil {
		f.open, f.connecting = false, false
	}
}

// restart connects a standby to its primary again.
func (p *replication) restart() {
	for _, f := range p.standbys {
		f.retry()
	}
	if f := p.feed(); f != nil {
		f.connect()
	}
}

// feed is where a standby gets its data from; nil for a primary.
func (p *replication) feed() *feed {
	if p.primary == nil {
		return nil
	}
	return p.primary.replication.feedOf(p.s.host.Node().Name)
}

// feedOf is the connection to a standby; nil if none has that name.
func (p *replication) feedOf(name string) *feed {
	for _, f := range p.standbys {
		if f.standby.host.Node().Name == name {
			return f
		}
	}
	return nil
}

// Promote makes a standby a primary, which takes over the address of its old one: new connections
// go to it, those that are open stay where they are. Other standbys follow it from now on.
func (s *server) Promote() {
	primary := s.replication.primary
	if primary == nil {
		return
	}
	s.replication.primary, s.replication.promoted = nil, true
	feeds := primary.replication.standbys
	primary.replication.standbys = nil
	for _, f := range feeds {
		if f.conn != nil {
			f.conn.Close()
		}
		f.open = false
		if f.standby != s {
			f.standby.follow(s)
		}
	}
	for _, b := range s.backends {
		b.settings["in_hot_standby"], b.settings["transaction_read_only"] = "off", "off"
		b.initial["in_hot_standby"], b.initial["transaction_read_only"] = "off", "off"
	}
	s.host.TakeOver(primary.host.Node().Name)
}
