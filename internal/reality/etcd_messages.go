package reality

import (
	"encoding/binary"
	"strconv"
)

// eachField calls do for each field of a protobuf message, until do returns false or the message is
// malformed: https://protobuf.dev/programming-guides/encoding. number is the number of the field.
// value is the field's value if that is a number, and data has its bytes if it has a length.
func eachField(b []byte, do func(number int, value uint64, data []byte)) {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return
		}
		b = b[n:]
		switch number := int(key >> 3); key & 7 {
		case 0: // a number
			value, n := binary.Uvarint(b)
			if n <= 0 {
				return
			}
			do(number, value, nil)
			b = b[n:]
		case 1: // eight bytes
			if len(b) < 8 {
				return
			}
			b = b[8:]
		case 2: // bytes with a length
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return
			}
			do(number, 0, b[n:n+int(size)])
			b = b[n+int(size):]
		case 5: // four bytes
			if len(b) < 4 {
				return
			}
			b = b[4:]
		default:
			return
		}
	}
}

// describeCall completes a call with what its request may change. method is the name by which
// the trace shows the method. The numbers of fields are those of
// https://github.com/etcd-io/etcd/blob/v3.4.23/etcdserver/etcdserverpb/rpc.proto.
func describeCall(q *call, method string, request []byte) {
	e := &effect{}
	switch method {
	case "Put":
		e.addPut(request)
	case "Delete":
		e.addDelete(request)
	case "Txn":
		e.addTxn(request, 0)
	case "LeaseRevoke":
		eachField(request, func(number int, value uint64, _ []byte) {
			if number == 1 {
				e.ends = strconv.FormatInt(int64(value), 16)
			}
		})
	case "LeaseGrant":
		q.opens = true
	case "LeaseKeepAlive":
		q.renews = true
	}
	if len(e.puts) > 0 || len(e.deletes) > 0 || e.ends != "" {
		q.effect = e
	}
}

// addPut adds the key of a PutRequest.
func (e *effect) addPut(request []byte) {
	eachField(request, func(number int, _ uint64, data []byte) {
		if number == 1 {
			e.puts = append(e.puts, string(data))
		}
	})
}

// addDelete adds the keys of a DeleteRangeRequest.
func (e *effect) addDelete(request []byte) {
	var from, to string
	eachField(request, func(number int, _ uint64, data []byte) {
		switch number {
		case 1:
			from = string(data)
		case 2:
			to = string(data)
		}
	})
	switch to {
	case "":
		to = from + "\x00"
	case "\x00":
		to = "" // to the end of all keys
	}
	e.deletes = append(e.deletes, [2]string{from, to})
}

// deepestTxn is the depth down to which the harness reads nested transactions.
const deepestTxn = 10

// addTxn adds the keys of a TxnRequest, in both of its branches.
func (e *effect) addTxn(request []byte, depth int) {
	eachField(request, func(number int, _ uint64, op []byte) {
		if number != 2 && number != 3 || depth > deepestTxn { // success and failure
			return
		}
		eachField(op, func(kind int, _ uint64, data []byte) {
			switch kind {
			case 2:
				e.addPut(data)
			case 3:
				e.addDelete(data)
			case 4:
				e.addTxn(data, depth+1)
			}
		})
	})
}

// An etcdAnswer has the parts of an answer that the harness needs. id and ttl are those of
// a session, in the answers to LeaseGrant and LeaseKeepAlive. changed are the keys in a
// notification of a watch.
type etcdAnswer struct {
	revision, id, ttl int64
	changed           []string
}

// readAnswer reads an answer of any kind: each begins with a header.
func readAnswer(b []byte) (a etcdAnswer) {
	eachField(b, func(number int, value uint64, data []byte) {
		switch number {
		case 1:
			eachField(data, func(number int, value uint64, _ []byte) {
				if number == 3 {
					a.revision = int64(value)
				}
			})
		case 2:
			a.id = int64(value)
		case 3:
			a.ttl = int64(value)
		case 11: // an event
			eachField(data, func(number int, _ uint64, kv []byte) {
				if number == 2 {
					eachField(kv, func(number int, _ uint64, key []byte) {
						if number == 1 {
							a.changed = append(a.changed, string(key))
						}
					})
				}
			})
		}
	})
	return a
}
