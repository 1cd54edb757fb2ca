package script

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	luajson "github.com/alicebob/miniredis/v2/gopher-json"
	lua "github.com/yuin/gopher-lua"
)

// cjsonLibrary returns the table cjson of scripts, with encode and decode.
func (in *Interpreter) cjsonLibrary(l *lua.LState) *lua.LTable {
	return newFunctionTable(l, map[string]lua.LGFunction{
		"encode": func(l *lua.LState) int {
			in.meter.charge(l, in.sizeOfJSON(l.CheckAny(1), 0))
			b, err := luajson.Encode(l.CheckAny(1))
			if err != nil {
				l.RaiseError("%v", err)
			}
			return pushResults(l, lua.LString(b))
		},
		"decode": func(l *lua.LState) int {
			text := l.CheckString(1)
			in.meter.require(l, bytesOfJSON*len(text))
			d := json.NewDecoder(strings.NewReader(text))
			v, err := decodeJSON(l, d)
			if err == nil && d.More() {
				err = fmt.Errorf("Expected the end at character %d", d.InputOffset()+1) //lint:ignore ST1005 as Redis's library
			}
			if err != nil {
				l.RaiseError("%v", err)
			}
			return pushResults(l, v)
		},
	})
}

// sizeOfJSON returns a lower bound for the length of a value's JSON, in bytes. It stops
// counting when the bound exceeds the limit of the script.
func (in *Interpreter) sizeOfJSON(v lua.LValue, depth int) int {
	switch v := v.(type) {
	case lua.LString:
		size := len(v)
		for i := range len(v) {
			if v[i] < ' ' || strings.IndexByte("<>&", v[i]) >= 0 {
				size += len(`u0000`)
			}
		}
		return size
	case *lua.LTable:
		size := 0
		if depth < maxDepth {
			v.ForEach(func(key, value lua.LValue) {
				if size <= in.meter.limits.Bytes {
					size += bytesOfValue + in.sizeOfJSON(key, depth+1) + in.sizeOfJSON(value, depth+1)
				}
			})
		}
		return size
	}
	return 0
}

// decodeJSON decodes one value. The fields of an object are stored in their order in the
// text, because a script may iterate over them; the order of a Go map would vary.
func decodeJSON(l *lua.LState, d *json.Decoder) (lua.LValue, error) {
	token, err := d.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	switch v := token.(type) {
	case string:
		return lua.LString(v), nil
	case float64:
		return lua.LNumber(v), nil
	case bool:
		return lua.LBool(v), nil
	case json.Delim:
		t := l.NewTable()
		for i := 1; d.More(); i++ {
			key := lua.LValue(lua.LNumber(i))
			if v == '{' {
				if key, err = decodeJSON(l, d); err != nil {
					return nil, err
				}
			}
			value, err := decodeJSON(l, d)
			if err != nil {
				return nil, err
			}
			t.RawSet(key, value)
		}
		_, err := d.Token()
		return t, err
	}
	return lua.LNil, err
}
