package etcd

import (
	"maps"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// This file checks requests when they arrive, before the member asks any other member. See
// server/etcdserver/api/v3rpc/key.go. Each func returns the error with which etcd refuses
// the request, or nil.

// mostOps is how many operations a transaction can have in a branch. It is the default of
// etcd's --max-txn-ops.
const mostOps = 128

func checkRange(r *pb.RangeRequest) error {
	if len(r.Key) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	_, isOrder := pb.RangeRequest_SortOrder_name[int32(r.SortOrder)]
	_, isTarget := pb.RangeRequest_SortTarget_name[int32(r.SortTarget)]
	if !isOrder || !isTarget {
		return rpctypes.ErrGRPCInvalidSortOption
	}
	return nil
}

func checkPut(r *pb.PutRequest) error {
	switch {
	case len(r.Key) == 0:
		return rpctypes.ErrGRPCEmptyKey
	case r.IgnoreValue && len(r.Value) != 0:
		return rpctypes.ErrGRPCValueProvided
	case r.IgnoreLease && r.Lease != 0:
		return rpctypes.ErrGRPCLeaseProvided
	}
	return nil
}

func checkDelete(r *pb.DeleteRangeRequest) error {
	if len(r.Key) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	return nil
}

func checkTxn(r *pb.TxnRequest) error {
	if err := checkOps(r, mostOps); err != nil {
		return err
	}
	for _, ops := range [][]*pb.RequestOp{r.Success, r.Failure} {
		if _, ok := collectChanges(ops); !ok {
			return rpctypes.ErrGRPCDuplicateKey
		}
	}
	return nil
}

// checkOps checks the comparisons and operations of a transaction. Each list of them can have limit
// elements. A nested transaction can have fewer: limit less the length of the longest list of the
// transaction around it.
func checkOps(r *pb.TxnRequest, limit int) error {
	ops := max(len(r.Compare), len(r.Success), len(r.Failure))
	if ops > limit {
		return rpctypes.ErrGRPCTooManyOps
	}
	for _, c := range r.Compare {
		if len(c.Key) == 0 {
			return rpctypes.ErrGRPCEmptyKey
		}
	}
	for _, operations := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, op := range operations {
			if err := checkOp(op, limit-ops); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOp checks one operation of a transaction. limit is as in checkOps, for a nested
// transaction.
func checkOp(op *pb.RequestOp, limit int) error {
	switch o := op.Request.(type) {
	case *pb.RequestOp_RequestRange:
		return checkRange(o.RequestRange)
	case *pb.RequestOp_RequestPut:
		return checkPut(o.RequestPut)
	case *pb.RequestOp_RequestDeleteRange:
		return checkDelete(o.RequestDeleteRange)
	case *pb.RequestOp_RequestTxn:
		return checkOps(o.RequestTxn, limit)
	}
	return rpctypes.ErrGRPCKeyNotFound // etcd's answer to an empty operation
}

// A changeSet is the keys that some operations put and delete, with those in nested
// transactions.
type changeSet struct {
	puts    map[string]bool
	deletes [][2][]byte // the key and the end of each range
}

// deletesKey reports whether the operations delete a key. A range without an upper end,
// whose RangeEnd is "\x00", counts as empty. etcd makes the same mistake.
func (c *changeSet) deletesKey(key string) bool {
	for _, d := range c.deletes {
		from, to := string(d[0]), string(d[1])
		if key == from && to == "" || from <= key && key < to {
			return true
		}
	}
	return false
}

// changesKey reports whether the operations put or delete a key.
func (c *changeSet) changesKey(key string) bool { return c.puts[key] || c.deletesKey(key) }

// collectChanges returns what some operations change. ok is false if they change a key
// twice. Both branches of a nested transaction may put the same key, because only one of
// them is taken.
func collectChanges(ops []*pb.RequestOp) (all changeSet, ok bool) {
	all.puts = map[string]bool{}
	for _, op := range ops {
		if d := op.GetRequestDeleteRange(); d != nil {
			all.deletes = append(all.deletes, [2][]byte{d.Key, d.RangeEnd})
		}
	}
	for _, op := range ops {
		success, ok := collectChanges(op.GetRequestTxn().GetSuccess())
		failure, failureOK := collectChanges(op.GetRequestTxn().GetFailure())
		for _, puts := range []map[string]bool{success.puts, failure.puts} {
			ok = ok && failureOK && !slices.ContainsFunc(slices.Collect(maps.Keys(puts)), all.changesKey)
		}
		if !ok {
			return all, false
		}
		for _, branch := range []changeSet{success, failure} {
			maps.Copy(all.puts, branch.puts)
			all.deletes = append(all.deletes, branch.deletes...)
		}
	}
	for _, op := range ops {
		if p := op.GetRequestPut(); p != nil {
			if all.changesKey(string(p.Key)) {
				return all, false
			}
			all.puts[string(p.Key)] = true
		}
	}
	return all, true
}
