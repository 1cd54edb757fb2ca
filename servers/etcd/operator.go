package etcd

import (
	"maps"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/trace"
)

// Revoke implements [sim.Revocable]: an operator takes a client's locks away. These are all keys
// with which the client holds locks or waits for them. If session is true, Revoke ends the leases
// of these keys, like etcdctl lease revoke. Otherwise it deletes the keys, like etcdctl del. Only
// the leader does so; any other member returns false.
func (m *member) Revoke(client string, session bool) (found bool) {
	if m.node == nil || m.cluster.primary() != m {
		return false
	}
	revoked := map[int64]bool{}
	for _, lock := range m.cluster.locks {
		for _, key := range slices.Sorted(maps.Keys(lock.claims)) {
			claimed := lock.claims[key]
			if claimed.by == nil || claimed.by.Client != client {
				continue
			}
			lease := claimed.kv.Lease
			switch {
			case !session:
				m.operate(&pb.InternalRaftRequest{DeleteRange: &pb.DeleteRangeRequest{Key: []byte(key)}})
			case lease == 0 || revoked[lease]:
				continue
			default:
				revoked[lease] = true
				m.operate(&pb.InternalRaftRequest{LeaseRevoke: &pb.LeaseRevokeRequest{ID: lease}})
			}
			found = true
		}
	}
	m.finishInput()
	return found
}

// operate writes an operator's request to the log.
func (m *member) operate(r *pb.InternalRaftRequest) {
	m.write(r, trace.Operator(), func(proto.Message, error) {})
}
