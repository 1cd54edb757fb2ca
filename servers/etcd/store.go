package etcd

import (
	"bytes"
	"cmp"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// A store holds the keys of a member, as they are and as they were at each revision that
// has not been compacted. It works like server/storage/mvcc of etcd. Members that have
// applied the same entries of the log have equal stores.
//
// A change replaces a key's value and never modifies the old one, so responses and watchers
// can share values.
type store struct {
	revision  int64 // the revision of the latest change
	compacted int64 // the revision up to which the history has been compacted
	current   state // the keys at the latest revision, with pending changes
	// compactedState is the state at the compacted revision. history has all changes since
	// then, in their order, and those of the compacted revision itself.
	compactedState state
	history        []*mvccpb.Event
	// pending is how many changes the current request has made. commit gives them a
	// revision.
	pending int
	// onAttach is called when the lease of a key changes; lease 0 means none.
	onAttach func(key string, oldLease, newLease int64)
}

func newStore() *store {
	return &store{revision: 1, onAttach: func(string, int64, int64) {}}
}

// A state is all keys with their values, sorted by key.
type state []*mvccpb.KeyValue

// find returns the index of a key, or the index at which it would be inserted.
func (s state) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(s, key, func(kv *mvccpb.KeyValue, key []byte) int { return bytes.Compare(kv.Key, key) })
}

// get returns a key with its value, or nil if it does not exist.
func (s state) get(key []byte) *mvccpb.KeyValue {
	if i, ok := s.find(key); ok {
		return s[i]
	}
	return nil
}

// keysIn returns the keys of a range as etcd defines it. An empty end means the one key; an
// end of one zero byte means all keys from key on.
func (s state) keysIn(key, end []byte) state {
	i, _ := s.find(key)
	j := i
	for j < len(s) && inRange(s[j].Key, key, end) {
		j++
	}
	return s[i:j:j]
}

// apply returns the state after a change. It may change s itself.
func (s state) apply(e *mvccpb.Event) state {
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

// inRange reports whether the key k is in a range, as in keysIn.
func inRange(k, key, end []byte) bool {
	switch {
	case len(end) == 0:
		return bytes.Equal(k, key)
	case len(end) == 1 && end[0] == 0:
		return bytes.Compare(k, key) >= 0
	}
	return bytes.Compare(k, key) >= 0 && bytes.Compare(k, end) < 0
}

// stateAt returns the state at a revision.
func (s *store) stateAt(revision int64) state {
	if revision == s.revision && s.pending == 0 {
		return s.current
	}
	past := slices.Clone(s.compactedState)
	for _, e := range s.history {
		if e.Kv.ModRevision > revision {
			break
		}
		past = past.apply(e)
	}
	return past
}

// visibleRevision returns the revision that a request sees. If the request has already
// changed something, that is the next one.
func (s *store) visibleRevision() int64 {
	if s.pending > 0 {
		return s.revision + 1
	}
	return s.revision
}

// checkReadable returns an error if the state at a revision is not known. Revision 0 means
// the latest.
func (s *store) checkReadable(revision int64) error {
	switch {
	case revision <= 0:
		return nil
	case revision > s.visibleRevision():
		return rpctypes.ErrGRPCFutureRev
	case revision < s.compacted:
		return rpctypes.ErrGRPCCompacted
	}
	return nil
}

// get reads a range of keys. See executeRange in server/etcdserver/txn/range.go.
func (s *store) get(r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if err := s.checkReadable(r.Revision); err != nil {
		return nil, err
	}
	keys := s.current
	if r.Revision > 0 && r.Revision < s.visibleRevision() {
		keys = s.stateAt(r.Revision)
	}
	found := keys.keysIn(r.Key, r.RangeEnd)
	resp := &pb.RangeResponse{Header: &pb.ResponseHeader{Revision: s.visibleRevision()}, Count: int64(len(found))}
	if r.CountOnly {
		return resp, nil
	}
	if isChosen := revisionFilter(r); isChosen != nil {
		found = slices.DeleteFunc(slices.Clone(found), func(kv *mvccpb.KeyValue) bool { return !isChosen(kv) })
	}
	switch order := sortOrder(r); {
	case order == nil:
	case r.Limit == 1 && len(found) > 0: // without this case, a client that waits would make the member sort all waiting clients
		resp.More = len(found) > 1
		found = []*mvccpb.KeyValue{slices.MinFunc(found, order)}
	default:
		found = slices.Clone(found)
		slices.SortStableFunc(found, order)
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

// revisionFilter returns a func that reports whether a key has the revisions that the
// request asks for; nil means that each key has.
func revisionFilter(r *pb.RangeRequest) func(*mvccpb.KeyValue) bool {
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

// sortOrder returns the comparison by which the request wants the keys sorted; nil means by
// key. The order is ascending unless the request asks for a descending one.
func sortOrder(r *pb.RangeRequest) func(a, b *mvccpb.KeyValue) int {
	isDescending := r.SortOrder == pb.RangeRequest_DESCEND
	if r.SortTarget == pb.RangeRequest_KEY && !isDescending {
		return nil
	}
	return func(a, b *mvccpb.KeyValue) int {
		if isDescending {
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

// commit ends a request that may have changed something. It returns the changes, which get
// the next revision.
func (s *store) commit() []*mvccpb.Event {
	if s.pending == 0 {
		return nil
	}
	s.revision++
	changes := s.history[len(s.history)-s.pending:]
	s.pending = 0
	return changes
}

// change makes one change to one key.
func (s *store) change(e *mvccpb.Event) {
	var oldLease int64
	if old := s.current.get(e.Kv.Key); old != nil {
		oldLease = old.Lease
	}
	s.current = s.current.apply(e)
	s.history = append(s.history, e)
	s.pending++
	if oldLease != e.Kv.Lease {
		s.onAttach(string(e.Kv.Key), oldLease, e.Kv.Lease)
	}
}

// checkPuttable returns an error if a request to put a key cannot be done. leaseExists
// reports whether there is a lease with an ID.
func (s *store) checkPuttable(r *pb.PutRequest, leaseExists func(lease int64) bool) error {
	if r.Lease != 0 && !leaseExists(r.Lease) {
		return rpctypes.ErrGRPCLeaseNotFound
	}
	if (r.IgnoreValue || r.IgnoreLease) && s.current.get(r.Key) == nil {
		return rpctypes.ErrGRPCKeyNotFound
	}
	return nil
}

// put puts a key. The caller must have called checkPuttable.
func (s *store) put(r *pb.PutRequest) *pb.PutResponse {
	old := s.current.get(r.Key)
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
	found := slices.Clone(s.current.keysIn(r.Key, r.RangeEnd))
	resp := &pb.DeleteRangeResponse{Deleted: int64(len(found))}
	if r.PrevKv {
		resp.PrevKvs = found
	}
	for _, kv := range found {
		s.change(&mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{Key: kv.Key, ModRevision: s.revision + 1}})
	}
	resp.Header = &pb.ResponseHeader{Revision: s.visibleRevision()}
	return resp
}

// compact discards the history before a revision.
func (s *store) compact(revision int64) error {
	switch {
	case revision <= s.compacted:
		return rpctypes.ErrGRPCCompacted
	case revision > s.revision:
		return rpctypes.ErrGRPCFutureRev
	}
	s.compactedState = slices.Clone(s.stateAt(revision))
	first := slices.IndexFunc(s.history, func(e *mvccpb.Event) bool { return e.Kv.ModRevision >= revision })
	if first < 0 {
		first = len(s.history)
	}
	s.history = slices.Clone(s.history[first:])
	s.compacted = revision
	return nil
}

// changesSince returns the changes of a range of keys, from a revision on.
func (s *store) changesSince(revision int64, key, end []byte) []*mvccpb.Event {
	first, _ := slices.BinarySearchFunc(s.history, revision, func(e *mvccpb.Event, r int64) int { return cmp.Compare(e.Kv.ModRevision, r) })
	var found []*mvccpb.Event
	for _, e := range s.history[first:] {
		if inRange(e.Kv.Key, key, end) {
			found = append(found, e)
		}
	}
	return found
}

// valueBefore returns a key as it was before a change; nil if the key did not exist or that
// revision has been compacted.
func (s *store) valueBefore(e *mvccpb.Event) *mvccpb.KeyValue {
	if revision := e.Kv.ModRevision - 1; revision >= s.compacted {
		return s.stateAt(revision).get(e.Kv.Key)
	}
	return nil
}

// firstCreated returns the key in a folder that was created first; nil if the folder is
// empty.
func (s *store) firstCreated(folder string) *mvccpb.KeyValue {
	var first *mvccpb.KeyValue
	for _, kv := range s.current.keysIn([]byte(folder), prefixEnd([]byte(folder))) {
		if first == nil || kv.CreateRevision < first.CreateRevision {
			first = kv
		}
	}
	return first
}
