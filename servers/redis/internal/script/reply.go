package script

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// formatNumber returns a number in C's format %.<digits>g. Lua itself uses 14 digits.
func formatNumber(n lua.LNumber, digits int) string {
	v := float64(n)
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case math.IsNaN(v):
		return "nan"
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// toLua converts the reply at the start of b to the value that a script gets, and returns
// the bytes after the reply:
// https://redis.io/docs/latest/develop/programmability/lua-api/#data-type-conversion
func toLua(l *lua.LState, b []byte) (lua.LValue, []byte) {
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	if len(line) == 0 {
		return lua.LFalse, nil
	}
	text := string(line[1:])
	size, _ := strconv.Atoi(text)
	var v lua.LValue
	switch line[0] {
	case '+':
		return oneField(l, "ok", lua.LString(text)), rest
	case '-':
		return oneField(l, "err", lua.LString(text)), rest
	case ':':
		n, _ := strconv.ParseInt(text, 10, 64)
		return lua.LNumber(n), rest
	case '$', '=':
		if size < 0 || len(rest) < size+2 {
			return lua.LFalse, rest
		}
		return lua.LString(rest[:size]), rest[size+2:]
	case '*', '>':
		if size < 0 {
			return lua.LFalse, rest
		}
		t := l.CreateTable(size, 0)
		for i := range size {
			v, rest = toLua(l, rest)
			t.RawSetInt(i+1, v)
		}
		return t, rest
	case '_':
		return lua.LNil, rest
	case '#':
		return lua.LBool(text == "t"), rest
	case ',':
		f, _ := strconv.ParseFloat(text, 64)
		return oneField(l, "double", lua.LNumber(f)), rest
	case '%', '~':
		t := l.CreateTable(0, size)
		for range size {
			var key lua.LValue
			key, rest = toLua(l, rest)
			v = lua.LTrue
			if line[0] == '%' {
				v, rest = toLua(l, rest)
			}
			t.RawSet(key, v)
		}
		return oneField(l, map[byte]string{'%': "map", '~': "set"}[line[0]], t), rest
	}
	return lua.LFalse, rest
}

// maxDepth is the greatest depth of nested tables in a reply.
const maxDepth = 1000

// appendReply appends the reply that the client gets for a value that the script returns.
// It is the reverse of toLua.
func (in *Interpreter) appendReply(b []byte, v lua.LValue, resp3 bool, depth int) []byte {
	if !in.meter.hasRoom(len(b)) {
		return b
	}
	if depth > maxDepth {
		return appendError(b, "ERR reached lua stack limit")
	}
	switch v := v.(type) {
	case lua.LString:
		return appendBulk(b, string(v))
	case lua.LNumber:
		return appendInt(b, toInteger(float64(v)))
	case lua.LBool:
		switch {
		case in.resp3 && resp3 && bool(v):
			return append(b, "#t\r\n"...)
		case in.resp3 && resp3:
			return append(b, "#f\r\n"...)
		case bool(v):
			return appendInt(b, 1)
		}
	case *lua.LTable:
		return in.appendTable(b, v, resp3, depth+1)
	}
	return appendNull(b, resp3)
}

// appendTable appends a table that a script returns: an error, a status, a double, a map, a
// set or an array, depending on its fields.
func (in *Interpreter) appendTable(b []byte, t *lua.LTable, resp3 bool, depth int) []byte {
	if err, ok := t.RawGetString("err").(lua.LString); ok {
		return appendError(b, string(err))
	}
	if ok, is := t.RawGetString("ok").(lua.LString); is {
		return appendLine(b, '+', string(ok))
	}
	if n, ok := t.RawGetString("double").(lua.LNumber); ok {
		if resp3 {
			return appendLine(b, ',', formatNumber(n, 17))
		}
		return appendBulk(b, formatNumber(n, 17))
	}
	if m, ok := t.RawGetString("map").(*lua.LTable); ok {
		return in.appendFields(b, '%', m, resp3, depth, true)
	}
	if m, ok := t.RawGetString("set").(*lua.LTable); ok {
		return in.appendFields(b, '~', m, resp3, depth, false)
	}
	count := 0
	for t.RawGetInt(count+1) != lua.LNil {
		count++
	}
	b = appendLine(b, '*', strconv.Itoa(count))
	for i := 0; i < count && in.meter.err == nil; i++ {
		b = in.appendReply(b, t.RawGetInt(i+1), resp3, depth)
	}
	return b
}

// appendFields appends a table as a map, or as a set if values is false. RESP 2 has
// neither, so there the table becomes an array.
func (in *Interpreter) appendFields(b []byte, kind byte, t *lua.LTable, resp3 bool, depth int, values bool) []byte {
	count := 0
	t.ForEach(func(lua.LValue, lua.LValue) { count++ })
	if !resp3 {
		kind = '*'
		if values {
			count *= 2
		}
	}
	b = appendLine(b, kind, strconv.Itoa(count))
	t.ForEach(func(k, v lua.LValue) {
		b = in.appendReply(b, k, resp3, depth)
		if values {
			b = in.appendReply(b, v, resp3, depth)
		}
	})
	return b
}

// toInteger converts a number to an integer without its fraction. A number that does not
// fit becomes the smallest integer: Go's own conversion depends on the processor.
func toInteger(v float64) int64 {
	if math.IsNaN(v) || v >= math.MaxInt64 || v < math.MinInt64 {
		return math.MinInt64
	}
	return int64(v)
}

// oneLine replaces line ends by spaces.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// The following functions append a value in RESP: a line of a given kind, an error, an
// integer, a string and a missing value.
func appendLine(b []byte, kind byte, text string) []byte {
	b = append(b, kind)
	b = append(b, oneLine.Replace(text)...)
	return append(b, "\r\n"...)
}

func appendError(b []byte, text string) []byte { return appendLine(b, '-', text) }

func appendInt(b []byte, n int64) []byte {
	b = append(b, ':')
	b = strconv.AppendInt(b, n, 10)
	return append(b, "\r\n"...)
}

func appendBulk(b []byte, text string) []byte {
	b = append(b, '$')
	b = strconv.AppendInt(b, int64(len(text)), 10)
	b = append(b, "\r\n"...)
	b = append(b, text...)
	return append(b, "\r\n"...)
}

func appendNull(b []byte, resp3 bool) []byte {
	if resp3 {
		return append(b, "_\r\n"...)
	}
	return append(b, "$-1\r\n"...)
}
