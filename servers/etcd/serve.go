package etcd

// This file has the gRPC methods of a member.

import (
	"fmt"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/servers/etcd/recipes"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A method is a gRPC method that clients can call. A unary method has serveOnce, which
// serves one request. A streaming method has newHandler, which makes the handler of a call.
type method struct {
	request    func() proto.Message // returns an empty request
	serveOnce  func(*member, *rpc, proto.Message)
	newHandler func(*rpc) streamHandler
}

// unaryMethod returns a unary method. If check is not nil and returns an error, the call
// fails with that error.
func unaryMethod[M any, R interface {
	*M
	proto.Message
}](check func(R) error, serve func(*member, *rpc, R)) *method {
	return &method{
		request: func() proto.Message { return R(new(M)) },
		serveOnce: func(m *member, c *rpc, r proto.Message) {
			if check != nil {
				if err := check(r.(R)); err != nil {
					c.fail(err)
					return
				}
			}
			serve(m, c, r.(R))
		},
	}
}

// onResultOrError returns a callback that passes a result to next, or an error to failed.
func onResultOrError[T any](failed func(error), next func(T)) func(T, error) {
	return func(v T, err error) {
		if err != nil {
			failed(err)
			return
		}
		next(v)
	}
}

// answerCurrent answers a request from the member's state. It waits until the member is up
// to date, unless immediately is true.
func (m *member) answerCurrent(c *rpc, immediately bool, answer func() error) {
	serve := func(err error) {
		if err == nil {
			err = answer()
		}
		if err != nil {
			c.fail(err)
		}
	}
	if immediately {
		serve(nil)
		return
	}
	m.whenUpToDate(serve)
}

// methods are the methods of a member, by their paths. A func init fills it, because the
// functions that serve the methods refer to it.
var methods map[string]*method

func init() {
	methods = map[string]*method{
		pb.KV_Range_FullMethodName: unaryMethod(checkRange, (*member).get),
		pb.KV_Put_FullMethodName: unaryMethod(checkPut, func(m *member, c *rpc, r *pb.PutRequest) {
			m.propose(c, &pb.InternalRaftRequest{Put: r})
		}),
		pb.KV_DeleteRange_FullMethodName: unaryMethod(checkDelete, func(m *member, c *rpc, r *pb.DeleteRangeRequest) {
			m.propose(c, &pb.InternalRaftRequest{DeleteRange: r})
		}),
		pb.KV_Txn_FullMethodName: unaryMethod(checkTxn, (*member).txn),
		pb.KV_Compact_FullMethodName: unaryMethod(nil, func(m *member, c *rpc, r *pb.CompactionRequest) {
			m.propose(c, &pb.InternalRaftRequest{Compaction: r})
		}),
		pb.Lease_LeaseGrant_FullMethodName: unaryMethod(nil, (*member).grantLease),
		pb.Lease_LeaseRevoke_FullMethodName: unaryMethod(nil, func(m *member, c *rpc, r *pb.LeaseRevokeRequest) {
			m.propose(c, &pb.InternalRaftRequest{LeaseRevoke: r})
		}),
		pb.Lease_LeaseTimeToLive_FullMethodName: unaryMethod(nil, (*member).timeToLive),
		pb.Lease_LeaseLeases_FullMethodName:     unaryMethod(nil, (*member).leases),
		pb.Cluster_MemberList_FullMethodName:    unaryMethod(nil, (*member).memberList),
		pb.Maintenance_Status_FullMethodName:    unaryMethod(nil, (*member).status),
		pb.Lease_LeaseKeepAlive_FullMethodName:  {request: func() proto.Message { return new(pb.LeaseKeepAliveRequest) }, newHandler: func(call *rpc) streamHandler { return &keepAlive{call: call} }},
		pb.Watch_Watch_FullMethodName:           {request: func() proto.Message { return new(pb.WatchRequest) }, newHandler: newWatchCall},
		recipes.Lock:                            recipeMethod("v3lockpb.LockRequest", (*recipe).lock),
		recipes.Unlock:                          recipeMethod("v3lockpb.UnlockRequest", (*recipe).unlock),
		recipes.Campaign:                        recipeMethod("v3electionpb.CampaignRequest", (*recipe).campaign),
		recipes.Proclaim:                        recipeMethod("v3electionpb.ProclaimRequest", (*recipe).proclaim),
		recipes.Leader:                          recipeMethod("v3electionpb.LeaderRequest", (*recipe).answerLeader),
		recipes.Observe:                         recipeMethod("v3electionpb.LeaderRequest", func(r *recipe, request recipes.Message) { r.observe(string(request.Bytes("name")) + "/") }),
		recipes.Resign:                          recipeMethod("v3electionpb.ResignRequest", (*recipe).resign),
	}
}

// realMethods returns the services that a real member has, and their methods by path.
var realMethods = sync.OnceValues(func() (services, methods map[string]bool) {
	services, methods = map[string]bool{"grpc.health.v1.Health": true, "v3lockpb.Lock": true, "v3electionpb.Election": true}, map[string]bool{}
	for _, m := range []string{"Check", "Watch", "List"} {
		methods["/grpc.health.v1.Health/"+m] = true
	}
	for _, d := range []grpc.ServiceDesc{
		pb.KV_ServiceDesc, pb.Watch_ServiceDesc, pb.Lease_ServiceDesc, pb.Cluster_ServiceDesc, pb.Maintenance_ServiceDesc, pb.Auth_ServiceDesc,
	} {
		services[d.ServiceName] = true
		for _, m := range d.Methods {
			methods["/"+d.ServiceName+"/"+m.MethodName] = true
		}
		for _, s := range d.Streams {
			methods["/"+d.ServiceName+"/"+s.StreamName] = true
		}
	}
	return services, methods
})

// header returns the header of a response: the member, the term, and the revision on which
// the response is based; 0 means the member's current revision.
func (m *member) header(revision int64) *pb.ResponseHeader {
	if revision == 0 {
		revision = m.store.revision
	}
	return &pb.ResponseHeader{ClusterId: clusterID, MemberId: m.id, Revision: revision, RaftTerm: m.term()}
}

// get serves Range, which clients call Get.
func (m *member) get(c *rpc, r *pb.RangeRequest) {
	m.answerCurrent(c, r.Serializable, func() error {
		resp, err := m.store.get(r)
		if err == nil {
			resp.Header = m.header(resp.Header.Revision)
			m.recordRead(r, resp, c.lastRequest.Sender())
			c.answer(resp, fmt.Sprintf("%s at revision %d", countKeys(resp.Count), resp.Header.Revision))
		}
		return err
	})
}

// txn serves Txn. A transaction that only reads does not go through the log.
func (m *member) txn(c *rpc, r *pb.TxnRequest) {
	readOnly, serializable := classifyReads(r)
	if !readOnly {
		m.propose(c, &pb.InternalRaftRequest{Txn: r})
		return
	}
	m.answerCurrent(c, serializable, func() error {
		resp, err := m.store.txn(r, m.lessor.has)
		if err == nil {
			resp.Header = m.header(resp.Header.Revision)
			c.answer(resp, describeAnswer(m.host.Names(), resp))
		}
		return err
	})
}

// grantLease serves LeaseGrant.
func (m *member) grantLease(c *rpc, r *pb.LeaseGrantRequest) {
	if r.ID == 0 {
		r.ID = m.nextID()
	}
	m.propose(c, &pb.InternalRaftRequest{LeaseGrant: r})
}

// timeToLive serves LeaseTimeToLive.
func (m *member) timeToLive(c *rpc, r *pb.LeaseTimeToLiveRequest) {
	m.ask(leaseQuestion{lease: r.ID, wantsTTL: true}, onResultOrError(c.fail, func(a leaseAnswer) {
		resp := &pb.LeaseTimeToLiveResponse{Header: m.header(0), ID: r.ID, TTL: a.ttl, GrantedTTL: a.grantedTTL}
		if r.Keys {
			for _, k := range a.keys {
				resp.Keys = append(resp.Keys, []byte(k))
			}
		}
		text := sessionName(m.host.Names(), r.ID)
		if a.ttl < 0 {
			text = "there is no " + text
		} else {
			text += fmt.Sprintf(" has %d s left", a.ttl)
		}
		c.answer(resp, text)
	}))
}

// leases serves LeaseLeases.
func (m *member) leases(c *rpc, _ *pb.LeaseLeasesRequest) {
	resp := &pb.LeaseLeasesResponse{Header: m.header(0)}
	for _, l := range m.lessor.sorted() {
		resp.Leases = append(resp.Leases, &pb.LeaseStatus{ID: l.id})
	}
	c.answer(resp, fmt.Sprintf("%d leases", len(resp.Leases)))
}

// memberList serves MemberList.
func (m *member) memberList(c *rpc, r *pb.MemberListRequest) {
	m.answerCurrent(c, !r.Linearizable, func() error {
		resp := &pb.MemberListResponse{Header: m.header(0)}
		resp.Header.Revision = 0 // as in etcd
		for _, o := range m.cluster.members {
			name := o.host.Node().Name
			resp.Members = append(resp.Members, &pb.Member{ID: o.id, Name: name, PeerURLs: []string{"http://" + name + ":2380"}, ClientURLs: []string{"http://" + name + ":2379"}})
		}
		c.answer(resp, fmt.Sprintf("%d members", len(resp.Members)))
		return nil
	})
}

// status serves Status.
func (m *member) status(c *rpc, _ *pb.StatusRequest) {
	s := m.node.BasicStatus()
	resp := &pb.StatusResponse{
		Header: m.header(0), Version: version, Leader: m.leader(), RaftTerm: m.term(),
		RaftIndex: s.GetCommit(), RaftAppliedIndex: m.applied,
	}
	if resp.Leader == 0 {
		resp.Errors = append(resp.Errors, "etcdserver: no leader")
	}
	c.answer(resp, fmt.Sprintf("status at revision %d", resp.Header.Revision))
}

// countKeys returns a number of keys in words.
func countKeys(n int64) string {
	if n == 1 {
		return "1 key"
	}
	return fmt.Sprintf("%d keys", n)
}

// describeAnswer returns the text by which the trace shows a response.
func describeAnswer(names *sim.Names, m proto.Message) string {
	switch r := m.(type) {
	case *pb.PutResponse:
		return fmt.Sprintf("put at revision %d", r.Header.Revision)
	case *pb.DeleteRangeResponse:
		return fmt.Sprintf("%s deleted at revision %d", countKeys(r.Deleted), r.Header.Revision)
	case *pb.TxnResponse:
		if r.Succeeded {
			return fmt.Sprintf("true at revision %d", r.Header.Revision)
		}
		return fmt.Sprintf("false at revision %d", r.Header.Revision)
	case *pb.CompactionResponse:
		return "compacted"
	case *pb.LeaseGrantResponse:
		return fmt.Sprintf("%s for %d s", sessionName(names, r.ID), r.TTL)
	case *pb.LeaseRevokeResponse:
		return fmt.Sprintf("revoked at revision %d", r.Header.Revision)
	}
	return "done"
}

// A keepAlive serves a streaming call that renews leases, one after the other.
type keepAlive struct {
	call     *rpc
	queue    []renewal // the first is being renewed
	hasEnded bool      // the client will send no more
}

// A renewal is a lease that the client wants to renew, and the message that asks for it.
type renewal struct {
	lease   int64
	request *sim.Request
}

// receive implements [streamHandler].
func (k *keepAlive) receive(request proto.Message) {
	k.queue = append(k.queue, renewal{request.(*pb.LeaseKeepAliveRequest).ID, k.call.lastRequest})
	if len(k.queue) == 1 {
		k.renew()
	}
}

// renew renews the first lease in the queue.
func (k *keepAlive) renew() {
	m, r := k.call.c.m, k.queue[0]
	// The header is made before the leader is asked. Otherwise the response could show a
	// revision at which the lease had already been revoked. See leaseKeepAlive in
	// server/etcdserver/api/v3rpc/lease.go.
	resp := &pb.LeaseKeepAliveResponse{Header: m.header(0), ID: r.lease}
	m.ask(leaseQuestion{lease: r.lease}, func(a leaseAnswer, err error) {
		if k.call.isDone {
			return
		}
		if err != nil {
			k.call.fail(err)
			return
		}
		name := sessionName(m.host.Names(), r.lease)
		if resp.TTL = a.ttl; a.ttl > 0 {
			k.call.send(r.request, resp, fmt.Sprintf("%s for %d s", name, a.ttl), aliveEvent(name, a.ttl))
		} else {
			k.call.send(r.request, resp, name+" has ended")
		}
		k.queue = slices.Delete(k.queue, 0, 1)
		if len(k.queue) > 0 {
			k.renew()
		} else if k.hasEnded {
			k.call.end(0, "", "the end of LeaseKeepAlive")
		}
	})
}

// clientEnded implements [streamHandler].
func (k *keepAlive) clientEnded(cancelled bool) {
	if k.hasEnded = true; !cancelled && len(k.queue) == 0 {
		k.call.end(0, "", "the end of LeaseKeepAlive")
	}
}

// aliveEvent returns the event by which the trace shows that a client has learned that its
// session lives.
func aliveEvent(session string, ttl int64) trace.Event {
	return trace.Event{Kind: trace.KindAlive, Session: session, TTL: time.Duration(ttl) * time.Second}
}
