package script

import (
	"context"
	"errors"
	"fmt"
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/pm"
)

// Limits are what one run of a script may take.
type Limits struct {
	// Bytes is how much memory its strings may take together, with those that it no longer
	// uses, and how long its reply may be.
	Bytes int
	// Stop, which may be nil, reports whether the script is to end at once.
	Stop func() bool
}

// maxSteps is how many instructions of Lua a script may execute. Redis says BUSY after five
// seconds; a script of a lock takes a few dozen.
const maxSteps = 1_000_000

// The errors of a script that was ended because of its [Limits].
var (
	ErrMemory  = errors.New("a script takes too much memory")
	ErrSteps   = fmt.Errorf("a script executes more than %d instructions", maxSteps)
	ErrStopped = errors.New("a script was stopped")
)

// A meter ends a script that takes too much. It is the context of the interpreter, which asks
// for Done before each instruction: once it is closed no instruction is executed any more,
// not even behind pcall.
type meter struct {
	context.Context
	limits Limits
	bytes  int
	steps  int
	// over is why the script has to end; nil if it has not.
	over error
}

// closed is the Done of a script that has to end.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// lookEvery is how many instructions pass between two questions to Limits.Stop.
const lookEvery = 1 << 10

func (m *meter) Done() <-chan struct{} {
	m.steps++
	switch {
	case m.over != nil:
	case m.steps > maxSteps:
		m.over = ErrSteps
	case m.steps%lookEvery == 0 && m.limits.Stop != nil && m.limits.Stop():
		m.over = ErrStopped
	}
	if m.over != nil {
		return closed
	}
	return nil
}

func (m *meter) Err() error { return m.over }

// fits reports whether there is room for bytes that a script takes for a moment. If there is
// not, the script ends.
func (m *meter) fits(bytes int) bool {
	if m.over == nil && (bytes < 0 || bytes > m.limits.Bytes-m.bytes) {
		m.over = ErrMemory
	}
	return m.over == nil
}

// takes accounts for bytes that a script is about to take, and raises an error if it may not.
func (m *meter) takes(l *lua.LState, bytes int) {
	m.needs(l, bytes)
	m.bytes += bytes
}

// needs is takes for bytes that are free again when the function returns that needs them.
func (m *meter) needs(l *lua.LState, bytes int) {
	if !m.fits(bytes) {
		l.RaiseError("%v", m.over)
	}
}

// What things take in memory, about, in bytes.
const (
	bytesOfValue     = 16
	bytesOfCoroutine = 128 << 10
	bytesOfMatch     = 100 // of a pattern, at one place
	bytesOfSource    = 128 // while a byte of a script is compiled
	bytesOfJSON      = 64  // what a byte of JSON is decoded to
)

// meters has the functions that make strings of any length ask the meter first. Some of these
// functions were set right before.
func (in *Interpreter) meters(all *lua.LTable) {
	text := all.RawGetString("string").(*lua.LTable)
	in.before(text, "rep", func(l *lua.LState) {
		times, ok := l.Get(2).(lua.LNumber)
		if text, is := l.Get(2).(lua.LString); is {
			times, ok = strtod(string(text))
		}
		if ok && times > 0 {
			in.meter.takes(l, saturated(float64(times)*float64(len(l.ToString(1)))))
		}
	})
	for _, name := range []string{"upper", "lower", "reverse"} {
		in.before(text, name, func(l *lua.LState) { in.meter.takes(l, len(l.ToString(1))) })
	}
	for _, name := range []string{"gmatch", "gsub"} {
		in.before(text, name, func(l *lua.LState) { in.meter.needs(l, bytesOfMatch*len(l.ToString(1))) })
	}
	in.before(text, "gsub", in.meterGsub)
	in.before(all.RawGetString("table").(*lua.LTable), "concat", in.meterTable)
	threads := all.RawGetString("coroutine").(*lua.LTable)
	for _, name := range []string{"create", "wrap"} {
		own := goFunction(threads, name)
		set(in.l, threads, name, func(l *lua.LState) int {
			in.meter.takes(l, bytesOfCoroutine)
			results := own(l)
			made := l.Get(-1)
			if f, ok := made.(*lua.LFunction); ok {
				made = f.Upvalues[0].Value()
			}
			// The context of its own that it has got would measure nothing.
			made.(*lua.LState).SetContext(&in.meter)
			return results
		})
	}
}

// before has something done before a function, in the same call.
func (in *Interpreter) before(of *lua.LTable, name string, do func(l *lua.LState)) {
	own := goFunction(of, name)
	set(in.l, of, name, func(l *lua.LState) int {
		do(l)
		return own(l)
	})
}

// meterGsub measures the result of string.gsub.
func (in *Interpreter) meterGsub(l *lua.LState) {
	size := len(l.ToString(1))
	switch with := l.Get(3).(type) {
	case lua.LString, lua.LNumber:
		// Each match becomes the text, and what it captures stands as often in the result as the
		// text has signs for it.
		text := lua.LVAsString(with)
		captures := 0
		for i := range text {
			if text[i] == '%' {
				captures++
			}
		}
		matches := size + 1
		result := func() int {
			return saturated(float64(size)*float64(1+captures) + float64(matches)*float64(len(text)))
		}
		if result() > in.meter.limits.Bytes-in.meter.bytes {
			// It is worth while to look how many there are.
			found, _ := pm.Find(l.ToString(2), []byte(l.ToString(1)), 0, l.OptInt(4, -1))
			matches = len(found)
		}
		in.meter.needs(l, result())
	case *lua.LTable, *lua.LFunction:
		l.Replace(3, l.NewFunction(func(l *lua.LState) int {
			var v lua.LValue
			if t, ok := with.(*lua.LTable); ok {
				v = l.GetTable(t, l.Get(1))
			} else {
				arguments := l.GetTop()
				l.Push(with)
				for i := range arguments {
					l.Push(l.Get(i + 1))
				}
				l.Call(arguments, 1)
				v = l.Get(-1)
			}
			in.meter.takes(l, len(lua.LVAsString(v)))
			return returns(l, v)
		}))
	}
}

// meterTable measures the result of table.concat.
func (in *Interpreter) meterTable(l *lua.LState) {
	t, ok := l.Get(1).(*lua.LTable)
	if !ok {
		return
	}
	between, size := len(l.ToString(2)), 0
	for i := range t.Len() {
		size += between
		if v := t.RawGetInt(i + 1); lua.LVCanConvToString(v) {
			size += len(lua.LVAsString(v))
		}
	}
	in.meter.takes(l, size)
}

// concat is the operator .. of scripts: [rewrite] has them call it.
func (in *Interpreter) concat(l *lua.LState) int {
	size := 0
	for i := range l.GetTop() {
		if v := l.Get(i + 1); lua.LVCanConvToString(v) {
			size += len(lua.LVAsString(v))
		}
	}
	in.meter.takes(l, size)
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
		with := l.GetMetaField(left, "__concat")
		if with == lua.LNil {
			with = l.GetMetaField(right, "__concat")
		}
		if with.Type() != lua.LTFunction {
			l.RaiseError("cannot perform concat operation between %v and %v", left.Type(), right.Type())
		}
		l.Push(with)
		l.Push(left)
		l.Push(right)
		l.Call(2, 1)
		right = l.Get(-1)
		l.Pop(1)
	}
	return returns(l, right)
}

// counted returns the table that it is given, which a script has just made of any number of
// values: [rewrite] has scripts call it.
func (in *Interpreter) counted(l *lua.LState) int {
	in.meter.takes(l, bytesOfValue*l.CheckTable(1).Len())
	return 1
}

// saturated is a number of bytes, or more than there can be.
func saturated(bytes float64) int { return int(min(bytes, math.MaxInt32)) }

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
