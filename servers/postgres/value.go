package postgres

// This file has the values of SQL: their types, their texts, their order and the
// conversions between types.

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A value is an SQL value: a bool, int64, float64, string, octets, tupleID, timestamp or
// interval; nil is NULL.
type value = any

// octets is a value of PostgreSQL's type bytea.
type octets string

// A tupleID is a value of PostgreSQL's type tid: the place of a row version in its table.
type tupleID struct {
	block  uint32
	offset uint16
}

func (p tupleID) String() string { return fmt.Sprintf("(%d,%d)", p.block, p.offset) }

// parseTupleID parses a tid such as (0,1).
func parseTupleID(text string) tupleID {
	var p tupleID
	word := strings.TrimSpace(text)
	if n, err := fmt.Sscanf(word, "(%d,%d)", &p.block, &p.offset); n != 2 || err != nil || p.String() != word {
		raise(newError(badText, "invalid input syntax for type tid: \"%s\"", text))
	}
	return p
}

// void is the type of functions that return nothing. unknown is the type of a literal or a
// parameter whose type is not determined yet.
const (
	void    sql.Type = "void"
	unknown sql.Type = "unknown"
)

// types are the supported types. oid is the number that identifies the type in the
// protocol. size is the size of its values in bytes; -1 means variable. short is the name
// that PostgreSQL gives to a result column after a cast to the type.
var types = map[sql.Type]struct {
	oid   uint32
	size  int16
	short string
}{
	sql.Bool: {16, 1, "bool"}, sql.Bytea: {17, -1, "bytea"}, sql.Name: {19, 64, "name"}, sql.Int8: {20, 8, "int8"},
	sql.Int2: {21, 2, ""}, sql.Int4: {23, 4, "int4"}, sql.Text: {25, -1, "text"}, sql.OID: {26, 4, "oid"},
	sql.TID: {27, 6, "tid"}, sql.XID: {28, 4, "xid"}, sql.Float8: {701, 8, "float8"}, sql.Varchar: {1043, -1, "varchar"},
	sql.Timestamp: {1114, 8, "timestamp"}, sql.TimestampTZ: {1184, 8, "timestamptz"}, sql.Interval: {1186, 16, "interval"},
	void: {2278, 4, ""},
}

// typeOf returns the type with an OID; false if there is none.
func typeOf(oid uint32) (sql.Type, bool) {
	for t, info := range types {
		if info.oid == oid && t != void {
			return t, true
		}
	}
	return "", false
}

// parseValue parses a text as a value of type t. It raises an error if the text is no such
// value.
func parseValue(text string, t sql.Type) value {
	word := strings.TrimSpace(text)
	switch t {
	case sql.Text, sql.Varchar, sql.Name, unknown:
		return text
	case sql.OID, sql.XID:
		return parseID(text, t)
	case sql.TID:
		return parseTupleID(text)
	case sql.Bytea:
		return parseOctets(text)
	case sql.Bool:
		if b, ok := parseBool(strings.ToLower(word)); ok {
			return b
		}
	case sql.Int2, sql.Int4, sql.Int8:
		n, err := strconv.ParseInt(word, 10, bitsOf(t))
		switch {
		case err == nil:
			return n
		case errors.Is(err, strconv.ErrRange):
			raise(rangeError(text, t))
		}
	case sql.Float8:
		if f, err := strconv.ParseFloat(word, 64); err == nil && !strings.ContainsAny(word, "xX_pP") {
			return f
		}
	case sql.Timestamp, sql.TimestampTZ:
		at, ok := parseTimestamp(word, t == sql.TimestampTZ)
		if !ok {
			raise(timeError(text, strings.TrimSuffix(string(t), " without time zone")))
		}
		return at
	case sql.Interval:
		var s interval
		ok := false
		if catch(func() { s, ok = parseInterval(word) }) != nil || !ok {
			raise(timeError(text, string(t)))
		}
		return s
	}
	panic(raisedError{newError(badText, "invalid input syntax for type %s: \"%s\"", t, text)})
}

// rangeError returns the error for a number that a type cannot hold.
func rangeError(text string, t sql.Type) error {
	return newError(outOfRange, "value \"%s\" is out of range for type %s", text, t)
}

// timeError returns the error for a text that this server cannot parse as a time or an
// interval. PostgreSQL accepts many more forms, so it may accept the text.
func timeError(text, typ string) error {
	err := newError(badTimestamp, "invalid input syntax for type %s: \"%s\"", typ, text)
	words := []string{"now", "today", "tomorrow", "yesterday", "epoch", "allballs"}
	if strings.ContainsAny(text, "0123456789") || slices.Contains(words, strings.ToLower(strings.TrimSpace(text))) {
		return markMayBeValid(err)
	}
	return err
}

// parseID parses a value of the types oid and xid, which are numbers of 32 bits without a
// sign.
func parseID(text string, t sql.Type) int64 {
	word := strings.TrimSpace(text)
	n, err := strconv.ParseInt(word, 10, 64)
	switch {
	case t == sql.XID && (err != nil || n < 0 || n > math.MaxUint32 || word[0] == '0' && len(word) > 1):
		// A real server takes the leading digits, as C's strtoul does.
		raise(unsupported("the xid '%s'", text))
	case errors.Is(err, strconv.ErrSyntax):
		raise(newError(badText, "invalid input syntax for type %s: \"%s\"", t, text))
	case err != nil, n < math.MinInt32, n > math.MaxUint32:
		raise(rangeError(text, t))
	}
	return int64(uint32(n))
}

// parseOctets parses a bytea in one of PostgreSQL's two forms. One is \x and hex digits,
// with optional spaces between bytes. The other is text in which \ooo is a byte and \\ a
// backslash.
func parseOctets(text string) octets {
	if digits, is := strings.CutPrefix(text, `\x`); is {
		var b []byte
		for digits = strings.TrimLeft(digits, " \t\n\r"); digits != ""; digits = strings.TrimLeft(digits, " \t\n\r") {
			for _, c := range digits[:1] {
				raiseIf(!strings.ContainsRune("0123456789abcdefABCDEF", c), badParameterValue, "invalid hexadecimal digit: \"%c\"", c)
			}
			raiseIf(len(digits) < 2, badParameterValue, "invalid hexadecimal data: odd number of digits")
			decoded, err := hex.DecodeString(digits[:2])
			raiseIf(err != nil, badParameterValue, "invalid hexadecimal digit: \"%c\"", []rune(digits[1:])[0])
			b, digits = append(b, decoded...), digits[2:]
		}
		return octets(b)
	}
	var b []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\':
			b = append(b, text[i])
		case strings.HasPrefix(text[i:], `\\`):
			b = append(b, '\\')
			i++
		default:
			n, err := strconv.ParseUint(text[i+1:min(i+4, len(text))], 8, 8)
			raiseIf(err != nil || len(text) < i+4 || text[i+1] > '3', badText, "invalid input syntax for type bytea")
			b = append(b, byte(n))
			i += 3
		}
	}
	return octets(b)
}

// parseBool accepts any unambiguous beginning of a word for true or false. ok is false for
// any other word.
func parseBool(word string) (isTrue, ok bool) {
	begins := func(full string, least int) bool { return len(word) >= least && strings.HasPrefix(full, word) }
	switch {
	case begins("true", 1), begins("yes", 1), word == "on", word == "1":
		return true, true
	case begins("false", 1), begins("no", 1), begins("off", 2), word == "0":
		return false, true
	}
	return false, false
}

// formatValue returns a value as text; NULL is "".
func formatValue(v value) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "t"
		}
		return "f"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return formatFloat(v)
	case string:
		return v
	case octets:
		return `\x` + hex.EncodeToString([]byte(v))
	case fmt.Stringer: // a tupleID, a timestamp or an interval
		return v.String()
	}
	return ""
}

// formatTyped returns a value of a type as text. A timestamp without time zone has no +00.
func formatTyped(v value, t sql.Type) string {
	if t == sql.Timestamp {
		return strings.TrimSuffix(formatValue(v), "+00")
	}
	return formatValue(v)
}

// formatFloat returns a floating-point number as PostgreSQL writes it.
func formatFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f != 0 && (math.Abs(f) < 1e-4 || math.Abs(f) >= 1e15):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// compare orders two values of the same type, which are not NULL. It returns -1, 0 or 1.
func compare(a, b value) int {
	switch a := a.(type) {
	case bool:
		return cmp.Compare(formatValue(a), formatValue(b)) // "f" comes before "t"
	case int64:
		return cmp.Compare(a, b.(int64))
	case float64:
		return compareFloats(a, b.(float64))
	case string:
		return strings.Compare(a, b.(string)) // by their bytes, as in PostgreSQL's collation C
	case octets:
		return cmp.Compare(a, b.(octets))
	case tupleID:
		return cmp.Or(cmp.Compare(a.block, b.(tupleID).block), cmp.Compare(a.offset, b.(tupleID).offset))
	case timestamp:
		return cmp.Compare(a, b.(timestamp))
	case interval:
		return a.compare(b.(interval))
	}
	return 0
}

// compareFloats orders NaN after everything else.
func compareFloats(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	case math.IsNaN(b):
		return -1
	}
	return cmp.Compare(a, b)
}

// equal reports whether two values of one type are equal; NULL equals NULL.
func equal(a, b value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return compare(a, b) == 0
}

// convert converts a value from one type to another, if PostgreSQL does so implicitly, in
// assignments or in casts. See [isImplicit], [isAssignable] and [isCastable]. It raises an
// error if the value does not fit the type.
func convert(v value, from, to sql.Type) value {
	if v == nil || from == to {
		return v
	}
	switch {
	case isText(from):
		return parseValue(v.(string), to)
	case isText(to):
		if b, is := v.(bool); is {
			return strconv.FormatBool(b)
		}
		return formatTyped(v, from)
	case isTime(from) && isTime(to):
		return v // in UTC both types have the same values
	case isInteger(from) && isInteger(to):
		n := v.(int64)
		if limit := int64(1) << (bitsOf(to) - 1); to != sql.Int8 && (n < -limit || n >= limit) {
			raise(newError(outOfRange, "%s out of range", to))
		}
		return n
	case from == sql.Int8 && to == sql.OID:
		if n := v.(int64); n < 0 || n > math.MaxUint32 {
			raise(newError(outOfRange, "OID out of range"))
		}
		return v
	case isInteger(from) && to == sql.OID:
		return int64(uint32(v.(int64)))
	case from == sql.OID && to == sql.Int4:
		return int64(int32(v.(int64)))
	case from == sql.OID && to == sql.Int8:
		return v
	case to == sql.Float8 && isInteger(from):
		return float64(v.(int64))
	case from == sql.Float8 && isInteger(to):
		f := math.RoundToEven(v.(float64))
		if limit := math.Ldexp(1, bitsOf(to)-1); !(f >= -limit && f < limit) {
			raise(newError(outOfRange, "%s out of range", to))
		}
		return int64(f)
	case from == sql.Bool && to == sql.Int4:
		if v.(bool) {
			return int64(1)
		}
		return int64(0)
	case from == sql.Int4 && to == sql.Bool:
		return v.(int64) != 0
	}
	panic(raisedError{newError(cannotCoerce, "cannot cast type %s to %s", from, to)})
}

func isText(t sql.Type) bool    { return t == sql.Text || t == sql.Varchar || t == sql.Name }
func isTime(t sql.Type) bool    { return t == sql.Timestamp || t == sql.TimestampTZ }
func isInteger(t sql.Type) bool { return t == sql.Int2 || t == sql.Int4 || t == sql.Int8 }
func isNumber(t sql.Type) bool  { return isInteger(t) || t == sql.Float8 }

// bitsOf returns the size of an integer type in bits.
func bitsOf(t sql.Type) int {
	switch t {
	case sql.Int2:
		return 16
	case sql.Int4:
		return 32
	}
	return 64
}

// isCastable reports whether PostgreSQL can convert between the types with a cast.
func isCastable(from, to sql.Type) bool {
	switch {
	case from == to, from == unknown, isText(from), isText(to), isNumber(from) && isNumber(to), isTime(from) && isTime(to):
		return from != void || isText(to)
	}
	return from == sql.Bool && to == sql.Int4 || from == sql.Int4 && to == sql.Bool ||
		isInteger(from) && to == sql.OID || from == sql.OID && (to == sql.Int4 || to == sql.Int8)
}

// isImplicit reports whether PostgreSQL converts between the types in expressions without a
// cast.
func isImplicit(from, to sql.Type) bool {
	return from == to || from == unknown || from == sql.Varchar && to == sql.Text || from == sql.Name && to == sql.Text ||
		from == sql.Int2 && (to == sql.Int4 || to == sql.Int8 || to == sql.Float8) || isInteger(from) && to == sql.OID ||
		from == sql.Timestamp && to == sql.TimestampTZ || from == sql.Int4 && (to == sql.Int8 || to == sql.Float8) || from == sql.Int8 && to == sql.Float8
}

// isAssignable reports whether PostgreSQL converts between the types when a value is
// written to a column.
func isAssignable(from, to sql.Type) bool {
	return isImplicit(from, to) || isNumber(from) && isNumber(to) || from == sql.OID && (to == sql.Int4 || to == sql.Int8) || isTime(from) && isTime(to) || isText(to) && from != void
}
