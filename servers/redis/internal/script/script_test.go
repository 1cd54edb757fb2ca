package script

import (
	"strings"
	"testing"
)

// probe is a script that returns the names and types of everything that a script can reach.
const probe = `
local seen, out = {}, {}
local function show(t, path)
  for k, v in pairs(t) do
    out[#out + 1] = path .. "." .. tostring(k) .. " " .. type(v)
    if type(v) == "table" and not seen[v] then seen[v] = true; show(v, path .. "." .. k) end
  end
end
show(_G, "")
table.sort(out)
return table.concat(out, "\n") .. ("x"):rep(2) .. string.format("%s", #KEYS) .. table.concat(ARGV)
`

// Each of these scripts tries to change the interpreter. The next script must find the same
// state as before. The fidelity tests in servers/redis show which of these attempts Redis
// refuses, and with which errors.
func TestScriptsDoNotChangeTheInterpreter(t *testing.T) {
	want := run(t, NewInterpreter(), probe)
	for _, line := range []string{".string.rep function", ".redis.call function", ".cjson.decode function", ".KEYS table"} {
		if !strings.Contains(want, line) {
			t.Errorf("the probe returns no line %q in\n%s", line, want)
		}
	}
	in := NewInterpreter()
	for _, s := range []string{
		`x = 1`,
		`_G.x = 1`,
		`rawset(_G, "x", 1)`,
		`redis.call = nil`,
		`string.rep = nil`,
		`rawset(string, "rep", nil)`,
		`table.insert(string, 1)`,
		`table.remove(string)`,
		`table.sort(KEYS, function() rawset(math, "pi", 3) end)`,
		`setmetatable(_G, {__index = function() return 1 end})`,
		`setmetatable(string, {__index = function() return 1 end})`,
		`getmetatable("").__index = function() return nil end`,
		`rawset(getmetatable(""), "__index", {})`,
		`getmetatable(_G).__newindex = rawset`,
		`setmetatable(getmetatable(_G), {})`,
		`local f, t = pairs(string); t.rep = nil`,
		`local f, t = pairs(_G); rawset(t, "x", 1)`,
		`for k, v in pairs(_G) do if type(v) == "table" and k ~= "KEYS" and k ~= "ARGV" then for n in pairs(v) do pcall(rawset, v, n, 1); pcall(function() v[n] = 1 end) end end end`,
		`loadstring("x = 1; string.rep = nil")()`,
		`load(function() return nil end)()`,
		`local c = coroutine.create(function() x = 1 end); coroutine.resume(c); string.rep = nil`,
		`coroutine.wrap(function() rawset(string, "rep", nil) end)()`,
		`xpcall(function() string.rep = nil end, function() x = 1 end)`,
		`KEYS[1] = "changed"; ARGV.x = "changed"; ARGV[1] = "x"`,
		`setmetatable(KEYS, {__index = function() return "changed" end}); setmetatable(ARGV, {__len = function() return 9 end})`,
		`local function f() return 1 + f() end return f()`,
		`redis.setresp(3)`,
		`return (`,
	} {
		_ = run(t, in, s)
		if got := run(t, in, probe); got != want {
			t.Fatalf("after the script %s, the probe returns\n%s\nwant, as before,\n%s", s, got, want)
		}
	}
}

// roomy are limits that a script of these tests does not reach by accident.
var roomy = Limits{Bytes: 64 << 20}

// run runs a script with one key and returns its reply, or the error as text. Every command
// of the script gets the answer OK.
func run(t *testing.T, in *Interpreter, text string) string {
	t.Helper()
	s, err := Compile(text)
	if err != nil {
		return err.Error()
	}
	reply, err := in.Run(s, []string{"key"}, nil, false, roomy, func([]string, bool) []byte { return []byte("+OK\r\n") })
	if err != nil {
		return err.Error()
	}
	return string(reply)
}

// As in Redis, arg is a variable of functions with any number of arguments, and not of a
// script.
func TestArg(t *testing.T) {
	in := NewInterpreter()
	if got, want := run(t, in, `return arg`), "nonexistent global variable 'arg'"; !strings.Contains(got, want) {
		t.Errorf("a script that reads arg returns %q, want an error about a %s", got, want)
	}
	if got, want := run(t, in, `local function count(...) return arg.n end return count(1, 2)`), ":2\r\n"; got != want {
		t.Errorf("a function that reads arg returns %q, want %q", got, want)
	}
	if got, want := run(t, in, `return select("#", ...)`), ":0\r\n"; got != want {
		t.Errorf("a script without arguments counts %q, want %q", got, want)
	}
	s, err := Compile("return 1")
	if err != nil {
		t.Fatal(err)
	}
	perRun := testing.AllocsPerRun(100, func() { in.Run(s, nil, nil, false, roomy, nil) })
	if perRun > 8 {
		t.Errorf("a script that does nothing takes %.0f allocations, want at most 8: the table arg would be 8 more", perRun)
	}
}

// A script that nests tables without end, or that asks for far too much memory, gets an
// answer. It must not end the program.
func TestDeepTables(t *testing.T) {
	for _, s := range []string{
		`local t = {} t[1] = t return t`,
		`local t = {} for i = 1, 100000 do t = {t} end return t`,
		`local t = {} t.map = t return t`,
		`return cjson.encode((function() local t = {} t[1] = t return t end)())`,
		`return string.rep("x", 10):rep(-1)`,
		`return unpack({}, 1, 1e8)`,
		`return cjson.decode(string.rep("[", 100000))`,
	} {
		if got := run(t, NewInterpreter(), s); got == "" {
			t.Errorf("the script %s got an empty answer, want a reply or an error", s)
		}
	}
}

// BenchmarkRun measures the script that releases a lock, which most worlds use.
func BenchmarkRun(b *testing.B) {
	s, err := Compile(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end`)
	if err != nil {
		b.Fatal(err)
	}
	in := NewInterpreter()
	b.ReportAllocs()
	for b.Loop() {
		in.Run(s, []string{"lock"}, []string{"value"}, false, roomy, func(words []string, _ bool) []byte {
			if words[0] == "GET" {
				return []byte("$5\r\nvalue\r\n")
			}
			return []byte(":1\r\n")
		})
	}
}

// Values that Lua would show by their addresses look the same in every interpreter, and
// after any other script.
func TestScriptsShowNoAddresses(t *testing.T) {
	const showAddresses = `return {tostring({}), tostring(redis.call), tostring(coroutine.create(function() end)), select(2, pcall(function() return nil .. {} end)),
		select(2, pcall(function() local x; return x[{}] end)), select(2, pcall(function() local x = "" x[{}] = 1 end)), select(2, pcall(function() return _G[{}] end)),
		select(2, pcall(string.format, "%v", {})), select(2, pcall(load, function() return {} end))}`
	in := NewInterpreter()
	want := run(t, in, showAddresses)
	if !strings.Contains(want, "table: 0x00000001") || !strings.Contains(want, "function: 0x00000002") {
		t.Errorf("got %s, want its first table and function numbered 1 and 2", want)
	}
	for _, in := range []*Interpreter{in, NewInterpreter()} {
		if got := run(t, in, showAddresses); got != want {
			t.Errorf("a later run returns %s\nwant, as the first run, %s", got, want)
		}
	}
	for _, s := range []string{"error({})", "error(function() end)", "coroutine.wrap(function() error({}) end)()"} {
		if got := run(t, in, s); !strings.Contains(got, "-ERR unknown error script: ") {
			t.Errorf("the script %s got answer %s, want an unknown error", s, got)
		}
	}
}
