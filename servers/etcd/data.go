package etcd

import (
	"bytes"
	"maps"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Clients keep the data that their locks protect in ordinary keys. An object's version is
// the version of its key: the number of times it was put.

// Linearizable and Serializable are the two kinds of read. A linearizable read is the default of
// Get: before a member answers it, the member makes sure that it is up to date. A serializable read
// is made with clientv3.WithSerializable: a member that is behind may answer it with old data.
const (
	linearizable = "linearizable"
	Serializable = "serializable"
)

// recordRead records that a member has answered a read of a data object.
func (m *member) recordRead(r *pb.RangeRequest, resp *pb.RangeResponse, by *trace.Actor) {
	object, is := m.host.Object(string(r.Key))
	if !is || len(r.RangeEnd) > 0 || by == nil {
		return
	}
	ev := sim.NewServeEvent(trace.Read, object, by)
	if len(resp.Kvs) > 0 {
		ev.Version = int(resp.Kvs[0].Version)
	}
	m.host.Emit(ev)
}

// recordWrites records the writes of data objects. A write in a transaction whose condition
// did not hold is recorded as refused.
func (c *cluster) recordWrites(m *member, r *pb.InternalRaftRequest, resp proto.Message, changes []*mvccpb.Event, by *trace.Actor) {
	if by == nil {
		return
	}
	for _, e := range changes {
		if object, is := m.host.Object(string(e.Kv.Key)); is && e.Type == mvccpb.Event_PUT {
			ev := sim.NewServeEvent(trace.Write, object, by)
			ev.Version, ev.Replaced, ev.Value = int(e.Kv.Version), int(e.Kv.Version-1), string(e.Kv.Value)
			m.host.RecordEvent(ev)
			c.versions[object] = ev.Version
		}
	}
	result, isTxn := resp.(*pb.TxnResponse)
	if !isTxn || result.Succeeded {
		return
	}
	for _, op := range r.Txn.Success {
		put := op.GetRequestPut()
		if object, is := m.host.Object(string(put.GetKey())); is {
			ev := sim.NewServeEvent(trace.Write, object, by)
			ev.OK, ev.Version, ev.Value = false, c.versions[object], string(put.Value)
			ev.Text = storage.VersionRefusal(object, ev.Version)
			if comparesOtherKey(r.Txn, put.Key) {
				ev.Text = locks.ErrGone.Error()
			}
			m.host.RecordEvent(ev)
		}
	}
}

// comparesOtherKey reports whether a transaction's condition compares a key other than the given
// one. Such a key belongs to the lock.
func comparesOtherKey(r *pb.TxnRequest, key []byte) bool {
	return slices.ContainsFunc(r.Compare, func(c *pb.Compare) bool { return !bytes.Equal(c.Key, key) })
}

// recordRestoredData records the data that the restore of a backup has set back to an
// earlier version.
func (c *cluster) recordRestoredData(m *member) {
	for _, object := range slices.Sorted(maps.Keys(c.versions)) {
		previous := c.versions[object]
		current, value := m.Kept(locks.DataKey(object))
		if current != previous {
			m.host.RecordEvent(trace.Event{Kind: trace.KindRevert, Object: object, Version: current, Replaced: previous, Value: value})
		}
		c.versions[object] = current
	}
}

// Kept implements [sim.DataServer]. It returns the data of the member that has applied the
// most entries of the log.
func (m *member) Kept(key string) (version int, value string) {
	latest := m
	for _, o := range m.cluster.members {
		if o.store != nil && (latest.store == nil || o.store.revision > latest.store.revision) {
			latest = o
		}
	}
	if latest.store == nil {
		return 0, ""
	}
	kv := latest.store.current.get([]byte(key))
	if kv == nil {
		return 0, ""
	}
	return int(kv.Version), string(kv.Value)
}
