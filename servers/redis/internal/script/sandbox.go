package script

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// allowed are the globals that scripts may use: those that Redis allows, without those that
// gopher-lua lacks. See lua_builtins_allow_list and the lists after it in
// https://github.com/redis/redis/blob/7.0/src/script_lua.c
var allowed = []string{
	"_VERSION", "assert", "collectgarbage", "coroutine", "error", "getmetatable", "ipairs", "load", "loadstring", "math",
	"next", "pairs", "pcall", "rawequal", "rawget", "rawset", "select", "setmetatable", "string", "table", "tonumber",
	"tostring", "type", "unpack", "xpcall",
}

// errReadOnly is the error when a script changes a protected table.
const errReadOnly = "Attempt to modify a readonly table"

// init makes tables keep values at large indices in a hash. In an array, a write at such an
// index would fill all indices below it.
func init() { lua.MaxArrayIndex = maxSteps }

// NewInterpreter returns the interpreter of a server that has just started. Making it takes
// about twenty times as long as running a script of a lock.
func NewInterpreter() *Interpreter {
	l := lua.NewState(lua.Options{
		SkipOpenLibs: true, CallStackSize: 1024,
		RegistrySize: 1024, RegistryGrowStep: 1024, RegistryMaxSize: 1 << 16,
	})
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenCoroutine, lua.OpenTable, lua.OpenString, lua.OpenMath} {
		l.Push(l.NewFunction(open))
		l.Call(0, 0)
	}
	in := &Interpreter{l: l, globals: l.NewTable(), originals: map[*lua.LTable]*lua.LTable{}, dice: initialDice}
	standard := l.G.Global
	text := standard.RawGetString("string").(*lua.LTable)
	text.RawSetString("__index", lua.LNil) // gopher-lua had made the library the metatable of strings
	in.guard(standard)
	for _, name := range allowed {
		v := standard.RawGetString(name)
		if t, ok := v.(*lua.LTable); ok {
			v = in.protect(t)
		}
		in.globals.RawSetString(name, v)
	}
	in.globals.RawSetString("redis", in.protect(in.redisLibrary()))
	in.globals.RawSetString("cjson", in.protect(in.cjsonLibrary(l)))
	// Functions that only rewritten code can call, because no script can write their names.
	hidden := map[string]*lua.LFunction{concatName: l.NewFunction(in.concat), chargeTableName: l.NewFunction(in.chargeTable)}
	in.globals.Metatable = newFunctionTable(l, map[string]lua.LGFunction{"__index": func(l *lua.LState) int {
		if name, ok := l.Get(2).(lua.LString); ok && hidden[string(name)] != nil {
			return pushResults(l, hidden[string(name)])
		}
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", in.renderValue(l.Get(2)))
		return 0
	}})
	in.env = in.protect(in.globals)
	in.globals.RawSetString("_G", in.env)
	stringMetatable := l.NewTable()
	stringMetatable.RawSetString("__index", text)
	l.SetMetatable(lua.LString(""), stringMetatable)
	in.setIndexErrors(stringMetatable)
	// Code that a script compiles with load runs in the environment of the state.
	l.Env = in.env
	l.SetContext(&in.meter)
	return in
}

// newFunctionTable returns a Lua table with functions.
func newFunctionTable(l *lua.LState, functions map[string]lua.LGFunction) *lua.LTable {
	return l.SetFuncs(l.NewTable(), functions)
}

// protect returns a table that shows the fields of t and cannot be changed. It is itself
// empty, so that Lua asks its metatable for every field.
func (in *Interpreter) protect(t *lua.LTable) *lua.LTable {
	empty := in.l.NewTable()
	mt := newFunctionTable(in.l, map[string]lua.LGFunction{"__newindex": func(l *lua.LState) int {
		l.RaiseError(errReadOnly)
		return 0
	}})
	mt.RawSetString("__index", t)
	empty.Metatable = mt
	in.originals[empty] = t
	return empty
}

// original returns the table that the first argument shows, if the argument is a protected
// table; otherwise nil.
func (in *Interpreter) original(l *lua.LState) *lua.LTable {
	t, _ := l.Get(1).(*lua.LTable)
	return in.originals[t]
}

// guard replaces the functions with which a script could change a protected table, or find
// out that it is empty. For other tables, the replacements call Lua's own functions.
func (in *Interpreter) guard(globals *lua.LTable) {
	for _, name := range []string{"rawset", "setmetatable"} {
		in.guardFunction(globals, name, in.refuseWrite)
	}
	library := globals.RawGetString("table").(*lua.LTable)
	for _, name := range []string{"insert", "remove", "sort"} {
		in.guardFunction(library, name, in.refuseWrite)
	}
	in.guardFunction(globals, "rawget", func(l *lua.LState, of *lua.LTable) int {
		return pushResults(l, of.RawGet(l.Get(2)))
	})
	next := in.guardFunction(globals, "next", func(l *lua.LState, of *lua.LTable) int {
		key, value := of.Next(l.Get(2))
		return pushResults(l, key, value)
	})
	in.guardFunction(globals, "pairs", func(l *lua.LState, _ *lua.LTable) int {
		return pushResults(l, next, l.Get(1), lua.LNil)
	})
	// The metatables of protected values must not be changed either, so scripts get an
	// empty protected table in their place.
	metatables := in.protect(in.l.NewTable())
	metatable := goFunction(globals, "getmetatable")
	setFunction(in.l, globals, "getmetatable", func(l *lua.LState) int {
		_, text := l.Get(1).(lua.LString)
		switch shown := in.original(l); {
		case l.Get(1).Type() != lua.LTTable && !text:
			l.CheckAny(1)
			return pushResults(l, lua.LNil)
		case text, shown == in.globals:
			return pushResults(l, metatables)
		case shown != nil:
			return pushResults(l, lua.LNil)
		}
		return metatable(l)
	})
	raise := goFunction(globals, "error")
	setFunction(in.l, globals, "error", func(l *lua.LState) int {
		if n, ok := l.Get(1).(lua.LNumber); ok {
			l.Replace(1, lua.LString(formatNumber(n, 14)))
		}
		return raise(l)
	})
	// In Redis, pcall returns the text of an error that redis.call has raised, not a table.
	pcall := goFunction(globals, "pcall")
	setFunction(in.l, globals, "pcall", func(l *lua.LState) int {
		results := pcall(l)
		if t, ok := l.Get(-1).(*lua.LTable); ok && results == 2 && l.Get(-2) == lua.LFalse {
			if err, ok := t.RawGetString("err").(lua.LString); ok {
				l.Pop(1)
				l.Push(err)
			}
		}
		return results
	})
	tostring := goFunction(globals, "tostring")
	setFunction(in.l, globals, "tostring", func(l *lua.LState) int {
		if v := l.CheckAny(1); l.GetMetaField(v, "__tostring") == lua.LNil {
			return pushResults(l, lua.LString(in.renderValue(v)))
		}
		return tostring(l)
	})
	setFunction(in.l, globals, "load", func(l *lua.LState) int {
		reader, name := l.CheckFunction(1), l.OptString(2, "?")
		var text strings.Builder
		for {
			l.Push(reader)
			l.Call(0, 1)
			v := l.Get(-1)
			l.Pop(1)
			if v != lua.LNil && !lua.LVCanConvToString(v) {
				l.RaiseError("reader function must return a string")
			}
			piece := lua.LVAsString(v)
			if piece == "" {
				return in.loadText(l, text.String(), name)
			}
			in.meter.charge(l, len(piece))
			text.WriteString(piece)
		}
	})
	setFunction(in.l, globals, "loadstring", func(l *lua.LState) int {
		return in.loadText(l, l.CheckString(1), l.OptString(2, "<string>"))
	})
	setFunction(in.l, globals, "tonumber", tonumber)
	in.fixStrings(in.l, globals.RawGetString("string").(*lua.LTable))
	mathematics := globals.RawGetString("math").(*lua.LTable)
	mathematics.RawSetString("huge", lua.LNumber(math.Inf(1)))
	in.dice.install(in.l, mathematics)
	in.meterFunctions(globals)
}

// loadText compiles code that a script passes to load or loadstring, and returns a
// function.
func (in *Interpreter) loadText(l *lua.LState, text, name string) int {
	in.meter.require(l, bytesOfSource*len(text))
	f, err := compileSource(strings.NewReader(text), name)
	if err != nil {
		_, err = l.Load(strings.NewReader(text), name) // again, for the error text of gopher-lua
		return pushResults(l, lua.LNil, lua.LString(err.Error()))
	}
	return pushResults(l, l.NewFunctionFromProto(f))
}

// setIndexErrors sets the error that Lua raises when a script indexes a value that is not a
// table. gopher-lua's own text contains the key, which may be an address.
func (in *Interpreter) setIndexErrors(stringMetatable *lua.LTable) {
	refuse := func(l *lua.LState) int {
		l.RaiseError("attempt to index a %s value", l.Get(1).Type())
		return 0
	}
	setFunction(in.l, stringMetatable, "__newindex", refuse)
	metatable := newFunctionTable(in.l, map[string]lua.LGFunction{"__index": refuse, "__newindex": refuse})
	for _, v := range []lua.LValue{lua.LNil, lua.LTrue, lua.LNumber(0), in.l.NewFunction(refuse), in.l} {
		in.l.SetMetatable(v, metatable)
	}
}

// guardFunction replaces a function of a library. If the first argument is a protected table, the
// new function calls handleProtected with the table whose fields the protected table shows.
// guardFunction returns the new function.
func (in *Interpreter) guardFunction(library *lua.LTable, name string, handleProtected func(l *lua.LState, shown *lua.LTable) int) *lua.LFunction {
	original := library.RawGetString(name).(*lua.LFunction)
	f := *original
	f.GFunction = func(l *lua.LState) int {
		if shown := in.original(l); shown != nil {
			return handleProtected(l, shown)
		}
		return original.GFunction(l)
	}
	library.RawSetString(name, &f)
	return &f
}

// refuseWrite raises the error that a protected table cannot be changed.
func (in *Interpreter) refuseWrite(l *lua.LState, _ *lua.LTable) int {
	l.Error(lua.LString(errReadOnly), 0)
	return 0
}

// goFunction returns the Go function behind a function of a library.
func goFunction(library *lua.LTable, name string) lua.LGFunction {
	return library.RawGetString(name).(*lua.LFunction).GFunction
}

// setFunction sets a field of a table to a function.
func setFunction(l *lua.LState, table *lua.LTable, name string, f lua.LGFunction) {
	table.RawSetString(name, l.NewFunction(f))
}
