package script

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// renderValue returns a value as tostring returns it. Lua shows tables and functions by
// their addresses, which differ from run to run. Here they get numbers in place of
// addresses: the first value that a script shows is 1.
func (in *Interpreter) renderValue(v lua.LValue) string {
	switch v := v.(type) {
	case lua.LNumber:
		return formatNumber(v, 14)
	case lua.LString, lua.LBool, *lua.LNilType:
		return v.String()
	}
	if in.aliases == nil {
		in.aliases = map[lua.LValue]int{}
	}
	if in.aliases[v] == 0 {
		in.aliases[v] = len(in.aliases) + 1
	}
	return fmt.Sprintf("%s: 0x%08x", v.Type(), in.aliases[v])
}

// strtod parses a floating-point number as C does; false if the text is not a number.
func strtod(text string) (lua.LNumber, bool) {
	text, _, _ = strings.Cut(text, "\x00")
	text = strings.ToLower(strings.Trim(text, " \t\n\v\f\r"))
	if strings.Contains(text, "0x") && !strings.Contains(text, "p") {
		text += "p0"
	}
	v, err := strconv.ParseFloat(text, 64)
	ok := (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.Contains(text, "_")
	return lua.LNumber(v), ok
}

// strtoul parses an integer in a base as C does; false if the text is not an integer.
func strtoul(text string, base int) (lua.LNumber, bool) {
	text = strings.ToLower(strings.Trim(text, " \t\n\v\f\r"))
	text, negative := strings.CutPrefix(text, "-")
	if !negative {
		text = strings.TrimPrefix(text, "+")
	}
	if base == 16 {
		text = strings.TrimPrefix(text, "0x")
	}
	v, err := strconv.ParseUint(text, base, 64)
	if negative && err == nil {
		v = -v
	}
	return lua.LNumber(v), err == nil || errors.Is(err, strconv.ErrRange)
}

// tonumber is the Lua function tonumber. Unlike gopher-lua's, it accepts exponents and
// numbers that do not fit into 64 bits.
func tonumber(l *lua.LState) int {
	base := l.OptInt(2, 10)
	if base < 2 || base > 36 {
		l.RaiseError("bad argument #2 to 'tonumber' (base out of range)")
	}
	v := l.CheckAny(1)
	n, ok := v.(lua.LNumber)
	if text, is := v.(lua.LString); is && base == 10 {
		n, ok = strtod(string(text))
	} else if base != 10 {
		n, ok = strtoul(stringArgument(l, 1, "tonumber"), base)
	}
	if !ok {
		return pushResults(l, lua.LNil)
	}
	return pushResults(l, n)
}

// raiseWrongType raises the error that an argument has the wrong type. i is the number of
// the argument, and function the name of the called function.
func raiseWrongType(l *lua.LState, i int, function, want string) {
	got := l.Get(i).Type().String()
	if i > l.GetTop() {
		got = "no value"
	}
	l.RaiseError("bad argument #%d to '%s' (%s expected, got %s)", i, function, want, got)
}

// stringArgument returns the i-th argument of a function as a string; it raises an error if
// that is not possible.
func stringArgument(l *lua.LState, i int, function string) string {
	switch v := l.Get(i).(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return formatNumber(v, 14)
	}
	raiseWrongType(l, i, function, "string")
	return ""
}

// numberArgument returns the i-th argument of a function as a number; it raises an error if
// that is not possible.
func numberArgument(l *lua.LState, i int, function string) float64 {
	switch v := l.Get(i).(type) {
	case lua.LNumber:
		return float64(v)
	case lua.LString:
		if n, ok := strtod(string(v)); ok {
			return float64(n)
		}
	}
	raiseWrongType(l, i, function, "number")
	return 0
}

// fixStrings replaces functions of the library string for which gopher-lua follows Go
// instead of C: format, the conversion of letters beyond ASCII, and arguments that are
// numbers as text, such as those from ARGV.
func (in *Interpreter) fixStrings(l *lua.LState, library *lua.LTable) {
	setFunction(l, library, "format", in.format)
	for name, integers := range map[string][]int{"rep": {2}, "sub": {2, 3}, "byte": {2, 3}, "find": {3}} {
		own := goFunction(library, name)
		setFunction(l, library, name, func(l *lua.LState) int {
			for _, i := range integers {
				if text, ok := l.Get(i).(lua.LString); ok {
					if n, ok := strtod(string(text)); ok {
						l.Replace(i, n)
					}
				}
			}
			if name == "byte" && l.GetTop() == 1 {
				l.Push(lua.LNumber(1)) // without it, gopher-lua returns all bytes
			}
			return own(l)
		})
	}
	for name, letters := range map[string]string{"upper": "az", "lower": "AZ"} {
		setFunction(l, library, name, func(l *lua.LState) int {
			b := []byte(stringArgument(l, 1, name))
			for i, c := range b {
				if letters[0] <= c && c <= letters[1] {
					b[i] ^= 'a' ^ 'A'
				}
			}
			return pushResults(l, lua.LString(b))
		})
	}
	setFunction(l, library, "char", func(l *lua.LState) int {
		b := make([]byte, l.GetTop())
		for i := range b {
			v := toInteger(numberArgument(l, i+1, "char"))
			if v < 0 || v > math.MaxUint8 {
				l.RaiseError("bad argument #%d to 'char' (invalid value)", i+1)
			}
			b[i] = byte(v)
		}
		return pushResults(l, lua.LString(b))
	})
}

// format is the Lua function string.format. It knows only the conversions of C's printf,
// because Go's %p and %v would show addresses.
func (in *Interpreter) format(l *lua.LState) int {
	rest := stringArgument(l, 1, "format")
	var b strings.Builder
	for arg := 2; ; arg++ {
		text, after, more := strings.Cut(rest, "%")
		in.meter.require(l, b.Len()+len(text))
		b.WriteString(text)
		if !more {
			break
		}
		if strings.HasPrefix(after, "%") {
			b.WriteByte('%')
			rest = after[1:]
			arg--
			continue
		}
		if arg > l.GetTop() {
			l.RaiseError("bad argument #%d to 'format' (no value)", arg)
		}
		d := parseConversion(l, after)
		rest = after[d.size:]
		in.meter.require(l, b.Len()+len(l.ToString(arg)))
		b.WriteString(d.format(l, arg))
	}
	in.meter.charge(l, b.Len())
	return pushResults(l, lua.LString(b.String()))
}

// A conversion is what follows a % in a format, such as 5.2f.
type conversion struct {
	flags     string
	width     int
	precision int // -1: none
	verb      string
	size      int // the size of the whole conversion, in bytes
}

// parseConversion parses the conversion at the start of text.
func parseConversion(l *lua.LState, text string) (c conversion) {
	flags := len(text) - len(strings.TrimLeft(text, "-+ #0"))
	c.flags, c.size, c.precision = text[:flags], flags, -1
	digits := func() int {
		n := 0
		for n < 2 && c.size+n < len(text) && '0' <= text[c.size+n] && text[c.size+n] <= '9' {
			n++
		}
		v, _ := strconv.Atoi(text[c.size : c.size+n])
		c.size += n
		return v
	}
	if flags > 5 {
		l.RaiseError("invalid format (repeated flags)")
	}
	c.width = digits()
	if strings.HasPrefix(text[c.size:], ".") {
		c.size++
		c.precision = digits()
	}
	if c.size < len(text) {
		c.verb = text[c.size : c.size+1]
		if '0' <= c.verb[0] && c.verb[0] <= '9' {
			l.RaiseError("invalid format (width or precision too long)")
		}
		c.size++
	}
	return c
}

// format returns an argument in the form that the conversion describes.
func (c conversion) format(l *lua.LState, arg int) string {
	spec := "%" + c.flags
	if c.width > 0 {
		spec += strconv.Itoa(c.width)
	}
	if strings.Contains("eEfgG", c.verb) && c.precision < 0 {
		c.precision = 6
	}
	if c.precision >= 0 {
		spec += "." + strconv.Itoa(c.precision)
	}
	switch c.verb {
	case "c":
		return c.pad(string([]byte{byte(toInteger(numberArgument(l, arg, "format")))}))
	case "d", "i":
		return fmt.Sprintf(spec+"d", toInteger(numberArgument(l, arg, "format")))
	case "u":
		return fmt.Sprintf(spec+"d", uint64(toInteger(numberArgument(l, arg, "format"))))
	case "o", "x", "X":
		return fmt.Sprintf(spec+c.verb, uint64(toInteger(numberArgument(l, arg, "format"))))
	case "e", "E", "f", "g", "G":
		v := numberArgument(l, arg, "format")
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return c.pad(formatNumber(lua.LNumber(v), 14))
		}
		return fmt.Sprintf(spec+c.verb, v)
	case "q":
		return `"` + quoted.Replace(stringArgument(l, arg, "format")) + `"`
	case "s":
		text := stringArgument(l, arg, "format")
		if c.precision < 0 && len(text) >= 100 {
			return text
		}
		text, _, _ = strings.Cut(text, "\x00")
		if c.precision >= 0 {
			text = text[:min(c.precision, len(text))]
		}
		return c.pad(text)
	}
	l.RaiseError("invalid option '%%%s' to 'format'", c.verb)
	return ""
}

// quoted replaces the characters that the conversion %q escapes.
var quoted = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`)

// pad fills a text with spaces up to the width of the conversion.
func (c conversion) pad(text string) string {
	spaces := strings.Repeat(" ", max(c.width-len(text), 0))
	if strings.Contains(c.flags, "-") {
		return text + spaces
	}
	return spaces + text
}
