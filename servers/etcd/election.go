package etcd

import (
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/servers/etcd/recipes"
)

// A candidacy is a client's place in an election, either as the leader or as a candidate:
// its key, with the key's create revision and lease.
type candidacy struct {
	key      string
	revision int64
	lease    int64
}

// proclaimRequest returns the transaction with which a leader proclaims a value. resignRequest
// returns the transaction with which the leader resigns. Both transactions do nothing if the key
// has been deleted or replaced.
func (o candidacy) proclaimRequest(value []byte) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{Txn: &pb.TxnRequest{Compare: compareCreated(o.key, o.revision), Success: []*pb.RequestOp{opPut(o.key, value, o.lease)}}}
}

func (o candidacy) resignRequest() *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{Txn: &pb.TxnRequest{Compare: compareCreated(o.key, o.revision), Success: []*pb.RequestOp{opDelete(o.key)}}}
}

// campaign serves Campaign: it waits until the client's session leads. If the client stops
// waiting, its candidacy is withdrawn.
func (r *recipe) campaign(request recipes.Message) {
	r.session(request.Int("lease"), func(lease int64) {
		prefix, value := string(request.Bytes("name"))+"/", request.Bytes("value")
		o := candidacy{key: prefix + leaseHex(lease), lease: lease}
		r.write(&pb.InternalRaftRequest{Txn: &pb.TxnRequest{
			Compare: compareCreated(o.key, 0),
			Success: []*pb.RequestOp{opPut(o.key, value, lease)},
			Failure: []*pb.RequestOp{opGet(&pb.RangeRequest{Key: []byte(o.key)})},
		}}, onResultOrError(r.fail, func(resp proto.Message) {
			txn := resp.(*pb.TxnResponse)
			o.revision = txn.Header.Revision
			awaitTurn := func() {
				r.abandon = func(next func()) { r.undo(o.resignRequest(), next) }
				r.waitDeletes(prefix, o.revision-1, r.fail, func() {
					leader := recipes.New("v3electionpb.LeaderKey").With("name", request.Bytes("name")).
						With("key", o.key).With("rev", o.revision).With("lease", lease)
					r.answer(recipes.New("v3electionpb.CampaignResponse").With("header", txn.Header).With("leader", leader),
						fmt.Sprintf("elected, with a key of revision %d", o.revision))
				})
			}
			if txn.Succeeded {
				awaitTurn()
				return
			}
			existing := txn.Responses[0].GetResponseRange().Kvs[0]
			if o.revision = existing.CreateRevision; string(existing.Value) == string(value) {
				awaitTurn()
				return
			}
			giveUp := func(err error) { r.undo(o.resignRequest(), func() { r.fail(err) }) }
			// Campaign's response has the header of the first transaction, not of this one.
			r.writeAsLeader(o.proclaimRequest(value), giveUp, func(*pb.ResponseHeader) { awaitTurn() })
		}))
	})
}

// writeAsLeader writes a transaction that succeeds only if the client leads. It calls next after
// the write, or failed with an error.
func (r *recipe) writeAsLeader(request *pb.InternalRaftRequest, failed func(error), next func(*pb.ResponseHeader)) {
	r.write(request, onResultOrError(failed, func(resp proto.Message) {
		txn := resp.(*pb.TxnResponse)
		if !txn.Succeeded {
			failed(errNotLeader)
			return
		}
		next(txn.Header)
	}))
}

// parseCandidacy returns the candidacy that a request names. If the request names none, it
// fails the call and returns false.
func (r *recipe) parseCandidacy(request recipes.Message) (candidacy, bool) {
	if !request.Has("leader") {
		r.fail(errMissingLeader)
		return candidacy{}, false
	}
	leader := request.Leader()
	return candidacy{string(leader.Bytes("key")), leader.Int("rev"), leader.Int("lease")}, true
}

// proclaim serves Proclaim: the leader changes the value of its key.
func (r *recipe) proclaim(request recipes.Message) {
	o, is := r.parseCandidacy(request)
	if !is {
		return
	}
	// A request without a lease first gets a session, as in etcd.
	r.session(o.lease, func(lease int64) {
		o.lease = lease
		r.writeAsLeader(o.proclaimRequest(request.Bytes("value")), r.fail, func(header *pb.ResponseHeader) {
			r.answer(recipes.New("v3electionpb.ProclaimResponse").With("header", header), fmt.Sprintf("proclaimed at revision %d", header.Revision))
		})
	})
}

// resign serves Resign: the leader gives its leadership up.
func (r *recipe) resign(request recipes.Message) {
	o, is := r.parseCandidacy(request)
	if !is {
		return
	}
	r.session(o.lease, func(int64) {
		r.write(o.resignRequest(), onResultOrError(r.fail, func(resp proto.Message) {
			text := "it was not the leader"
			if resp.(*pb.TxnResponse).Succeeded {
				text = "resigned"
			}
			r.answer(recipes.New("v3electionpb.ResignResponse").With("header", resp.(*pb.TxnResponse).Header), text)
		}))
	})
}

// answerLeader serves Leader: it sends the client the leader of an election.
func (r *recipe) answerLeader(request recipes.Message) {
	r.read(firstCreatedRequest(string(request.Bytes("name"))+"/"), onResultOrError(r.fail, func(resp *pb.RangeResponse) {
		if len(resp.Kvs) == 0 {
			r.fail(errNoLeader)
			return
		}
		r.answer(leaderResponse(resp.Header, resp.Kvs[0]), r.describeLeader(resp.Kvs[0]))
	}))
}

// leaderResponse returns the response to Leader and Observe, with the leader's key.
func leaderResponse(header *pb.ResponseHeader, kv *mvccpb.KeyValue) proto.Message {
	return recipes.New("v3electionpb.LeaderResponse").With("header", header).With("kv", kv)
}

func (r *recipe) describeLeader(kv *mvccpb.KeyValue) string {
	return fmt.Sprintf("%s leads, at revision %d", describeKey(r.m.host.Names(), kv.Key), kv.ModRevision)
}

// observe serves Observe: it sends the client each leader, and each value that the leader
// proclaims, until the client ends the call.
func (r *recipe) observe(prefix string) {
	r.read(firstCreatedRequest(prefix), func(resp *pb.RangeResponse, err error) {
		switch {
		case err != nil:
			r.call.end(0, "", "the end of Observe")
		case len(resp.Kvs) > 0:
			r.observeLeader(prefix, resp.Header, resp.Kvs[0])
		default:
			// There is no leader yet. The first candidate becomes the leader.
			r.stopWatch = r.m.watchInternally([]byte(prefix), prefixEnd([]byte(prefix)), resp.Header.Revision, func(header *pb.ResponseHeader, events []*mvccpb.Event) {
				for _, e := range events {
					if e.Type == mvccpb.Event_PUT {
						r.unwatch()
						header.Revision = e.Kv.ModRevision
						r.schedule(func() { r.observeLeader(prefix, header, e.Kv) })
						return
					}
				}
				if events == nil {
					r.unwatch()
					r.schedule(func() { r.call.end(0, "", "the end of Observe") })
				}
			})
		}
	})
}

// observeLeader sends the client one leader and the values that this leader proclaims,
// until its leadership ends. It then continues with observe.
func (r *recipe) observeLeader(prefix string, header *pb.ResponseHeader, kv *mvccpb.KeyValue) {
	r.call.send(nil, leaderResponse(header, kv), r.describeLeader(kv))
	r.stopWatch = r.m.watchInternally(kv.Key, nil, header.Revision+1, func(header *pb.ResponseHeader, events []*mvccpb.Event) {
		if events == nil {
			r.unwatch()
			r.schedule(func() { r.call.end(0, "", "the end of Observe") })
			return
		}
		for _, e := range events {
			if e.Type == mvccpb.Event_DELETE {
				r.unwatch()
				r.schedule(func() { r.observe(prefix) })
				return
			}
			r.call.send(nil, leaderResponse(header, e.Kv), r.describeLeader(e.Kv))
		}
	})
}
