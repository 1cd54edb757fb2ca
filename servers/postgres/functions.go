package postgres

// This file has the SQL functions and analyses their calls.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A function is an SQL function that a query can call.
type function struct {
	name string
	args []sql.Type
	typ  sql.Type
	// call computes the result. If an argument is NULL, the result is NULL without a call. f.r is
	// the execution of the statement that calls the function, and f.r.b its session.
	call func(f *frame, args []value) value
}

// functions are the supported functions. The functions that return the time follow the
// server's wall clock, which faults can set.
var functions []function

func init() { // init breaks a cycle: the functions refer to code that looks functions up
	began := func(f *frame, _ []value) value { return f.r.tx.began }
	functions = []function{
		{"now", nil, timestampType, began},
		{"transaction_timestamp", nil, timestampType, began},
		{"statement_timestamp", nil, timestampType, func(f *frame, _ []value) value { return f.r.b.receivedAt }},
		{"clock_timestamp", nil, timestampType, func(f *frame, _ []value) value { return f.r.b.s.now() }},

		{"pg_advisory_unlock_all", nil, void, func(f *frame, _ []value) value {
			f.r.b.s.advisoryLocks.releaseAll(f.r.b)
			return ""
		}},

		{"nextval", []sql.Type{sql.Text}, sql.Int8, func(f *frame, args []value) value {
			q := f.r.b.s.sequence(args[0].(string))
			if f.r.b.s.isStandby() {
				raise(readOnlyError("nextval()"))
			}
			n := q.next(f.r.tx)
			f.r.b.lastValues[q] = n
			return n
		}},
		{"currval", []sql.Type{sql.Text}, sql.Int8, func(f *frame, args []value) value {
			q := f.r.b.s.sequence(args[0].(string))
			n, counted := f.r.b.lastValues[q]
			raiseIf(!counted, objectNotInState, "currval of sequence \"%s\" is not yet defined in this session", q.name)
			return n
		}},

		{"pg_is_in_recovery", nil, sql.Bool, func(f *frame, _ []value) value { return f.r.b.s.isStandby() }},
		{"current_schema", nil, sql.Name, currentSchema},
		{"current_database", nil, sql.Name, func(f *frame, _ []value) value { return f.r.b.database }},
		{"txid_current", nil, sql.Int8, func(f *frame, _ []value) value {
			raiseUnsupportedIf(f.r.b.s.isStandby(), "txid_current() on a standby")
			return int64(f.r.tx.id())
		}},
		{"pg_terminate_backend", []sql.Type{sql.Int4}, sql.Bool, signalFunction((*backend).terminate)},
		{"pg_cancel_backend", []sql.Type{sql.Int4}, sql.Bool, signalFunction((*backend).cancel)},
		{"pg_backend_pid", nil, sql.Int4, func(f *frame, _ []value) value { return int64(f.r.b.pid) }},
		{"pg_sleep", []sql.Type{sql.Float8}, void, sleep},
		{"current_setting", []sql.Type{sql.Text}, sql.Text, func(f *frame, args []value) value {
			return f.r.b.show(strings.ToLower(args[0].(string)))
		}},
		{"hashtext", []sql.Type{sql.Text}, sql.Int4, func(_ *frame, args []value) value {
			_, c := hashBytes(args[0].(string), 0)
			return int64(int32(c))
		}},
		{"hashtextextended", []sql.Type{sql.Text, sql.Int8}, sql.Int8, func(_ *frame, args []value) value {
			b, c := hashBytes(args[0].(string), uint64(args[1].(int64)))
			return int64(uint64(b)<<32 | uint64(c))
		}},
		{"length", []sql.Type{sql.Text}, sql.Int4, func(_ *frame, args []value) value { return int64(len([]rune(args[0].(string)))) }},
		{"lower", []sql.Type{sql.Text}, sql.Text, func(_ *frame, args []value) value { return strings.ToLower(args[0].(string)) }},
		{"upper", []sql.Type{sql.Text}, sql.Text, func(_ *frame, args []value) value { return strings.ToUpper(args[0].(string)) }},
	}
	for _, number := range [][]sql.Type{{sql.Int8}, {sql.Int4, sql.Int4}} {
		functions = append(functions,
			function{"pg_advisory_lock", number, void, lockFunction(true, false)},
			function{"pg_try_advisory_lock", number, sql.Bool, lockFunction(false, false)},
			function{"pg_advisory_xact_lock", number, void, lockFunction(true, true)},
			function{"pg_try_advisory_xact_lock", number, sql.Bool, lockFunction(false, true)},
			function{"pg_advisory_unlock", number, sql.Bool, unlock})
	}
}

// unsupportedFunctions are functions of PostgreSQL that clients of locks may call, but that
// this server does not have.
var unsupportedFunctions = []string{
	"pg_advisory_lock_shared", "pg_try_advisory_lock_shared", "pg_advisory_xact_lock_shared", "pg_try_advisory_xact_lock_shared",
	"pg_advisory_unlock_shared", "pg_notify", "pg_current_xact_id",
	"random", "gen_random_uuid", "setval", "lastval", "sum", "avg", "bool_or", "bool_and",
	"array_agg", "string_agg", "set_config", "version", "date_trunc", "date_part", "to_timestamp", "age", "timeofday", "nullif", "abs",
	"round", "floor", "ceil", "trunc", "mod", "concat", "format", "md5", "to_char", "row_number", "generate_series", "current_schemas",
	"substr", "replace", "justify_interval", "pg_sleep_for", "pg_sleep_until", "pg_blocking_pids",
}

// analyseCall analyses the call of a function.
func (sc *scope) analyseCall(e *sql.Call) *node {
	if slices.Contains(aggregateNames, e.Name) {
		return sc.analyseAggregate(e)
	}
	var args []*node
	for _, arg := range e.Args {
		args = append(args, sc.analyse(arg))
	}
	switch e.Name {
	case "coalesce", "greatest", "least":
		return sc.pickArgument(e.Name, args)
	case "make_interval":
		return sc.makeInterval(e, args)
	case "timezone":
		return sc.timezone(args)
	}
	raiseUnsupportedIf(e.Named != nil, "named arguments of %s", e.Name)
	var types []string
	for _, n := range args {
		raiseUnsupportedIf(n.typ == sql.Bytea, "functions of bytea")
		types = append(types, string(n.typ))
	}
	noFunction := newError(unknownFunction, "function %s(%s) does not exist", e.Name, strings.Join(types, ", "))
	for i := range functions {
		fn := &functions[i]
		if fn.name != e.Name || len(fn.args) != len(args) {
			continue
		}
		for j, n := range args {
			args[j] = sc.coerce(n, fn.args[j], isImplicit, noFunction)
		}
		return fn.callNode(args)
	}
	raiseUnsupportedIf(slices.Contains(unsupportedFunctions, e.Name), "the function %s", e.Name)
	panic(raisedError{markMayBeValid(noFunction)})
}

// markMayBeValid marks an error as one that a real PostgreSQL server may not raise.
func markMayBeValid(err error) error {
	o := toSQLError(err)
	o.MayBeValid = true
	return o
}

// callNode returns a node that calls the function, or returns NULL if an argument is NULL.
func (fn *function) callNode(args []*node) *node {
	return &node{typ: fn.typ, eval: func(f *frame) value {
		values := make([]value, len(args))
		null := false
		for i, n := range args {
			values[i] = n.eval(f)
			null = null || values[i] == nil
		}
		if null {
			return nil
		}
		return fn.call(f, values)
	}}
}

// pickArgument analyses coalesce, greatest and least. They return one of their arguments:
// the first that is not NULL, the greatest or the least.
func (sc *scope) pickArgument(name string, args []*node) *node {
	raiseIf(len(args) == 0, syntaxError, "syntax error at or near \")\"")
	args, t := sc.commonType(upper(name), args)
	raiseUnsupportedIf(t == sql.XID, "%s of transaction IDs", name)
	better := func(a, b value) bool {
		return name == "greatest" && compare(a, b) > 0 || name == "least" && compare(a, b) < 0
	}
	return &node{typ: t, eval: func(f *frame) value {
		var best value
		for _, n := range args {
			v := n.eval(f)
			if v != nil && (best == nil || better(v, best)) {
				best = v
			}
			if name == "coalesce" && best != nil {
				break
			}
		}
		return best
	}}
}

// makeInterval analyses make_interval(secs => x). Other units are possible too.
func (sc *scope) makeInterval(e *sql.Call, args []*node) *node {
	units := map[string]interval{
		"secs": {micros: second}, "mins": {micros: minute}, "hours": {micros: hour},
		"days": {days: 1}, "weeks": {days: 7}, "months": {months: 1}, "years": {months: 12},
	}
	raiseUnsupportedIf(e.Named == nil, "make_interval without the names of its arguments")
	for i, name := range e.Named {
		t := sql.Int4
		if name == "secs" {
			t = sql.Float8
		}
		noFunction := newError(unknownFunction, "function make_interval(%s => %s) does not exist", name, args[i].typ)
		if units[name] == (interval{}) {
			raise(noFunction)
		}
		args[i] = sc.coerce(args[i], t, isImplicit, noFunction)
	}
	return &node{typ: sql.Interval, eval: func(f *frame) value {
		var sum interval
		for i, n := range args {
			v := n.eval(f)
			if v == nil {
				return nil
			}
			times, is := v.(float64)
			if !is {
				times = float64(v.(int64))
			}
			sum = sum.add(units[e.Named[i]].multiply(times))
		}
		return sum
	}}
}

// timezone analyses AT TIME ZONE, which converts a time to the reading of a clock in a time
// zone, or the reading to a time.
func (sc *scope) timezone(args []*node) *node {
	raiseUnsupportedIf(len(args) != 2, "this form of timezone()")
	from, to := sql.TimestampTZ, sql.Timestamp
	if args[1].typ == sql.Timestamp {
		from, to = to, from
	}
	noFunction := newError(unknownFunction, "function pg_catalog.timezone(%s, %s) does not exist", args[0].typ, args[1].typ)
	zone := sc.coerce(args[0], sql.Text, isImplicit, noFunction)
	return strict2(zone, sc.coerce(args[1], from, isImplicit, noFunction), to, func(zone, moment value) value {
		if name := strings.ToLower(zone.(string)); name != "utc" && name != "etc/utc" {
			raise(unsupported("other time zones than UTC"))
		}
		return moment
	})
}

// advisoryLockOf returns the advisory lock that the arguments of a function name: one
// number, or a pair.
func advisoryLockOf(args []value) advisoryLock {
	if len(args) == 1 {
		return advisoryLock{number: args[0].(int64)}
	}
	return advisoryLock{args[0].(int64)<<32 | args[1].(int64)&math.MaxUint32, true}
}

// lockFunction returns the func of an SQL function that acquires an advisory lock, for the
// session or, if inTx is true, for its transaction. If waits is false and another session
// holds the lock, the func does not wait but returns without the lock.
func lockFunction(waits, inTx bool) func(*frame, []value) value {
	return func(f *frame, args []value) value {
		l, b, a, t := f.r.b.s.advisoryLocks, f.r.b, advisoryLockOf(args), (*tx)(nil)
		if inTx {
			t = f.r.tx
		}
		free := func() bool { return l.isFree(a, b) }
		if !waits && !free() {
			return false
		}
		for !free() {
			f.r.waitFor(&wait{ready: free, holder: func() *backend { return l.held[a].b }, advisoryLock: &a})
		}
		l.acquire(a, b, t)
		if waits {
			return ""
		}
		return true
	}
}

// unlock is the function pg_advisory_unlock().
func unlock(f *frame, args []value) value {
	released := f.r.b.s.advisoryLocks.release(advisoryLockOf(args), f.r.b)
	if !released {
		f.r.b.sendNotice("WARNING", "01000", "you don't own a lock of type ExclusiveLock")
	}
	return released
}

// signalFunction returns the func of an SQL function that applies signal to the session
// with the given process ID, if there is one.
func signalFunction(signal func(*backend)) func(*frame, []value) value {
	return func(f *frame, args []value) value {
		pid, s := args[0].(int64), f.r.b.s
		i := slices.IndexFunc(s.backends, func(b *backend) bool { return b.isStarted && int64(b.pid) == pid })
		switch {
		case i < 0:
			f.r.b.sendNotice("WARNING", "01000", fmt.Sprintf("PID %d is not a PostgreSQL backend process", pid))
			return false
		case s.backends[i] == f.r.b:
			raise(unsupported("signals of a session to itself"))
		case s.pool != nil:
			raise(unsupported("signals to sessions behind a pooler"))
		case s.backends[i].running != nil && s.backends[i].running.isCommit:
			raise(unsupported("signals to a session that waits for a standby"))
		}
		signal(s.backends[i])
		return true
	}
}

// sleep is the function pg_sleep(). It waits by the monotonic clock.
func sleep(f *frame, args []value) value {
	seconds, timers := args[0].(float64), f.r.b.s.timers
	if seconds > 0 {
		due := timers.Now() + int64(min(seconds, 1e9)*1e9)
		timers.At(due, func() {})
		f.r.waitFor(&wait{ready: func() bool { return timers.Now() >= due }})
	}
	return ""
}

// hashBytes is hash_bytes_extended of PostgreSQL's common/hashfn.c: the hash function
// lookup3 by Bob Jenkins on little-endian words. With seed 0, c is the result of
// PostgreSQL's hash_bytes.
func hashBytes(text string, seed uint64) (b, c uint32) {
	a := 0x9e3779b9 + uint32(len(text)) + 3923095
	b, c = a, a
	k := []byte(text)
	word := func(i int) uint32 {
		var w uint32
		for j := range 4 {
			if i+j < len(k) {
				w |= uint32(k[i+j]) << (8 * j)
			}
		}
		return w
	}
	rot := func(x uint32, n int) uint32 { return x<<n | x>>(32-n) }
	mix := func() {
		a = (a - c) ^ rot(c, 4)
		c += b
		b = (b - a) ^ rot(a, 6)
		a += c
		c = (c - b) ^ rot(b, 8)
		b += a
		a = (a - c) ^ rot(c, 16)
		c += b
		b = (b - a) ^ rot(a, 19)
		a += c
		c = (c - b) ^ rot(b, 4)
		b += a
	}
	if seed != 0 {
		a, b = a+uint32(seed>>32), b+uint32(seed)
		mix()
	}
	for len(k) >= 12 {
		a, b, c = a+word(0), b+word(4), c+word(8)
		mix()
		k = k[12:]
	}
	// The lowest byte of c is reserved for the length.
	a, b, c = a+word(0), b+word(4), c+word(8)<<8
	c = (c ^ b) - rot(b, 14)
	a = (a ^ c) - rot(c, 11)
	b = (b ^ a) - rot(a, 25)
	c = (c ^ b) - rot(b, 16)
	a = (a ^ c) - rot(c, 4)
	b = (b ^ a) - rot(a, 14)
	c = (c ^ b) - rot(b, 24)
	return b, c
}
