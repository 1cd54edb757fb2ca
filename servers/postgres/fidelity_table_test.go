package postgres_test

// fidelityScripts are the scripts of what sessions send, with the answers that the simulated
// server and a real PostgreSQL have to give. The fields and the language are those of
// [fidelity], in fidelity_test.go. In short:
//
//	a: SQL | parameter | …    executes SQL by the extended protocol in session a
//	a! SQL                    executes SQL by the simple protocol
//	a> SQL                    executes SQL, and records "waits" if there is no answer yet
//	a<                        records the answer that a> did not have yet
//	a.                        closes the connection
//	a; 300ms                  lets that time pass
//
// An answer has one line for each of these: the columns of a result with the OIDs of their
// types ("[version 20]"), a row, the tag of a command ("SELECT 1": one row), a notice, a
// warning or an error with its code.
var fidelityScripts = []fidelity{
	{
		name: "an UPDATE is conditional on the version that was read",
		script: `
			a! CREATE TABLE objects (name text PRIMARY KEY, version bigint NOT NULL, value text NOT NULL)
			a: INSERT INTO objects (name, version, value) VALUES ($1, 0, '') ON CONFLICT DO NOTHING | x
			b: INSERT INTO objects (name, version, value) VALUES ($1, 0, '') ON CONFLICT DO NOTHING | x
			a: UPDATE objects SET version = version + 1, value = $2 WHERE name = $1 AND version = $3 RETURNING version | x | a | 0
			b: UPDATE objects SET version = version + 1, value = $2 WHERE name = $1 AND version = $3 RETURNING version | x | b | 0
			a! BEGIN
			a: UPDATE objects SET version = version + 1, value = $2 WHERE name = $1 AND version = $3 RETURNING version | x | a | 1
			b> UPDATE objects SET version = version + 1, value = $2 WHERE name = $1 AND version = $3 RETURNING version | x | b | 1
			a! COMMIT
			b<
			a! BEGIN
			a: UPDATE objects SET version = version + 1, value = $2 WHERE name = $1 AND version = $3 RETURNING version | x | a | 2
			b> UPDATE objects SET version = version + 1, value = $2 WHERE name = $1 AND version = $3 RETURNING version | x | b | 2
			a! ROLLBACK
			b<
			a: UPDATE objects SET version = version + 1, value = $2 WHERE name = $1 RETURNING version | x | a
			a: SELECT version, value FROM objects WHERE name = $1 | x`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 1
			b: INSERT 0 0
			a: [version 20]
			a: 1
			a: UPDATE 1
			b: UPDATE 0
			a: BEGIN
			a: [version 20]
			a: 2
			a: UPDATE 1
			b: waits
			a: COMMIT
			b: UPDATE 0
			a: BEGIN
			a: [version 20]
			a: 3
			a: UPDATE 1
			b: waits
			a: ROLLBACK
			b: [version 20]
			b: 3
			b: UPDATE 1
			a: [version 20]
			a: 4
			a: UPDATE 1
			a: [version 20, value 25]
			a: 4, a
			a: SELECT 1`,
	},
	{
		name: "varchar of a limited length, and bytea",
		script: `
			a: CREATE TABLE locks (name varchar(5) PRIMARY KEY, owner character varying(255) NOT NULL UNIQUE, note varchar, data bytea)
			a: INSERT INTO locks VALUES ($1, $2, $3, $4) RETURNING name, owner, note, data | job | one | a | \x00ff
			a: INSERT INTO locks VALUES ('abcdef', 'two')
			a: INSERT INTO locks VALUES ($1, 'two') RETURNING name || '.' | abcde
			a: INSERT INTO locks VALUES ('äöüß  ', 'three') RETURNING name || '.', length(name)
			a: UPDATE locks SET name = $1 WHERE name = $2 | abcdef | job
			a: UPDATE locks SET name = 'a' || name WHERE name = $1 RETURNING upper(name), owner = 'one', coalesce(note, 'none'), coalesce(note, owner) | job
			a: SELECT owner FROM locks WHERE owner IN ('one', $1) ORDER BY owner DESC | two
			a: SELECT 'abcdef'::varchar(3), CAST(12345 AS varchar(2)), varchar 'abc', 5::varchar, '7'::varchar::int
			a: SELECT CASE WHEN owner = 'one' THEN owner ELSE 'x'::text END FROM locks WHERE name = 'ajob'
			a: UPDATE locks SET data = 'a\\b\001' WHERE name = 'ajob' RETURNING data, data = '\x615c6201', data < '\xff'
			a: UPDATE locks SET data = '\x0' WHERE name = 'ajob'
			a: UPDATE locks SET data = '\x0g' WHERE name = 'ajob'
			a: UPDATE locks SET data = 'a\9' WHERE name = 'ajob'
			a: UPDATE locks SET data = note WHERE name = 'ajob'
			a: UPDATE locks SET data = ' \x00' WHERE name = 'ajob'
			a: SELECT note + 1 FROM locks
			a: SELECT data::text, '\xff'::text::bytea FROM locks WHERE name = 'ajob'
			a: CREATE TABLE t (a varchar(0))
			a: CREATE TABLE t (a varchar(10485761))
			a: SELECT hashtextextended('', 0), hashtextextended('job', 0), hashtextextended('job', 42), hashtextextended('job', -1), hashtextextended('a name of more than twelve', 7)`,
		want: `
			a: CREATE TABLE
			a: [name 1043, owner 1043, note 1043, data 17]
			a: job, one, a, \x00ff
			a: INSERT 0 1
			a: ERROR 22001: value too long for type character varying(5)
			a: [?column? 25]
			a: abcde.
			a: INSERT 0 1
			a: [?column? 25, length 23]
			a: äöüß ., 5
			a: INSERT 0 1
			a: ERROR 22001: value too long for type character varying(5)
			a: [upper 25, ?column? 16, coalesce 1043, coalesce 1043]
			a: AJOB, t, a, a
			a: UPDATE 1
			a: [owner 1043]
			a: two
			a: one
			a: SELECT 2
			a: [varchar 1043, varchar 1043, varchar 1043, varchar 1043, int4 23]
			a: abc, 12, abc, 5, 7
			a: SELECT 1
			a: [case 25]
			a: one
			a: SELECT 1
			a: [data 17, ?column? 16, ?column? 16]
			a: \x615c6201, t, t
			a: UPDATE 1
			a: ERROR 22023: invalid hexadecimal data: odd number of digits
			a: ERROR 22023: invalid hexadecimal digit: "g"
			a: ERROR 22P02: invalid input syntax for type bytea
			a: ERROR 42804: column "data" is of type bytea but expression is of type character varying
			a: ERROR 22P02: invalid input syntax for type bytea
			a: ERROR 42883: operator does not exist: character varying + integer
			a: [data 25, bytea 17]
			a: \x615c6201, \xff
			a: SELECT 1
			a: ERROR 22023: length for type varchar must be at least 1
			a: ERROR 22023: length for type varchar cannot exceed 10485760
			a: [hashtextextended 20, hashtextextended 20, hashtextextended 20, hashtextextended 20, hashtextextended 20]
			a: -6939563903564495251, 2037922322055876030, 1472403002632457895, -3791058912848348559, 9183865136016969158
			a: SELECT 1`,
	},
	{
		name: "indexes",
		script: `
			a! CREATE TABLE jobs (id bigserial PRIMARY KEY, queue text, state text, tries int)
			a: CREATE INDEX ON jobs (queue)
			a: CREATE INDEX ON jobs (queue)
			a: CREATE INDEX IF NOT EXISTS jobs_queue_idx1 ON jobs (queue, state DESC)
			a: CREATE INDEX jobs_queue_idx ON public.jobs USING btree (state ASC, queue)
			a: CREATE INDEX jobs_pkey ON jobs (id)
			a: CREATE TABLE jobs_queue_idx (a int)
			a: CREATE INDEX IF NOT EXISTS i ON nothing (a)
			a: CREATE INDEX i ON jobs (nothing)
			a! INSERT INTO jobs (queue, state, tries) VALUES ('x', 'new', 1), ('x', 'new', 2), (NULL, 'new', 3), (NULL, 'new', 4)
			a: CREATE UNIQUE INDEX one ON jobs (queue, state)
			a: UPDATE jobs SET state = 'done' WHERE tries = 1
			a: CREATE UNIQUE INDEX one ON jobs (queue, state)
			a: CREATE UNIQUE INDEX IF NOT EXISTS one ON jobs (tries)
			a: INSERT INTO jobs (queue, state, tries) VALUES ('x', 'new', 5)
			a: INSERT INTO jobs (queue, state, tries) VALUES ('x', 'new', 5) ON CONFLICT (state, queue) DO UPDATE SET tries = excluded.tries RETURNING id, tries
			a: DROP TABLE jobs
			a: CREATE TABLE one (a int)`,
		want: `
			a: CREATE TABLE
			a: CREATE INDEX
			a: CREATE INDEX
			a: NOTICE 42P07: relation "jobs_queue_idx1" already exists, skipping
			a: CREATE INDEX
			a: ERROR 42P07: relation "jobs_queue_idx" already exists
			a: ERROR 42P07: relation "jobs_pkey" already exists
			a: ERROR 42P07: relation "jobs_queue_idx" already exists
			a: ERROR 42P01: relation "nothing" does not exist
			a: ERROR 42703: column "nothing" does not exist
			a: INSERT 0 4
			a: ERROR 23505: could not create unique index "one"
			a: UPDATE 1
			a: CREATE INDEX
			a: NOTICE 42P07: relation "one" already exists, skipping
			a: CREATE INDEX
			a: ERROR 23505: duplicate key value violates unique constraint "one"
			a: [id 20, tries 23]
			a: 2, 5
			a: INSERT 0 1
			a: DROP TABLE
			a: CREATE TABLE`,
	},
	{
		name: "timestamps without a time zone",
		script: `
			a! CREATE TABLE locks (name text PRIMARY KEY, until timestamp NOT NULL, since timestamp without time zone DEFAULT now(), zoned timestamptz)
			a: INSERT INTO locks (name, until, zoned) VALUES ('x', $1, $2) RETURNING until, zoned | 2026-01-02 03:04:05.5+03 | 2026-01-02 03:04:05.5+03
			a: SELECT until < 'infinity', until < zoned, zoned < until, until = '2026-01-02 03:04:05.5', since <= now() FROM locks WHERE name = 'x'
			a: UPDATE locks SET until = until + interval '1 h' - '1 min'::interval, zoned = until RETURNING until, zoned, until - zoned, until::text, zoned::timestamp
			a: UPDATE locks SET until = now() + interval '1 s' WHERE until > timestamp '2026-01-01' RETURNING until - now() <= interval '1 s'
			a: UPDATE locks SET until = timezone('utc', CURRENT_TIMESTAMP) + interval '1 s' RETURNING until - now() at time zone 'UTC'
			a: SELECT zoned AT TIME ZONE 'utc', zoned AT TIME ZONE 'utc' AT TIME ZONE 'utc' FROM locks
			a: SELECT until || '' IS NULL, coalesce(until, zoned) = until FROM locks WHERE until IN (until, $1) | infinity
			a: SELECT until + 1 FROM locks
			a: SELECT 5 AT TIME ZONE 'utc'
			a: UPDATE locks SET until = 'soon'
			a: UPDATE locks SET until = '-infinity' RETURNING until, greatest(until, zoned)`,
		want: `
			a: CREATE TABLE
			a: [until 1114, zoned 1184]
			a: 2026-01-02 03:04:05.5, 2026-01-02 00:04:05.5+00
			a: INSERT 0 1
			a: [?column? 16, ?column? 16, ?column? 16, ?column? 16, ?column? 16]
			a: t, f, t, t, t
			a: SELECT 1
			a: [until 1114, zoned 1184, ?column? 1186, until 25, zoned 1114]
			a: 2026-01-02 04:03:05.5, 2026-01-02 03:04:05.5+00, 00:59:00, 2026-01-02 04:03:05.5, 2026-01-02 03:04:05.5
			a: UPDATE 1
			a: [?column? 16]
			a: t
			a: UPDATE 1
			a: [?column? 1186]
			a: 00:00:01
			a: UPDATE 1
			a: [timezone 1114, timezone 1184]
			a: 2026-01-02 03:04:05.5, 2026-01-02 03:04:05.5+00
			a: SELECT 1
			a: [?column? 16, ?column? 16]
			a: f, t
			a: SELECT 1
			a: ERROR 42883: operator does not exist: timestamp without time zone + integer
			a: ERROR 42883: function pg_catalog.timezone(unknown, integer) does not exist
			a: ERROR 22007: invalid input syntax for type timestamp: "soon"
			a: [until 1114, greatest 1184]
			a: -infinity, 2026-01-02 03:04:05.5+00
			a: UPDATE 1`,
	},
	{
		name: "a counting semaphore by INSERT of a query, and aggregate functions",
		script: `
			a! CREATE TABLE permits (holder varchar(9) PRIMARY KEY, n int, until timestamptz, free bool)
			a: SELECT count(*), count(n), max(n), min(holder), coalesce(max(until), 'infinity') FROM permits
			a: INSERT INTO permits (holder, n, until) SELECT $1, 1, now() + interval '5 s' WHERE (SELECT count(*) FROM permits WHERE until > now()) < 2 | a
			a: INSERT INTO permits (holder, n, until) SELECT $1, $2, now() + interval '6 s' WHERE (SELECT count(*) FROM permits WHERE until > now()) < 2 RETURNING holder, n | b | 7
			b: INSERT INTO permits (holder, n, until) SELECT $1, 3, now() + interval '5 s' WHERE (SELECT count(*) FROM permits WHERE until > now()) < 2 RETURNING n | c
			b: INSERT INTO permits (holder) SELECT 'b' WHERE NOT EXISTS (SELECT 1 FROM permits WHERE holder = 'x') ON CONFLICT (holder) DO UPDATE SET n = 8 RETURNING n
			b: INSERT INTO permits SELECT 'd'
			a: SELECT count(*) AS all, count(until), max(n) + min(n) * 2, max(holder), min(until) < max(until), count('x') FROM permits
			a: SELECT count(*) FROM permits WHERE n > 1 LIMIT 1
			a: SELECT count(*) FROM permits LIMIT 0
			a: SELECT count(*), count(NULL)
			a: SELECT count(*) FROM permits FOR UPDATE
			a: SELECT holder, count(*) FROM permits
			a: SELECT max(n + max(n)) FROM permits
			a: SELECT max(free) FROM permits
			a: UPDATE permits SET n = (SELECT max(n) FROM permits) + 1 WHERE holder = 'd' RETURNING n
			a: INSERT INTO permits (holder, n) SELECT 'e'
			a: INSERT INTO permits SELECT 'e' WHERE 5`,
		want: `
			a: CREATE TABLE
			a: [count 20, count 20, max 23, min 25, coalesce 1184]
			a: 0, 0, NULL, NULL, infinity
			a: SELECT 1
			a: INSERT 0 1
			a: [holder 1043, n 23]
			a: b, 7
			a: INSERT 0 1
			b: INSERT 0 0
			b: [n 23]
			b: 8
			b: INSERT 0 1
			b: INSERT 0 1
			a: [all 20, count 20, ?column? 23, max 25, ?column? 16, count 20]
			a: 3, 2, 10, d, t, 3
			a: SELECT 1
			a: [count 20]
			a: 1
			a: SELECT 1
			a: SELECT 0
			a: [count 20, count 20]
			a: 1, 0
			a: SELECT 1
			a: ERROR 0A000: FOR UPDATE is not allowed with aggregate functions
			a: ERROR 42803: column "permits.holder" must appear in the GROUP BY clause or be used in an aggregate function
			a: ERROR 42803: aggregate function calls cannot be nested
			a: ERROR 42883: function max(boolean) does not exist
			a: [n 23]
			a: 9
			a: UPDATE 1
			a: ERROR 42601: INSERT has more target columns than expressions
			a: ERROR 42804: argument of WHERE must be type boolean, not type integer`,
	},
	{
		name: "a lease row",
		script: `
			a: CREATE TABLE locks (name text PRIMARY KEY, holder text NOT NULL, generation bigint NOT NULL, expires_at timestamptz NOT NULL)
			a: INSERT INTO locks AS l VALUES ($1, $2, 1, now() + $3::interval) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, generation = l.generation + 1, expires_at = excluded.expires_at WHERE l.expires_at < now() RETURNING generation | job | one | 10 s
			b: INSERT INTO locks AS l VALUES ($1, $2, 1, now() + $3::interval) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, generation = l.generation + 1, expires_at = excluded.expires_at WHERE l.expires_at < now() RETURNING generation | job | two | 10 s
			a: UPDATE locks SET expires_at = now() - interval '1 s' WHERE name = $1 AND holder = $2 | job | one
			b: INSERT INTO locks AS l VALUES ($1, $2, 1, now() + $3::interval) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, generation = l.generation + 1, expires_at = excluded.expires_at WHERE l.expires_at < now() RETURNING generation | job | two | 10 s
			a: DELETE FROM locks WHERE name = $1 AND holder = $2 | job | one
			b: DELETE FROM locks WHERE name = $1 AND holder = $2 RETURNING holder, generation | job | two`,
		want: `
			a: CREATE TABLE
			a: [generation 20]
			a: 1
			a: INSERT 0 1
			b: INSERT 0 0
			a: UPDATE 1
			b: [generation 20]
			b: 2
			b: INSERT 0 1
			a: DELETE 0
			b: [holder 25, generation 20]
			b: two, 2
			b: DELETE 1`,
	},
	{
		name: "the lock table of goose",
		script: `
			a: SELECT EXISTS ( SELECT 1 FROM pg_tables WHERE (current_schema() IS NULL OR schemaname = current_schema()) AND tablename = 'goose_lock' )
			a: CREATE TABLE goose_lock (lock_id bigint NOT NULL PRIMARY KEY, locked boolean NOT NULL DEFAULT false, locked_at timestamptz NULL, locked_by text NULL, lease_expires_at timestamptz NULL, updated_at timestamptz NULL)
			a: CREATE TABLE goose_lock (lock_id bigint NOT NULL PRIMARY KEY)
			a: SELECT EXISTS ( SELECT 1 FROM pg_tables WHERE (current_schema() IS NULL OR schemaname = current_schema()) AND tablename = 'goose_lock' )
			a: INSERT INTO goose_lock (lock_id, locked, locked_at, locked_by, lease_expires_at, updated_at) VALUES ($1, true, now(), $2, now() + $3::interval, now()) ON CONFLICT (lock_id) DO UPDATE SET locked = true, locked_at = now(), locked_by = $2, lease_expires_at = now() + $3::interval, updated_at = now() WHERE goose_lock.locked = false OR goose_lock.lease_expires_at < now() RETURNING locked_by | 7 | one | 30 seconds
			b: INSERT INTO goose_lock (lock_id, locked, locked_at, locked_by, lease_expires_at, updated_at) VALUES ($1, true, now(), $2, now() + $3::interval, now()) ON CONFLICT (lock_id) DO UPDATE SET locked = true, locked_at = now(), locked_by = $2, lease_expires_at = now() + $3::interval, updated_at = now() WHERE goose_lock.locked = false OR goose_lock.lease_expires_at < now() RETURNING locked_by | 7 | two | 30 seconds
			b: UPDATE goose_lock SET locked = false, locked_at = NULL, locked_by = NULL, lease_expires_at = NULL, updated_at = now() WHERE locked = true AND lease_expires_at < now() RETURNING lock_id
			a: UPDATE goose_lock SET lease_expires_at = now() + $1::interval, updated_at = now() WHERE lock_id = $2 AND locked_by = $3 AND locked = true RETURNING lease_expires_at > now() | 0 seconds | 7 | one
			a: UPDATE goose_lock SET lease_expires_at = now() + $1::interval, updated_at = now() WHERE lock_id = $2 AND locked_by = $3 AND locked = true RETURNING lease_expires_at = now() + '30 s' | 30 seconds | 7 | one
			b: UPDATE goose_lock SET lease_expires_at = now() + $1::interval, updated_at = now() WHERE lock_id = $2 AND locked_by = $3 AND locked = true RETURNING lease_expires_at | 30 seconds | 7 | two
			a: UPDATE goose_lock SET locked = false, locked_at = NULL, locked_by = NULL, lease_expires_at = NULL, updated_at = now() WHERE lock_id = $1 AND locked_by = $2 RETURNING lock_id | 7 | one
			a: UPDATE goose_lock SET locked = false, locked_at = NULL, locked_by = NULL, lease_expires_at = NULL, updated_at = now() WHERE lock_id = $1 AND locked_by = $2 RETURNING lock_id | 7 | one
			b: INSERT INTO goose_lock (lock_id, locked, locked_at, locked_by, lease_expires_at, updated_at) VALUES ($1, true, now(), $2, now() + $3::interval, now()) ON CONFLICT (lock_id) DO UPDATE SET locked = true, locked_at = now(), locked_by = $2, lease_expires_at = now() + $3::interval, updated_at = now() WHERE goose_lock.locked = false OR goose_lock.lease_expires_at < now() RETURNING locked_by | 7 | two | 30 seconds
			a: SELECT locked, locked_by FROM goose_lock WHERE lock_id = $1 | 7`,
		want: `
			a: [exists 16]
			a: f
			a: SELECT 1
			a: CREATE TABLE
			a: ERROR 42P07: relation "goose_lock" already exists
			a: [exists 16]
			a: t
			a: SELECT 1
			a: [locked_by 25]
			a: one
			a: INSERT 0 1
			b: INSERT 0 0
			b: UPDATE 0
			a: [?column? 16]
			a: f
			a: UPDATE 1
			a: [?column? 16]
			a: t
			a: UPDATE 1
			b: UPDATE 0
			a: [lock_id 20]
			a: 7
			a: UPDATE 1
			a: UPDATE 0
			b: [locked_by 25]
			b: two
			b: INSERT 0 1
			a: [locked 16, locked_by 25]
			a: t, two
			a: SELECT 1`,
	},
	{
		name: "EXISTS, and the list of tables",
		script: `
			a! CREATE TABLE t (k text PRIMARY KEY); INSERT INTO t VALUES ('a'), ('b')
			a: SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'
			a: SELECT current_schema()::text
			a: SELECT EXISTS (SELECT 1)
			a: SELECT EXISTS (SELECT k FROM t WHERE k = 'c') AS is, NOT EXISTS (SELECT k FROM t)
			a: SELECT k FROM t WHERE EXISTS (SELECT 1 FROM t WHERE k = 'b') ORDER BY k
			a: SELECT EXISTS (SELECT *, 1 FROM t)
			a: SELECT EXISTS (SELECT 1 FROM t WHERE pg_try_advisory_lock(length(k)))
			a: SELECT pg_advisory_unlock(1), pg_advisory_unlock(1)
			a: UPDATE none SET k = 1
			a: SELECT EXISTS (SELECT 1 FROM none)
			a: SELECT EXISTS (1)`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 2
			a: [tablename 25]
			a: t
			a: SELECT 1
			a: [current_schema 25]
			a: public
			a: SELECT 1
			a: [exists 16]
			a: t
			a: SELECT 1
			a: [is 16, ?column? 16]
			a: f, f
			a: SELECT 1
			a: [k 25]
			a: a
			a: b
			a: SELECT 2
			a: [exists 16]
			a: t
			a: SELECT 1
			a: [exists 16]
			a: t
			a: SELECT 1
			a: WARNING 01000: you don't own a lock of type ExclusiveLock
			a: [pg_advisory_unlock 16, pg_advisory_unlock 16]
			a: t, f
			a: SELECT 1
			a: ERROR 42P01: relation "none" does not exist
			a: ERROR 42P01: relation "none" does not exist
			a: ERROR 42601: syntax error at or near "1"`,
	},
	{
		name: "errors of INSERT, and column names that are ambiguous in ON CONFLICT",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY, n int)
			a: INSERT INTO t VALUES ('a', 1) ON CONFLICT (k) DO UPDATE SET n = 2 WHERE n < 5
			a: INSERT INTO t VALUES ('a', 1) ON CONFLICT (n) DO NOTHING
			a: INSERT INTO t VALUES ('a', 1) ON CONFLICT DO UPDATE SET n = 2
			a: INSERT INTO t VALUES ('a', 1), ('a', 2) ON CONFLICT (k) DO UPDATE SET n = excluded.n
			a: INSERT INTO t VALUES ('a', 1), ('a', 2) ON CONFLICT DO NOTHING RETURNING n
			a: INSERT INTO t VALUES ('a', 1)
			a: INSERT INTO t (n) VALUES (1)
			a: INSERT INTO t (k, k) VALUES ('a', 'b')
			a: INSERT INTO t (k, m) VALUES ('a', 'b')
			a: INSERT INTO t VALUES ('a', 1, 2)
			a: INSERT INTO t (k, n) VALUES ('a')
			a: INSERT INTO t VALUES ('b', 'x')
			a: INSERT INTO t VALUES ('b', true)
			a: INSERT INTO none VALUES (1)
			a: SELECT * FROM t ORDER BY k`,
		want: `
			a: CREATE TABLE
			a: ERROR 42702: column reference "n" is ambiguous
			a: ERROR 42P10: there is no unique or exclusion constraint matching the ON CONFLICT specification
			a: ERROR 42601: ON CONFLICT DO UPDATE requires inference specification or constraint name
			a: ERROR 21000: ON CONFLICT DO UPDATE command cannot affect row a second time
			a: [n 23]
			a: 1
			a: INSERT 0 1
			a: ERROR 23505: duplicate key value violates unique constraint "t_pkey"
			a: ERROR 23502: null value in column "k" of relation "t" violates not-null constraint
			a: ERROR 42701: column "k" specified more than once
			a: ERROR 42703: column "m" of relation "t" does not exist
			a: ERROR 42601: INSERT has more expressions than target columns
			a: ERROR 42601: INSERT has more target columns than expressions
			a: ERROR 22P02: invalid input syntax for type integer: "x"
			a: ERROR 42804: column "n" is of type integer but expression is of type boolean
			a: ERROR 42P01: relation "none" does not exist
			a: [k 25, n 23]
			a: a, 1
			a: SELECT 1`,
	},
	{
		name: "an INSERT waits for the transaction that inserted or deleted the same key",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY, n int)
			a: BEGIN
			a: INSERT INTO t VALUES ('a', 1)
			b> INSERT INTO t VALUES ('a', 2) ON CONFLICT (k) DO NOTHING
			a: COMMIT
			b<
			a: BEGIN
			a: INSERT INTO t VALUES ('b', 1)
			b> INSERT INTO t VALUES ('b', 2) ON CONFLICT (k) DO UPDATE SET n = excluded.n RETURNING n
			a: ROLLBACK
			b<
			a: BEGIN
			a: DELETE FROM t WHERE k = 'b'
			b> INSERT INTO t VALUES ('b', 3)
			a: COMMIT
			b<
			a: SELECT * FROM t ORDER BY k`,
		want: `
			a: CREATE TABLE
			a: BEGIN
			a: INSERT 0 1
			b: waits
			a: COMMIT
			b: INSERT 0 0
			a: BEGIN
			a: INSERT 0 1
			b: waits
			a: ROLLBACK
			b: [n 23]
			b: 2
			b: INSERT 0 1
			a: BEGIN
			a: DELETE 1
			b: waits
			a: COMMIT
			b: INSERT 0 1
			a: [k 25, n 23]
			a: a, 1
			a: b, 3
			a: SELECT 2`,
	},
	{
		name: "an UPDATE that has waited for a row checks its condition again",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY, n int)
			a: INSERT INTO t VALUES ('a', 1), ('b', 2)
			a: BEGIN
			a: UPDATE t SET n = 10 WHERE k = 'a'
			b> UPDATE t SET n = n + 1 WHERE n < 5 RETURNING k, n
			c: SELECT * FROM t ORDER BY k
			a: COMMIT
			b<
			c: SELECT * FROM t ORDER BY k
			a: BEGIN
			a: UPDATE t SET n = n + 1 WHERE k = 'a'
			b> UPDATE t SET n = n + 100 WHERE k = 'a' RETURNING n
			a: COMMIT
			b<
			a: BEGIN
			a: DELETE FROM t WHERE k = 'a'
			b> UPDATE t SET n = 0 WHERE k = 'a'
			a: COMMIT
			b<`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 2
			a: BEGIN
			a: UPDATE 1
			b: waits
			c: [k 25, n 23]
			c: a, 1
			c: b, 2
			c: SELECT 2
			a: COMMIT
			b: [k 25, n 23]
			b: b, 3
			b: UPDATE 1
			c: [k 25, n 23]
			c: a, 10
			c: b, 3
			c: SELECT 2
			a: BEGIN
			a: UPDATE 1
			b: waits
			a: COMMIT
			b: [n 23]
			b: 111
			b: UPDATE 1
			a: BEGIN
			a: DELETE 1
			b: waits
			a: COMMIT
			b: UPDATE 0`,
	},
	{
		name: "SELECT FOR UPDATE",
		script: `
			a: CREATE TABLE jobs (id bigserial PRIMARY KEY, state text NOT NULL DEFAULT 'new')
			a: INSERT INTO jobs (state) VALUES ('new'), ('new'), ('done'), (DEFAULT)
			a: BEGIN
			a: SELECT id FROM jobs WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE
			b: BEGIN
			b: SELECT id FROM jobs WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
			c: SELECT id FROM jobs WHERE state = 'new' ORDER BY id FOR UPDATE SKIP LOCKED
			c: SELECT id FROM jobs WHERE id = 1 FOR UPDATE NOWAIT
			c> SELECT id, state FROM jobs WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE
			a: UPDATE jobs SET state = 'done' WHERE id = 1
			a: COMMIT
			b: COMMIT
			c<
			a: UPDATE jobs SET state = 'mine' WHERE id = (SELECT id FROM jobs WHERE state = 'new' ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING id, state
			a: SELECT * FROM jobs ORDER BY id DESC`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 4
			a: BEGIN
			a: [id 20]
			a: 1
			a: SELECT 1
			b: BEGIN
			b: [id 20]
			b: 2
			b: SELECT 1
			c: [id 20]
			c: 4
			c: SELECT 1
			c: ERROR 55P03: could not obtain lock on row in relation "jobs"
			c: waits
			a: UPDATE 1
			a: COMMIT
			b: COMMIT
			c: [id 20, state 25]
			c: 2, new
			c: SELECT 1
			a: [id 20, state 25]
			a: 2, mine
			a: UPDATE 1
			a: [id 20, state 25]
			a: 4, new
			a: 3, done
			a: 2, mine
			a: 1, done
			a: SELECT 4`,
	},
	{
		name: "ON CONFLICT locks the row even if its condition prevents the update",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY, n int)
			a: INSERT INTO t VALUES ('a', 1)
			a: BEGIN
			a: INSERT INTO t AS o VALUES ('a', 2) ON CONFLICT (k) DO UPDATE SET n = 2 WHERE o.n > 5
			b: SELECT k FROM t FOR UPDATE NOWAIT
			a: COMMIT
			b: SELECT k FROM t FOR UPDATE NOWAIT`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 1
			a: BEGIN
			a: INSERT 0 0
			b: ERROR 55P03: could not obtain lock on row in relation "t"
			a: COMMIT
			b: [k 25]
			b: a
			b: SELECT 1`,
	},
	{
		// Session a only locks the row, and does not change it. After a change, c could look
		// at the new version at the same moment as b. Then, on a real server, c could be the
		// first to lock the row.
		name: "the session that has waited longest gets the row first",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY, n text)
			a: INSERT INTO t VALUES ('a', '')
			a: BEGIN
			a: SELECT k FROM t FOR UPDATE
			b> UPDATE t SET n = n || 'b' RETURNING n
			c> UPDATE t SET n = n || 'c' RETURNING n
			a: COMMIT
			b<
			c<`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 1
			a: BEGIN
			a: [k 25]
			a: a
			a: SELECT 1
			b: waits
			c: waits
			a: COMMIT
			b: [n 25]
			b: b
			b: UPDATE 1
			c: [n 25]
			c: bc
			c: UPDATE 1`,
	},
	{
		name: "advisory locks",
		script: `
			a: SELECT pg_try_advisory_lock(1)
			b: SELECT pg_try_advisory_lock(1)
			a: SELECT pg_try_advisory_lock(1), pg_try_advisory_lock(0, 1)
			b: SELECT pg_try_advisory_lock($1, $2) | 0 | 1
			b> SELECT pg_advisory_lock(1)
			a: SELECT pg_advisory_unlock(1)
			a: SELECT pg_advisory_unlock(1)
			b<`,
		want: `
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: f
			b: SELECT 1
			a: [pg_try_advisory_lock 16, pg_try_advisory_lock 16]
			a: t, t
			a: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: f
			b: SELECT 1
			b: waits
			a: [pg_advisory_unlock 16]
			a: t
			a: SELECT 1
			a: [pg_advisory_unlock 16]
			a: t
			a: SELECT 1
			b: [pg_advisory_lock 2278]
			b:
			b: SELECT 1`,
	},
	{
		name: "sessions wait for an advisory lock in order",
		script: `
			a: SELECT pg_advisory_lock(7)
			b> SELECT pg_advisory_lock($1) | 7
			c> SELECT pg_advisory_lock(7)
			a: SELECT pg_advisory_unlock(7)
			b<
			a: SELECT pg_advisory_unlock(7)
			b: SELECT pg_advisory_unlock(7)
			c<
			b.
			c.
			a: SELECT pg_try_advisory_lock(7)
			a: SELECT pg_advisory_unlock_all()
			b: SELECT pg_try_advisory_lock(7)`,
		want: `
			a: [pg_advisory_lock 2278]
			a:
			a: SELECT 1
			b: waits
			c: waits
			a: [pg_advisory_unlock 16]
			a: t
			a: SELECT 1
			b: [pg_advisory_lock 2278]
			b:
			b: SELECT 1
			a: WARNING 01000: you don't own a lock of type ExclusiveLock
			a: [pg_advisory_unlock 16]
			a: f
			a: SELECT 1
			b: [pg_advisory_unlock 16]
			b: t
			b: SELECT 1
			c: [pg_advisory_lock 2278]
			c:
			c: SELECT 1
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1
			a: [pg_advisory_unlock_all 2278]
			a:
			a: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: t
			b: SELECT 1`,
	},
	{
		name: "advisory locks of a transaction end with the transaction",
		script: `
			a: BEGIN
			a: SELECT pg_advisory_xact_lock(5)
			b: SELECT pg_try_advisory_xact_lock(5)
			b> SELECT pg_advisory_lock(5)
			a: SELECT pg_advisory_unlock(5)
			a: ROLLBACK
			b<
			a: SELECT pg_try_advisory_xact_lock(6)
			b: SELECT pg_try_advisory_lock(6)
			a: BEGIN
			a: SELECT pg_try_advisory_lock(8)
			a: ROLLBACK
			b: SELECT pg_try_advisory_lock(8)`,
		want: `
			a: BEGIN
			a: [pg_advisory_xact_lock 2278]
			a:
			a: SELECT 1
			b: [pg_try_advisory_xact_lock 16]
			b: f
			b: SELECT 1
			b: waits
			a: WARNING 01000: you don't own a lock of type ExclusiveLock
			a: [pg_advisory_unlock 16]
			a: f
			a: SELECT 1
			a: ROLLBACK
			b: [pg_advisory_lock 2278]
			b:
			b: SELECT 1
			a: [pg_try_advisory_xact_lock 16]
			a: t
			a: SELECT 1
			b: [pg_try_advisory_lock 16]
			b: t
			b: SELECT 1
			a: BEGIN
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1
			a: ROLLBACK
			b: [pg_try_advisory_lock 16]
			b: f
			b: SELECT 1`,
	},
	{
		name: "functions called before a wait are not called again after it",
		script: `
			a: CREATE SEQUENCE s
			a: SELECT pg_advisory_lock(7)
			b> SELECT nextval('s'), pg_advisory_lock(7), nextval('s')
			a: SELECT nextval('s')
			a: SELECT pg_advisory_unlock(7)
			b<`,
		want: `
			a: CREATE SEQUENCE
			a: [pg_advisory_lock 2278]
			a:
			a: SELECT 1
			b: waits
			a: [nextval 20]
			a: 2
			a: SELECT 1
			a: [pg_advisory_unlock 16]
			a: t
			a: SELECT 1
			b: [nextval 20, pg_advisory_lock 2278, nextval 20]
			b: 1, , 3
			b: SELECT 1`,
	},
	{
		name: "the end of a connection releases its locks and rolls back its transaction",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY)
			b: BEGIN
			b: INSERT INTO t VALUES ('a')
			b: SELECT pg_advisory_lock(3)
			a> INSERT INTO t VALUES ('a')
			b.
			a<
			a: SELECT pg_try_advisory_lock(3)`,
		want: `
			a: CREATE TABLE
			b: BEGIN
			b: INSERT 0 1
			b: [pg_advisory_lock 2278]
			b:
			b: SELECT 1
			a: waits
			a: INSERT 0 1
			a: [pg_try_advisory_lock 16]
			a: t
			a: SELECT 1`,
	},
	{
		name: "transactions",
		script: `
			a: BEGIN
			a: BEGIN
			a: COMMIT
			a: COMMIT
			a: ROLLBACK
			a: BEGIN
			a: SELECT 1 / 0
			a: SELECT 1
			a: COMMIT
			a! BEGIN; SELECT 1; COMMIT
			a! SELECT 1; SELECT 1/0; SELECT 2
			a! CREATE TABLE t (n int); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)
			a! INSERT INTO t VALUES (3); SELECT 1/0
			a: SELECT n FROM t ORDER BY n
			a: START TRANSACTION ISOLATION LEVEL READ COMMITTED
			a: ABORT
			a!
			a! ;
			a! -- nothing`,
		want: `
			a: BEGIN
			a: WARNING 25001: there is already a transaction in progress
			a: BEGIN
			a: COMMIT
			a: WARNING 25P01: there is no transaction in progress
			a: COMMIT
			a: WARNING 25P01: there is no transaction in progress
			a: ROLLBACK
			a: BEGIN
			a: ERROR 22012: division by zero
			a: ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
			a: ROLLBACK
			a: BEGIN
			a: [?column? 23]
			a: 1
			a: SELECT 1
			a: COMMIT
			a: [?column? 23]
			a: 1
			a: SELECT 1
			a: ERROR 22012: division by zero
			a: CREATE TABLE
			a: INSERT 0 1
			a: INSERT 0 1
			a: INSERT 0 1
			a: ERROR 22012: division by zero
			a: [n 23]
			a: 1
			a: 2
			a: SELECT 2
			a: START TRANSACTION
			a: ROLLBACK`,
	},
	{
		name: "changes that a transaction sees",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY, n int)
			a: BEGIN
			a: INSERT INTO t VALUES ('a', 1)
			a: SELECT n FROM t
			b: SELECT n FROM t
			a: UPDATE t SET n = 2
			a: SELECT n FROM t
			a: DELETE FROM t
			a: SELECT n FROM t
			a: INSERT INTO t VALUES ('a', 3)
			a: COMMIT
			b: SELECT n FROM t
			b: BEGIN
			b: SELECT n FROM t
			a: UPDATE t SET n = 4
			b: SELECT n FROM t
			b: UPDATE t SET k = 'b', n = n + 1 RETURNING k, n
			b: INSERT INTO t VALUES ('a', 0)
			b: ROLLBACK
			a: SELECT * FROM t`,
		want: `
			a: CREATE TABLE
			a: BEGIN
			a: INSERT 0 1
			a: [n 23]
			a: 1
			a: SELECT 1
			b: SELECT 0
			a: UPDATE 1
			a: [n 23]
			a: 2
			a: SELECT 1
			a: DELETE 1
			a: SELECT 0
			a: INSERT 0 1
			a: COMMIT
			b: [n 23]
			b: 3
			b: SELECT 1
			b: BEGIN
			b: [n 23]
			b: 3
			b: SELECT 1
			a: UPDATE 1
			b: [n 23]
			b: 4
			b: SELECT 1
			b: [k 25, n 23]
			b: b, 5
			b: UPDATE 1
			b: INSERT 0 1
			b: ROLLBACK
			a: [k 25, n 23]
			a: a, 4
			a: SELECT 1`,
	},
	{
		name: "now() is the beginning of the transaction",
		script: `
			a: BEGIN
			a: SELECT now() = transaction_timestamp(), now() = current_timestamp, statement_timestamp() >= now()
			a; 20ms
			a: SELECT clock_timestamp() > now() + interval '10 ms', statement_timestamp() > now() + interval '10 ms', clock_timestamp() >= statement_timestamp()
			a: COMMIT
			a: SELECT now() = statement_timestamp()`,
		want: `
			a: BEGIN
			a: [?column? 16, ?column? 16, ?column? 16]
			a: t, t, t
			a: SELECT 1
			a: [?column? 16, ?column? 16, ?column? 16]
			a: t, t, t
			a: SELECT 1
			a: COMMIT
			a: [?column? 16]
			a: t
			a: SELECT 1`,
		real: `
			a: BEGIN
			a: [?column? 16, ?column? 16, ?column? 16]
			a: t, t, t
			a: SELECT 1
			a: [?column? 16, ?column? 16, ?column? 16]
			a: t, t, t
			a: SELECT 1
			a: COMMIT
			a: [?column? 16]
			a: f
			a: SELECT 1`,
		why: "a real server reads its clock for each message, and some microseconds pass between Parse and Execute",
	},
	{
		name: "now() of a statement is the time before its wait",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY, at timestamptz)
			a: INSERT INTO t VALUES ('a', NULL)
			a: BEGIN
			a: UPDATE t SET at = clock_timestamp()
			b> UPDATE t SET at = now() WHERE k = 'a' RETURNING clock_timestamp() - now() > interval '200 ms'
			a: COMMIT
			b<`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 1
			a: BEGIN
			a: UPDATE 1
			b: waits
			a: COMMIT
			b: [?column? 16]
			b: t
			b: UPDATE 1`,
	},
	{
		name: "lock_timeout",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY)
			a: INSERT INTO t VALUES ('a')
			a: BEGIN
			a: SELECT * FROM t FOR UPDATE
			b: SET lock_timeout = '50ms'
			b: SELECT * FROM t FOR UPDATE
			b: BEGIN
			b: SET LOCAL lock_timeout = 100
			b: SHOW lock_timeout
			b: DELETE FROM t
			b: SELECT 1
			b: ROLLBACK
			b: SHOW lock_timeout
			b: SELECT pg_advisory_lock(1)`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 1
			a: BEGIN
			a: [k 25]
			a: a
			a: SELECT 1
			b: SET
			b: ERROR 55P03: canceling statement due to lock timeout
			b: BEGIN
			b: SET
			b: [lock_timeout 25]
			b: 100ms
			b: SHOW
			b: ERROR 55P03: canceling statement due to lock timeout
			b: ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
			b: ROLLBACK
			b: [lock_timeout 25]
			b: 50ms
			b: SHOW
			b: [pg_advisory_lock 2278]
			b:
			b: SELECT 1`,
	},
	{
		name: "statement_timeout",
		script: `
			a: SET statement_timeout TO '300 ms'
			a: SELECT pg_sleep(5)
			a: SELECT pg_sleep(0.01)
			a: RESET statement_timeout
			a: SHOW statement_timeout
			a: SELECT pg_sleep(0.1)`,
		want: `
			a: SET
			a: ERROR 57014: canceling statement due to statement timeout
			a: [pg_sleep 2278]
			a:
			a: SELECT 1
			a: RESET
			a: [statement_timeout 25]
			a: 0
			a: SHOW
			a: [pg_sleep 2278]
			a:
			a: SELECT 1`,
	},
	{
		name: "SET and SHOW of settings",
		script: `
			a: SHOW lock_timeout
			a: SET lock_timeout = '1500ms'
			a: SHOW lock_timeout
			a: SET lock_timeout = '1.5s'
			a: SHOW lock_timeout
			a: SET lock_timeout = 120000
			a: SHOW lock_timeout
			a: SET lock_timeout = -1
			a: SET lock_timeout = 'soon'
			a: SET none_such = 1
			a: SHOW none_such
			a: BEGIN
			a: SET lock_timeout = '5s'
			a: ROLLBACK
			a: SHOW lock_timeout
			a: BEGIN
			a: SET lock_timeout = '5s'
			a: SET LOCAL lock_timeout = '6s'
			a: COMMIT
			a: SHOW lock_timeout
			a: SET LOCAL lock_timeout = '7s'
			a: SHOW lock_timeout
			a: SET lock_timeout TO DEFAULT
			a: SHOW lock_timeout
			a: SELECT current_setting('lock_timeout')`,
		want: `
			a: [lock_timeout 25]
			a: 0
			a: SHOW
			a: SET
			a: [lock_timeout 25]
			a: 1500ms
			a: SHOW
			a: SET
			a: [lock_timeout 25]
			a: 1500ms
			a: SHOW
			a: SET
			a: [lock_timeout 25]
			a: 2min
			a: SHOW
			a: ERROR 22023: -1 ms is outside the valid range for parameter "lock_timeout" (0 .. 2147483647)
			a: ERROR 22023: invalid value for parameter "lock_timeout": "soon"
			a: ERROR 42704: unrecognized configuration parameter "none_such"
			a: ERROR 42704: unrecognized configuration parameter "none_such"
			a: BEGIN
			a: SET
			a: ROLLBACK
			a: [lock_timeout 25]
			a: 2min
			a: SHOW
			a: BEGIN
			a: SET
			a: SET
			a: COMMIT
			a: [lock_timeout 25]
			a: 5s
			a: SHOW
			a: WARNING 25P01: SET LOCAL can only be used in transaction blocks
			a: SET
			a: [lock_timeout 25]
			a: 5s
			a: SHOW
			a: SET
			a: [lock_timeout 25]
			a: 0
			a: SHOW
			a: [current_setting 25]
			a: 0
			a: SELECT 1`,
	},
	{
		name: "idle_in_transaction_session_timeout",
		script: `
			a: SET idle_in_transaction_session_timeout = '600ms'
			a; 700ms
			a: SELECT pg_advisory_lock(9)
			a: BEGIN
			b> SELECT pg_advisory_lock(9)
			a; 600ms
			b<
			a: SELECT 1`,
		want: `
			a: SET
			a: [pg_advisory_lock 2278]
			a:
			a: SELECT 1
			a: BEGIN
			b: waits
			b: [pg_advisory_lock 2278]
			b:
			b: SELECT 1
			a: FATAL 25P03: terminating connection due to idle-in-transaction timeout`,
		real: `
			a: SET
			a: [pg_advisory_lock 2278]
			a:
			a: SELECT 1
			a: BEGIN
			b: waits
			b: [pg_advisory_lock 2278]
			b:
			b: SELECT 1
			a: the connection is over`,
		why: "the real server is reached by a Unix socket: after the server has closed it, a write to it fails before the FATAL error is read; a write to a TCP connection does not fail",
	},
	{
		name: "a deadlock",
		script: `
			a: CREATE TABLE t (k text PRIMARY KEY, n int)
			a: INSERT INTO t VALUES ('a', 0), ('b', 0)
			a: BEGIN
			b: BEGIN
			a: UPDATE t SET n = 1 WHERE k = 'a'
			b: UPDATE t SET n = 1 WHERE k = 'b'
			a> UPDATE t SET n = 1 WHERE k = 'b'
			b> UPDATE t SET n = 1 WHERE k = 'a'
			a<
			b<
			b: COMMIT
			a: COMMIT`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 2
			a: BEGIN
			b: BEGIN
			a: UPDATE 1
			b: UPDATE 1
			a: waits
			b: waits
			a: ERROR 40P01: deadlock detected
			b: UPDATE 1
			b: COMMIT
			a: ROLLBACK`,
	},
	{
		name: "sequences",
		script: `
			a: CREATE SEQUENCE s
			a: SELECT currval('s')
			a: SELECT nextval('s')
			b: SELECT nextval('s')
			a: BEGIN
			a: SELECT nextval('s')
			a: ROLLBACK
			b: SELECT nextval('public.s')
			a: SELECT currval('s')
			a: SELECT nextval('none')
			a: CREATE SEQUENCE s
			a: CREATE SEQUENCE IF NOT EXISTS s
			a: DROP SEQUENCE s
			a: DROP SEQUENCE IF EXISTS s`,
		want: `
			a: CREATE SEQUENCE
			a: ERROR 55000: currval of sequence "s" is not yet defined in this session
			a: [nextval 20]
			a: 1
			a: SELECT 1
			b: [nextval 20]
			b: 2
			b: SELECT 1
			a: BEGIN
			a: [nextval 20]
			a: 3
			a: SELECT 1
			a: ROLLBACK
			b: [nextval 20]
			b: 4
			b: SELECT 1
			a: [currval 20]
			a: 3
			a: SELECT 1
			a: ERROR 42P01: relation "none" does not exist
			a: ERROR 42P07: relation "s" already exists
			a: NOTICE 42P07: relation "s" already exists, skipping
			a: CREATE SEQUENCE
			a: DROP SEQUENCE
			a: NOTICE 00000: sequence "s" does not exist, skipping
			a: DROP SEQUENCE`,
	},
	{
		name: "CREATE TABLE, DROP TABLE and unique constraints",
		script: `
			a: CREATE TABLE t (a int, b int DEFAULT 1 + 1, PRIMARY KEY (a, b), UNIQUE (b))
			a: CREATE TABLE t (a int)
			a: CREATE TABLE IF NOT EXISTS t (a int)
			a: INSERT INTO t (a) VALUES (1)
			a: INSERT INTO t (a) VALUES (2)
			a: INSERT INTO t VALUES (1, 2)
			a: INSERT INTO t (a) VALUES (2) ON CONFLICT (a, b) DO NOTHING
			a: INSERT INTO t (a) VALUES (2) ON CONFLICT (b, a) DO NOTHING
			a: INSERT INTO t (a) VALUES (2) ON CONFLICT (b) DO UPDATE SET b = DEFAULT, a = 5 RETURNING *
			a: DROP TABLE t
			a: DROP TABLE t
			a: DROP TABLE IF EXISTS t
			a: SELECT * FROM t
			a: CREATE TABLE u (a int, a int)
			a: CREATE TABLE u (a int PRIMARY KEY, b int PRIMARY KEY)
			a: CREATE TABLE u (a int, PRIMARY KEY (b))
			a: CREATE TABLE u (n int UNIQUE)
			a: INSERT INTO u VALUES (NULL), (NULL), (1)
			a: INSERT INTO u VALUES (1)
			a: SELECT nothing FROM u
			a: SELECT x.n FROM u
			a: SELECT z.n FROM u AS z
			a: UPDATE u SET n = 1, n = 2
			a: UPDATE u SET none = 1`,
		want: `
			a: CREATE TABLE
			a: ERROR 42P07: relation "t" already exists
			a: NOTICE 42P07: relation "t" already exists, skipping
			a: CREATE TABLE
			a: INSERT 0 1
			a: ERROR 23505: duplicate key value violates unique constraint "t_b_key"
			a: ERROR 23505: duplicate key value violates unique constraint "t_pkey"
			a: ERROR 23505: duplicate key value violates unique constraint "t_b_key"
			a: ERROR 23505: duplicate key value violates unique constraint "t_b_key"
			a: [a 23, b 23]
			a: 5, 2
			a: INSERT 0 1
			a: DROP TABLE
			a: ERROR 42P01: table "t" does not exist
			a: NOTICE 00000: table "t" does not exist, skipping
			a: DROP TABLE
			a: ERROR 42P01: relation "t" does not exist
			a: ERROR 42701: column "a" specified more than once
			a: ERROR 42P16: multiple primary keys for table "u" are not allowed
			a: ERROR 42703: column "b" named in key does not exist
			a: CREATE TABLE
			a: INSERT 0 3
			a: ERROR 23505: duplicate key value violates unique constraint "u_n_key"
			a: ERROR 42703: column "nothing" does not exist
			a: ERROR 42P01: missing FROM-clause entry for table "x"
			a: [n 23]
			a: NULL
			a: NULL
			a: 1
			a: SELECT 3
			a: ERROR 42601: multiple assignments to same column "n"
			a: ERROR 42703: column "none" of relation "u" does not exist`,
	},
	{
		name: "expressions",
		script: `
			a: SELECT 1 + 2 * 3 - 4 / 2 % 3, -2, +3, 7 / 2, -7 / 2, -7 % 3
			a: SELECT 1 = 1 AND NOT 2 < 1 OR NULL, NULL AND false, NULL OR true, NOT NULL
			a: SELECT NULL IS NULL, 1 IS NOT NULL, true IS TRUE, NULL IS NOT FALSE, NULL IS UNKNOWN, 1 IS DISTINCT FROM NULL, NULL IS NOT DISTINCT FROM NULL
			a: SELECT 1 IN (1, 2), 3 NOT IN (1, 2), NULL IN (1), 3 IN (1, NULL), 2 BETWEEN 1 AND 3, 2 NOT BETWEEN 1 AND 3
			a: SELECT 'a' || 'b', 'a' || 1, 'it''s', "upper"('x'), length('four'), lower('ABC')
			a: SELECT '1'::int + 1, CAST('2' AS bigint), 3::text, true::text, 1::bool, false::int, 1.5::int, 2.5::int, '1.5'::float8
			a: SELECT CASE WHEN 1 > 2 THEN 'a' WHEN true THEN 'b' ELSE 'c' END, CASE WHEN false THEN 1 END
			a: SELECT coalesce(NULL, 2, 3), greatest(1, 3, NULL), least(2, 1), coalesce(NULL, 'x')
			a: SELECT 2147483647 + 1
			a: SELECT 2147483648 + 1, 9223372036854775807
			a: SELECT 9223372036854775807 + 1
			a: SELECT 'a' + 1
			a: SELECT 'a' < 1
			a: SELECT true + 1
			a: SELECT now() + 1
			a: SELECT 1::interval
			a: SELECT nope(1)
			a: SELECT 1 WHERE 1
			a: SELECT 1 AS one, 2 two, 3 "Three"
			a: SELECT $1 | x
			a: SELECT $1 + 1, $2 || 'x', $3::bool | 2 | y | true
			a: SELECT $1::int, $1::text | 1
			a: SELECT $2 | 1 | 2
			a: SELECT hashtext('resource'), hashtext(''), hashtext('a'), hashtext('exactly 12 b'), hashtext('a text that is longer than twelve bytes')`,
		want: `
			a: [?column? 23, ?column? 23, ?column? 23, ?column? 23, ?column? 23, ?column? 23]
			a: 5, -2, 3, 3, -3, -1
			a: SELECT 1
			a: [?column? 16, ?column? 16, ?column? 16, ?column? 16]
			a: t, f, t, NULL
			a: SELECT 1
			a: [?column? 16, ?column? 16, ?column? 16, ?column? 16, ?column? 16, ?column? 16, ?column? 16]
			a: t, t, t, t, t, t, t
			a: SELECT 1
			a: [?column? 16, ?column? 16, ?column? 16, ?column? 16, ?column? 16, ?column? 16]
			a: t, t, NULL, NULL, t, f
			a: SELECT 1
			a: [?column? 25, ?column? 25, ?column? 25, upper 25, length 23, lower 25]
			a: ab, a1, it's, X, 4, abc
			a: SELECT 1
			a: [?column? 23, int8 20, text 25, text 25, bool 16, int4 23, int4 23, int4 23, float8 701]
			a: 2, 2, 3, true, t, 0, 2, 3, 1.5
			a: SELECT 1
			a: [case 25, case 23]
			a: b, NULL
			a: SELECT 1
			a: [coalesce 23, greatest 23, least 23, coalesce 25]
			a: 2, 3, 1, x
			a: SELECT 1
			a: ERROR 22003: integer out of range
			a: [?column? 20, ?column? 20]
			a: 2147483649, 9223372036854775807
			a: SELECT 1
			a: ERROR 22003: bigint out of range
			a: ERROR 22P02: invalid input syntax for type integer: "a"
			a: ERROR 22P02: invalid input syntax for type integer: "a"
			a: ERROR 42883: operator does not exist: boolean + integer
			a: ERROR 42883: operator does not exist: timestamp with time zone + integer
			a: ERROR 42846: cannot cast type integer to interval
			a: ERROR 42883: function nope(integer) does not exist
			a: ERROR 42804: argument of WHERE must be type boolean, not type integer
			a: [one 23, two 23, Three 23]
			a: 1, 2, 3
			a: SELECT 1
			a: [?column? 25]
			a: x
			a: SELECT 1
			a: [?column? 23, ?column? 25, bool 16]
			a: 3, yx, t
			a: SELECT 1
			a: [int4 23, text 25]
			a: 1, 1
			a: SELECT 1
			a: ERROR 42P18: could not determine data type of parameter $1
			a: [hashtext 23, hashtext 23, hashtext 23, hashtext 23, hashtext 23]
			a: -726071511, -1477818771, 1075015857, -1637647677, -356759426
			a: SELECT 1`,
	},
	{
		name: "intervals and timestamps with a time zone",
		script: `
			a: SELECT interval '1 day 2 hours 3 minutes 4.5 seconds', interval '90 minutes', '10'::interval, interval '-1 s', interval '1 mon -1 day'
			a: SELECT interval '1 year 2 mons', interval '1 week', interval '01:02:03', interval '-00:00:01.5', interval '500 ms', interval '1 day' - interval '25 hours'
			a: SELECT interval '1 minute' * 1.5, 2 * interval '1 s', interval '1 minute' / 4, interval '1 day' * 0.5, interval '1 mon' * 0.5
			a: SELECT timestamptz '2000-01-01 00:00:10+00' + interval '1 mon', timestamptz '2000-01-31 12:00:00Z' + interval '1 mon', timestamptz '2000-03-31 00:00' - interval '1 mon'
			a: SELECT timestamptz '2000-01-02 00:00:00.25+00' - timestamptz '2000-01-01 12:00:00+00', timestamptz '2000-01-01 01:00:00+01' = timestamptz '2000-01-01', 'infinity'::timestamptz, 'epoch'::timestamptz
			a: SELECT interval '30 days' = interval '1 mon', interval '24 hours' = interval '1 day', interval '1 s' < interval '1 minute'
			a: SELECT make_interval(secs => 1.5), make_interval(mins => 2, secs => $1) | 3
			a: SELECT 'x'::interval
			a: SELECT 'x'::timestamptz
			a: SELECT timestamptz '1999-12-31 23:59:59.999999+00', '2000-01-01T00:00:00.5Z'::timestamptz
			a: SELECT now() - $1 < now(), now() + $2 * interval '1 s' > now() | 2000-01-01 00:00:00Z | 5`,
		want: `
			a: [interval 1186, interval 1186, interval 1186, interval 1186, interval 1186]
			a: 1 day 02:03:04.5, 01:30:00, 00:00:10, -00:00:01, 1 mon -1 days
			a: SELECT 1
			a: [interval 1186, interval 1186, interval 1186, interval 1186, interval 1186, ?column? 1186]
			a: 1 year 2 mons, 7 days, 01:02:03, -00:00:01.5, 00:00:00.5, 1 day -25:00:00
			a: SELECT 1
			a: [?column? 1186, ?column? 1186, ?column? 1186, ?column? 1186, ?column? 1186]
			a: 00:01:30, 00:00:02, 00:00:15, 12:00:00, 15 days
			a: SELECT 1
			a: [?column? 1184, ?column? 1184, ?column? 1184]
			a: 2000-02-01 00:00:10+00, 2000-02-29 12:00:00+00, 2000-02-29 00:00:00+00
			a: SELECT 1
			a: [?column? 1186, ?column? 16, timestamptz 1184, timestamptz 1184]
			a: 12:00:00.25, t, infinity, 1970-01-01 00:00:00+00
			a: SELECT 1
			a: [?column? 16, ?column? 16, ?column? 16]
			a: t, t, t
			a: SELECT 1
			a: [make_interval 1186, make_interval 1186]
			a: 00:00:01.5, 00:02:03
			a: SELECT 1
			a: ERROR 22007: invalid input syntax for type interval: "x"
			a: ERROR 22007: invalid input syntax for type timestamp with time zone: "x"
			a: [timestamptz 1184, timestamptz 1184]
			a: 1999-12-31 23:59:59.999999+00, 2000-01-01 00:00:00.5+00
			a: SELECT 1
			a: ERROR 42883: operator does not exist: interval < timestamp with time zone`,
	},
	{
		name: "LIMIT and ORDER BY",
		script: `
			a: CREATE TABLE t (n int, s text)
			a: INSERT INTO t VALUES (3, 'a'), (1, 'b'), (NULL, 'c'), (2, NULL)
			a: SELECT n FROM t ORDER BY n
			a: SELECT n FROM t ORDER BY n DESC LIMIT 2
			a: SELECT s AS x FROM t ORDER BY x DESC, n
			a: SELECT n FROM t ORDER BY n LIMIT 0
			a: SELECT n FROM t LIMIT -1
			a: SELECT n FROM t ORDER BY n LIMIT $1 | 1
			a: SELECT (SELECT n FROM t)
			a: SELECT (SELECT n FROM t WHERE n > 5), (SELECT n FROM t WHERE s = 'a') + 1
			a: SELECT (SELECT n, s FROM t)`,
		want: `
			a: CREATE TABLE
			a: INSERT 0 4
			a: [n 23]
			a: 1
			a: 2
			a: 3
			a: NULL
			a: SELECT 4
			a: [n 23]
			a: NULL
			a: 3
			a: SELECT 2
			a: [x 25]
			a: NULL
			a: c
			a: b
			a: a
			a: SELECT 4
			a: SELECT 0
			a: ERROR 2201W: LIMIT must not be negative
			a: [n 23]
			a: 1
			a: SELECT 1
			a: ERROR 21000: more than one row returned by a subquery used as an expression
			a: [n 23, ?column? 23]
			a: NULL, 4
			a: SELECT 1
			a: ERROR 42601: subquery must return only one column`,
	},
	{
		name: "syntax errors",
		script: `
			a: SELEC 1
			a: SELECT FROM
			a: SELECT 1 +
			a: SELECT (1
			a: SELECT 'a
			a: SELECT 1 2
			a: SELECT 1; SELECT 2
			a: INSERT INTO
			a: UPDATE t SET
			a: SELECT 1 = 2 = 3
			a: SELECT 1x
			a! SELECT $1`,
		want: `
			a: ERROR 42601: syntax error at or near "SELEC"
			a: ERROR 42601: syntax error at or near "FROM"
			a: ERROR 42601: syntax error at end of input
			a: ERROR 42601: syntax error at end of input
			a: ERROR 42601: unterminated quoted string at or near "'a"
			a: ERROR 42601: syntax error at or near "2"
			a: ERROR 42601: cannot insert multiple commands into a prepared statement
			a: ERROR 42601: syntax error at end of input
			a: ERROR 42601: syntax error at end of input
			a: ERROR 42601: syntax error at or near "="
			a: ERROR 42601: trailing junk after numeric literal at or near "1x"
			a: ERROR 42P02: there is no parameter $1`,
		real: `
			a: ERROR 42601: syntax error at or near "SELEC"
			a: ERROR 42601: syntax error at end of input
			a: ERROR 42601: syntax error at end of input
			a: ERROR 42601: syntax error at end of input
			a: ERROR 42601: unterminated quoted string at or near "'a"
			a: ERROR 42601: syntax error at or near "2"
			a: ERROR 42601: cannot insert multiple commands into a prepared statement
			a: ERROR 42601: syntax error at end of input
			a: ERROR 42601: syntax error at end of input
			a: ERROR 42601: syntax error at or near "="
			a: ERROR 42601: trailing junk after numeric literal at or near "1x"
			a: ERROR 42P02: there is no parameter $1`,
		why: "a real server allows SELECT without columns, so in SELECT FROM it misses the table",
	},
}
