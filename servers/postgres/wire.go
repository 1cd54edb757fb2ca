package postgres

// This file converts values between SQL and the client protocol.

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// The formats in which the protocol transfers values.
const (
	textFormat   int16 = 0
	binaryFormat int16 = 1
)

// encode returns the bytes of a value of type t in a format. A nil value is NULL, and so
// are nil bytes.
func encode(v value, t sql.Type, format int16) []byte {
	if v == nil {
		return nil
	}
	if format == textFormat {
		return []byte(formatTyped(v, t))
	}
	switch typed := v.(type) {
	case string:
		return []byte(typed)
	case octets:
		return []byte(typed)
	case int64:
		switch t {
		case sql.Int2:
			v = int16(typed)
		case sql.Int4, sql.OID, sql.XID:
			v = int32(typed)
		}
	}
	b, _ := binary.Append(nil, binary.BigEndian, v) // cannot fail: the value has a fixed size
	return b
}

// decode parses a parameter of type t that a client has sent in a format. nil is NULL. It
// raises an error if the bytes are malformed.
func decode(b []byte, t sql.Type, format int16) value {
	switch {
	case b == nil:
		return nil
	case format == textFormat, isText(t):
		raiseIf(!utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0, "22021", "invalid byte sequence for encoding \"UTF8\"")
		return parseValue(string(b), t)
	case format != binaryFormat:
		raise(newError(badParameterValue, "unsupported format code: %d", format))
	}
	switch {
	case t == sql.Bool && len(b) == 1:
		return b[0] != 0
	case t == sql.Bytea:
		return octets(b)
	case t == sql.Int2 && len(b) == 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case (t == sql.OID || t == sql.XID) && len(b) == 4:
		return int64(binary.BigEndian.Uint32(b))
	case t == sql.TID && len(b) == 6:
		return tupleID{binary.BigEndian.Uint32(b), binary.BigEndian.Uint16(b[4:])}
	case t == sql.Int4 && len(b) == 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case t == sql.Int8 && len(b) == 8:
		return int64(binary.BigEndian.Uint64(b))
	case t == sql.Float8 && len(b) == 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case isTime(t) && len(b) == 8:
		return timestamp(binary.BigEndian.Uint64(b)).checkRange()
	case t == sql.Interval && len(b) == 16:
		return interval{int64(binary.BigEndian.Uint64(b)), int32(binary.BigEndian.Uint32(b[8:])), int32(binary.BigEndian.Uint32(b[12:]))}
	}
	panic(raisedError{newError(badBinary, "incorrect binary data format in bind parameter")})
}
