package script

import (
	"context"
	"errors"

	lua "github.com/yuin/gopher-lua"

	"github.com/locksim/locksim/internal/lazy"
)

// A Call answers a command that a script sends, in the bytes of RESP: of version 3 if the
// script has asked for that, else 2.
type Call func(words []string, resp3 bool) []byte

// An Interpreter runs the scripts of one server, one at a time. A script leaves nothing
// behind in it but how often it has drawn at random, so after a [Interpreter.Restart] another
// server can have it.
type Interpreter struct {
	l       *lua.LState
	globals *lua.LTable
	env     *lua.LTable // globals, as scripts see them
	// shown are the tables that stand behind those that cannot be changed.
	shown map[*lua.LTable]*lua.LTable
	dice  dice

	// Of the script that runs.
	meter meter
	call  Call
	resp3 bool
	told  map[lua.LValue]int // what it has told of that has no other name
}

// Restart makes it one of a server that has just started.
func (in *Interpreter) Restart() { in.dice = fresh }

// Run runs a script and returns the reply, in the bytes of RESP: of version 3 if resp3,
// else 2. The error says that the script was ended because of the limits, and what its reply is
// then means nothing.
func (in *Interpreter) Run(s *Script, keys, args []string, resp3 bool, limits Limits, call Call) ([]byte, error) {
	in.call, in.resp3, in.told = call, false, nil
	in.meter = meter{Context: context.Background(), limits: limits}
	in.globals.RawSetString("KEYS", list(in.l, keys))
	in.globals.RawSetString("ARGV", list(in.l, args))
	main := in.l.NewFunctionFromProto(s.main)
	main.Env = in.env
	in.l.Push(main)
	err := in.l.PCall(0, 1, nil)
	in.call = nil
	defer in.l.SetTop(0)
	if e := (*lua.ApiError)(nil); errors.As(err, &e) {
		return appendError(nil, failure(e)+" script: "+s.SHA+", on @"+raised(e)+"."), in.meter.over
	}
	reply := in.appendReply(nil, in.l.Get(-1), resp3, 0)
	return reply, in.meter.over
}

// failure is an error that nothing has caught.
func failure(e *lua.ApiError) string {
	if t, ok := e.Object.(*lua.LTable); ok {
		if err, ok := t.RawGetString("err").(lua.LString); ok {
			return string(err)
		}
	}
	if _, ok := e.Object.(lua.LString); !ok {
		return "ERR unknown error" // of which Redis 7.0 dies
	}
	return "ERR " + e.Object.String()
}

// lineOfScript is where a line of a stack trace is in a script, and not in what it calls.
var lineOfScript = lazy.Regexp(`(?m)^\t([^\[].*?:\d+): in `)

// raised is where an error was raised.
func raised(e *lua.ApiError) string {
	if m := lineOfScript().FindStringSubmatch(e.StackTrace); m != nil {
		return m[1]
	}
	return source + ":1"
}

func list(l *lua.LState, words []string) *lua.LTable {
	t := l.CreateTable(len(words), 0)
	for _, word := range words {
		t.Append(lua.LString(word))
	}
	return t
}
