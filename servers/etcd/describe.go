package etcd

// This file returns the texts by which the trace shows requests to a member.

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/servers/etcd/recipes"
	"github.com/locksim/locksim/sim"
)

// methodName returns the name by which the trace shows a method: Watch for
// /etcdserverpb.Watch/Watch.
func methodName(path string) string {
	if path == "" {
		return "a call"
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// leaseHex returns a lease ID in hex, as clients write it in the keys of their locks.
func leaseHex(lease int64) string { return strconv.FormatInt(lease, 16) }

// sessionName returns the name by which the trace shows the session with a lease ID.
func sessionName(names *sim.Names, lease int64) string { return names.Name("session", leaseHex(lease)) }

// describeKey returns a key as the trace shows it. The keys in the queue of a lock end in a
// lease ID, which is replaced by the name of the session.
func describeKey(names *sim.Names, key []byte) string {
	k := string(key)
	if names.IsKey(k) {
		return k
	}
	slash := strings.LastIndexByte(k, '/')
	last := k[slash+1:]
	if slash < 0 {
		return names.Value(k)
	}
	if lease, err := strconv.ParseInt(last, 16, 64); err == nil && len(last) >= 15 {
		last = sessionName(names, lease)
	} else {
		last = names.Value(last)
	}
	if folder := k[:slash]; names.IsKey(folder) {
		return folder + "/" + last
	}
	return describeFolder(names, k[:slash]) + "/" + last
}

// describeFolder returns the part of a key before the last slash as the trace shows it.
func describeFolder(names *sim.Names, folder string) string {
	parts := strings.Split(folder, "/")
	for i, p := range parts {
		parts[i] = names.Value(p)
	}
	return strings.Join(parts, "/")
}

// describeRange describes a range of keys, as etcd's requests express it by a key and an
// end.
func describeRange(names *sim.Names, key, end []byte) string {
	switch {
	case len(end) == 0:
		return describeKey(names, key)
	case len(end) == 1 && end[0] == 0:
		return "from " + describeKey(names, key)
	case string(end) == string(prefixEnd(key)):
		return describePrefix(names, key) + "*"
	}
	return describeKey(names, key) + " to " + describeKey(names, end)
}

// describePrefix describes the prefix that all keys of a range have.
func describePrefix(names *sim.Names, key []byte) string {
	if folder, ok := strings.CutSuffix(string(key), "/"); ok {
		return describeKey(names, []byte(folder)) + "/"
	}
	return describeKey(names, key)
}

// prefixEnd returns the first key after all keys that begin with key.
func prefixEnd(key []byte) []byte {
	end := []byte(string(key))
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return []byte{0}
}

// describeRequest describes one request of a call of the method with this path.
func describeRequest(names *sim.Names, path string, message []byte) string {
	m := methods[path]
	if m == nil {
		return methodName(path)
	}
	request := m.request()
	if proto.Unmarshal(message, request) != nil {
		return methodName(path) + " with a message that is not protobuf"
	}
	return describe(names, request)
}

// describe describes a request whose message has been decoded.
func describe(names *sim.Names, request proto.Message) string {
	switch r := request.(type) {
	case *pb.RangeRequest:
		text := "Get " + describeRange(names, r.Key, r.RangeEnd)
		if r.Serializable {
			text += " (serializable)"
		}
		return text
	case *pb.PutRequest:
		return "Put " + describeKey(names, r.Key)
	case *pb.DeleteRangeRequest:
		return "Delete " + describeRange(names, r.Key, r.RangeEnd)
	case *pb.TxnRequest:
		return describeTxn(names, r)
	case *pb.CompactionRequest:
		return fmt.Sprintf("Compact %d", r.Revision)
	case *pb.LeaseGrantRequest:
		if r.ID != 0 {
			return fmt.Sprintf("LeaseGrant %s for %d s", sessionName(names, r.ID), r.TTL)
		}
		return fmt.Sprintf("LeaseGrant for %d s", r.TTL)
	case *pb.LeaseRevokeRequest, *pb.LeaseKeepAliveRequest, *pb.LeaseTimeToLiveRequest:
		return requestName(request) + " " + sessionName(names, r.(interface{ GetID() int64 }).GetID())
	case *pb.LeaseLeasesRequest, *pb.StatusRequest, *pb.MemberListRequest:
		return requestName(request)
	case *pb.WatchRequest:
		switch u := r.RequestUnion.(type) {
		case *pb.WatchRequest_CreateRequest:
			text := "Watch " + describeRange(names, u.CreateRequest.GetKey(), u.CreateRequest.GetRangeEnd())
			if from := u.CreateRequest.GetStartRevision(); from != 0 {
				text += fmt.Sprintf(" from revision %d", from)
			}
			return text
		case *pb.WatchRequest_CancelRequest:
			return fmt.Sprintf("ends watch %d", u.CancelRequest.GetWatchId())
		case *pb.WatchRequest_ProgressRequest:
			return "asks for the progress of its watches"
		}
		return "a Watch without a request"
	case recipes.Message:
		return describeRecipe(names, r)
	}
	return "a request"
}

// requestName returns the name of the method that takes this request.
func requestName(request proto.Message) string {
	return strings.TrimSuffix(string(request.ProtoReflect().Descriptor().Name()), "Request")
}

// describeRecipe describes a request to one of the services Lock and Election.
func describeRecipe(names *sim.Names, r recipes.Message) string {
	text := requestName(r)
	switch text {
	case "Lock", "Campaign":
		text += " " + describeKey(names, r.Bytes("name"))
		if lease := r.Int("lease"); lease != 0 {
			text += " for " + sessionName(names, lease)
		}
	case "Unlock":
		text += " " + describeKey(names, r.Bytes("key"))
	case "Leader": // or Observe, whose request is the same
		text = "Leader of " + describeKey(names, r.Bytes("name"))
	case "Proclaim", "Resign":
		text += " " + describeKey(names, r.Leader().Bytes("key"))
	}
	return text
}

func describeTxn(names *sim.Names, r *pb.TxnRequest) string {
	op := func(op *pb.RequestOp) string { return describeOp(names, op) }
	return "Txn" + describeList(" if ", " and ", r.Compare, func(c *pb.Compare) string { return describeCompare(names, c) }) +
		describeList(" then ", ", ", r.Success, op) + describeList(" else ", ", ", r.Failure, op)
}

// describeList describes several things with a word before the first of them and a word
// between any two. It returns "" if there are none.
func describeList[T any](word, between string, all []T, describeOne func(T) string) (text string) {
	for _, element := range all {
		text += word + describeOne(element)
		word = between
	}
	return text
}

func describeOp(names *sim.Names, op *pb.RequestOp) string {
	if t := op.GetRequestTxn(); t != nil {
		return "(" + describe(names, t) + ")"
	}
	if request := firstValid(op.GetRequestRange(), op.GetRequestPut(), op.GetRequestDeleteRange()); request != nil {
		return describe(names, request)
	}
	return "nothing"
}

// firstValid returns the first message that is not nil, or nil.
func firstValid(all ...proto.Message) proto.Message {
	for _, m := range all {
		if m.ProtoReflect().IsValid() {
			return m
		}
	}
	return nil
}

// signs are the signs for the comparisons in a transaction's condition.
var signs = map[pb.Compare_CompareResult]string{
	pb.Compare_EQUAL: "=", pb.Compare_NOT_EQUAL: "!=", pb.Compare_GREATER: ">", pb.Compare_LESS: "<",
}

func describeCompare(names *sim.Names, c *pb.Compare) string {
	target, operand := strings.ToLower(c.Target.String()), ""
	switch t := c.TargetUnion.(type) {
	case *pb.Compare_Version:
		operand = fmt.Sprint(t.Version)
	case *pb.Compare_CreateRevision:
		operand = fmt.Sprint(t.CreateRevision)
	case *pb.Compare_ModRevision:
		operand = fmt.Sprint(t.ModRevision)
	case *pb.Compare_Lease:
		if operand = "none"; t.Lease != 0 {
			operand = sessionName(names, t.Lease)
		}
	case *pb.Compare_Value:
		operand = describeValue(names, t.Value)
	}
	return fmt.Sprintf("%s(%s) %s %s", target, describeRange(names, c.Key, c.RangeEnd), signs[c.Result], operand)
}

// describeValue describes the value of a key.
func describeValue(names *sim.Names, value []byte) string {
	if len(value) == 0 {
		return `""`
	}
	if len(value) > 64 {
		return names.Name("value", hex.EncodeToString(value))
	}
	return names.Value(string(value))
}

// describeWrites lists the keys that a transaction puts and deletes if its condition holds.
// That is enough to recognise the transaction.
func describeWrites(names *sim.Names, r *pb.TxnRequest) string {
	var keys []string
	for _, op := range r.Success {
		if p := op.GetRequestPut(); p != nil {
			keys = append(keys, describeKey(names, p.Key))
		}
		if d := op.GetRequestDeleteRange(); d != nil {
			keys = append(keys, describeRange(names, d.Key, d.RangeEnd))
		}
	}
	if len(keys) == 0 {
		return "several keys"
	}
	return strings.Join(keys, ", ")
}
