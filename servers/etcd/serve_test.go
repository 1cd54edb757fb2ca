package etcd_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/servers/etcd/recipes"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// runRawBytes runs a world in which a client writes some bytes to a member, and disconnects
// 0.1 s after the start.
func runRawBytes(t *testing.T, b []byte) *trace.Trace {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		c, err := Dial(ctx, p, 0)
		if err != nil {
			return err
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
		SleepUntil(100 * time.Millisecond)
		return c.Close()
	}))
	cfg.Nodes = Nodes("etcd", 1)
	return RunWorld(t, cfg)
}

// preamble returns the bytes that a client writes first on a connection.
func preamble() *bytes.Buffer {
	b := bytes.NewBufferString(http2.ClientPreface)
	_ = http2.NewFramer(b, nil).WriteSettings()
	return b
}

// writeCall writes a call of a method to b. path names the method.
func writeCall(b *bytes.Buffer, path string, message []byte) {
	var block bytes.Buffer
	header := hpack.NewEncoder(&block)
	_ = header.WriteField(hpack.HeaderField{Name: ":path", Value: path})
	frames := http2.NewFramer(b, nil)
	_ = frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})
	data := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	_ = frames.WriteData(1, true, append(data, message...))
}

// responseTexts returns the texts of the responses that etcd-1 sent to the client.
func responseTexts(tr *trace.Trace) (all []string) {
	for _, ev := range Events(tr, trace.KindSend, "etcd-1") {
		all = append(all, ev.Text)
	}
	return all
}

// A call that the member does not understand gets the error of a real member.
func TestInvalidCallsGetErrors(t *testing.T) {
	encode := func(m proto.Message) []byte {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		path    string
		message []byte
		answer  string
		doubt   string // the doubt of the run; "" means no doubt
	}{
		{pb.KV_Put_FullMethodName, []byte{0xff}, "error: grpc: error unmarshalling request: proto: cannot parse invalid wire-format data", ""},
		{pb.KV_Put_FullMethodName, nil, "error: etcdserver: key is not provided", ""},
		{pb.KV_Txn_FullMethodName, encode(&pb.TxnRequest{Success: make([]*pb.RequestOp, 0), Failure: []*pb.RequestOp{{}}}), "error: etcdserver: key not found", ""},
		{"/etcdserverpb.KV/Undo", nil, "error: unknown method Undo for service etcdserverpb.KV", ""},
		{"/a.Service/Method", nil, "error: unknown service a.Service", ""},
		{"nonsense", nil, `error: malformed method name: "nonsense"`, ""},
		// A real member serves this method.
		{pb.Auth_UserAdd_FullMethodName, nil, "error: unknown method UserAdd for service etcdserverpb.Auth",
			"client-1 called /etcdserverpb.Auth/UserAdd, which a real member knows and etcd-1 does not"},
	} {
		b := preamble()
		writeCall(b, c.path, c.message)
		tr := runRawBytes(t, b.Bytes())
		all := responseTexts(tr)
		Equal(t, "the last response to a call of "+c.path, all[len(all)-1], c.answer)
		Equal(t, "doubts about a call of "+c.path, strings.Join(tr.Doubts, "; "), c.doubt)
	}
}

func TestInvalidHTTP2EndsTheConnection(t *testing.T) {
	b := preamble()
	writeCall(b, pb.KV_Put_FullMethodName, []byte{0xff})
	b.WriteString("GET / HTTP/1.1\r\n\r\n")
	tr := runRawBytes(t, b.Bytes())
	all := responseTexts(tr)
	Equal(t, "the last response", all[len(all)-1], "GOAWAY: a frame of 4670804 bytes, and at most 16384 are allowed")
	Equal(t, "doubts", strings.Join(tr.Doubts, "; "), "client-1 sent etcd-1 bytes that violate HTTP/2: a frame of 4670804 bytes, and at most 16384 are allowed")
}

// FuzzRequests calls each of a member's methods with arbitrary messages. It checks that the
// member responds.
func FuzzRequests(f *testing.F) {
	paths := []string{
		pb.KV_Range_FullMethodName, pb.KV_Put_FullMethodName, pb.KV_DeleteRange_FullMethodName, pb.KV_Txn_FullMethodName, pb.KV_Compact_FullMethodName,
		pb.Lease_LeaseGrant_FullMethodName, pb.Lease_LeaseRevoke_FullMethodName, pb.Lease_LeaseKeepAlive_FullMethodName, pb.Lease_LeaseTimeToLive_FullMethodName,
		pb.Lease_LeaseLeases_FullMethodName, pb.Watch_Watch_FullMethodName, pb.Cluster_MemberList_FullMethodName, pb.Maintenance_Status_FullMethodName,
		recipes.Lock, recipes.Unlock, recipes.Campaign, recipes.Proclaim, recipes.Leader, recipes.Observe, recipes.Resign,
	}
	leader := recipes.New("v3electionpb.LeaderKey").With("key", "x/1").With("rev", int64(2)).With("lease", int64(1))
	op := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte("x"), Lease: 1}}}
	for i, m := range []proto.Message{
		&pb.RangeRequest{Key: []byte("x"), RangeEnd: []byte{0}, Revision: 1, SortTarget: pb.RangeRequest_MOD, MinCreateRevision: -1},
		&pb.PutRequest{Key: []byte("x"), IgnoreValue: true}, &pb.DeleteRangeRequest{Key: []byte("x"), RangeEnd: []byte("a"), PrevKv: true},
		&pb.TxnRequest{Compare: []*pb.Compare{{Key: []byte("x"), RangeEnd: []byte{0}}}, Success: []*pb.RequestOp{op}, Failure: []*pb.RequestOp{{Request: &pb.RequestOp_RequestTxn{RequestTxn: &pb.TxnRequest{Failure: []*pb.RequestOp{op}}}}}},
		&pb.CompactionRequest{Revision: 1, Physical: true}, &pb.LeaseGrantRequest{ID: -1, TTL: 1 << 40}, &pb.LeaseRevokeRequest{ID: 1},
		&pb.LeaseKeepAliveRequest{ID: 1}, &pb.LeaseTimeToLiveRequest{ID: 1, Keys: true}, &pb.LeaseLeasesRequest{},
		&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("x"), StartRevision: 1, ProgressNotify: true}}},
		&pb.MemberListRequest{Linearizable: true}, &pb.StatusRequest{},
		recipes.New("v3lockpb.LockRequest").With("name", "x"), recipes.New("v3lockpb.UnlockRequest").With("key", "x/1"),
		recipes.New("v3electionpb.CampaignRequest").With("name", "x").With("value", "1"), recipes.New("v3electionpb.ProclaimRequest").With("leader", leader).With("value", "1"),
		recipes.New("v3electionpb.LeaderRequest").With("name", "x"), recipes.New("v3electionpb.LeaderRequest").With("name", "x"),
		recipes.New("v3electionpb.ResignRequest").With("leader", leader),
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint(i), b)
	}
	f.Fuzz(func(t *testing.T, which uint, message []byte) {
		b := preamble()
		writeCall(b, paths[which%uint(len(paths))], message[:min(len(message), 16<<10-5)])
		tr := runRawBytes(t, b.Bytes())
		if len(responseTexts(tr)) == 0 {
			t.Error("the member sent no response, want at least one")
		}
	})
}

// FuzzConnection sends arbitrary bytes to a member. It checks that the run ends.
func FuzzConnection(f *testing.F) {
	b := preamble()
	writeCall(b, pb.KV_Range_FullMethodName, []byte{0xa, 1, 'x'})
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) { runRawBytes(t, b) })
}
