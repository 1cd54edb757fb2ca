// Package recipes has the messages of the services v3lockpb.Lock and v3electionpb.Election, with
// which a member of etcd locks and elects for a client as the recipes of etcd's own client do.
//
// It registers none of them, because a program that is under test may have etcd's own.
package recipes

import (
	"strings"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// The methods, by their paths.
const (
	Lock     = "/v3lockpb.Lock/Lock"
	Unlock   = "/v3lockpb.Lock/Unlock"
	Campaign = "/v3electionpb.Election/Campaign"
	Proclaim = "/v3electionpb.Election/Proclaim"
	Leader   = "/v3electionpb.Election/Leader"
	Observe  = "/v3electionpb.Election/Observe"
	Resign   = "/v3electionpb.Election/Resign"
)

// declared are the fields of the messages in the order of their numbers, each with its type: that
// of https://github.com/etcd-io/etcd/tree/main/server/etcdserver/api.
var declared = map[string]string{
	"v3lockpb.LockRequest":          "name bytes, lease int64",
	"v3lockpb.LockResponse":         "header header, key bytes",
	"v3lockpb.UnlockRequest":        "key bytes",
	"v3lockpb.UnlockResponse":       "header header",
	"v3electionpb.CampaignRequest":  "name bytes, lease int64, value bytes",
	"v3electionpb.CampaignResponse": "header header, leader leader",
	"v3electionpb.LeaderKey":        "name bytes, key bytes, rev int64, lease int64",
	"v3electionpb.LeaderRequest":    "name bytes",
	"v3electionpb.LeaderResponse":   "header header, kv kv",
	"v3electionpb.ResignRequest":    "leader leader",
	"v3electionpb.ResignResponse":   "header header",
	"v3electionpb.ProclaimRequest":  "leader leader, value bytes",
	"v3electionpb.ProclaimResponse": "header header",
}

// messages are the descriptors of the messages, by their names.
var messages = sync.OnceValue(describe)

func describe() map[string]protoreflect.MessageDescriptor {
	header, kv := new(pb.ResponseHeader).ProtoReflect().Descriptor(), new(mvccpb.KeyValue).ProtoReflect().Descriptor()
	known := new(protoregistry.Files)
	for _, of := range []protoreflect.Descriptor{header, kv} {
		register(known, of.ParentFile())
	}
	all := map[string]protoreflect.MessageDescriptor{}
	for _, service := range []string{"v3lockpb", "v3electionpb"} {
		file := &descriptorpb.FileDescriptorProto{
			Name: proto.String("locksim/" + service + ".proto"), Package: proto.String(service), Syntax: proto.String("proto3"),
			Dependency: []string{header.ParentFile().Path(), kv.ParentFile().Path()},
		}
		types := map[string]string{"header": string(header.FullName()), "kv": string(kv.FullName()), "leader": service + ".LeaderKey"}
		for name, fields := range declared {
			if short, is := strings.CutPrefix(name, service+"."); is {
				file.MessageType = append(file.MessageType, message(short, fields, types))
			}
		}
		is, err := protodesc.NewFile(file, known)
		if err != nil {
			panic(err) // it is ours
		}
		for i := range is.Messages().Len() {
			one := is.Messages().Get(i)
			all[string(one.FullName())] = one
		}
	}
	return all
}

// register has a file be known, and all that it needs.
func register(known *protoregistry.Files, file protoreflect.FileDescriptor) {
	if _, err := known.FindFileByPath(file.Path()); err == nil {
		return
	}
	for i := range file.Imports().Len() {
		register(known, file.Imports().Get(i).FileDescriptor)
	}
	if err := known.RegisterFile(file); err != nil {
		panic(err) // they are etcd's own, and agree
	}
}

func message(name, fields string, types map[string]string) *descriptorpb.DescriptorProto {
	m := &descriptorpb.DescriptorProto{Name: proto.String(name)}
	for i, field := range strings.Split(fields, ", ") {
		name, typ, _ := strings.Cut(field, " ")
		f := &descriptorpb.FieldDescriptorProto{
			Name: proto.String(name), JsonName: proto.String(name), Number: proto.Int32(int32(i + 1)),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
		switch typ {
		case "bytes":
			f.Type = descriptorpb.FieldDescriptorProto_TYPE_BYTES.Enum()
		case "int64":
			f.Type = descriptorpb.FieldDescriptorProto_TYPE_INT64.Enum()
		default:
			f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String("."+types[typ])
		}
		m.Field = append(m.Field, f)
	}
	return m
}

// A Message is a request or an answer.
type Message struct{ *dynamicpb.Message }

// New is an empty message of a name, as v3lockpb.LockRequest.
func New(name string) Message { return Message{dynamicpb.NewMessage(messages()[name])} }

// With is the message with a field, of bytes, a text, an int64 or a message.
func (m Message) With(name string, v any) Message {
	field := m.Descriptor().Fields().ByName(protoreflect.Name(name))
	switch v := v.(type) {
	case []byte:
		m.Set(field, protoreflect.ValueOfBytes(v))
	case string:
		m.Set(field, protoreflect.ValueOfBytes([]byte(v)))
	case int64:
		m.Set(field, protoreflect.ValueOfInt64(v))
	case proto.Message:
		// What it is of may be another type with the same fields.
		b, err := proto.Marshal(v)
		if err == nil {
			err = proto.Unmarshal(b, m.Mutable(field).Message().Interface())
		}
		if err != nil {
			panic(err) // they are the same
		}
	}
	return m
}

// Bytes is a field of bytes, Int one that is a number.
func (m Message) Bytes(name string) []byte { return m.get(name).Bytes() }

// Int is as Bytes.
func (m Message) Int(name string) int64 { return m.get(name).Int() }

// Has says whether a message has one in it.
func (m Message) Has(name string) bool {
	return m.Message.Has(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

// Leader is the LeaderKey that a message has; Header and KeyValue are what an answer has.
func (m Message) Leader() Message {
	leader := New("v3electionpb.LeaderKey")
	proto.Merge(leader.Message, m.get("leader").Message().Interface())
	return leader
}

// Header is as Leader.
func (m Message) Header() *pb.ResponseHeader { return into(m, "header", new(pb.ResponseHeader)) }

// KeyValue is as Leader.
func (m Message) KeyValue() *mvccpb.KeyValue { return into(m, "kv", new(mvccpb.KeyValue)) }

func into[M proto.Message](m Message, name string, to M) M {
	b, err := proto.Marshal(m.get(name).Message().Interface())
	if err == nil {
		err = proto.Unmarshal(b, to)
	}
	if err != nil {
		panic(err) // they are the same
	}
	return to
}

func (m Message) get(name string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}
