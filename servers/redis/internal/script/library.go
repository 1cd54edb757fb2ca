package script

import (
	"crypto/sha1"
	"encoding/hex"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// version is the release of Redis that scripts see: the oldest one that runs scripts by the
// rules of this package.
const (
	version       = "7.0.0"
	versionNumber = 0x00070000
)

// redisLibrary returns the table redis of scripts:
// https://redis.io/docs/latest/develop/programmability/lua-api/
func (in *Interpreter) redisLibrary() *lua.LTable {
	t := newFunctionTable(in.l, map[string]lua.LGFunction{
		"call":               func(l *lua.LState) int { return in.callCommand(l, true) },
		"pcall":              func(l *lua.LState) int { return in.callCommand(l, false) },
		"error_reply":        replyFunc(errorReply),
		"status_reply":       replyFunc(statusReply),
		"sha1hex":            sha1hex,
		"log":                checkLog,
		"setresp":            in.setresp,
		"set_repl":           noResult,
		"replicate_commands": returnTrue,
		"acl_check_cmd":      returnTrue,
		"debug":              noResult,
		"breakpoint": func(l *lua.LState) int {
			return pushResults(l, lua.LFalse)
		},
	})
	for name, v := range map[string]lua.LValue{
		"LOG_DEBUG": lua.LNumber(0), "LOG_VERBOSE": lua.LNumber(1), "LOG_NOTICE": lua.LNumber(2), "LOG_WARNING": lua.LNumber(3),
		"REPL_NONE": lua.LNumber(0), "REPL_AOF": lua.LNumber(1), "REPL_SLAVE": lua.LNumber(2), "REPL_REPLICA": lua.LNumber(2), "REPL_ALL": lua.LNumber(3),
		"REDIS_VERSION": lua.LString(version), "REDIS_VERSION_NUM": lua.LNumber(versionNumber),
	} {
		t.RawSetString(name, v)
	}
	return t
}

// noResult is a Lua function that does nothing.
func noResult(*lua.LState) int { return 0 }

// returnTrue is a Lua function that returns true.
func returnTrue(l *lua.LState) int {
	return pushResults(l, lua.LTrue)
}

// raiseError raises an error as Redis's own functions do: without the position in the script.
func raiseError(l *lua.LState, text string) int {
	l.Error(errorTable(l, "ERR "+text), 0)
	return 0
}

// errorTable returns the table that scripts see as an error reply.
func errorTable(l *lua.LState, text string) *lua.LTable { return oneField(l, "err", lua.LString(text)) }

// oneField returns a table with one field.
func oneField(l *lua.LState, name string, v lua.LValue) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString(name, v)
	return t
}

// pushResults pushes values as the results of a Lua function, and returns their number.
func pushResults(l *lua.LState, values ...lua.LValue) int {
	for _, v := range values {
		l.Push(v)
	}
	return len(values)
}

// callCommand is redis.call if raises is set, and otherwise redis.pcall. redis.call raises
// an error reply as a Lua error; redis.pcall returns it.
func (in *Interpreter) callCommand(l *lua.LState, raises bool) int {
	words := make([]string, l.GetTop())
	problem := ""
	if len(words) == 0 {
		problem = "Please specify at least one argument for this redis lib call"
	}
	for i := range words {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			words[i] = string(v)
		case lua.LNumber:
			words[i] = formatNumber(v, 17)
		default:
			problem = "Lua redis lib command arguments must be strings or integers"
		}
	}
	var reply lua.LValue
	if problem != "" {
		reply = errorTable(l, "ERR "+problem)
	} else {
		answer := in.call(words, in.resp3)
		in.meter.charge(l, len(answer))
		reply, _ = toLua(l, answer)
	}
	if t, ok := reply.(*lua.LTable); ok && raises && t.RawGetString("err") != lua.LNil {
		l.Error(t, 0)
		return 0
	}
	return pushResults(l, reply)
}

// replyFunc returns a Lua function that makes a reply of one text, such as
// redis.error_reply.
func replyFunc(reply func(l *lua.LState, text string) *lua.LTable) lua.LGFunction {
	return func(l *lua.LState) int {
		text, ok := l.Get(1).(lua.LString)
		if l.GetTop() != 1 || !ok {
			return pushResults(l, errorTable(l, "ERR wrong number or type of arguments"))
		}
		return pushResults(l, reply(l, string(text)))
	}
}

// errorReply makes an error reply. A text of one word gets the code ERR.
func errorReply(l *lua.LState, text string) *lua.LTable {
	code, rest, more := strings.Cut(strings.TrimPrefix(text, "-"), " ")
	if !more {
		code, rest = "ERR", code
	}
	return errorTable(l, code+" "+rest)
}

// statusReply makes a status reply, such as OK.
func statusReply(l *lua.LState, text string) *lua.LTable { return oneField(l, "ok", lua.LString(text)) }

// sha1hex is redis.sha1hex: the SHA-1 digest of a text, in hexadecimal.
func sha1hex(l *lua.LState) int {
	if l.GetTop() != 1 {
		return raiseError(l, "wrong number of arguments")
	}
	sum := sha1.Sum([]byte(lua.LVAsString(l.Get(1))))
	return pushResults(l, lua.LString(hex.EncodeToString(sum[:])))
}

// checkLog is redis.log. It only checks its arguments, because nobody reads the log of a
// simulated server.
func checkLog(l *lua.LState) int {
	level, ok := l.Get(1).(lua.LNumber)
	switch {
	case l.GetTop() < 2:
		return raiseError(l, "redis.log() requires two arguments or more.")
	case !ok:
		return raiseError(l, "First argument must be a number (log level).")
	case level < 0 || level > 3:
		return raiseError(l, "Invalid debug level.")
	}
	return 0
}

// setresp is redis.setresp: it sets the version of RESP for later replies to the script.
func (in *Interpreter) setresp(l *lua.LState) int {
	v, _ := l.Get(1).(lua.LNumber)
	switch {
	case l.GetTop() != 1:
		return raiseError(l, "redis.setresp() requires one argument.")
	case v != 2 && v != 3:
		return raiseError(l, "RESP version must be 2 or 3.")
	}
	in.resp3 = v == 3
	return 0
}

// dice is the source of random numbers for scripts. It is a linear congruential generator
// of 48 bits that starts equally in every server:
// https://github.com/redis/redis/blob/7.0/src/rand.c
type dice uint64

// initialDice is the state of the source in a server that has just started.
const initialDice dice = 0x1234ABCD330E

// seed sets the state as math.randomseed does.
func (d *dice) seed(v int64) { *d = dice(uint64(uint32(v))<<16 | 0x330E) }

// draw returns the next random number, from 0 to 1.
func (d *dice) draw() float64 {
	*d = (*d*0x5DEECE66D + 0xB) & (1<<48 - 1)
	return float64(int64(*d>>17)%math.MaxInt32) / math.MaxInt32
}

// install makes math.random and math.randomseed use this source.
func (d *dice) install(l *lua.LState, library *lua.LTable) {
	setFunction(l, library, "random", func(l *lua.LState) int {
		r := d.draw()
		from, to := lua.LNumber(1), lua.LNumber(1)
		switch l.GetTop() {
		case 0:
			return pushResults(l, lua.LNumber(r))
		case 1:
			to = lua.LNumber(l.CheckInt(1))
		case 2:
			from, to = lua.LNumber(l.CheckInt(1)), lua.LNumber(l.CheckInt(2))
		default:
			l.RaiseError("wrong number of arguments")
		}
		if from > to {
			l.ArgError(l.GetTop(), "interval is empty")
		}
		return pushResults(l, lua.LNumber(math.Floor(r*float64(to-from+1)))+from)
	})
	setFunction(l, library, "randomseed", func(l *lua.LState) int {
		d.seed(l.CheckInt64(1))
		return 0
	})
}
