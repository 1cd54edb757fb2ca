// Package recipes defines the messages of etcd's services v3lockpb.Lock and
// v3electionpb.Election. With these services a member acquires a lock or leads an election
// for a client, by the recipes of etcd's own client.
//
// The package does not register the messages with protobuf, because a program under test
// may contain etcd's own definitions of them.
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

// The methods of the services, by their paths.
const (
	Lock     = "/v3lockpb.Lock/Lock"
	Unlock   = "/v3lockpb.Lock/Unlock"
	Campaign = "/v3electionpb.Election/Campaign"
	Proclaim = "/v3electionpb.Election/Proclaim"
	Leader   = "/v3electionpb.Election/Leader"
	Observe  = "/v3electionpb.Election/Observe"
	Resign   = "/v3electionpb.Election/Resign"
)

// messageFields lists the fields of each message, in the order of their numbers, with their
// types. It follows https://github.com/etcd-io/etcd/tree/main/server/etcdserver/api.
var messageFields = map[string]string{
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

// messages returns the descriptors of the messages by their names.
var messages = sync.OnceValue(buildMessages)

// buildMessages makes the descriptors from messageFields.
func buildMessages() map[string]protoreflect.MessageDescriptor {
	header, kv := new(pb.ResponseHeader).ProtoReflect().Descriptor(), new(mvccpb.KeyValue).ProtoReflect().Descriptor()
	files := new(protoregistry.Files)
	for _, descriptor := range []protoreflect.Descriptor{header, kv} {
		register(files, descriptor.ParentFile())
	}
	all := map[string]protoreflect.MessageDescriptor{}
	for _, service := range []string{"v3lockpb", "v3electionpb"} {
		file := &descriptorpb.FileDescriptorProto{
			Name: proto.String("locksim/" + service + ".proto"), Package: proto.String(service), Syntax: proto.String("proto3"),
			Dependency: []string{header.ParentFile().Path(), kv.ParentFile().Path()},
		}
		types := map[string]string{"header": string(header.FullName()), "kv": string(kv.FullName()), "leader": service + ".LeaderKey"}
		for name, fields := range messageFields {
			if short, built := strings.CutPrefix(name, service+"."); built {
				file.MessageType = append(file.MessageType, message(short, fields, types))
			}
		}
		built, err := protodesc.NewFile(file, files)
		if err != nil {
			panic(err) // the declarations are constants
		}
		for i := range built.Messages().Len() {
			declared := built.Messages().Get(i)
			all[string(declared.FullName())] = declared
		}
	}
	return all
}

// register registers a file, after all files that it imports.
func register(known *protoregistry.Files, file protoreflect.FileDescriptor) {
	if _, err := known.FindFileByPath(file.Path()); err == nil {
		return
	}
	for i := range file.Imports().Len() {
		register(known, file.Imports().Get(i).FileDescriptor)
	}
	if err := known.RegisterFile(file); err != nil {
		panic(err) // etcd's own files agree with each other
	}
}

// message returns the declaration of a message from its list of fields. types are the full
// names of the types that are messages.
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

// A Message is a request or a response of one of the services.
type Message struct{ *dynamicpb.Message }

// New returns an empty message of the type with this name, such as v3lockpb.LockRequest. It
// panics if there is no such type.
func New(name string) Message { return Message{dynamicpb.NewMessage(messages()[name])} }

// With sets a field and returns the message. The value is bytes, a string, an int64 or a
// message.
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
		// The value may have another Go type with the same protobuf fields.
		b, err := proto.Marshal(v)
		if err == nil {
			err = proto.Unmarshal(b, m.Mutable(field).Message().Interface())
		}
		if err != nil {
			panic(err) // both types have the same fields
		}
	}
	return m
}

// Bytes returns the value of a field of the type bytes.
func (m Message) Bytes(name string) []byte { return m.get(name).Bytes() }

// Int returns the value of a field of the type int64.
func (m Message) Int(name string) int64 { return m.get(name).Int() }

// Has reports whether a field that is a message is set.
func (m Message) Has(name string) bool {
	return m.Message.Has(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

// Leader returns the LeaderKey in the field leader of a request.
func (m Message) Leader() Message {
	leader := New("v3electionpb.LeaderKey")
	proto.Merge(leader.Message, m.get("leader").Message().Interface())
	return leader
}

// Header returns the header of a response.
func (m Message) Header() *pb.ResponseHeader { return decodeField(m, "header", new(pb.ResponseHeader)) }

// KeyValue returns the key with its value in a response.
func (m Message) KeyValue() *mvccpb.KeyValue { return decodeField(m, "kv", new(mvccpb.KeyValue)) }

// decodeField copies a field that is a message to another type with the same fields.
func decodeField[M proto.Message](m Message, name string, to M) M {
	b, err := proto.Marshal(m.get(name).Message().Interface())
	if err == nil {
		err = proto.Unmarshal(b, to)
	}
	if err != nil {
		panic(err) // both types have the same fields
	}
	return to
}

func (m Message) get(name string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}
