package etcd

import (
	"bytes"
	"cmp"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// A transaction consists of comparisons and two branches of operations. If all comparisons
// hold, the first branch is executed, and otherwise the second. An operation can be a
// transaction in turn. The store first decides, for the nested transactions too, which
// branches are taken and whether all their operations can be done. Only then does it change
// anything. So a transaction is done entirely or not at all, and no comparison sees the
// transaction's own changes. See server/etcdserver/txn/txn.go.

// choosePath returns which branches a transaction takes: its own first, and then those of
// the nested transactions that are reached, in their order. true is the first branch.
// choosePath returns an error if an operation on this path cannot be done. leaseExists
// reports whether there is a lease with an ID.
func (s *store) choosePath(r *pb.TxnRequest, leaseExists func(lease int64) bool) (path []bool, err error) {
	path = []bool{s.allHold(r.Compare)}
	for _, op := range branch(r, path[0]) {
		var inner []bool
		switch o := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			err = s.checkReadable(o.RequestRange.Revision)
		case *pb.RequestOp_RequestPut:
			err = s.checkPuttable(o.RequestPut, leaseExists)
		case *pb.RequestOp_RequestTxn:
			inner, err = s.choosePath(o.RequestTxn, leaseExists)
		}
		if err != nil {
			return nil, err
		}
		path = append(path, inner...)
	}
	return path, nil
}

// branch returns the operations of one of a transaction's branches.
func branch(r *pb.TxnRequest, success bool) []*pb.RequestOp {
	if success {
		return r.Success
	}
	return r.Failure
}

// allHold reports whether all comparisons hold.
func (s *store) allHold(all []*pb.Compare) bool {
	for _, c := range all {
		found := s.current.keysIn(c.Key, c.RangeEnd)
		if len(found) == 0 {
			// A missing key has no value, so no comparison of its value holds.
			if c.Target == pb.Compare_VALUE || !comparisonHolds(c, &mvccpb.KeyValue{}) {
				return false
			}
		}
		for _, kv := range found {
			if !comparisonHolds(c, kv) {
				return false
			}
		}
	}
	return true
}

// comparisonHolds reports whether a comparison holds for a key.
func comparisonHolds(c *pb.Compare, kv *mvccpb.KeyValue) bool {
	result := 0
	switch c.Target {
	case pb.Compare_VALUE:
		result = bytes.Compare(kv.Value, c.GetValue())
	case pb.Compare_CREATE:
		result = cmp.Compare(kv.CreateRevision, c.GetCreateRevision())
	case pb.Compare_MOD:
		result = cmp.Compare(kv.ModRevision, c.GetModRevision())
	case pb.Compare_VERSION:
		result = cmp.Compare(kv.Version, c.GetVersion())
	case pb.Compare_LEASE:
		result = cmp.Compare(kv.Lease, c.GetLease())
	}
	switch c.Result {
	case pb.Compare_EQUAL:
		return result == 0
	case pb.Compare_NOT_EQUAL:
		return result != 0
	case pb.Compare_GREATER:
		return result > 0
	case pb.Compare_LESS:
		return result < 0
	}
	return true
}

// executePath executes the branches of a transaction that choosePath has chosen. It returns
// the rest of the path, after the transaction and those nested in it.
func (s *store) executePath(r *pb.TxnRequest, path []bool) (resp *pb.TxnResponse, rest []bool) {
	resp = &pb.TxnResponse{Header: &pb.ResponseHeader{}, Succeeded: path[0]}
	ops := branch(r, path[0])
	path = path[1:]
	for _, op := range ops {
		executed := &pb.ResponseOp{}
		switch o := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			got, err := s.get(o.RequestRange)
			must(err) // choosePath has checked that the revision is readable
			executed.Response = &pb.ResponseOp_ResponseRange{ResponseRange: got}
		case *pb.RequestOp_RequestPut:
			executed.Response = &pb.ResponseOp_ResponsePut{ResponsePut: s.put(o.RequestPut)}
		case *pb.RequestOp_RequestDeleteRange:
			executed.Response = &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: s.remove(o.RequestDeleteRange)}
		case *pb.RequestOp_RequestTxn:
			var inner *pb.TxnResponse
			inner, path = s.executePath(o.RequestTxn, path)
			executed.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: inner}
		}
		resp.Responses = append(resp.Responses, executed)
	}
	return resp, path
}

// txn executes a transaction.
func (s *store) txn(r *pb.TxnRequest, leaseExists func(lease int64) bool) (*pb.TxnResponse, error) {
	path, err := s.choosePath(r, leaseExists)
	if err != nil {
		return nil, err
	}
	resp, _ := s.executePath(r, path)
	resp.Header.Revision = s.visibleRevision()
	return resp, nil
}

// classifyReads returns whether a transaction only reads in both branches, and whether all these
// reads are serializable. Even a member that is behind may answer serializable reads. Like etcd,
// classifyReads counts a nested transaction as a change.
func classifyReads(r *pb.TxnRequest) (readOnly, serializable bool) {
	readOnly, serializable = true, true
	for _, ops := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, op := range ops {
			o := op.GetRequestRange()
			readOnly = readOnly && o != nil
			serializable = serializable && o != nil && o.Serializable
		}
	}
	return readOnly, serializable
}
