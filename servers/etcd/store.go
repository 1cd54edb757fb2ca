package etcd

import (
	"bytes"
	"cmp"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// A store is the keys of a member: what they are, and what they were at each revision that
// has not been compacted away. It is as server/storage/mvcc of etcd, and all members that
// have done the same to theirs have the same.
//
// A change makes a key's value anew and never changes the old one, so that answers and
// watchers can have it.
type store struct {
	revision  int64
	compacted int64
	now       state
	// then is the state at the revision that was compacted, and past all changes since that
	// revision, itself included, in order.
	then state
	past []*mvccpb.Event
	// changed is how many changes the request at hand has made.
	changed int
	// attached is told when a key gets another lease; 0 is none.
	attached func(key string, was, is int64)
}

func newStore() *store {
	return &store{revision: 1, attached: func(string, int64, int64) {}}
}

// A state is keys and what they are, in the order of the keys.
type state []*mvccpb.KeyValue

func (s state) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(s, key, func(kv *mvccpb.KeyValue, key []byte) int { return bytes.Compare(kv.Key, key) })
}

// get is what a key is; nil if there is none.
func (s state) get(key []byte) *mvccpb.KeyValue {
	if i, ok := s.find(key); ok {
		return s[i]
	}
	return nil
}

// within are the keys of a range: one, if there is no end; all from one on, if the end is
// a zero byte.
func (s state) within(key, end []byte) state {
	i, _ := s.find(key)
	j := i
	for j < len(s) && inRange(s[j].Key, key, end) {
		j++
	}
	return s[i:j:j]
}

// with is the state after a change. It may use the same memory.
func (s state) with(e *mvccpb.Event) state {
	i, found := s.find(e.Kv.Key)
	switch {
	case e.Type == mvccpb.Event_DELETE && found:
		return slices.Delete(s, i, i+1)
	case e.Type == mvccpb.Event_DELETE:
		return s
	case found:
		s[i] = e.Kv
		return s
	}
	return slices.Insert(s, i, e.Kv)
}

// inRange says whether a key is in a range.
func inRange(k, key, end []byte) bool {
	switch {
	case len(end) == 0:
		return bytes.Equal(k, key)
	case len(end) == 1 && end[0] == 0:
		return bytes.Compare(k, key) >= 0
	}
	return bytes.Compare(k, key) >= 0 && bytes.Compare(k, end) < 0
}

// at is the state at a revision.
func (s *store) at(revision int64) state {
	if revision == s.revision && s.changed == 0 {
		return s.now
	}
	was := slices.Clone(s.then)
	for _, e := range s.past {
		if e.Kv.ModRevision > revision {
			break
		}
		was = was.with(e)
	}
	return was
}

// present is the revision that a request sees: with its own changes that of these.
func (s *store) present() int64 {
	if s.changed > 0 {
		return s.revision + 1
	}
	return s.revision
}

// readable is an error if a revision cannot be read.
func (s *store) readable(revision int64) error {
	switch {
	case revision <= 0:
		return nil
	case revision > s.present():
		return rpctypes.ErrGRPCFutureRev
	case revision < s.compacted:
		return rpctypes.ErrGRPCCompacted
	}
	return nil
}

// get reads a range: executeRange in server/etcdserver/txn/range.go.
func (s *store) get(r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if err := s.readable(r.Revision); err != nil {
		return nil, err
	}
	all := s.now
	if r.Revision > 0 && r.Revision < s.present() {
		all = s.at(r.Revision)
	}
	found := all.within(r.Key, r.RangeEnd)
	resp := &pb.RangeResponse{Header: &pb.ResponseHeader{Revision: s.present()}, Count: int64(len(found))}
	if r.CountOnly {
		return resp, nil
	}
	if chosen := chooses(r); chosen != nil {
		found = slices.DeleteFunc(slices.Clone(found), func(kv *mvccpb.KeyValue) bool { return !chosen(kv) })
	}
	if by := order(r); by != nil {
		found = slices.Clone(found)
		slices.SortStableFunc(found, by)
	}
	if r.Limit > 0 && int64(len(found)) > r.Limit {
		found, resp.More = found[:r.Limit], true
	}
	for _, kv := range found {
		if r.KeysOnly {
			kv = &mvccpb.KeyValue{Key: kv.Key, CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision, Version: kv.Version, Lease: kv.Lease}
		}
		resp.Kvs = append(resp.Kvs, kv)
	}
	return resp, nil
}

// chooses says which keys a request wants by their revisions; nil is all.
func chooses(r *pb.RangeRequest) func(*mvccpb.KeyValue) bool {
	if r.MinModRevision == 0 && r.MaxModRevision == 0 && r.MinCreateRevision == 0 && r.MaxCreateRevision == 0 {
		return nil
	}
	return func(kv *mvccpb.KeyValue) bool {
		return (r.MaxModRevision == 0 || kv.ModRevision <= r.MaxModRevision) &&
			(r.MinModRevision == 0 || kv.ModRevision >= r.MinModRevision) &&
			(r.MaxCreateRevision == 0 || kv.CreateRevision <= r.MaxCreateRevision) &&
			(r.MinCreateRevision == 0 || kv.CreateRevision >= r.MinCreateRevision)
	}
}

// order is the one in which a request wants its keys; nil is theirs. A target other than the
// key is ascending if nothing else is asked for.
func order(r *pb.RangeRequest) func(a, b *mvccpb.KeyValue) int {
	down := r.SortOrder == pb.RangeRequest_DESCEND
	if r.SortTarget == pb.RangeRequest_KEY && !down {
		return nil
	}
	return func(a, b *mvccpb.KeyValue) int {
		if down {
			a, b = b, a
		}
		switch r.SortTarget {
		case pb.RangeRequest_VERSION:
			return cmp.Compare(a.Version, b.Version)
		case pb.RangeRequest_CREATE:
			return cmp.Compare(a.CreateRevision, b.CreateRevision)
		case pb.RangeRequest_MOD:
			return cmp.Compare(a.ModRevision, b.ModRevision)
		case pb.RangeRequest_VALUE:
			return bytes.Compare(a.Value, b.Value)
		}
		return bytes.Compare(a.Key, b.Key)
	}
}

// commit ends a request that may have changed something, and returns its changes.
func (s *store) commit() []*mvccpb.Event {
	if s.changed == 0 {
		return nil
	}
	s.revision++
	changes := s.past[len(s.past)-s.changed:]
	s.changed = 0
	return changes
}

// change does one thing to one key.
func (s *store) change(e *mvccpb.Event) {
	var was int64
	if old := s.now.get(e.Kv.Key); old != nil {
		was = old.Lease
	}
	s.now = s.now.with(e)
	s.past = append(s.past, e)
	s.changed++
	if was != e.Kv.Lease {
		s.attached(string(e.Kv.Key), was, e.Kv.Lease)
	}
}

// puttable is an error if a key cannot be put; known says which leases there are.
func (s *store) puttable(r *pb.PutRequest, known func(lease int64) bool) error {
	if r.Lease != 0 && !known(r.Lease) {
		return rpctypes.ErrGRPCLeaseNotFound
	}
	if (r.IgnoreValue || r.IgnoreLease) && s.now.get(r.Key) == nil {
		return rpctypes.ErrGRPCKeyNotFound
	}
	return nil
}

// put puts a key that can be put.
func (s *store) put(r *pb.PutRequest) *pb.PutResponse {
	old := s.now.get(r.Key)
	revision := s.revision + 1
	kv := &mvccpb.KeyValue{Key: r.Key, Value: r.Value, CreateRevision: revision, ModRevision: revision, Version: 1, Lease: r.Lease}
	resp := &pb.PutResponse{Header: &pb.ResponseHeader{Revision: revision}}
	if old != nil {
		kv.CreateRevision, kv.Version = old.CreateRevision, old.Version+1
		if r.IgnoreValue {
			kv.Value = old.Value
		}
		if r.IgnoreLease {
			kv.Lease = old.Lease
		}
		if r.PrevKv {
			resp.PrevKv = old
		}
	}
	s.change(&mvccpb.Event{Type: mvccpb.Event_PUT, Kv: kv})
	return resp
}

// remove deletes a range of keys.
func (s *store) remove(r *pb.DeleteRangeRequest) *pb.DeleteRangeResponse {
	found := slices.Clone(s.now.within(r.Key, r.RangeEnd))
	resp := &pb.DeleteRangeResponse{Deleted: int64(len(found))}
	if r.PrevKv {
		resp.PrevKvs = found
	}
	for _, kv := range found {
		s.change(&mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{Key: kv.Key, ModRevision: s.revision + 1}})
	}
	resp.Header = &pb.ResponseHeader{Revision: s.present()}
	return resp
}

// compact forgets what was before a revision.
func (s *store) compact(revision int64) error {
	switch {
	case revision <= s.compacted:
		return rpctypes.ErrGRPCCompacted
	case revision > s.revision:
		return rpctypes.ErrGRPCFutureRev
	}
	s.then = slices.Clone(s.at(revision))
	first := slices.IndexFunc(s.past, func(e *mvccpb.Event) bool { return e.Kv.ModRevision >= revision })
	if first < 0 {
		first = len(s.past)
	}
	s.past = slices.Clone(s.past[first:])
	s.compacted = revision
	return nil
}

// since are the changes of a range from a revision on.
func (s *store) since(revision int64, key, end []byte) []*mvccpb.Event {
	first, _ := slices.BinarySearchFunc(s.past, revision, func(e *mvccpb.Event, r int64) int { return cmp.Compare(e.Kv.ModRevision, r) })
	var found []*mvccpb.Event
	for _, e := range s.past[first:] {
		if inRange(e.Kv.Key, key, end) {
			found = append(found, e)
		}
	}
	return found
}

// before is what a key was before a change; nil if it was not, or that is forgotten.
func (s *store) before(e *mvccpb.Event) *mvccpb.KeyValue {
	if revision := e.Kv.ModRevision - 1; revision >= s.compacted {
		return s.at(revision).get(e.Kv.Key)
	}
	return nil
}

// head is the key under a folder that was created first; nil if there is none.
func (s *store) head(folder string) *mvccpb.KeyValue {
	var first *mvccpb.KeyValue
	for _, kv := range s.now.within([]byte(folder), next([]byte(folder))) {
		if first == nil || kv.CreateRevision < first.CreateRevision {
			first = kv
		}
	}
	return first
}
