package postgres

import (
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// readCommitted is the only mode in which this server reads: a read returns what was
// committed when the statement began.
const readCommitted = "committed"

// The columns that a table of data has, in addition to its key of one column.
const (
	versionColumn = "version"
	valueColumn   = "value"
)

// isData reports whether a table holds data that locks protect. Such a table has a key of
// one column and the columns version and value.
func (t *table) isData() bool {
	return len(t.keys) > 0 && len(t.keys[0].columns) == 1 && t.columnNumber(versionColumn) >= 0 && t.columnNumber(valueColumn) >= 0
}

// A datum is a row of a table of data: an object that locks protect. Version 0 means that
// nothing has been written to it yet.
type datum struct {
	object  string
	version int
	value   string
}

// parseDatum returns the values of a row as a datum. It returns false if the table is no
// table of data, or if a value is missing.
func (t *table) parseDatum(values []value) (datum, bool) {
	if !t.isData() {
		return datum{}, false
	}
	object, isNamed := values[t.keys[0].columns[0]].(string)
	versionNumber, hasVersion := values[t.columnNumber(versionColumn)].(int64)
	text, hasValue := values[t.columnNumber(valueColumn)].(string)
	return datum{object, int(versionNumber), text}, isNamed && hasVersion && hasValue
}

// datum returns the version as a datum; false if it holds no data.
func (v *version) datum() (datum, bool) { return v.row.table.parseDatum(v.values) }

// emitRead emits the event that a client has read a row version of a table of data. emitWrite emits
// that a client has written one. emitRefusedWrite emits that a client's write changed nothing,
// because the row has changed meanwhile; wanted are the values that the client wanted to write.
func (g *register) emitRead(b *backend, v *version) {
	if d, is := v.datum(); is && b.actor() != nil {
		ev := sim.NewServeEvent(trace.Read, d.object, b.actor())
		ev.Version, ev.Value = d.version, d.value
		g.s.host.Emit(ev)
	}
}

func (g *register) emitWrite(b *backend, v *version) {
	d, is := v.datum()
	if !is || d.version == 0 || b.actor() == nil {
		return
	}
	ev := sim.NewServeEvent(trace.Write, d.object, b.actor())
	ev.Version, ev.Value = d.version, d.value
	if v.previous != nil {
		replaced, _ := v.previous.datum()
		ev.Replaced = replaced.version
	}
	g.s.host.Emit(ev)
}

func (g *register) emitRefusedWrite(b *backend, v *version, wanted []value) {
	current, hasData := v.datum()
	refused, _ := v.row.table.parseDatum(wanted)
	if !hasData || b.actor() == nil {
		return
	}
	ev := sim.NewServeEvent(trace.Write, current.object, b.actor())
	ev.OK, ev.Version, ev.Value, ev.Text = false, current.version, refused.value, storage.VersionRefusal(current.object, current.version)
	g.s.host.Emit(ev)
}

// Kept is as in [sim.DataServer]. It returns what is committed on the current primary: the
// server that was promoted, or else this one.
func (s *server) Kept(key string) (version int, text string) {
	for _, name := range s.host.Members() {
		if o, is := s.host.Peer(name).(*server); is && o.promoted {
			s = o
		}
	}
	object, _ := strings.CutPrefix(key, locks.PostgresRow(locks.DataKey("")))
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		for _, v := range s.tables[name].visibleVersions(nil, s.commitCount) {
			if d, is := v.datum(); is && d.object == object {
				return d.version, d.value
			}
		}
	}
	return 0, ""
}
