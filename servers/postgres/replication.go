package postgres

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/replicas"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// synchronous is the name of the setting that makes the commits of a primary wait for a
// standby.
const synchronous = "synchronous_standby_names"

var synchronousSetting = sim.Setting{
	Name: synchronous, Title: "a transaction is committed only when this replica has it on its disk; *: any replica",
	Check: func(value string) error {
		if value == "" || strings.ContainsAny(value, ` ,()"`) {
			return unsupported("%s = %q: it takes the name of one replica, or *", synchronous, value)
		}
		return nil
	},
}

// initReplication sets up streaming replication. A primary sends a transaction's changes to
// its standbys when the changes are on the primary's own disk. The standbys confirm the
// changes. Row locks and advisory locks are not replicated.
func (s *server) initReplication() {
	s.replication = &replicas.Node[record]{
		Host: s.host, Retry: retryInterval, FullUpdate: s.fullRecord,
		Apply:        func(r record) { s.runTurn(func() { s.replay(r) }) },
		ReplicaHeard: func(string) { s.runTurn(func() {}) }, // a commit may wait for this confirmation
	}
}

// retryInterval is how long a standby waits before it connects again. It is the default of
// PostgreSQL's wal_retrieve_retry_interval.
const retryInterval = 5 * time.Second

// A record is what a primary sends to a standby: the whole new contents of the tables that
// a transaction has changed, and the positions of the sequences. PostgreSQL's log has only
// the changes, with the same result.
type record struct {
	number    int
	xid       uint32 // the last transaction ID that the primary has given
	isFull    bool   // the record holds the whole database
	tables    []*table
	sequences []sequence
	// owner returns the acquisition that owns the lease with this key, for a lease that has
	// changed hands.
	owner func(key string) *trace.Actor
}

// Describe is as in [replicas.Update].
func (r record) Describe(*sim.Names) string {
	if r.isFull {
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

// Number is as in [replicas.Update].
func (r record) Number() int { return r.number }

// Follow is as in [sim.Replica].
func (s *server) Follow(primary string) {
	s.replication.Follow(s.host.Peer(primary).(*server).replication)
}

// logTx writes a transaction to the log on the disk and sends it to the standbys. From now
// on a crash does not undo the transaction.
func (s *server) logTx(t *tx) {
	t.onDisk = true
	for _, f := range t.onDurable {
		f()
	}
	t.onDurable = nil
	s.recordCount++
	t.recordNumber = s.recordCount
	if !s.replication.HasReplicas() {
		return
	}
	r := s.fullRecord()
	if !t.isRedefining {
		r.isFull, r.tables = false, nil
		for _, changed := range t.changedTables {
			r.tables = append(r.tables, changed.durableCopy())
		}
	}
	by := t.b.actor()
	r.owner = func(string) *trace.Actor { return by }
	s.replication.Send(r)
}

// fullRecord returns a record of everything on the disk.
func (s *server) fullRecord() record {
	r := record{number: s.recordCount, xid: s.lastXID, isFull: true}
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		r.tables = append(r.tables, s.tables[name].durableCopy())
	}
	for _, name := range slices.Sorted(maps.Keys(s.sequences)) {
		r.sequences = append(r.sequences, *s.sequences[name])
	}
	owners := map[string]*trace.Actor{}
	for _, l := range s.register.leases {
		owners[l.Key] = l.Owner
	}
	r.owner = func(key string) *trace.Actor { return owners[key] }
	return r
}

// durableCopy returns a copy of the table as it is on the disk.
func (t *table) durableCopy() *table {
	isDurable := func(writer *tx) bool { return writer.state == committed || writer.onDisk }
	copied := &table{name: t.name, tupleCount: t.tupleCount, columns: t.columns, keys: t.keys, indexes: t.indexes}
	for _, r := range t.rows {
		for _, v := range slices.Backward(r.versions) {
			if isDurable(v.createdBy) && !(v.endedBy != nil && isDurable(v.endedBy)) {
				copied.rows = append(copied.rows, &row{versions: []*version{{values: v.values, xmin: v.xmin, xmax: v.xmax, ctid: v.ctid}}})
				break
			}
		}
	}
	return copied
}

// replay applies a record of the primary on a standby.
func (s *server) replay(r record) {
	s.commitCount++
	writer := &tx{state: committed, commitNumber: s.commitCount}
	s.lastXID = r.xid
	if r.isFull {
		for _, t := range s.tables {
			t.isDropped = true
		}
		clear(s.tables)
		clear(s.sequences)
		s.schemaVersion++
	}
	for _, changed := range r.tables {
		t := s.tables[changed.name]
		if t == nil {
			t = &table{name: changed.name, columns: changed.columns, keys: changed.keys, indexes: changed.indexes}
			s.tables[t.name] = t
		}
		t.rows, t.tupleCount = nil, changed.tupleCount
		for _, source := range changed.rows {
			copied := &row{table: t}
			original := source.versions[0]
			copied.versions = []*version{{row: copied, values: original.values, createdBy: writer, xmin: original.xmin, xmax: original.xmax, ctid: original.ctid}}
			s.accountForValues(copied.versions[0].values)
			t.rows = append(t.rows, copied)
		}
	}
	for _, source := range r.sequences {
		q := s.sequences[source.name]
		if q == nil {
			q = &sequence{name: source.name}
			s.sequences[q.name] = q
		}
		q.durable = source.durable
		q.crash()
	}
	s.register.emitLeaseChanges(r.owner, true)
}

// isConfirmed reports whether a commit need not wait for a standby any more: none has to
// confirm it, or the standby has confirmed it.
func (s *server) isConfirmed(t *tx) bool {
	name := s.host.SettingValue(synchronous)
	// The setting belongs to the original primary. After a promotion the operator would
	// have to set anew for which standby the new primary waits.
	if name == "" || s.host.Node().ReplicaOf != "" {
		return true
	}
	confirmedBy := s.replication.AcknowledgedBy(t.recordNumber)
	return name == "*" && len(confirmedBy) > 0 || slices.Contains(confirmedBy, name)
}

// isStandalone reports whether the server has no standby and is not a standby itself.
func (s *server) isStandalone() bool {
	return !s.replication.IsReplica() && !s.replication.HasReplicas()
}

// isStandby reports whether the server is a standby.
func (s *server) isStandby() bool { return s.replication.IsReplica() }

// Promote is as in [sim.Replica].
func (s *server) Promote() {
	if !s.replication.Promote() {
		return
	}
	s.promoted = true
	for _, b := range s.backends {
		b.settings["in_hot_standby"], b.settings["transaction_read_only"] = "off", "off"
		b.initialSettings["in_hot_standby"], b.initialSettings["transaction_read_only"] = "off", "off"
	}
}
