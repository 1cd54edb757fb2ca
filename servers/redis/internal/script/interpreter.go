package script

import (
	"context"
	"errors"

	lua "github.com/yuin/gopher-lua"

	"github.com/locksim/locksim/internal/lazy"
)

// A Call answers a command of a script in RESP: version 3 if the script has asked for that,
// otherwise 2.
type Call func(words []string, resp3 bool) []byte

// An Interpreter runs the scripts of one server, one at a time. A script leaves nothing
// behind in it except how often it has drawn at random. So another server can use it after
// an [Interpreter.Restart].
type Interpreter struct {
	l       *lua.LState
	globals *lua.LTable
	env     *lua.LTable // globals, as scripts see them
	// originals maps a protected table to the table whose fields it shows.
	originals map[*lua.LTable]*lua.LTable
	dice      dice

	// The state of the running script.
	meter   meter
	call    Call
	resp3   bool
	aliases map[lua.LValue]int // numbers for values that have no other name
}

// Restart makes it the interpreter of a server that has just started.
func (in *Interpreter) Restart() { in.dice = initialDice }

// Run runs a script and returns the reply in RESP: version 3 if resp3 is set, otherwise 2.
// An error means that the limits ended the script; the reply is meaningless then.
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
		return "ERR unknown error" // Redis 7.0 crashes on it
	}
	return "ERR " + e.Object.String()
}

// lineOfScript matches the line of a stack trace with a place in a script, and not in what
// it calls.
var lineOfScript = lazy.Regexp(`(?m)^\t([^\[].*?:\d+): in `)

// raisedAt returns the place where an error was raised.
func raisedAt(e *lua.ApiError) string {
	if m := lineOfScript().FindStringSubmatch(e.StackTrace); m != nil {
		return m[1]
	}
	return source + ":1"
}

func stringTable(l *lua.LState, words []string) *lua.LTable {
	t := l.CreateTable(len(words), 0)
	for _, word := range words {
		t.Append(lua.LString(word))
	}
	return t
}
