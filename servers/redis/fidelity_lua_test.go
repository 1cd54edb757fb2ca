package redis_test

// luaFidelityCases are the cases for Lua scripts, in the same form as fidelityCases: a
// line is a command and its expected reply, and "; ours" is a known different reply of
// our nodes. One interpreter runs all scripts of a server, and no script changes its
// globals. The answers are those of Redis 7.
var luaFidelityCases = []fidelityCase{
	{name: "scripts: globals are read-only", script: `
		EVAL 'x = 1' 0                            => -ERR user_script:1: Attempt to modify a readonly table script: 34bce5f775de97f557a34088509c8bfe1ea17e52, on @user_script:1.
		EVAL 'return x' 0                         => -ERR user_script:1: Script attempted to access nonexistent global variable 'x' script: 03c387736bb5cc009ff35151572cee04677aa374, on @user_script:1.
		EVAL 'KEYS = 1' 0                         => -ERR user_script:1: Attempt to modify a readonly table script: …
		EVAL 'redis = nil' 0                      => -ERR user_script:1: Attempt to modify a readonly table script: …
		EVAL 'redis.call = 1' 0                   => -ERR user_script:1: Attempt to modify a readonly table script: …
		EVAL 'string.rep = nil' 0                 => -ERR user_script:1: Attempt to modify a readonly table script: …
		EVAL 'return string.rep("x", 3)' 0        => $3 xxx
		EVAL 'rawset(string, "rep", nil)' 0       => -ERR Attempt to modify a readonly table script: …
		EVAL 'rawset(_G, "x", 1)' 0               => -ERR Attempt to modify a readonly table script: …
		EVAL 'table.insert(string, 1)' 0          => -ERR Attempt to modify a readonly table script: …
		EVAL 'setmetatable(_G, {})' 0             => -ERR Attempt to modify a readonly table script: …
		EVAL 'setmetatable(redis, nil)' 0         => -ERR Attempt to modify a readonly table script: …
		EVAL 'getmetatable("").__index = 1' 0     => -ERR user_script:1: Attempt to modify a readonly table script: …
		EVAL 'getmetatable(_G).__index = 1' 0     => -ERR user_script:1: Attempt to modify a readonly table script: …
		EVAL 'loadstring("x = 1")()' 0            => -ERR …
		EVAL 'local f, t = pairs(string); t.rep = nil' 0 => -ERR user_script:1: Attempt to modify a readonly table script: …
		EVAL 'return string.rep("x", 3)' 0        => $3 xxx
		EVAL 'return ("x"):rep(3)' 0              => $3 xxx
		EVAL 'return tostring(pcall(function() x = 1 end))' 0 => $5 false
		EVAL 'return rawget(_G, "x")' 0           => $-1
		EVAL 'return tostring(getmetatable(string))' 0 => $3 nil
		EVAL 'return _G._G == _G and _G.redis == redis' 0 => :1
		EVAL 'KEYS[1] = 2; ARGV[2] = 3; return {KEYS[1], ARGV[1], ARGV[2]}' 1 a b => *3 :2 $1 b :3
		EVAL 'return {KEYS[1], ARGV[1], #KEYS, #ARGV}' 1 a => *1 $1 a
		EVAL 'return {#KEYS, #ARGV}' 1 a          => *2 :1 :0
		EVAL 'local t = {}; t.x = 1; return t.x' 0 => :1
		EVAL 'local n = 0; for k in pairs(coroutine) do n = n + 1 end; return n' 0 => :6
		EVAL 'return next(coroutine) ~= nil' 0    => :1
		EVAL 'return loadstring("return 5")()' 0  => :5
		EVAL 'return type(os)' 0                  => -ERR user_script:1: Script attempted to access nonexistent global variable 'os' script: …
		EVAL 'return type(debug)' 0               => -ERR user_script:1: Script attempted to access nonexistent global variable 'debug' script: …
		EVAL 'return type(print)' 0               => -ERR user_script:1: Script attempted to access nonexistent global variable 'print' script: …
		EVAL 'return type(require)' 0             => -ERR user_script:1: Script attempted to access nonexistent global variable 'require' script: …
		EVAL 'return type(dofile)' 0              => -ERR user_script:1: Script attempted to access nonexistent global variable 'dofile' script: …
		EVAL 'return type(setfenv)' 0             => -ERR user_script:1: Script attempted to access nonexistent global variable 'setfenv' script: …
		EVAL 'return type(newproxy)' 0            => -ERR user_script:1: Script attempted to access nonexistent global variable 'newproxy' script: …
		EVAL 'return type(bit)' 0                 => $5 table; ours -ERR user_script:1: Script attempted to access nonexistent global variable 'bit' script: …
		EVAL 'return type(struct)' 0              => $5 table; ours -ERR user_script:1: Script attempted to access nonexistent global variable 'struct' script: …
		EVAL 'return type(cmsgpack)' 0            => $5 table; ours -ERR user_script:1: Script attempted to access nonexistent global variable 'cmsgpack' script: …
		EVAL 'return type(table.foreach)' 0       => $8 function; ours $3 nil
		EVAL 'return type(gcinfo)' 0              => $8 function; ours -ERR user_script:1: Script attempted to access nonexistent global variable 'gcinfo' script: …`,
		differs: "the interpreter of our nodes lacks the libraries bit, struct and cmsgpack, and some functions that Lua 5.1 calls deprecated"},

	{name: "scripts: errors", script: `
		SET str a                                 => +OK
		EVAL 'error("boom")' 0                    => -ERR user_script:1: boom script: 872b3fcb081448525c6141cdfa3df8374d30d162, on @user_script:1.
		EVAL 'error("boom", 0)' 0                 => -ERR boom script: …
		EVAL 'error({err="MY boom"})' 0           => -MY boom script: 6f210a79061330ed689d8391066504f6e8d371f5, on @user_script:1.
		EVAL 'error(5)' 0                         => -ERR user_script:1: 5 script: …
		EVAL 'error("a\nb")' 0                    => -ERR user_script:1: a b script: …
		EVAL 'return {err="a\nb"}' 0              => -a b
		EVAL 'return {ok="a\nb"}' 0               => +a b
		EVAL 'return {err="bad"}' 0               => -bad
		EVAL 'return redis.error_reply("bad")' 0  => -ERR bad
		EVAL 'return redis.error_reply("-BAD x y")' 0 => -BAD x y
		EVAL 'return redis.error_reply()' 0       => -ERR wrong number or type of arguments
		EVAL 'return redis.status_reply({})' 0    => -ERR wrong number or type of arguments
		EVAL 'return {1, {err="x"}, {ok="y"}}' 0  => *3 :1 -x +y
		EVAL 'return redis.call("NOPE")' 0        => -ERR Unknown Redis command called from script script: bbef5c1f469d8ec64dce4b99d2519183dc19ae88, on @user_script:1.
		EVAL 'return redis.pcall("NOPE")' 0       => -ERR Unknown Redis command called from script
		EVAL 'return redis.pcall({})' 0           => -ERR Lua redis lib command arguments must be strings or integers
		EVAL 'return redis.call("SET", "k", true)' 0 => -ERR Lua redis lib command arguments must be strings or integers script: …
		EVAL 'return redis.pcall("INCR", "str")' 0 => -ERR value is not an integer or out of range
		EVAL 'local ok, e = pcall(redis.call, "INCR", "str"); return {type(e), e}' 0 => *2 $6 string $43 ERR value is not an integer or out of range
		EVAL 'local ok, e = pcall(error, {err="XX y"}); return type(e)' 0 => $6 string
		EVAL 'local ok, e = pcall(error, {a=1}); return e.a' 0 => :1
		EVAL 'local ok, e = pcall(redis.call, "INCR", "str"); error(e)' 0 => -ERR user_script:1: ERR value is not an integer or out of range script: …
		EVAL 'local ok, e = pcall(function() error("in") end); return e' 0 => $17 user_script:1: in
		EVAL 'local ok, e = xpcall(function() return redis.call("INCR", "str") end, function(e) return type(e) .. e.err end); return e' 0 => $48 tableERR value is not an integer or out of range
		EVAL {lua:lines} 0                        => -ERR value is not an integer or out of range script: {sha:lines}, on @user_script:2.
		EVAL 'return redis.sha1hex()' 0           => -ERR wrong number of arguments script: …
		EVAL 'return redis.log("a")' 0            => -ERR redis.log() requires two arguments or more. script: …
		EVAL 'return redis.log("a", "b")' 0       => -ERR First argument must be a number (log level). script: …
		EVAL 'return redis.log(9, "b")' 0         => -ERR Invalid debug level. script: …
		EVAL 'return redis.setresp(4)' 0          => -ERR RESP version must be 2 or 3. script: …
		EVAL 'local function f() return 1 + f() end; return f()' 0 => -ERR user_script:1: stack overflow script: …
		EVAL 'return nil + 1' 0                   => -ERR user_script:1: …
		EVAL 'return 1 .. {}' 0                   => -ERR user_script:1: …
		EVAL 'return (' 0                         => -ERR Error compiling script (new function): user_script:1: …
		EVAL 'x x' 0                              => -ERR Error compiling script (new function): user_script:1: …
		EVAL 'return 1 2' 0                       => -ERR Error compiling script (new function): user_script:1: …
		SCRIPT LOAD 'return ('                    => -ERR Error compiling script (new function): user_script:1: …
		GET str                                   => $1 a`},

	{name: "scripts: commands that a script may call", script: `
		EVAL 'return redis.call("EVAL", "return 1", 0)' 0 => -ERR This Redis command is not allowed from script script: …
		EVAL 'return redis.pcall("EVAL", "return 1", 0)' 0 => -ERR This Redis command is not allowed from script
		EVAL 'return redis.call("SUBSCRIBE", "c")' 0 => -ERR This Redis command is not allowed from script script: …
		EVAL 'return redis.call("MULTI")' 0       => -ERR This Redis command is not allowed from script script: …
		EVAL 'return redis.call("EXEC")' 0        => -ERR This Redis command is not allowed from script script: …
		EVAL 'return redis.call("WATCH", "k")' 0  => -ERR This Redis command is not allowed from script script: …
		EVAL 'return redis.call("BLPOP", "q", 0)' 0 => -ERR This Redis command is not allowed from script script: …
		EVAL 'return redis.call("WAIT", 1, 1)' 0  => -ERR This Redis command is not allowed from script script: …
		EVAL 'return redis.call("SCRIPT", "FLUSH")' 0 => -ERR This Redis command is not allowed from script script: …
		EVAL 'return redis.call("HELLO", "3")' 0  => -ERR This Redis command is not allowed from script script: …
		EVAL 'return redis.call("XREAD", "BLOCK", "0", "STREAMS", "s", "$")' 0 => -ERR XREAD command is not allowed with BLOCK option from scripts script: …
		EVAL 'return redis.call("PING")' 0        => +PONG
		EVAL 'return redis.call("ECHO", "x")' 0   => $1 x
		EVAL_RO 'return redis.call("SET", "k", 1)' 0 => -ERR Write commands are not allowed from read-only scripts. script: …
		EVAL_RO 'return redis.pcall("SET", "k", 1)' 0 => -ERR Write commands are not allowed from read-only scripts.
		EVAL_RO 'return redis.call("GET", "k")' 0 => $-1
		EVAL_RO 'return #redis.call("TIME")' 0    => :2
		EVAL_RO 'return redis.call("PING")' 0     => +PONG
		EVAL 'redis.call("SELECT", 3); redis.call("SET", "a", 1); return redis.call("GET", "a")' 0 => $1 1
		GET a                                     => $-1
		SELECT 3                                  => +OK
		GET a                                     => $1 1
		EVAL 'return redis.call("GET", "a")' 0    => $1 1
		EVAL 'return redis.call("SET", "a", 2)' 0 => +OK
		SELECT 0                                  => +OK
		EXISTS a                                  => :0`},

	{name: "scripts: numbers", script: `
		EVAL 'return redis.call("SET", "k", 1e15)' 0 => +OK
		GET k                                     => $16 1000000000000000
		EVAL 'return redis.call("SET", "k", 0.1)' 0 => +OK
		GET k                                     => $19 0.10000000000000001
		EVAL 'return redis.call("SET", "k", 1e300)' 0 => +OK
		GET k                                     => $23 1.0000000000000001e+300
		EVAL 'return redis.call("SET", "k", 2^53)' 0 => +OK
		GET k                                     => $16 9007199254740992
		EVAL 'return redis.call("SET", "k", -0.0)' 0 => +OK
		GET k                                     => $2 -0
		EVAL 'return redis.call("SET", "k", 1/0)' 0 => +OK
		GET k                                     => $3 inf
		EVAL 'return redis.call("SET", "k", 1e-7)' 0 => +OK
		GET k                                     => $22 9.9999999999999995e-08
		EVAL 'return {1e300, 0/0, -1e300, 2^62, -7.9}' 0 => *5 :-9223372036854775808 :-9223372036854775808 :-9223372036854775808 :4611686018427387904 :-7
		EVAL 'return {tostring(3), tostring(3.5), tostring(1e100), tostring(2^53), tostring(-0.0), tostring(10/3)}' 0 => *6 $1 3 $3 3.5 $6 1e+100 $18 9.007199254741e+15 $2 -0 $15 3.3333333333333
		EVAL 'return 12345678901234 .. ""' 0      => $14 12345678901234
		EVAL 'return 1234567890123456 .. ""' 0    => $19 1.2345678901235e+15; ours $16 1234567890123456
		EVAL 'return ARGV[1] + 1' 0 5             => :6
		EVAL 'return {ARGV[1] * 2, ARGV[2] * 2}' 0 1 3.7 => *2 :2 :7
		EVAL 'return {tonumber("0x10"), tonumber("  12  "), tostring(tonumber("1e"))}' 0 => *3 :16 :12 $3 nil
		EVAL 'return {math.random(1000), math.random(1000), math.random(1000)}' 0 => *3 :397 :841 :354
		EVAL 'return {math.random(1000), math.random(5, 9), tostring(math.random())}' 0 => *3 :447 :6 $16 0.88642843341754
		EVAL 'math.randomseed(5); return {math.random(1000), tostring(math.random())}' 0 => *2 :525 $16 0.27285430173988
		EVAL 'return math.random(1000)' 0         => :789
		kill
		restart
		EVAL 'return math.random(1000)' 0         => :397`,
		differs: "the interpreter of our nodes writes all digits of a number that is concatenated with a string"},

	{name: "scripts: functions of strings", script: `
		EVAL 'return string.format("%s %d %5.1f %x %g|%5s|%-5s|", "a", 3.7, 3.14159, -1, 12345.678, "b", "c")' 0 => $47 a 3   3.1 ffffffffffffffff 12345.7|    b|c    |
		EVAL 'return string.format("%s", 1e15)' 0 => $5 1e+15
		EVAL 'return string.format("%d", "3.7")' 0 => $1 3
		EVAL 'return #string.format("%q", "a\0")' 0 => :7
		EVAL 'return string.format("%s", {})' 0   => -ERR user_script:1: bad argument #2 to 'format' (string expected, got table) script: …
		EVAL 'return string.format("%p", {})' 0   => -ERR user_script:1: invalid option '%p' to 'format' script: …
		EVAL 'return string.format("%v", {})' 0   => -ERR user_script:1: invalid option '%v' to 'format' script: …
		EVAL 'return string.format("%d")' 0       => -ERR user_script:1: bad argument #2 to 'format' (no value) script: …
		EVAL 'return string.rep("a", ARGV[1])' 0 3 => $3 aaa
		EVAL 'return string.sub("hello", ARGV[1], ARGV[2])' 0 2 3 => $2 el
		EVAL 'return {string.byte("hello")}' 0    => *1 :104
		EVAL 'return string.upper("aé")' 0        => $3 Aé
		EVAL 'return string.char(256)' 0          => -ERR user_script:1: bad argument #1 to 'char' (invalid value) script: …
		EVAL 'return {tonumber("1e5"), tonumber("ff", 16), tonumber("0x10", 16)}' 0 => *3 :100000 :255 :16
		EVAL 'return tostring(tonumber("99999999999999999999"))' 0 => $5 1e+20
		EVAL 'return tostring(math.huge)' 0       => $3 inf
		EVAL 'return tostring({})' 0              => $21 table: 0x…; ours $17 table: 0x00000001
		EVAL 'local x = nil; return x[{}]' 0      => -ERR user_script:1: attempt to index local …; ours -ERR user_script:1: attempt to index a nil value script: …`,
		differs: "the addresses that a real server shows differ in each run, so our nodes show numbers instead; and their errors do not name variables"},

	{name: "scripts: results, replies of commands and JSON", script: `
		EVAL 'return {1, 2.9, "a", false, true, nil, 3}' 0 => *5 :1 :2 $1 a $-1 :1
		EVAL 'return {}' 0                        => *0
		EVAL 'return function() end' 0            => $-1
		EVAL 'return 1, 2' 0                      => :1
		EVAL 'return {double=3.5}' 0              => $3 3.5
		EVAL 'return {map={a=1}}' 0               => *2 $1 a :1
		EVAL 'return {set={a=true}}' 0            => *1 $1 a
		EVAL 'return redis.setresp(3)' 0          => $-1
		EVAL 'redis.setresp(3); return redis.call("HGETALL", "h")' 0 => *0
		EVAL 'return redis.sha1hex("a")' 0        => $40 86f7e437faa5a7fce15d1ddcb9eaeaea377667b8
		HSET h f v                                => :1
		EVAL 'return redis.call("HGETALL", "h")' 0 => *2 $1 f $1 v
		EVAL 'redis.setresp(3); return redis.call("HGETALL", "h").map.f' 0 => $1 v
		EVAL 'return redis.call("HGETALL", "h").map' 0 => $-1
		EVAL 'redis.setresp(3); return type(redis.call("GET", "none"))' 0 => $3 nil
		EVAL 'return type(redis.call("GET", "none"))' 0 => $7 boolean
		EVAL 'return redis.call("MGET", "none", "other")' 0 => *2 $-1 $-1
		EVAL 'return type(redis.call("TIME")[1])' 0 => $6 string
		EVAL 'local c = coroutine.wrap(function() coroutine.yield(redis.call("PING").ok) end); return c()' 0 => $4 PONG
		EVAL 'return cjson.encode({1, 2})' 0      => $5 [1,2]
		EVAL 'return cjson.encode({a=1})' 0       => $7 {"a":1}
		EVAL 'return cjson.decode("[1,2,3]")[2]' 0 => :2
		EVAL 'return cjson.decode(ARGV[1]).a.b' 0 {"a":{"b":"c"}} => $1 c
		EVAL 'return cjson.decode("bad")' 0       => -ERR …`},

	{name: "scripts in a transaction", script: `
		SET lock a                                => +OK
		MULTI                                     => +OK
		EVAL {lua:unlock} 1 lock b                => +QUEUED
		EVAL {lua:unlock} 1 lock a                => +QUEUED
		EVALSHA {sha:unlock} 1 lock a             => +QUEUED
		EVALSHA {sha:extend} 1 lock a 5           => +QUEUED
		EVAL {lua:fails} 1 token                  => +QUEUED
		EVAL 'x = 1' 0                            => +QUEUED
		EVAL 'return string.rep("x", 3)' 0        => +QUEUED
		SCRIPT LOAD {lua:extend}                  => +QUEUED
		EVALSHA {sha:extend} 1 lock a 5           => +QUEUED
		SET k v PX 0                              => +QUEUED
		EXEC                                      => *10 :0 :1 :0 -NOSCRIPT No matching script. Please use EVAL. -ERR value is not an integer or out of range script: {sha:fails}, on @user_script:1. -ERR user_script:1: Attempt to modify a readonly table script: 34bce5f775de97f557a34088509c8bfe1ea17e52, on @user_script:1. $3 xxx $40 {sha:extend} :0 -ERR invalid expire time in 'set' command
		GET token                                 => $7 written
		EXISTS lock                               => :0
		MULTI                                     => +OK
		EVAL                                      => -ERR wrong number of arguments for 'eval' command
		EVAL {lua:unlock} 1 lock a                => +QUEUED
		EXEC                                      => -EXECABORT Transaction discarded because of previous errors.
		EXEC                                      => -ERR EXEC without MULTI
		DISCARD                                   => -ERR DISCARD without MULTI`},

	{name: "transactions", script: `
		MULTI                                     => +OK
		MULTI                                     => -ERR MULTI calls can not be nested
		WATCH k                                   => -ERR WATCH inside MULTI is not allowed
		SELECT 2                                  => +QUEUED
		SET k a PX 30000                          => +QUEUED
		INCR k                                    => +QUEUED
		PTTL k                                    => +QUEUED
		NOPE k                                    => -ERR unknown command 'NOPE', with args beginning with: 'k'
		DISCARD                                   => +OK
		EXISTS k                                  => :0
		MULTI                                     => +OK
		SELECT 2                                  => +QUEUED
		SET k a PX 30000                          => +QUEUED
		INCR k                                    => +QUEUED
		SET k b NX XX                             => +QUEUED
		PTTL k                                    => +QUEUED
		BLPOP list 0                              => +QUEUED
		GET k                                     => +QUEUED
		EXEC                                      => *7 +OK +OK -ERR value is not an integer or out of range -ERR syntax error :30000 *-1 $1 a
		GET k                                     => $1 a
		SELECT 0                                  => +OK
		GET k                                     => $-1
		WATCH k                                   => +OK
		SET k c                                   => +OK
		MULTI                                     => +OK
		SET k d                                   => +QUEUED
		EXEC                                      => *-1
		GET k                                     => $1 c
		WATCH k                                   => +OK
		MULTI                                     => +OK
		DISCARD                                   => +OK
		SET k e                                   => +OK
		MULTI                                     => +OK
		GET k                                     => +QUEUED
		EXEC                                      => *1 $1 e
		MULTI                                     => +OK
		NOPE                                      => -ERR unknown command 'NOPE', with args beginning with:
		GET k                                     => +QUEUED
		EXEC                                      => -EXECABORT Transaction discarded because of previous errors.
		MULTI                                     => +OK
		EXEC now                                  => -EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command
		EXEC                                      => -ERR EXEC without MULTI
		MULTI                                     => +OK
		EXEC                                      => *0`},

	{name: "null replies in RESP 3", script: `
		HELLO 3                                   => %7 $6 server …
		WATCH k                                   => +OK
		SET k a                                   => +OK
		MULTI                                     => +OK
		EXEC                                      => _
		MULTI                                     => +OK
		BLPOP list 1                              => +QUEUED
		EXEC                                      => *1 _
		BRPOPLPUSH list to 1                      => _ after 1s`},

	{name: "commands that block", script: `
		RPUSH list x                              => :1
		BLPOP list 1                              => *2 $4 list $1 x
		BLPOP list 1                              => *-1 after 1s
		BRPOP list 0.5                            => *-1 after 500ms
		BLMOVE list to LEFT RIGHT 1               => *-1 after 1s
		BLPOP list -1                             => -ERR timeout is negative
		BLPOP list abc                            => -ERR timeout is not a float or out of range
		XADD s 1-1 a b                            => $3 1-1
		XREAD BLOCK 1000 STREAMS s $              => *-1 after 1s
		XREAD BLOCK 1000 STREAMS s 0              => *1 *2 $1 s *1 *2 $3 1-1 *2 $1 a $1 b
		SET k v                                   => +OK
		BLPOP k 1                                 => -WRONGTYPE Operation against a key holding the wrong kind of value`},

	{name: "a restart forgets scripts", persistence: "", script: `
		SCRIPT LOAD {lua:unlock}                  => $40 {sha:unlock}
		SCRIPT EXISTS {sha:unlock} {sha:extend}   => *2 :1 :0
		EVALSHA {sha:unlock} 1 lock a             => :0
		kill
		restart
		SCRIPT EXISTS {sha:unlock}                => *1 :0
		EVALSHA {sha:unlock} 1 lock a             => -NOSCRIPT No matching script. Please use EVAL.
		SCRIPT LOAD {lua:unlock}                  => $40 {sha:unlock}
		SCRIPT FLUSH ASYNC                        => +OK
		SCRIPT EXISTS {sha:unlock}                => *1 :0
		SCRIPT FLUSH NOW                          => -ERR SCRIPT FLUSH only support SYNC|ASYNC option`},
}
