package sql

import (
	"errors"
	"strings"
	"testing"
)

// FuzzParse checks that Parse returns, for any text, statements or an error with a
// PostgreSQL code.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"SELECT 1 + 2 * -3 FROM t AS x WHERE a = $1 AND b IS NOT NULL OR NOT c IN (1, 2) ORDER BY a DESC LIMIT 1 FOR UPDATE SKIP LOCKED",
		"INSERT INTO t AS l (a, b) VALUES ($1, DEFAULT), ('it''s', now() + interval '1 s') ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE l.b < now() RETURNING *, a AS \"A\"",
		"UPDATE t SET a = (SELECT a FROM t LIMIT 1)::text, b = DEFAULT WHERE a BETWEEN 1 AND 2 RETURNING a",
		"DELETE FROM public.t WHERE a IS NOT DISTINCT FROM CASE WHEN true THEN 1.5e3 ELSE NULL END",
		"CREATE TABLE IF NOT EXISTS t (a bigserial PRIMARY KEY, b timestamptz NOT NULL DEFAULT now(), UNIQUE (a, b))",
		"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '1s'; COMMIT; ROLLBACK; SHOW time zone; RESET x.y; DEALLOCATE ALL",
		"SELECT pg_advisory_lock(1), make_interval(secs => $1) -- comment\n/* another /* inside */ */;",
		"SELECT ((((((((((1))))))))))", "SELECT 'open", "SELECT \"", "SELECT $0", "SELECT /*", "", ";",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Parse(text)
		if e, ok := errors.AsType[*Error](err); err != nil && (!ok || len(e.Code) != 5 || e.Message == "") {
			t.Errorf("%q: got the error %v, want one with a code of five characters and a message", text, err)
		}
	})
}

// TestParseRefusesDeepNesting checks that Parse refuses expressions that are nested too deeply.
func TestParseRefusesDeepNesting(t *testing.T) {
	for _, text := range []string{
		"SELECT " + strings.Repeat("(", 1e5), "SELECT " + strings.Repeat("-", 2e5+1) + "1", "SELECT " + strings.Repeat("NOT ", 1e5) + "true",
		strings.Repeat("SELECT (", 1e5), "SELECT " + strings.Repeat("CASE WHEN ", 1e5),
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("Parse accepts %q… (%d bytes), want an error", text[:20], len(text))
		}
	}
}

// TestRefusals checks the codes of errors: 0A000 for SQL that the parser does not support,
// and PostgreSQL's own codes for text that PostgreSQL refuses as well.
func TestRefusals(t *testing.T) {
	for text, code := range map[string]string{
		"SELECT a FROM t JOIN u ON true":                 "0A000",
		"SELECT a FROM t, u":                             "0A000",
		"SELECT sum(*) FROM t":                           "0A000",
		"SELECT a FROM t GROUP BY a":                     "0A000",
		"SELECT a FROM t FOR SHARE":                      "0A000",
		"SELECT a FROM t WHERE a IN (SELECT 1)":          "0A000",
		"WITH x AS (SELECT 1) SELECT * FROM x":           "0A000",
		"BEGIN ISOLATION LEVEL SERIALIZABLE":             "0A000",
		"SAVEPOINT a":                                    "0A000",
		"LISTEN a":                                       "0A000",
		"LOCK TABLE t":                                   "0A000",
		"CREATE INDEX i ON t (lower(a))":                 "0A000",
		"CREATE TABLE t (a char(10))":                    "0A000",
		"CREATE TABLE t (a int REFERENCES u)":            "0A000",
		"INSERT INTO t SELECT a FROM u":                  "0A000",
		"UPDATE t SET a = 1 FROM u":                      "0A000",
		"SELECT '1999-01-01'::date":                      "0A000",
		"SELECT E'\\n'":                                  "0A000",
		"SELECT FROM WHERE":                              "42601",
		"FROM t":                                         "42601",
		"INSERT INTO t VALUES":                           "42601",
		"SELECT 1 = 2 = 3":                               "42601",
		"CREATE TABLE t (a nothing)":                     "42704",
		"SELECT $70000":                                  "42P02",
		"INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE": "42601",
	} {
		_, err := Parse(text)
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != code {
			t.Errorf("%q: got the error %v, want one with the code %s", text, err, code)
		}
	}
}
