package postgres_test

func init() { fidelityScripts = append(fidelityScripts, catalogueScripts...) }

// catalogueScripts are scripts in which sessions query the server's system catalogue and
// system columns: which sessions hold locks, which sessions there are, and which
// transactions have written rows. The fields and the language are those of [fidelity], in
// fidelity_test.go. In short:
//
//	a: SQL | parameter | …    executes SQL by the extended protocol in session a
//	a! SQL                    executes SQL by the simple protocol
//	a> SQL                    executes SQL, and records "waits" if there is no answer yet
//	a<                        records the answer that a> did not have yet
//	a.                        closes the connection
//	a; 300ms                  lets that time pass
//
// An answer has one line for each of these: the columns of a result with the OIDs of their
// types ("[xmax 28]"), a row, the tag of a command ("SELECT 1": one row), a notice, a
// warning or an error with its code.
var catalogueScripts = []fidelity{
	{
		name: "xmin and xmax, by which an UPDATE checks that a row is unchanged",
		script: `
			a! CREATE TABLE t (k text PRIMARY KEY, n int); INSERT INTO t VALUES ('a', 1)
			a: SELECT xmin::text = xmin::text::xid::text, xmax FROM t
			a: SELECT xmin = $1 FROM t | 5
			a: UPDATE t SET n = 2 WHERE k = 'a' AND xmin = $1 | 5
			a: UPDATE t SET n = 2 WHERE k = 'a' AND xmin::text = $1 | 5
			a: UPDATE t SET n = 2 WHERE k = 'a' AND xmin = xmin::text::xid RETURNING xmin::text = txid_current()::text, xmax
			a! BEGIN; UPDATE t SET n = 3
			b: SELECT n, xmax::text = '0', xmin = xmax FROM t
			a: SELECT xmin::text = txid_current()::text, xmax FROM t
			a! ROLLBACK
			b: SELECT n, xmax = 0 FROM t
			b: UPDATE t SET n = 3 RETURNING xmax
			a: SELECT xmin < 5 FROM t
			a: SELECT xmin = 5::bigint FROM t
			a: SELECT xmin + 1 FROM t
			a: SELECT xmin::bigint FROM t
			a: SELECT 0 = xmax FROM t
			a: SELECT xmax <> 0, xmax::text::bigint, xmax IS NULL, xmax IS DISTINCT FROM 0, xmax IN (0, 1), count(*) FROM t
			a: SELECT xmax <> 0, xmax::text::bigint, xmax IS NULL, xmax IS DISTINCT FROM 0, xmax IN (0, 1), 5::oid, '5'::xid FROM t
			a: SELECT k FROM t ORDER BY xmin
			a: SELECT max(xmin) FROM t
			a: SELECT count(xmin) FROM t
			a: SELECT x.xmin FROM t
			a: UPDATE t SET xmin = 5
			a: CREATE TABLE u (xmax int)
			a: DELETE FROM t RETURNING xmax = 0, xmax::text = txid_current()::text, xmin::text = txid_current()::text`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 1
			a: [?column? 16, xmax 28]
			a: t, 0
			a: SELECT 1
			a: [?column? 16]
			a: f
			a: SELECT 1
			a: UPDATE 0
			a: UPDATE 0
			a: [?column? 16, xmax 28]
			a: t, 0
			a: UPDATE 1
			a: BEGIN
			a: UPDATE 1
			b: [n 23, ?column? 16, ?column? 16]
			b: 2, f, f
			b: SELECT 1
			a: [?column? 16, xmax 28]
			a: t, 0
			a: SELECT 1
			a: ROLLBACK
			b: [n 23, ?column? 16]
			b: 2, f
			b: SELECT 1
			b: [xmax 28]
			b: 0
			b: UPDATE 1
			a: ERROR 42883: operator does not exist: xid < integer
			a: ERROR 42883: operator does not exist: xid = bigint
			a: ERROR 42883: operator does not exist: xid + integer
			a: ERROR 42846: cannot cast type xid to bigint
			a: ERROR 42883: operator does not exist: integer = xid
			a: ERROR 42803: column "t.xmax" must appear in the GROUP BY clause or be used in an aggregate function
			a: [?column? 16, xmax 20, ?column? 16, ?column? 16, ?column? 16, oid 26, xid 28]
			a: f, 0, f, f, t, 5, 5
			a: SELECT 1
			a: ERROR 42883: could not identify an ordering operator for type xid
			a: ERROR 42883: function max(xid) does not exist
			a: [count 20]
			a: 1
			a: SELECT 1
			a: ERROR 42P01: missing FROM-clause entry for table "x"
			a: ERROR 0A000: cannot assign to system column "xmin"
			a: ERROR 42701: column name "xmax" conflicts with a system column name
			a: [?column? 16, ?column? 16, ?column? 16]
			a: f, t, f
			a: DELETE 1`,
	},
	{
		name: "xmax shows whether ON CONFLICT inserted or updated a row",
		script: `
			a! CREATE TABLE t (k text PRIMARY KEY, n int)
			a: INSERT INTO t VALUES ('a', 1) ON CONFLICT (k) DO UPDATE SET n = t.n + 1 RETURNING n, (xmax = 0) AS inserted
			a: INSERT INTO t VALUES ('a', 1) ON CONFLICT (k) DO UPDATE SET n = t.n + 1 RETURNING n, (xmax = 0) AS inserted
			a: INSERT INTO t VALUES ('a', 1), ('b', 1) ON CONFLICT (k) DO UPDATE SET n = t.n + 1 RETURNING n, (xmax = 0) AS inserted, xmin = xmax
			a: INSERT INTO t VALUES ('a', 1) ON CONFLICT (k) DO UPDATE SET n = 9 WHERE t.n = 0 RETURNING n, (xmax = 0) AS inserted
			a: SELECT k, xmax = 0 FROM t
			a! UPDATE t SET n = 0
			a: SELECT k, xmax = 0 FROM t
			a: INSERT INTO t VALUES ('a', 1) ON CONFLICT (k) DO UPDATE SET n = 9 WHERE xmin = 3
			a! BEGIN; UPDATE t SET n = 5 WHERE k = 'a'
			b> INSERT INTO t VALUES ('a', 1) ON CONFLICT (k) DO UPDATE SET n = t.n + 1 RETURNING n, (xmax = 0) AS inserted
			a! COMMIT
			b<`,
		want: `
			a: CREATE TABLE
			a: [n 23, inserted 16]
			a: 1, t
			a: INSERT 0 1
			a: [n 23, inserted 16]
			a: 2, f
			a: INSERT 0 1
			a: [n 23, inserted 16, ?column? 16]
			a: 3, f, t
			a: 1, t, f
			a: INSERT 0 2
			a: INSERT 0 0
			a: [k 25, ?column? 16]
			a: a, f
			a: b, t
			a: SELECT 2
			a: UPDATE 2
			a: [k 25, ?column? 16]
			a: a, t
			a: b, t
			a: SELECT 2
			a: INSERT 0 0
			a: BEGIN
			a: UPDATE 1
			b: waits
			a: COMMIT
			b: [n 23, inserted 16]
			b: 6, f
			b: INSERT 0 1`,
	},
	{
		name: "xmax shows the transaction that has locked or changed a row",
		script: `
			a! CREATE TABLE t (k text PRIMARY KEY, n int); INSERT INTO t VALUES ('a', 1)
			a! BEGIN
			a: SELECT n, xmax = 0 FROM t FOR UPDATE
			a: SELECT n, xmax = 0, xmax::text = txid_current()::text FROM t
			b: SELECT n, xmax = 0 FROM t
			a: UPDATE t SET n = 2 RETURNING xmax = 0, xmax::text = txid_current()::text
			a! COMMIT
			a! BEGIN; SELECT n FROM t FOR UPDATE; COMMIT
			b: SELECT n, xmax = 0 FROM t
			b: UPDATE t SET n = 3 RETURNING xmax = 0
			a! BEGIN; UPDATE t SET n = 4
			b> UPDATE t SET n = n + 1 RETURNING n, xmax = 0, xmax::text = txid_current()::text
			a! ROLLBACK
			b<
			a! BEGIN; UPDATE t SET n = 5
			b> UPDATE t SET n = n + 1 RETURNING n, xmax = 0, xmax::text = txid_current()::text
			a! COMMIT
			b<
			a! BEGIN; UPDATE t SET n = 7
			b> UPDATE t SET n = n + 1 WHERE n = 6 RETURNING n
			a! COMMIT
			b<
			b: SELECT n, xmax = 0 FROM t
			a! BEGIN; UPDATE t SET n = 8
			b> SELECT n, xmax = 0 FROM t FOR UPDATE
			a! COMMIT
			b<
			a! BEGIN; UPDATE t SET n = 9
			b> DELETE FROM t WHERE n = 9 RETURNING n, xmax = 0
			a! COMMIT
			b<
			a! BEGIN; INSERT INTO t VALUES ('b', 1)
			a: SELECT xmin::text = txid_current()::text, xmax FROM t FOR UPDATE
			a: UPDATE t SET n = 2 RETURNING xmax = 0
			a! COMMIT`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 1
			a: BEGIN
			a: [n 23, ?column? 16]
			a: 1, t
			a: SELECT 1
			a: [n 23, ?column? 16, ?column? 16]
			a: 1, f, t
			a: SELECT 1
			b: [n 23, ?column? 16]
			b: 1, f
			b: SELECT 1
			a: [?column? 16, ?column? 16]
			a: f, t
			a: UPDATE 1
			a: COMMIT
			a: BEGIN
			a: [n 23]
			a: 2
			a: SELECT 1
			a: COMMIT
			b: [n 23, ?column? 16]
			b: 2, f
			b: SELECT 1
			b: [?column? 16]
			b: t
			b: UPDATE 1
			a: BEGIN
			a: UPDATE 1
			b: waits
			a: ROLLBACK
			b: [n 23, ?column? 16, ?column? 16]
			b: 4, t, f
			b: UPDATE 1
			a: BEGIN
			a: UPDATE 1
			b: waits
			a: COMMIT
			b: [n 23, ?column? 16, ?column? 16]
			b: 6, f, t
			b: UPDATE 1
			a: BEGIN
			a: UPDATE 1
			b: waits
			a: COMMIT
			b: UPDATE 0
			b: [n 23, ?column? 16]
			b: 7, f
			b: SELECT 1
			a: BEGIN
			a: UPDATE 1
			b: waits
			a: COMMIT
			b: [n 23, ?column? 16]
			b: 8, f
			b: SELECT 1
			a: BEGIN
			a: UPDATE 1
			b: DELETE 0
			a: COMMIT
			b: still waits
			a: BEGIN
			a: INSERT 0 1
			a: [?column? 16, xmax 28]
			a: f, 0
			a: t, 0
			a: SELECT 2
			a: [?column? 16]
			a: f
			a: f
			a: UPDATE 2
			a: COMMIT`,
	},
	{
		name: "pg_locks shows the holder of an advisory lock and the sessions that wait for it",
		script: `
			a: SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			a: SELECT pg_advisory_lock(-5), pg_advisory_lock(1, -2), pg_try_advisory_lock(123456789012345), pg_advisory_xact_lock(-5)
			a: SELECT locktype, database > 0::oid, relation, page, tuple, virtualxid, transactionid, classid, objid, objsubid, pid = pg_backend_pid(), mode, granted, fastpath, waitstart FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY classid, objid
			a: SELECT objsubid, (classid::bigint << 32) |objid::bigint AS number FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() ORDER BY objsubid, objid
			b> SELECT pg_advisory_lock($1) | 123456789012345
			a: SELECT classid, objid, pid = pg_backend_pid(), mode, granted, waitstart IS NULL FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND classid = 28744 ORDER BY granted DESC
			a: SELECT pg_advisory_unlock(123456789012345)
			b<
			a: SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_locks l WHERE l.locktype = $1 AND l.classid = $2 AND l.objid = $3 AND l.granted AND l.pid <> pg_backend_pid()) | advisory | 28744 | 2249056121
			a: SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = hashtext('x')
			a: SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = 1 AND objid = (-2)::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			a: SELECT oid > 0::oid, datname = current_database() FROM pg_database WHERE datname = current_database()
			a: SELECT none FROM pg_locks WHERE locktype = 'advisory'
			a: SELECT pg_locks.xmin FROM pg_locks WHERE locktype = 'advisory'
			a: SELECT pg_advisory_unlock_all()
			a: SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`,
		want: `
			a: SELECT 0
			a: [pg_advisory_lock 2278, pg_advisory_lock 2278, pg_try_advisory_lock 16, pg_advisory_xact_lock 2278]
			a: , , t,
			a: SELECT 1
			a: [locktype 25, ?column? 16, relation 26, page 23, tuple 21, virtualxid 25, transactionid 28, classid 26, objid 26, objsubid 21, ?column? 16, mode 25, granted 16, fastpath 16, waitstart 1184]
			a: advisory, t, NULL, NULL, NULL, NULL, NULL, 1, 4294967294, 2, t, ExclusiveLock, t, f, NULL
			a: advisory, t, NULL, NULL, NULL, NULL, NULL, 28744, 2249056121, 1, t, ExclusiveLock, t, f, NULL
			a: advisory, t, NULL, NULL, NULL, NULL, NULL, 4294967295, 4294967291, 1, t, ExclusiveLock, t, f, NULL
			a: SELECT 3
			a: [objsubid 21, number 20]
			a: 1, 123456789012345
			a: 1, -5
			a: 2, 8589934590
			a: SELECT 3
			b: waits
			a: [classid 26, objid 26, ?column? 16, mode 25, granted 16, ?column? 16]
			a: 28744, 2249056121, t, ExclusiveLock, t, t
			a: 28744, 2249056121, f, ExclusiveLock, f, f
			a: SELECT 2
			a: [pg_advisory_unlock 16]
			a: t
			a: SELECT 1
			b: [pg_advisory_lock 2278]
			b:
			b: SELECT 1
			a: [exists 16]
			a: t
			a: SELECT 1
			a: [count 20]
			a: 0
			a: SELECT 1
			a: [?column? 23]
			a: 1
			a: SELECT 1
			a: [?column? 16, ?column? 16]
			a: t, t
			a: SELECT 1
			a: ERROR 42703: column "none" does not exist
			a: ERROR 42703: column pg_locks.xmin does not exist
			a: [pg_advisory_unlock_all 2278]
			a:
			a: SELECT 1
			a: SELECT 0`,
	},
	{
		name: "pg_stat_activity shows the sessions and their statements",
		script: `
			a: SET application_name = 'job-1'
			b: SELECT datname = current_database(), datid > 0::oid, usename, application_name, state, query, backend_type, backend_start < now(), xact_start, query_start <= state_change FROM pg_stat_activity WHERE application_name = $1 | job-1
			a! BEGIN; SELECT 1
			b: SELECT state, query, xact_start = query_start, query_start <= state_change FROM pg_stat_activity WHERE application_name = 'job-1' AND backend_start < now()
			a: SELECT pg_advisory_lock(5)
			c: SET application_name = 'job-2'
			c> SELECT pg_advisory_lock(5)
			b: SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY application_name
			a: SELECT 1/0
			b: SELECT state, query FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name = 'job-1'
			a! ROLLBACK
			b: SELECT state, query FROM pg_stat_activity WHERE application_name = 'job-1'
			b: SELECT count(*) FROM pg_stat_activity WHERE application_name = 'job-2' AND state = 'active'
			a: SELECT pg_advisory_unlock(5)
			c<
			a: SELECT pid = pg_backend_pid(), state FROM pg_stat_activity WHERE pid = pg_backend_pid()
			a.
			b: SELECT count(*) FROM pg_stat_activity WHERE application_name = 'job-1'`,
		want: `
			a: SET
			b: [?column? 16, ?column? 16, usename 19, application_name 25, state 25, query 25, backend_type 25, ?column? 16, xact_start 1184, ?column? 16]
			b: t, t, locksim, job-1, idle, SET application_name = 'job-1', client backend, t, NULL, t
			b: SELECT 1
			a: BEGIN
			a: [?column? 23]
			a: 1
			a: SELECT 1
			b: [state 25, query 25, ?column? 16, ?column? 16]
			b: idle in transaction, BEGIN; SELECT 1, t, t
			b: SELECT 1
			a: [pg_advisory_lock 2278]
			a:
			a: SELECT 1
			c: SET
			c: waits
			b: [state 25, query 25]
			b: idle in transaction, SELECT pg_advisory_lock(5)
			b: active, SELECT pg_advisory_lock(5)
			b: SELECT 2
			a: ERROR 22012: division by zero
			b: [state 25, query 25]
			b: idle in transaction (aborted), SELECT 1/0
			b: SELECT 1
			a: ROLLBACK
			b: [state 25, query 25]
			b: idle, ROLLBACK
			b: SELECT 1
			b: [count 20]
			b: 1
			b: SELECT 1
			a: [pg_advisory_unlock 16]
			a: t
			a: SELECT 1
			c: [pg_advisory_lock 2278]
			c:
			c: SELECT 1
			a: [?column? 16, state 25]
			a: t, active
			a: SELECT 1
			b: [count 20]
			b: 0
			b: SELECT 1`,
	},
	{
		name: "a session cancels the statement of another session, and terminates it",
		script: `
			a: SELECT pg_advisory_lock(5)
			b: SET application_name = 'victim'
			b: SELECT pg_advisory_lock(6)
			b> SELECT pg_advisory_lock(5)
			a: SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'
			b<
			b: SELECT 1
			b> SELECT pg_advisory_lock(5)
			a: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'
			b<
			a; 300ms
			a: SELECT pg_try_advisory_lock(6)
			a: SELECT count(*) FROM pg_stat_activity WHERE application_name = 'victim'
			a: SELECT pg_terminate_backend(1), pg_cancel_backend(1), pg_terminate_backend(NULL)`,
		want: `
			a: [pg_advisory_lock 2278]
			a:
			a: SELECT 1
			b: SET
			b: [pg_advisory_lock 2278]
			b:
			b: SELECT 1
			b: waits
			a: [pg_cancel_backend 16]
			a: t
			a: SELECT 1
			b: ERROR 57014: canceling statement due to user request
			b: [?column? 23]
			b: 1
			b: SELECT 1
			b: waits
			a: [pg_terminate_backend 16]
			a: t
			a: SELECT 1
			b: FATAL 57P01: terminating connection due to administrator command
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1
			a: [count 20]
			a: 0
			a: SELECT 1
			a: WARNING 01000: PID 1 is not a PostgreSQL backend process
			a: WARNING 01000: PID 1 is not a PostgreSQL backend process
			a: [pg_terminate_backend 16, pg_cancel_backend 16, pg_terminate_backend 16]
			a: f, f, NULL
			a: SELECT 1`,
	},
	{
		name: "the types oid, xid and name, operators on bits, and further settings",
		script: `
			a: SELECT '7'::oid, '-1'::oid, 5::oid, 4294967295::oid::int, 4294967295::oid::bigint, 7::oid::text
			a: SELECT (-1)::oid, 5000000000::oid
			a: SELECT 'x'::oid
			a: SELECT '5000000000'::oid
			a: SELECT 7::oid + 1
			a: SELECT - 7::oid
			a: SELECT 7::oid = 7, 7::oid < 8, 7::oid = '7', 7 = 7::oid, 7::oid = 7::bigint
			a: SELECT 5::xid
			a: SELECT 'a'::name, length('abc'::name), 'a'::name = 'a', 'a'::name || 'b', upper('a'::name), current_schema, current_schema()
			a: SELECT 1 << 3, 1::bigint << 40, 256 >> 4, 5 & 6, 5 | 6, 5 # 6, 1 << 33, (-1) >> 1, 5::bigint & 6, 1 + 1 << 2, 1 << 2 + 1, 1 << 2 = 4
			a: SELECT 1::bigint << 2::bigint
			a: CREATE TABLE t (name text, oid int)
			a: SELECT name, oid FROM t WHERE name = 'a'
			a: SELECT txid_current() = txid_current(), pg_advisory_lock(5)::text, true
			a: SELECT t.name FROM t x
			a: SHOW TIME ZONE
			a: SHOW datestyle
			a: SET jit = off
			a: SHOW jit
			a: SET jit = 'maybe'`,
		want: `
			a: [oid 26, oid 26, oid 26, int4 23, int8 20, text 25]
			a: 7, 4294967295, 5, -1, 4294967295, 7
			a: SELECT 1
			a: ERROR 22003: OID out of range
			a: ERROR 22P02: invalid input syntax for type oid: "x"
			a: ERROR 22003: value "5000000000" is out of range for type oid
			a: ERROR 42883: operator does not exist: oid + integer
			a: ERROR 42883: operator does not exist: - oid
			a: [?column? 16, ?column? 16, ?column? 16, ?column? 16, ?column? 16]
			a: t, t, t, t, t
			a: SELECT 1
			a: ERROR 42846: cannot cast type integer to xid
			a: [name 19, length 23, ?column? 16, ?column? 25, upper 25, current_schema 19, current_schema 19]
			a: a, 3, t, ab, A, public, public
			a: SELECT 1
			a: ERROR 08P01: bind message supplies 1 parameters, but prepared statement "" requires 0
			a: ERROR 42883: operator does not exist: bigint << bigint
			a: CREATE TABLE
			a: SELECT 0
			a: [?column? 16, pg_advisory_lock 25, ?column? 16]
			a: t, , t
			a: SELECT 1
			a: ERROR 42P01: invalid reference to FROM-clause entry for table "t"
			a: [TimeZone 25]
			a: UTC
			a: SHOW
			a: [DateStyle 25]
			a: ISO, MDY
			a: SHOW
			a: SET
			a: [jit 25]
			a: off
			a: SHOW
			a: ERROR 22023: parameter "jit" requires a Boolean value`,
	},
	{
		name: "DROP of a relation of another kind",
		script: `
			a! CREATE TABLE t (k text PRIMARY KEY); CREATE SEQUENCE s
			a: DROP TABLE s
			a: DROP TABLE IF EXISTS s
			a: DROP SEQUENCE t
			a: DROP TABLE t_pkey
			a: SELECT tablename FROM pg_tables WHERE schemaname = 'public'
			a: SELECT count(*) FROM pg_tables WHERE tablename = $1 | t`,
		want: `
			a: CREATE TABLE
			a: CREATE SEQUENCE
			a: ERROR 42809: "s" is not a table
			a: ERROR 42809: "s" is not a table
			a: ERROR 42809: "t" is not a sequence
			a: ERROR 42809: "t_pkey" is not a table
			a: [tablename 19]
			a: t
			a: SELECT 1
			a: [count 20]
			a: 1
			a: SELECT 1`,
	},
	{
		name: "ctid, by which a worker takes a job from a queue",
		script: `
			a! CREATE TABLE jobs (name text PRIMARY KEY, n int); INSERT INTO jobs VALUES ('a', 1), ('b', 2), ('c', 3)
			a: SELECT name, ctid, ctid::text, ctid = '(0,1)', ctid < '(0,2)' FROM jobs ORDER BY ctid DESC
			a: SELECT '(x,1)'::tid
			a: SELECT ctid::int FROM jobs
			a: SELECT ctid + 1 FROM jobs
			a: UPDATE jobs SET n = 4 WHERE ctid = $1 RETURNING name, ctid | (0,1)
			a: UPDATE jobs SET n = 4 WHERE ctid = $1 RETURNING name, ctid | (0,1)
			a! BEGIN
			a: DELETE FROM jobs WHERE ctid = (SELECT ctid FROM jobs ORDER BY n LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING name
			b: DELETE FROM jobs WHERE ctid = (SELECT ctid FROM jobs ORDER BY n LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING name
			b> DELETE FROM jobs WHERE ctid = (SELECT ctid FROM jobs ORDER BY n LIMIT 1 FOR UPDATE) RETURNING name
			a! ROLLBACK
			b<
			a! BEGIN; UPDATE jobs SET n = 5
			b> UPDATE jobs SET n = n + 1 WHERE ctid = '(0,4)' RETURNING n, ctid
			a! COMMIT
			b<
			a: INSERT INTO jobs VALUES ('a', 1) ON CONFLICT (name) DO UPDATE SET n = 6 RETURNING ctid
			a: UPDATE jobs SET ctid = '(0,1)'`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 3
			a: ERROR 42702: ORDER BY "ctid" is ambiguous
			a: ERROR 22P02: invalid input syntax for type tid: "(x,1)"
			a: ERROR 42846: cannot cast type tid to integer
			a: ERROR 42883: operator does not exist: tid + integer
			a: [name 25, ctid 27]
			a: a, (0,4)
			a: UPDATE 1
			a: UPDATE 0
			a: BEGIN
			a: [name 25]
			a: b
			a: DELETE 1
			b: [name 25]
			b: c
			b: DELETE 1
			b: waits
			a: ROLLBACK
			b: [name 25]
			b: b
			b: DELETE 1
			a: BEGIN
			a: UPDATE 1
			b: waits
			a: COMMIT
			b: UPDATE 0
			a: [ctid 27]
			a: (0,6)
			a: INSERT 0 1
			a: ERROR 0A000: cannot assign to system column "ctid"`,
	},
}
