package script

import (
	"context"
	"errors"
	"fmt"
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/pm"
)

// Limits are the resources that one run of a script may use.
type Limits struct {
	// Bytes is how much memory all strings that the script makes may use together,
	// including those that it no longer needs. It is also the maximum length of its reply.
	Bytes int
	// Stop reports whether the script must end immediately. It may be nil.
	Stop func() bool
}

// maxSteps is how many Lua instructions a script may execute; a script of a lock needs a
// few dozen. Redis has no such limit, but lets other clients see the error BUSY after five
// seconds.
const maxSteps = 1_000_000

// The errors that [Interpreter.Run] returns if it has ended a script.
var (
	ErrMemory  = errors.New("a script takes too much memory")
	ErrSteps   = fmt.Errorf("a script executes more than %d instructions", maxSteps)
	ErrStopped = errors.New("a script was stopped")
)

// A meter counts what the running script uses, and ends the script if it uses too much. It
// is the context of the Lua interpreter, which calls Done before each instruction. Once
// Done has returned a closed channel, the interpreter executes no further instruction, not
// even inside pcall.
type meter struct {
	context.Context
	limits Limits
	bytes  int
	steps  int
	// err is why the script has to end, or nil.
	err error
}

// closed is what Done returns when the script has to end.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// stopInterval is the number of instructions between two calls of Limits.Stop.
const stopInterval = 1 << 10

// Done implements [context.Context]. It counts one instruction.
func (m *meter) Done() <-chan struct{} {
	m.steps++
	switch {
	case m.err != nil:
	case m.steps > maxSteps:
		m.err = ErrSteps
	case m.steps%stopInterval == 0 && m.limits.Stop != nil && m.limits.Stop():
		m.err = ErrStopped
	}
	if m.err != nil {
		return closed
	}
	return nil
}

// Err implements [context.Context].
func (m *meter) Err() error { return m.err }

// hasRoom reports whether a script may use that many more bytes. If not, the script ends.
func (m *meter) hasRoom(bytes int) bool {
	if m.err == nil && (bytes < 0 || bytes > m.limits.Bytes-m.bytes) {
		m.err = ErrMemory
	}
	return m.err == nil
}

// charge counts bytes that the script is going to use for the rest of its run. It raises a
// Lua error if there is no room.
func (m *meter) charge(l *lua.LState, bytes int) {
	m.require(l, bytes)
	m.bytes += bytes
}

// require raises a Lua error if there is no room for bytes that a function uses only until
// it returns. It does not count them.
func (m *meter) require(l *lua.LState, bytes int) {
	if !m.hasRoom(bytes) {
		l.RaiseError("%v", m.err)
	}
}

// Approximate sizes in memory, in bytes.
const (
	bytesOfValue     = 16
	bytesOfCoroutine = 128 << 10
	bytesOfMatch     = 100 // for each place where a pattern may match
	bytesOfSource    = 128 // for each byte of code that is compiled
	bytesOfJSON      = 64  // for each byte of JSON that is decoded
)

// meterFunctions replaces each function of Lua that can make long strings. The replacement first
// charges for the result.
func (in *Interpreter) meterFunctions(globals *lua.LTable) {
	text := globals.RawGetString("string").(*lua.LTable)
	in.runBefore(text, "rep", func(l *lua.LState) {
		times, ok := l.Get(2).(lua.LNumber)
		if text, is := l.Get(2).(lua.LString); is {
			times, ok = strtod(string(text))
		}
		if ok && times > 0 {
			in.meter.charge(l, saturate(float64(times)*float64(len(l.ToString(1)))))
		}
	})
	for _, name := range []string{"upper", "lower", "reverse"} {
		in.runBefore(text, name, func(l *lua.LState) { in.meter.charge(l, len(l.ToString(1))) })
	}
	for _, name := range []string{"gmatch", "gsub"} {
		in.runBefore(text, name, func(l *lua.LState) { in.meter.require(l, bytesOfMatch*len(l.ToString(1))) })
	}
	in.runBefore(text, "gsub", in.meterGsub)
	in.runBefore(globals.RawGetString("table").(*lua.LTable), "concat", in.meterConcat)
	threads := globals.RawGetString("coroutine").(*lua.LTable)
	for _, name := range []string{"create", "wrap"} {
		original := goFunction(threads, name)
		setFunction(in.l, threads, name, func(l *lua.LState) int {
			in.meter.charge(l, bytesOfCoroutine)
			results := original(l)
			thread := l.Get(-1)
			if f, ok := thread.(*lua.LFunction); ok {
				thread = f.Upvalues[0].Value()
			}
			// A coroutine has a context of its own; this call replaces that context by the meter.
			thread.(*lua.LState).SetContext(&in.meter)
			return results
		})
	}
}

// runBefore replaces a function of a library by one that first calls the func before, and then the
// replaced function.
func (in *Interpreter) runBefore(library *lua.LTable, name string, before func(l *lua.LState)) {
	original := goFunction(library, name)
	setFunction(in.l, library, name, func(l *lua.LState) int {
		before(l)
		return original(l)
	})
}

// meterGsub makes sure that there is room for the result of string.gsub.
func (in *Interpreter) meterGsub(l *lua.LState) {
	size := len(l.ToString(1))
	switch replacement := l.Get(3).(type) {
	case lua.LString, lua.LNumber:
		// Each match is replaced by the text. A captured part of the string may be inserted at each %
		// in the text.
		text := lua.LVAsString(replacement)
		captures := 0
		for i := range text {
			if text[i] == '%' {
				captures++
			}
		}
		matches := size + 1
		result := func() int {
			return saturate(float64(size)*float64(1+captures) + float64(matches)*float64(len(text)))
		}
		if result() > in.meter.limits.Bytes-in.meter.bytes {
			// By this estimate there is no room, so count the matches, which takes longer.
			found, _ := pm.Find(l.ToString(2), []byte(l.ToString(1)), 0, l.OptInt(4, -1))
			matches = len(found)
		}
		in.meter.require(l, result())
	case *lua.LTable, *lua.LFunction:
		// Each match is replaced by a value of the table or a result of the function, so
		// the results are charged one by one.
		l.Replace(3, l.NewFunction(func(l *lua.LState) int {
			var v lua.LValue
			if t, ok := replacement.(*lua.LTable); ok {
				v = l.GetTable(t, l.Get(1))
			} else {
				arguments := l.GetTop()
				l.Push(replacement)
				for i := range arguments {
					l.Push(l.Get(i + 1))
				}
				l.Call(arguments, 1)
				v = l.Get(-1)
			}
			in.meter.charge(l, len(lua.LVAsString(v)))
			return pushResults(l, v)
		}))
	}
}

// meterConcat charges for the result of table.concat.
func (in *Interpreter) meterConcat(l *lua.LState) {
	t, ok := l.Get(1).(*lua.LTable)
	if !ok {
		return
	}
	separatorSize, size := len(l.ToString(2)), 0
	for i := range t.Len() {
		size += separatorSize
		if v := t.RawGetInt(i + 1); lua.LVCanConvToString(v) {
			size += len(lua.LVAsString(v))
		}
	}
	in.meter.charge(l, size)
}

// concat does what the operator .. does, and charges for the result. [rewrite] replaces the
// operator in scripts by calls of this function.
func (in *Interpreter) concat(l *lua.LState) int {
	size := 0
	for i := range l.GetTop() {
		if v := l.Get(i + 1); lua.LVCanConvToString(v) {
			size += len(lua.LVAsString(v))
		}
	}
	in.meter.charge(l, size)
	right := l.Get(-1)
	for i := l.GetTop() - 1; i > 0; i-- {
		left := l.Get(i)
		if lua.LVCanConvToString(left) && lua.LVCanConvToString(right) {
			texts := []string{lua.LVAsString(right)}
			for ; i > 0 && lua.LVCanConvToString(l.Get(i)); i-- {
				texts = append(texts, lua.LVAsString(l.Get(i)))
			}
			i++
			right = lua.LString(joinBackwards(texts))
			continue
		}
		metamethod := l.GetMetaField(left, "__concat")
		if metamethod == lua.LNil {
			metamethod = l.GetMetaField(right, "__concat")
		}
		if metamethod.Type() != lua.LTFunction {
			l.RaiseError("cannot perform concat operation between %v and %v", left.Type(), right.Type())
		}
		l.Push(metamethod)
		l.Push(left)
		l.Push(right)
		l.Call(2, 1)
		right = l.Get(-1)
		l.Pop(1)
	}
	return pushResults(l, right)
}

// chargeTable charges for a table that a script has just made of many values, such as all results
// of a call, and returns the table. [rewrite] inserts calls of chargeTable into scripts.
func (in *Interpreter) chargeTable(l *lua.LState) int {
	in.meter.charge(l, bytesOfValue*l.CheckTable(1).Len())
	return 1
}

// saturate converts a number of bytes to an int; a larger one becomes math.MaxInt32.
func saturate(bytes float64) int { return int(min(bytes, math.MaxInt32)) }

// joinBackwards joins texts, beginning with the last.
func joinBackwards(texts []string) string {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	b := make([]byte, 0, size)
	for i := len(texts) - 1; i >= 0; i-- {
		b = append(b, texts[i]...)
	}
	return string(b)
}
