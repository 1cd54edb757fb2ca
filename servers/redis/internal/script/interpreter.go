package script

import (
	"context"
	"errors"

	lua "github.com/yuin/gopher-lua"

	"github.com/locksim/locksim/internal/lazy"
)

// A Call executes a command that a script has called, and returns the reply in RESP:
// version 3 if resp3 is set, otherwise version 2.
type Call func(words []string, resp3 bool) []byte

// An Interpreter runs the scripts of one server, one at a time. The only state that remains
// after a script is that of the random numbers. [Interpreter.Restart] resets it, so that
// the interpreter can be used for another server.
type Interpreter struct {
	l       *lua.LState
	globals *lua.LTable
	env     *lua.LTable // the protected (unchangeable) table through which scripts see globals
	// originals maps each protected table, which is empty, to the table whose fields it
	// shows.
	originals map[*lua.LTable]*lua.LTable
	dice      dice

	// The state of the running script.
	meter   meter
	call    Call
	resp3   bool
	aliases map[lua.LValue]int // the numbers by which scripts see tables and functions, instead of addresses
}

// Restart resets the random numbers, as if the server had just started.
func (in *Interpreter) Restart() { in.dice = initialDice }

// Run runs a script and returns its reply in RESP: version 3 if resp3 is set, otherwise
// version 2. An error of the script is part of the reply. The error that Run returns means
// that the limits have ended the script; then the reply is meaningless.
func (in *Interpreter) Run(s *Script, keys, args []string, resp3 bool, limits Limits, call Call) ([]byte, error) {
	in.call, in.resp3, in.aliases = call, false, nil
	in.meter = meter{Context: context.Background(), limits: limits}
	in.globals.RawSetString("KEYS", stringTable(in.l, keys))
	in.globals.RawSetString("ARGV", stringTable(in.l, args))
	main := in.l.NewFunctionFromProto(s.main)
	main.Env = in.env
	in.l.Push(main)
	err := in.l.PCall(0, 1, nil)
	in.call = nil
	defer in.l.SetTop(0)
	if e := (*lua.ApiError)(nil); errors.As(err, &e) {
		return appendError(nil, uncaughtError(e)+" script: "+s.SHA+", on @"+raisedAt(e)+"."), in.meter.err
	}
	reply := in.appendReply(nil, in.l.Get(-1), resp3, 0)
	return reply, in.meter.err
}

// uncaughtError returns the text of an error that the script did not catch.
func uncaughtError(e *lua.ApiError) string {
	if t, ok := e.Object.(*lua.LTable); ok {
		if err, ok := t.RawGetString("err").(lua.LString); ok {
			return string(err)
		}
	}
	if _, ok := e.Object.(lua.LString); !ok {
		return "ERR unknown error" // Redis 7.0 crashes in this case
	}
	return "ERR " + e.Object.String()
}

// lineOfScript matches the first line of a stack trace that is in the script itself, not in
// a function that the script calls.
var lineOfScript = lazy.Regexp(`(?m)^\t([^\[].*?:\d+): in `)

// raisedAt returns the place in the script where an error was raised, as file and line.
func raisedAt(e *lua.ApiError) string {
	if m := lineOfScript().FindStringSubmatch(e.StackTrace); m != nil {
		return m[1]
	}
	return scriptName + ":1"
}

// stringTable returns a Lua table with the given strings.
func stringTable(l *lua.LState, words []string) *lua.LTable {
	t := l.CreateTable(len(words), 0)
	for _, word := range words {
		t.Append(lua.LString(word))
	}
	return t
}
