package redis_test

import (
	server "github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
)

// fidelityCases are scripts of the commands and the behaviour that locks rely on, with the
// answers of Redis 7 and later. Each script runs on a real Redis server and on one of our
// nodes, and both must give these answers. A line COMMAND => REPLY sends a command. With
// "; ours REPLY" at its end, our nodes are known to give another reply, and differs says
// why. Every other line is an event, such as "pass 30s" or "kill". The doc comment of
// fidelityCase, in fidelity_script_test.go, explains the whole language.
var fidelityCases = []fidelityCase{
	{name: "SET NX PX", script: `
		SET lock a NX PX 30000  => +OK
		GET lock                => $1 a
		PTTL lock               => :30000
		TTL lock                => :30
		PEXPIRETIME lock        => :{now+30s}
		EXPIRETIME lock         => :{unix+30s}
		SET lock b NX PX 60000  => $-1
		GET lock                => $1 a
		PTTL lock               => :30000
		pass 29999ms
		SET lock b NX PX 60000  => $-1
		PTTL lock               => :1
		TTL lock                => :0
		GET lock                => $1 a
		pass 2ms
		EXISTS lock             => :0
		GET lock                => $-1
		PTTL lock               => :-2
		TTL lock                => :-2
		PEXPIRETIME lock        => :-2
		DEL lock                => :0
		SET lock b NX PX 60000  => +OK
		GET lock                => $1 b`},

	{name: "a key's last millisecond", script: `
		SET lock a NX PX 1000  => +OK
		pass 1s
		GET lock               => $1 a; ours $-1
		PTTL lock              => :0; ours :-2
		SET lock b NX PX 1000  => $-1; ours +OK
		pass 1ms
		GET lock               => $-1; ours $1 b`,
		differs: `Redis counts whole milliseconds, so a key expires up to a millisecond after the end of its TTL; ` +
			`on our nodes a key expires exactly at the end of its TTL`},

	{name: "SET NX EX", script: `
		SET lock a NX EX 30  => +OK
		PTTL lock            => :30000
		SET lock b NX EX 30  => $-1
		pass 30001ms
		SET lock b NX EX 30  => +OK`},

	{name: "SET with its options in any order and case", script: `
		set lock a px 30000 nx  => +OK
		PTTL lock               => :30000
		SET lock b pX 1 Nx      => $-1
		GET lock                => $1 a`},

	{name: "SETNX, then EXPIRE", script: `
		SETNX lock a     => :1
		SETNX lock b     => :0
		TTL lock         => :-1
		PTTL lock        => :-1
		PEXPIRETIME lock => :-1
		pass 1000h
		GET lock         => $1 a
		EXPIRE lock 30   => :1
		PTTL lock        => :30000
		PEXPIRE lock 500 => :1
		PTTL lock        => :500
		pass 501ms
		SETNX lock b     => :1
		TTL lock         => :-1`},

	{name: "SET, SETEX and PSETEX with invalid expiry times", script: `
		SET lock a NX PX 0                    => -ERR invalid expire time in 'set' command
		SET lock a NX PX -1                   => -ERR invalid expire time in 'set' command
		SET lock a NX EX 0                    => -ERR invalid expire time in 'set' command
		SET lock a NX PX abc                  => -ERR value is not an integer or out of range
		SET lock a NX PX 1.5                  => -ERR value is not an integer or out of range
		SET lock a NX PX ''                   => -ERR value is not an integer or out of range
		SET lock a NX PX ' 1'                 => -ERR value is not an integer or out of range
		SET lock a NX PX +1                   => -ERR value is not an integer or out of range
		SET lock a NX PX 01                   => -ERR value is not an integer or out of range
		SET lock a NX PX 9223372036854775808  => -ERR value is not an integer or out of range
		SET lock a NX PX 9223372036854775807  => -ERR invalid expire time in 'set' command
		SET lock a NX EX 9223372036854775807  => -ERR invalid expire time in 'set' command
		SET lock a NX EX 9223372036854775     => -ERR invalid expire time in 'set' command
		SET lock a NX PX                      => -ERR syntax error
		SETEX lock 0 a                        => -ERR invalid expire time in 'setex' command
		PSETEX lock -1 a                      => -ERR invalid expire time in 'psetex' command
		EXISTS lock                           => :0
		SET lock a NX PX 1                    => +OK
		PTTL lock                             => :1
		SET lock b PX 0                       => -ERR invalid expire time in 'set' command
		GET lock                              => $1 a
		pass 2ms
		GET lock                              => $-1`},

	{name: "expiry times of a hundred years and more", script: `
		SET lock a NX PX 3153600000000     => +OK
		PTTL lock                          => :3153600000000
		SET far a NX PX 10000000000000000  => +OK
		PTTL far                           => :10000000000000000; ours :4611686018427
		pass 1000h
		GET far                            => $1 a
		PEXPIRE lock 10000000000000000     => :1
		PTTL lock                          => :10000000000000000; ours :4611686018427
		PEXPIREAT lock 10000000000000000   => :1
		PEXPIRETIME lock                   => :10000000000000000; ours :{now+1281023h53m38427ms}
		GET lock                           => $1 a`,
		differs: "our nodes shorten an expiry time of more than 146 years to 146 years", needsInt64: true},

	{name: "SET with invalid or incompatible options", script: `
		SET lock a NX XX            => -ERR syntax error
		SET lock a PX 1000 EX 1     => -ERR syntax error
		SET lock a KEEPTTL PX 1000  => -ERR syntax error
		SET lock a PX 1000 KEEPTTL  => -ERR syntax error
		SET lock a NZ               => -ERR syntax error
		SET lock                    => -ERR wrong number of arguments for 'set' command
		EXISTS lock                 => :0`},

	{name: "SET XX and GET", script: `
		SET lock a XX PX 1000      => $-1
		EXISTS lock                => :0
		SET lock a XX GET          => $-1
		EXISTS lock                => :0
		SET lock a GET PX 1000     => $-1
		PTTL lock                  => :1000
		SET lock b XX GET PX 2000  => $1 a
		PTTL lock                  => :2000
		SET lock c NX GET PX 3000  => $1 b
		PTTL lock                  => :2000
		SET lock d XX PX 4000      => +OK
		PTTL lock                  => :4000
		RPUSH list x               => :1
		SET list a GET             => -WRONGTYPE Operation against a key holding the wrong kind of value
		LLEN list                  => :1`},

	{name: "SET removes the TTL, KEEPTTL keeps it", script: `
		SET lock a PX 1000     => +OK
		SET lock b             => +OK
		PTTL lock              => :-1
		SET lock c PX 1000     => +OK
		pass 400ms
		SET lock d KEEPTTL     => +OK
		PTTL lock              => :600
		SET lock e XX KEEPTTL  => +OK
		PTTL lock              => :600
		SET lock f PX 1000     => +OK
		PTTL lock              => :1000
		GETSET lock g          => $1 f
		PTTL lock              => :-1
		SET other a KEEPTTL    => +OK
		PTTL other             => :-1
		PEXPIRE lock 100       => :1
		pass 101ms
		SET lock h KEEPTTL     => +OK
		PTTL lock              => :-1
		DEL lock               => :1
		RPUSH lock x           => :1
		PEXPIRE lock 100       => :1
		SET lock a             => +OK
		TYPE lock              => +string
		PTTL lock              => :-1`},

	{name: "PXAT and EXAT in the future", script: `
		SET lock a NX PXAT {now+30s}   => +OK
		PTTL lock                      => :30000
		SET lock b NX PXAT {now+60s}   => $-1
		SET other a NX EXAT {unix+30s} => +OK
		PEXPIRETIME other              => :{unix+30s}000
		pass 30001ms
		GET lock                       => $-1
		GET other                      => $-1`},

	{name: "PXAT and EXAT in the past", script: `
		SET lock a NX PXAT {now-1ms}   => +OK
		GET lock                       => $-1
		PTTL lock                      => :-2
		SET lock b NX EXAT {unix-30s}  => +OK
		EXISTS lock                    => :0
		SET lock a                     => +OK
		SET lock b NX PXAT {now-1s}    => $-1
		GET lock                       => $1 a
		SET lock b PXAT 1              => +OK
		GET lock                       => $-1
		SET lock a NX PXAT 0           => -ERR invalid expire time in 'set' command
		SET lock a NX PXAT -1          => -ERR invalid expire time in 'set' command
		SET lock a NX                  => +OK
		PTTL lock                      => :-1`},

	{name: "DEL", script: `
		DEL lock            => :0
		SET lock a PX 1000  => +OK
		DEL lock            => :1
		DEL lock            => :0
		SETNX lock b        => :1
		PTTL lock           => :-1
		SET other a         => +OK
		DEL lock none other => :2
		SET lock a          => +OK
		UNLINK lock         => :1
		GETDEL lock         => $-1
		SET lock a          => +OK
		GETDEL lock         => $1 a
		EXISTS lock         => :0
		DEL                 => -ERR wrong number of arguments for 'del' command`},

	{name: "PEXPIRE", script: `
		PEXPIRE lock 1000                 => :0
		SET lock a PX 1000                => +OK
		pass 400ms
		PEXPIRE lock 1000                 => :1
		PTTL lock                         => :1000
		pass 700ms
		GET lock                          => $1 a
		PEXPIRE lock 100                  => :1
		PTTL lock                         => :100
		PEXPIRE lock abc                  => -ERR value is not an integer or out of range
		PEXPIRE lock 01                   => -ERR value is not an integer or out of range
		PEXPIRE lock 9223372036854775807  => -ERR invalid expire time in 'pexpire' command
		EXPIRE lock 9223372036854775807   => -ERR invalid expire time in 'expire' command
		EXPIRE lock -9223372036854775807  => -ERR invalid expire time in 'expire' command
		EXPIREAT lock 9223372036854775807 => -ERR invalid expire time in 'expireat' command
		PEXPIREAT lock abc                => -ERR value is not an integer or out of range
		PEXPIRE lock                      => -ERR wrong number of arguments for 'pexpire' command
		PEXPIRE lock 1000 XY              => -ERR Unsupported option XY
		PTTL lock                         => :100
		PERSIST lock                      => :1
		PERSIST lock                      => :0
		PERSIST none                      => :0
		PTTL lock                         => :-1`},

	{name: "PEXPIRE with 0 or less deletes", script: `
		SET lock a PX 1000      => +OK
		PEXPIRE lock 0          => :1
		GET lock                => $-1
		PEXPIRE lock 0          => :0
		SET lock a              => +OK
		PEXPIRE lock -1         => :1
		GET lock                => $-1
		SET lock a              => +OK
		EXPIRE lock -30         => :1
		EXISTS lock             => :0
		SET lock a              => +OK
		PEXPIREAT lock {now-1s} => :1
		EXISTS lock             => :0
		SET lock a              => +OK
		EXPIREAT lock 0         => :1
		EXISTS lock             => :0
		SET lock a              => +OK
		PEXPIREAT lock {now+1s} => :1
		PTTL lock               => :1000`},

	{name: "PEXPIRE with NX, XX, GT and LT", script: `
		SET lock a             => +OK
		PEXPIRE lock 1000 XX   => :0
		PEXPIRE lock 1000 GT   => :0
		PEXPIRE lock 5000 LT   => :1
		PEXPIRE lock 1000 NX   => :0
		PEXPIRE lock 4000 GT   => :0
		PEXPIRE lock 6000 GT   => :1
		PEXPIRE lock 6000 LT   => :0
		PEXPIRE lock 7000 XX   => :1
		PEXPIRE lock 7000 NX XX => -ERR NX and XX, GT or LT options at the same time are not compatible
		PEXPIRE lock 7000 GT LT => -ERR GT and LT options at the same time are not compatible
		PTTL lock              => :7000
		PEXPIRE lock -1 LT     => :1
		EXISTS lock            => :0`},

	{name: "TTL rounds to the nearest second", script: `
		SET lock a PX 1500  => +OK
		TTL lock            => :2
		EXPIRETIME lock     => :{unix+2s}
		SET lock a PX 1499  => +OK
		TTL lock            => :1
		EXPIRETIME lock     => :{unix+1s}
		pass 1s
		TTL lock            => :0
		PTTL lock           => :499`},

	{name: "TTL in a transaction", script: `
		SET lock a PX 30000  => +OK
		pass 1ms
		MULTI                => +OK
		PTTL lock            => +QUEUED
		TTL lock             => +QUEUED
		EXEC                 => *2 :29999 :30
		TTL lock             => :30
		MULTI                => +OK
		TTL lock             => +QUEUED
		DISCARD              => +OK
		TTL lock             => :30`},

	{name: "INCR", script: `
		INCR token                     => :1
		INCR token                     => :2
		GET token                      => $1 2
		INCRBY token 10                => :12
		DECR token                     => :11
		SET token abc                  => +OK
		INCR token                     => -ERR value is not an integer or out of range
		GET token                      => $3 abc
		SET token ''                   => +OK
		INCR token                     => -ERR value is not an integer or out of range
		SET token ' 1'                 => +OK
		INCR token                     => -ERR value is not an integer or out of range
		SET token 01                   => +OK
		INCR token                     => -ERR value is not an integer or out of range
		INCRBY token 2                 => -ERR value is not an integer or out of range
		DECR token                     => -ERR value is not an integer or out of range
		DECRBY token 2                 => -ERR value is not an integer or out of range
		SET token +1                   => +OK
		INCR token                     => -ERR value is not an integer or out of range
		SET token 1.0                  => +OK
		INCR token                     => -ERR value is not an integer or out of range
		SET token -1                   => +OK
		INCR token                     => :0
		RPUSH list x                   => :1
		INCR list                      => -WRONGTYPE Operation against a key holding the wrong kind of value`},

	{name: "INCR of the largest number", script: `
		SET token 9223372036854775806  => +OK
		INCR token                     => :9223372036854775807
		INCR token                     => -ERR increment or decrement would overflow
		GET token                      => $19 9223372036854775807`,
		needsInt64: true},

	{name: "INCR keeps the TTL", script: `
		SET token 7 PX 1000  => +OK
		pass 400ms
		INCR token           => :8
		PTTL token           => :600
		pass 601ms
		INCR token           => :1
		PTTL token           => :-1`},

	{name: "EVAL of scripts that lock libraries use", script: `
		SET lock a PX 30000                => +OK
		EVAL {lua:unlock} 1 lock b         => :0
		EVAL {lua:extend} 1 lock b 60000   => :0
		PTTL lock                          => :30000
		EVAL {lua:extend} 1 lock a 60000   => :1
		PTTL lock                          => :60000
		EVAL {lua:unlock} 1 lock a         => :1
		GET lock                           => $-1
		EVAL {lua:unlock} 1 lock a         => :0
		EVAL {lua:extend} 1 lock a 60000   => :0
		EVAL {lua:mint} 2 lock n c 30000   => :1
		EVAL {lua:mint} 2 lock n d 30000   => $-1
		PTTL lock                          => :30000
		EVAL {lua:extend} 1 lock c 0       => :1
		GET lock                           => $-1
		EVAL {lua:mint} 2 lock n d 30000   => :2
		EVAL {lua:extend} 1 lock d -1      => :1
		GET lock                           => $-1
		EVAL {lua:reenter} 1 hash me 1499  => *3 :1 :1499 :1
		EVAL {lua:reenter} 1 hash me 1500  => *3 :2 :1500 :2
		HINCRBY hash me -2                 => :0
		PTTL hash                          => :1500
		HDEL hash me                       => :1
		PTTL hash                          => :-2`},

	{name: "EVAL: how a script's result becomes a reply", script: `
		EVAL 'return nil' 0                                       => $-1
		EVAL 'return false' 0                                     => $-1
		EVAL 'return true' 0                                      => :1
		EVAL 'return 3.99' 0                                      => :3
		EVAL 'return -3.99' 0                                     => :-3
		EVAL 'return "x"' 0                                       => $1 x
		EVAL 'return {1, "x", {2}, nil, 3}' 0                     => *3 :1 $1 x *1 :2
		EVAL 'return {ok="FINE"}' 0                               => +FINE
		EVAL 'return {err="MINE it is"}' 0                        => -MINE it is
		EVAL 'return redis.error_reply("MINE it is")' 0           => -MINE it is
		EVAL 'return redis.status_reply("FINE")' 0                => +FINE
		EVAL 'return redis.call("SET", KEYS[1], "a")' 1 k         => +OK
		EVAL 'return redis.call("SET", KEYS[1], "b", "NX")' 1 k   => $-1
		EVAL 'return redis.call("GET", KEYS[1]) == false' 1 none  => :1
		EVAL 'return type(redis.call("GET", KEYS[1]))' 1 none     => $7 boolean
		EVAL 'return redis.call("TYPE", KEYS[1]).ok' 1 k          => $6 string
		EVAL 'return redis.call("PTTL", KEYS[1])' 1 k             => :-1
		EVAL 'return redis.call("PTTL", KEYS[1])' 1 none          => :-2
		EVAL 'return #KEYS .. #ARGV' 1 k x y                      => $2 12
		EVAL 'return 1' x                                         => -ERR value is not an integer or out of range
		EVAL 'return 1' -1                                        => -ERR Number of keys can't be negative
		EVAL 'return 1' 2 k                                       => -ERR Number of keys can't be greater than number of args
		EVAL 'return 1'                                           => -ERR wrong number of arguments for 'eval' command`},

	{name: "EVAL: errors of scripts and of their commands", script: `
		EVAL {lua:catches} 1 token                        => :1
		SET token abc                                     => +OK
		EVAL {lua:catches} 1 token                        => -ERR value is not an integer or out of range
		EVAL {lua:fails} 1 token                          => -ERR value is not an integer or out of range script: {sha:fails}, on @user_script:1.
		GET token                                         => $7 written
		EVAL {lua:broken} 0                               => -ERR Error compiling script (new function): …
		EVAL 'return redis.call("GET")' 0                 => -ERR Wrong number of args calling Redis command from script script: …
		EVAL 'return redis.call("NONE")' 0                => -ERR Unknown Redis command called from script script: …
		EVAL 'return redis.pcall("NONE")["err"]' 0        => $44 ERR Unknown Redis command called from script
		EVAL 'return redis.call("SET", "k", "v", "PX", 0)' 0 => -ERR invalid expire time in 'set' command script: …
		RPUSH list x                                      => :1
		EVAL 'return redis.call("GET", KEYS[1])' 1 list   => -WRONGTYPE Operation against a key holding the wrong kind of value script: …
		EVAL 'local call = redis.call; local function f() return call("INCR", KEYS[1]) end; return f()' 1 list => -WRONGTYPE …
		EVAL 'return redis.call("GET", {})' 0             => -ERR Lua redis lib command arguments must be strings or integers script: …
		EVAL 'return redis.call()' 0                      => -ERR Please specify at least one argument for this redis lib call script: …
		EVAL 'error("MINE it is")' 0                      => -ERR user_script:1: MINE it is script: …
		EVAL 'local x = nil; return x.y' 0                => -ERR user_script:1: …
		EVAL_RO {lua:fails} 1 token                       => -ERR Write commands are not allowed from read-only scripts. script: {sha:fails}, on @user_script:1.
		EVAL 'return redis.error_reply("x")' 0            => -ERR x
		GET token                                         => $7 written`},

	{name: "EVALSHA", script: `
		EVALSHA {sha:unlock} 1 lock a                  => -NOSCRIPT No matching script. Please use EVAL.
		EVAL {lua:unlock} 1 lock a                     => :0
		SET lock a                                     => +OK
		EVALSHA {sha:unlock} 1 lock a                  => :1
		SCRIPT LOAD {lua:extend}                       => $40 {sha:extend}
		SCRIPT EXISTS {sha:extend} {sha:mint}          => *2 :1 :0
		EVALSHA {sha:extend} 1 lock a 1000             => :0
		SCRIPT FLUSH                                   => +OK
		EVALSHA {sha:unlock} 1 lock a                  => -NOSCRIPT No matching script. Please use EVAL.
		SCRIPT EXISTS {sha:extend}                     => *1 :0
		EVAL {lua:fails} 1 k                           => -ERR …
		EVALSHA {sha:fails} 1 k                        => -ERR value is not an integer or out of range …
		EVAL {lua:broken} 0                            => -ERR …
		EVALSHA {sha:broken} 0                         => -NOSCRIPT No matching script. Please use EVAL.
		EVAL 'return 1' 0                              => :1
		EVALSHA E0E1F9FABFC9D4800C877A703B823AC0578FF8DB 0 => :1
		EVALSHA_RO E0E1F9FABFC9D4800C877A703B823AC0578FF8DB 0 => :1
		EVALSHA abc 0                                  => -NOSCRIPT No matching script. Please use EVAL.`},

	{name: "EVALSHA after a restart", persistence: server.Always, script: `
		EVAL {lua:mint} 2 lock token a 30000             => :1
		EVALSHA {sha:mint} 2 lock token b 30000          => $-1
		kill
		restart
		EVALSHA {sha:mint} 2 lock token b 30000          => -NOSCRIPT No matching script. Please use EVAL.
		EVAL {lua:mint} 2 lock token b 30000             => $-1
		DEL lock                                         => :1
		EVALSHA {sha:mint} 2 lock token b 30000          => :2`},

	{name: "the clock jumps forward", script: `
		SET lock a PX 30000  => +OK
		jump 29s
		PTTL lock            => :1000
		jump 2s
		GET lock             => $-1
		SET lock b NX PX 1000 => +OK
		pass 1001ms
		GET lock             => $-1`},

	{name: "the clock jumps back", script: `
		SET lock a PX 30000  => +OK
		pass 20s
		jump -15s
		PTTL lock            => :25000
		TTL lock             => :25
		pass 24s
		GET lock             => $1 a
		pass 1001ms
		GET lock             => $-1
		jump -1h
		GET lock             => $-1
		SET lock b NX PX 1000 => +OK
		pass 1001ms
		GET lock             => $-1`},

	{name: "the clock jumps forth and back", script: `
		SET lock a PX 30000     => +OK
		SET until a PXAT {now+30s} => +OK
		jump 20s
		PTTL lock               => :10000
		jump -20s
		PTTL lock               => :30000
		jump -20s
		PTTL lock               => :50000
		PTTL until              => :50000
		jump 20s
		PTTL until              => :30000
		EVAL {lua:extend} 1 lock a 10000 => :1
		jump -5s
		PTTL lock               => :15000
		jump 16s
		EXISTS lock             => :0
		EXISTS until            => :1`},

	{name: "nothing survives without persistence", persistence: sim.NoPersistence, script: `
		SET lock a NX PX 30000  => +OK
		INCR token              => :1
		kill
		restart
		GET lock                => $-1
		SET lock b NX PX 30000  => +OK
		INCR token              => :1
		shutdown
		restart
		GET lock                => $-1
		INCR token              => :1
		power-loss
		restart
		INCR token              => :1`},

	{name: "snapshots: a crash loses the changes after the last snapshot", persistence: server.Snapshots, script: `
		SET lock a NX           => +OK
		INCR token              => :1
		pass 59m
		kill
		restart
		GET lock                => $-1
		INCR token              => :1
		SET lock b NX PX 172800000 => +OK
		pass 61m
		INCR token              => :2
		kill
		restart
		GET lock                => $1 b
		PTTL lock               => :169140000
		INCR token              => :2
		pass 1m
		power-loss
		restart
		INCR token              => :2`},

	{name: "snapshots: a clean shutdown saves all changes", persistence: server.Snapshots, script: `
		SET lock a NX PX 30000  => +OK
		INCR token              => :1
		shutdown
		pass 10s
		restart
		GET lock                => $1 a
		PTTL lock               => :20000
		INCR token              => :2
		shutdown
		pass 20001ms
		restart
		GET lock                => $-1
		INCR token              => :3
		kill
		restart
		INCR token              => :3`},

	{name: "always: no crash loses a change", persistence: server.Always, script: `
		SET lock a NX PX 30000            => +OK
		SET kept a PX 30000               => +OK
		SET kept b KEEPTTL                => +OK
		SET freed a                       => +OK
		DEL freed                         => :1
		SET deleted a                     => +OK
		PEXPIRE deleted 0                 => :1
		SET past a PXAT {now-1s}          => +OK
		INCR token                        => :1
		pass 10s
		EVAL {lua:extend} 1 lock a 30000  => :1
		power-loss
		pass 10s
		restart
		GET lock                          => $1 a
		PTTL lock                         => :20000
		GET kept                          => $1 b
		PTTL kept                         => :10000
		EXISTS freed deleted past         => :0
		INCR token                        => :2
		kill
		pass 20001ms
		restart
		EXISTS lock kept                  => :0
		INCR token                        => :3
		shutdown
		restart
		INCR token                        => :4`},

	{name: "everysec: kill -9 loses nothing", persistence: server.Everysec, script: `
		SET lock a NX PX 30000  => +OK
		kill
		pass 10s
		restart
		GET lock                => $1 a
		PTTL lock               => :20000
		kill
		pass 20001ms
		restart
		SET lock b NX PX 30000  => +OK
		shutdown
		restart
		GET lock                => $1 b`},

	{name: "everysec: a power loss before and after the sync", persistence: server.Everysec, script: `
		SET lock a NX PX 30000  => +OK
		INCR token              => :1
		pass 900ms
		power-loss
		restart
		GET lock                => $-1
		INCR token              => :1
		pass 1100ms
		power-loss
		restart
		INCR token              => :2
		SET lock b NX PX 30000  => +OK
		pass 1100ms
		INCR token              => :3
		DEL lock                => :1
		power-loss
		restart
		GET lock                => $1 b
		INCR token              => :3`},

	{name: "everysec: the first change after a quiet second is synced at once", persistence: server.Everysec, script: `
		pass 10s
		INCR token  => :1
		INCR other  => :1
		power-loss
		restart
		INCR token  => :2
		INCR other  => :1`},

	{name: "the clock is set while the server is down", persistence: server.Always, script: `
		SET lock a PX 30000  => +OK
		kill
		jump -10s
		restart
		PTTL lock            => :40000
		shutdown
		jump 30s
		pass 5s
		restart
		PTTL lock            => :5000
		kill
		jump 5001ms
		restart
		GET lock             => $-1`},

	{name: "WAIT without replicas", script: `
		SET lock a  => +OK
		WAIT 0 0    => :0
		WAIT 0 100  => :0
		WAIT 1 100  => :0 after 100ms
		WAIT 1 1000 => :0 after 1s
		WAIT 1 -1   => -ERR timeout is negative
		WAIT x 0    => -ERR value is not an integer or out of range
		WAIT 1 x    => -ERR timeout is not an integer or out of range
		WAIT 1      => -ERR wrong number of arguments for 'wait' command
		GET lock    => $1 a`},

	{name: "a transaction notices that a key has expired", script: `
		SET lock a PX 1000  => +OK
		WATCH lock          => +OK
		MULTI               => +OK
		INCR token          => +QUEUED
		EXEC                => *1 :1
		WATCH lock          => +OK
		pass 1001ms
		MULTI               => +OK
		INCR token          => +QUEUED
		EXEC                => *-1
		WATCH lock          => +OK
		MULTI               => +OK
		INCR token          => +QUEUED
		EXEC                => *1 :2`},

	{name: "errors of unknown commands, wrong arguments and wrong types", script: `
		NONE                   => -ERR unknown command 'NONE', with args beginning with:
		none 'a b' c           => -ERR unknown command 'none', with args beginning with: 'a b' 'c'
		GET                    => -ERR wrong number of arguments for 'get' command
		gEt a b                => -ERR wrong number of arguments for 'get' command
		PTTL                   => -ERR wrong number of arguments for 'pttl' command
		TTL a b                => -ERR wrong number of arguments for 'ttl' command
		RPUSH list x           => :1
		GET list               => -WRONGTYPE Operation against a key holding the wrong kind of value
		SETNX list a           => :0
		SET list a NX          => $-1
		PEXPIRE list 1000      => :1
		PING                   => +PONG
		SELECT 16              => -ERR DB index is out of range
		SELECT x               => -ERR value is not an integer or out of range
		SCRIPT NONE            => -ERR unknown subcommand 'NONE'. Try SCRIPT HELP.`},

	{name: "values that a command makes longer", script: `
		SETRANGE k 536870912 x            => -ERR string exceeds maximum allowed size (proto-max-bulk-len)
		SETRANGE k 536870911 xx           => -ERR string exceeds maximum allowed size (proto-max-bulk-len)
		SETRANGE k 9223372036854775807 x  => -ERR string exceeds maximum allowed size (proto-max-bulk-len)
		SETRANGE k -1 x                   => -ERR offset is out of range
		SETRANGE k x x                    => -ERR value is not an integer or out of range
		SETRANGE k 600000000 ''           => :0
		EXISTS k                          => :0
		SETRANGE k 2 x                    => :3
		SETRANGE k 600000000 ''           => :3
		APPEND k yz                       => :5
		STRLEN k                          => :5
		SETBIT k 4294967296 1             => -ERR bit offset is not an integer or out of range
		SETBIT k 9223372036854775807 1    => -ERR bit offset is not an integer or out of range
		SETBIT k 47 1                     => :0
		SETBIT k 48 2                     => -ERR bit is not an integer or out of range
		GETBIT k 47                       => :1
		GETBIT k 4294967296               => -ERR bit offset is not an integer or out of range
		STRLEN k                          => :6
		HSET h a b                        => :1
		SETRANGE h 600000000 x            => -WRONGTYPE Operation against a key holding the wrong kind of value
		SETBIT h 1 1                      => -WRONGTYPE Operation against a key holding the wrong kind of value
		APPEND h x                        => -WRONGTYPE Operation against a key holding the wrong kind of value`},

	{name: "cluster commands are refused", script: `
		CLUSTER SLOTS      => -ERR This instance has cluster support disabled
		CLUSTER KEYSLOT k  => -ERR This instance has cluster support disabled
		CLUSTER INFO       => -ERR This instance has cluster support disabled
		READONLY           => -ERR This instance has cluster support disabled
		READWRITE          => -ERR This instance has cluster support disabled`},

	{name: "replies in RESP 3", script: `
		HELLO 3                           => %7 …
		GET lock                          => _
		SET lock a NX PX 30000            => +OK
		SET lock b NX PX 30000            => _
		PTTL lock                         => :30000
		TTL lock                          => :30
		EVAL {lua:unlock} 1 lock b        => :0
		EVAL 'return false' 0             => _
		EVAL {lua:mint} 2 lock n b 30000  => _
		GETDEL lock                       => $1 a`},
}
