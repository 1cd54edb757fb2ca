package etcd

import (
	"bytes"
	"cmp"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// A transaction is decided before it changes anything: which branches it takes, at all
// levels, and whether all their operations can be done. So it is done entirely or not at
// all, and no comparison sees the transaction's own changes: server/etcdserver/txn/txn.go.

// choosePath returns which branches a transaction takes: first its own, then those of the
// nested transactions that are reached, in order. It returns an error if an operation on
// this path cannot be done.
func (s *store) choosePath(r *pb.TxnRequest, known func(lease int64) bool) (path []bool, err error) {
	path = []bool{s.allHold(r.Compare)}
	for _, op := range branch(r, path[0]) {
		var inner []bool
		switch o := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			err = s.checkReadable(o.RequestRange.Revision)
		case *pb.RequestOp_RequestPut:
			err = s.checkPuttable(o.RequestPut, known)
		case *pb.RequestOp_RequestTxn:
			inner, err = s.choosePath(o.RequestTxn, known)
		}
		if err != nil {
			return nil, err
		}
		path = append(path, inner...)
	}
	return path, nil
}

func branch(r *pb.TxnRequest, success bool) []*pb.RequestOp {
	if success {
		return r.Success
	}
	return r.Failure
}

func (s *store) allHold(all []*pb.Compare) bool {
	for _, c := range all {
		found := s.current.keysIn(c.Key, c.RangeEnd)
		if len(found) == 0 {
			// A missing key has no value, so no comparison with a value holds.
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

// executePath executes the chosen path of a transaction, and returns the rest of the path.
func (s *store) executePath(r *pb.TxnRequest, path []bool) (resp *pb.TxnResponse, rest []bool) {
	resp = &pb.TxnResponse{Header: &pb.ResponseHeader{}, Succeeded: path[0]}
	ops := branch(r, path[0])
	path = path[1:]
	for _, op := range ops {
		done := &pb.ResponseOp{}
		switch o := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			got, err := s.get(o.RequestRange)
			must(err) // choosePath has checked that it is readable
			done.Response = &pb.ResponseOp_ResponseRange{ResponseRange: got}
		case *pb.RequestOp_RequestPut:
			done.Response = &pb.ResponseOp_ResponsePut{ResponsePut: s.put(o.RequestPut)}
		case *pb.RequestOp_RequestDeleteRange:
			done.Response = &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: s.remove(o.RequestDeleteRange)}
		case *pb.RequestOp_RequestTxn:
			var inner *pb.TxnResponse
			inner, path = s.executePath(o.RequestTxn, path)
			done.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: inner}
		}
		resp.Responses = append(resp.Responses, done)
	}
	return resp, path
}

// txn executes a transaction.
func (s *store) txn(r *pb.TxnRequest, known func(lease int64) bool) (*pb.TxnResponse, error) {
	path, err := s.choosePath(r, known)
	if err != nil {
		return nil, err
	}
	resp, _ := s.executePath(r, path)
	resp.Header.Revision = s.visibleRevision()
	return resp, nil
}

// classifyReads returns whether a transaction changes nothing in either branch, and whether
// all its operations are serializable reads, which a member that is behind may answer. It
// does not look into nested transactions, as in etcd.
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
