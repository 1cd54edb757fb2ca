package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/servers/etcd/recipes"
)

// A recipe serves one call of the services Lock and Election, in which a member acquires a lock or
// leads an election for a client. The member does so with requests of its own. See
// server/etcdserver/api/v3lock and v3election. These requests follow the recipes of etcd's client
// in https://github.com/etcd-io/etcd/tree/main/client/v3/concurrency.
type recipe struct {
	call  *rpc
	m     *member
	serve func(*recipe, recipes.Message)
	// stopWatch ends the watch that the member has for the call; nil if there is none.
	// abandon undoes what the call has written when the client no longer waits, and then
	// calls its argument; nil if there is nothing to undo. isTimedOut reports whether the
	// client's timeout has passed.
	stopWatch  func()
	abandon    func(next func())
	isTimedOut bool
	hasRequest bool // the client's request has arrived
}

// recipeMethod returns a method whose calls are served by a recipe. request is the name of
// the request's message.
func recipeMethod(request string, run func(*recipe, recipes.Message)) *method {
	return &method{
		request:    func() proto.Message { return recipes.New(request) },
		newHandler: func(call *rpc) streamHandler { return &recipe{call: call, m: call.c.m, serve: run} },
	}
}

// receive implements [streamHandler].
func (r *recipe) receive(request proto.Message) {
	if r.hasRequest {
		return // a call has only one request
	}
	r.hasRequest = true
	if r.call.timeout > 0 {
		r.m.after(r.call.timeout, r.timeOut)
	}
	r.serve(r, request.(recipes.Message))
}

// timeOut ends the call when the client's timeout has passed. The member measures the
// timeout too, so it need not hear from the client.
func (r *recipe) timeOut() {
	if r.call.isDone {
		return
	}
	r.isTimedOut = true
	r.unwatch()
	abandon := r.abandon
	if abandon == nil {
		abandon = func(next func()) { next() }
	}
	abandon(func() { r.fail(context.DeadlineExceeded) })
}

// clientEnded implements [streamHandler].
func (r *recipe) clientEnded(cancelled bool) {
	if !cancelled || r.isTimedOut {
		return // the client has ended its requests, of which there is only one, but waits for the response
	}
	r.unwatch()
	if r.abandon != nil {
		r.abandon(func() {})
	}
}

// unwatch ends the watch of the call, if there is one.
func (r *recipe) unwatch() {
	if r.stopWatch != nil {
		r.stopWatch()
		r.stopWatch = nil
	}
}

// fail ends the call with an error, without a gRPC code of its own: a gRPC server sends
// such an error as Unknown.
func (r *recipe) fail(err error) {
	r.abandon = nil
	text := err.Error()
	if s, is := status.FromError(err); is {
		text = s.Message()
	}
	r.call.fail(status.Error(codes.Unknown, text))
}

// answer ends the call with a response.
func (r *recipe) answer(m proto.Message, text string) {
	r.abandon = nil
	r.call.answer(m, text)
}

// schedule calls the func do after the member has finished what it is doing now. It does so because
// the result of one request may become known while the member handles another. It does not call do
// at all if the client no longer waits.
func (r *recipe) schedule(do func()) {
	r.m.after(0, func() {
		if !r.call.isDone && !r.isTimedOut {
			do()
		}
	})
}

// write writes a request to the log and afterwards calls next with the result, if the client still
// waits.
func (r *recipe) write(request *pb.InternalRaftRequest, next func(proto.Message, error)) {
	if request.Txn != nil {
		if err := checkTxn(request.Txn); err != nil {
			next(nil, err)
			return
		}
	}
	r.m.write(request, r.call.lastRequest.Sender(), func(resp proto.Message, err error) {
		r.schedule(func() { next(resp, err) })
	})
}

// read does a linearizable read and afterwards calls next with the result, if the client still
// waits.
func (r *recipe) read(request *pb.RangeRequest, next func(*pb.RangeResponse, error)) {
	r.m.whenUpToDate(func(err error) {
		var resp *pb.RangeResponse
		if err == nil {
			resp, err = r.m.store.get(request)
		}
		if err == nil {
			resp.Header = r.m.header(resp.Header.Revision)
		}
		r.schedule(func() { next(resp, err) })
	})
}

// undo writes a request that removes what the client no longer wants, and afterwards calls next in
// any case.
func (r *recipe) undo(request *pb.InternalRaftRequest, next func()) {
	r.m.write(request, r.call.lastRequest.Sender(), func(proto.Message, error) { next() })
}

// defaultSessionTTL is the TTL, in seconds, of the session that a client gets if its
// request has no session. Nobody renews that session.
const defaultSessionTTL = 60

// session calls next with the client's session, or with a new one if lease is 0.
func (r *recipe) session(lease int64, next func(lease int64)) {
	if lease != 0 {
		next(lease)
		return
	}
	r.write(&pb.InternalRaftRequest{LeaseGrant: &pb.LeaseGrantRequest{ID: r.m.nextID(), TTL: defaultSessionTTL}}, onResultOrError(r.fail, func(resp proto.Message) {
		next(resp.(*pb.LeaseGrantResponse).ID)
	}))
}

// opPut, opGet and opDelete return operations of a transaction.
func opPut(key string, value []byte, lease int64) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte(key), Value: value, Lease: lease}}}
}

func opGet(r *pb.RangeRequest) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: r}}
}

func opDelete(key string) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte(key)}}}
}

// compareCreated returns the condition that a key has this create revision; 0 means that
// the key does not exist.
func compareCreated(key string, revision int64) []*pb.Compare {
	return []*pb.Compare{{
		Target: pb.Compare_CREATE, Result: pb.Compare_EQUAL, Key: []byte(key),
		TargetUnion: &pb.Compare_CreateRevision{CreateRevision: revision},
	}}
}

// firstCreatedRequest returns the request that reads, of all keys that begin with prefix, the
// key that was created first.
func firstCreatedRequest(prefix string) *pb.RangeRequest {
	return &pb.RangeRequest{Key: []byte(prefix), RangeEnd: prefixEnd([]byte(prefix)), SortTarget: pb.RangeRequest_CREATE, SortOrder: pb.RangeRequest_ASCEND, Limit: 1}
}

// waitDeletes waits until there is no key with the prefix and a create revision up to upTo. After
// that it calls next, or failed with an error.
func (r *recipe) waitDeletes(prefix string, upTo int64, failed func(error), next func()) {
	last := &pb.RangeRequest{
		Key: []byte(prefix), RangeEnd: prefixEnd([]byte(prefix)), SortTarget: pb.RangeRequest_CREATE, SortOrder: pb.RangeRequest_DESCEND, Limit: 1,
		MaxCreateRevision: upTo,
	}
	r.read(last, onResultOrError(failed, func(resp *pb.RangeResponse) {
		if len(resp.Kvs) == 0 {
			next()
			return
		}
		r.stopWatch = r.m.watchInternally(resp.Kvs[0].Key, nil, resp.Header.Revision, func(_ *pb.ResponseHeader, events []*mvccpb.Event) {
			switch {
			case events == nil:
				r.unwatch()
				r.schedule(func() { failed(rpctypes.ErrGRPCCompacted) })
			case slices.ContainsFunc(events, isDelete):
				r.unwatch()
				r.schedule(func() { r.waitDeletes(prefix, upTo, failed, next) })
			}
		})
	}))
}

func isDelete(e *mvccpb.Event) bool { return e.Type == mvccpb.Event_DELETE }

var (
	errSessionExpired = errors.New("mutex: session is expired")
	errMissingLeader  = errors.New(`"leader" field must be provided`)
	errNotLeader      = errors.New("election: not leader")
	errNoLeader       = errors.New("election: no leader")
)

// lock serves Lock: it waits until the client's session holds the lock. If the client stops waiting
// while its key is in the queue, the key is deleted. If the client stops before the member knows
// that the key was written, the key stays until the session ends.
func (r *recipe) lock(request recipes.Message) {
	r.session(request.Int("lease"), func(lease int64) {
		prefix := string(request.Bytes("name")) + "/"
		key := prefix + leaseHex(lease)
		ownKey := &pb.RangeRequest{Key: []byte(key)}
		r.write(&pb.InternalRaftRequest{Txn: &pb.TxnRequest{
			Compare: compareCreated(key, 0),
			Success: []*pb.RequestOp{opPut(key, nil, lease), opGet(firstCreatedRequest(prefix))},
			Failure: []*pb.RequestOp{opGet(ownKey), opGet(firstCreatedRequest(prefix))},
		}}, onResultOrError(r.fail, func(resp proto.Message) {
			txn := resp.(*pb.TxnResponse)
			revision := txn.Header.Revision
			if !txn.Succeeded {
				revision = txn.Responses[0].GetResponseRange().Kvs[0].CreateRevision
			}
			granted := func(header *pb.ResponseHeader) {
				r.answer(recipes.New("v3lockpb.LockResponse").With("header", header).With("key", key), fmt.Sprintf("locked at revision %d", header.Revision))
			}
			owner := txn.Responses[1].GetResponseRange().Kvs
			if len(owner) == 0 || owner[0].CreateRevision == revision {
				granted(txn.Header)
				return
			}
			removeKey := &pb.InternalRaftRequest{DeleteRange: &pb.DeleteRangeRequest{Key: []byte(key)}}
			r.abandon = func(next func()) { r.undo(removeKey, next) }
			giveUp := func(err error) {
				r.abandon = nil
				r.undo(removeKey, func() { r.fail(err) })
			}
			r.waitDeletes(prefix, revision-1, giveUp, func() {
				r.read(ownKey, onResultOrError(giveUp, func(resp *pb.RangeResponse) {
					if len(resp.Kvs) == 0 {
						r.fail(errSessionExpired)
						return
					}
					granted(resp.Header)
				}))
			})
		}))
	})
}

// unlock serves Unlock: it deletes the key with which the client holds the lock.
func (r *recipe) unlock(request recipes.Message) {
	remove := &pb.DeleteRangeRequest{Key: request.Bytes("key")}
	if err := checkDelete(remove); err != nil {
		r.fail(err)
		return
	}
	r.write(&pb.InternalRaftRequest{DeleteRange: remove}, onResultOrError(r.fail, func(resp proto.Message) {
		r.answer(recipes.New("v3lockpb.UnlockResponse").With("header", resp.(*pb.DeleteRangeResponse).Header), describeAnswer(r.m.host.Names(), resp))
	}))
}
