package zookeeper

import "fmt"

// An opcode is the kind of a request or a transaction: ZooDefs.OpCode in
// https://github.com/apache/zookeeper/blob/branch-3.8/zookeeper-server/src/main/java/org/apache/zookeeper/ZooDefs.java
type opcode int32

const (
	opCreate       opcode = 1
	opDelete       opcode = 2
	opExists       opcode = 3
	opGetData      opcode = 4
	opSetData      opcode = 5
	opGetACL       opcode = 6
	opSetACL       opcode = 7
	opGetChildren  opcode = 8
	opSync         opcode = 9
	opPing         opcode = 11
	opGetChildren2 opcode = 12
	opCheck        opcode = 13
	opMulti        opcode = 14
	opCreate2      opcode = 15
	opReconfig     opcode = 16
	opContainer    opcode = 19
	opCreateTTL    opcode = 21
	opAuth         opcode = 100
	opSetWatches   opcode = 101
	opClose        opcode = -11

	// opConnect is our opcode for the first message of a connection, which has none. opOpen
	// is the transaction that opens a session. opError is an operation in the answer to a
	// multi that has failed.
	opConnect opcode = -100
	opOpen    opcode = -10
	opError   opcode = -1
)

// ops are the names of the supported requests and transactions.
var ops = map[opcode]string{
	opCreate: "create", opDelete: "delete", opExists: "exists", opGetData: "getData", opSetData: "setData",
	opGetACL: "getACL", opSetACL: "setACL", opGetChildren: "getChildren", opSync: "sync", opPing: "ping",
	opGetChildren2: "getChildren", opCheck: "check", opMulti: "multi", opCreate2: "create",
	opReconfig: "reconfig", opContainer: "createContainer", opCreateTTL: "createTTL",
	opAuth: "addAuth", opSetWatches: "setWatches", opClose: "closeSession", opConnect: "connect", opOpen: "open session",
}

// unsupportedOps are the names of the requests that a real server supports and this one
// does not.
var unsupportedOps = map[opcode]string{
	17: "checkWatches", 18: "removeWatches", 20: "deleteContainer", 22: "multiRead", 102: "sasl",
	103: "getEphemerals", 104: "getAllChildrenNumber", 105: "setWatches2", 106: "addWatch", 107: "whoAmI",
}

// String returns the name of the request.
func (o opcode) String() string {
	if name, ok := ops[o]; ok {
		return name
	}
	if name, ok := unsupportedOps[o]; ok {
		return name
	}
	return fmt.Sprintf("operation %d", int32(o))
}

// isChange reports whether a request becomes a transaction, so that it takes a zxid (a
// transaction's number) even if it fails.
func (o opcode) isChange() bool {
	switch o {
	case opCreate, opDelete, opSetData, opSetACL, opCheck, opMulti, opCreate2, opReconfig, opContainer, opCreateTTL, opClose, opOpen:
		return true
	}
	return false
}

// A code is the result of a request, with the numbers of KeeperException.Code in the real server.
type code int32

const (
	ok                     code = 0
	errInconsistent        code = -2
	errMarshalling         code = -5
	errUnimplemented       code = -6
	errBadArguments        code = -8
	errNoNode              code = -101
	errNoAuth              code = -102
	errBadVersion          code = -103
	errChildrenOfEphemeral code = -108
	errNodeExists          code = -110
	errNotEmpty            code = -111
	errSessionExpired      code = -112
	errInvalidACL          code = -114
	errAuthFailed          code = -115
	errSessionMoved        code = -118
	errReconfigDisabled    code = -123
	errThrottled           code = -127
)

// throttled is the name of the error with which an overloaded server answers if its
// administrator has configured a limit. See RequestThrottler.
const throttled = "THROTTLEDOP"

// failureCode returns the code of an error, by its name in KeeperException. A scenario
// names the error with which a server answers while the fault fail acts on it.
func failureCode(name string) code {
	switch name {
	case throttled:
		return errThrottled
	case "OPERATIONTIMEOUT":
		return -7
	case "CONNECTIONLOSS":
		return -4
	}
	return -1 // SYSTEMERROR
}

// codes are the texts of the codes in the trace.
var codes = map[code]string{
	ok: "ok", errInconsistent: "not tried", errMarshalling: "marshalling error", errUnimplemented: "unimplemented",
	errBadArguments: "bad arguments", errNoNode: "no node", errNoAuth: "no auth", errBadVersion: "bad version",
	errChildrenOfEphemeral: "no children for ephemerals", errNodeExists: "node exists", errNotEmpty: "not empty",
	errSessionExpired: "session expired", errInvalidACL: "invalid ACL", errAuthFailed: "auth failed",
	errSessionMoved: "session moved", errThrottled: "throttled", errReconfigDisabled: "reconfig disabled",
}

// String returns the text of the code for the trace.
func (c code) String() string {
	if text, known := codes[c]; known {
		return text
	}
	return fmt.Sprintf("error %d", int32(c))
}
