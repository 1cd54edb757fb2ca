package locks

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// Postgres is the system of locks on PostgreSQL.
const Postgres = "postgres"

// The locks on PostgreSQL are ours, written on the unmodified client github.com/jackc/pgx.
// They are only registered here; the package libraries/postgres makes them.
func init() {
	features := []string{
		"holder-check",    // release and extend only the client's own lease
		"keep-row",        // release by UPDATE, so that the generation continues; without it by DELETE
		"generation",      // the generation is the token; without it the lock has no token of its own
		"count-from-call", // the lease begins at the holder's request; without it at the answer
	}
	for name, title := range map[string]string{
		"postgres-lease":                 "PostgreSQL: a row with its holder and its expiry, acquired by INSERT … ON CONFLICT … WHERE expires_at < now(); token: its generation",
		"postgres-lease-client-clock":    "as postgres-lease, but the clients write and check the expiry by their own wall clocks",
		"postgres-lease-timestamp":       "as postgres-lease, with clock_timestamp() instead of now()",
		"postgres-lease-begun":           "as postgres-lease, in a transaction that began earlier",
		"postgres-lease-begun-timestamp": "as postgres-lease-begun, with clock_timestamp() instead of now()",
		"postgres-lease-case":            "as postgres-lease, acquired by a statement that always succeeds: … DO UPDATE SET holder = CASE WHEN expires_at < now() …; the feature look compares the holder in the answer with the client",
	} {
		k := Kind{
			Name: name, System: Postgres, Adapter: adapters + "postgres", Library: "github.com/jackc/pgx/v5", Title: title,
			OwnClock: true, HasDataClient: true, Accepts: []string{"clock", "node-timeout"}, Features: features,
			Slots: func(key string, _ int) ([]Slot, int) { return []Slot{{Node: 0, Key: PostgresRow(key)}}, 1 },
		}
		if name == "postgres-lease-case" {
			k.Features = append(slices.Clone(features), "look") // compare the holder in the answer; without it, every answer without an error counts as a grant
		}
		Register(k)
	}
	for name, title := range map[string]string{
		"postgres-advisory":             "PostgreSQL: pg_try_advisory_lock, held as long as the connection lasts; token: nextval on the same connection",
		"postgres-advisory-data":        "as postgres-advisory, but the data is in the same database, read and written in a transaction",
		"postgres-advisory-transaction": "PostgreSQL: pg_try_advisory_xact_lock, and the data is read and written in the same transaction",
	} {
		Register(Kind{
			Name: name, System: Postgres, Adapter: adapters + "postgres", Library: "github.com/jackc/pgx/v5", Title: title,
			OwnClock: true, Endless: true, KeepsData: name != "postgres-advisory", Accepts: []string{"node-timeout"},
			Slots: func(key string, _ int) ([]Slot, int) {
				return []Slot{{Node: 0, Key: "advisory/" + strconv.FormatInt(PostgresNumber(key), 10)}}, 1
			},
		})
	}
	for name, title := range map[string]string{
		"postgres-row":           "PostgreSQL: SELECT … FOR UPDATE, and the data is read and written in the same transaction",
		"postgres-row-timeout":   "as postgres-row, with the TTL as idle_in_transaction_session_timeout",
		"postgres-row-elsewhere": "as postgres-row, but the data is in the storage; token: nextval in the same transaction",

		"postgres-queue":           "PostgreSQL: a job from a queue, by SELECT … FOR UPDATE SKIP LOCKED, and its work is done in the same transaction",
		"postgres-queue-elsewhere": "as postgres-queue, but the data is in the storage; token: the number of attempts at the job, counted in the transaction",
	} {
		k := Kind{
			Name: name, System: Postgres, Adapter: adapters + "postgres", Library: "github.com/jackc/pgx/v5", Title: title,
			OwnClock: true, Accepts: []string{"node-timeout"},
			Endless: name != "postgres-row-timeout", CannotExtend: name == "postgres-row-timeout", KeepsData: !strings.HasSuffix(name, "elsewhere"),
			Slots: func(key string, _ int) ([]Slot, int) { return []Slot{{Node: 0, Key: "items/" + key}}, 1 },
		}
		if strings.HasPrefix(name, "postgres-queue") {
			k.Slots = func(key string, _ int) ([]Slot, int) { return []Slot{{Node: 0, Key: "jobs/" + key}}, 1 }
		}
		if name == "postgres-queue-elsewhere" {
			k.Features = []string{"attempts"} // the attempts are the token; without it the lock has no token of its own
		}
		Register(k)
	}
}

func init() {
	Register(Kind{
		Name: "postgres-none", System: Postgres, Adapter: adapters + "postgres", Library: "github.com/jackc/pgx/v5",
		Title:    "no lock at all, and the data in PostgreSQL",
		OwnClock: true, Open: true, CannotExtend: true, HasDataClient: true, Accepts: []string{"node-timeout"},
		Slots: func(string, int) ([]Slot, int) { return nil, 0 },
	})
}

// PostgresNumber returns the number of the advisory lock for a name: a hash of the name, so
// that all clients compute the same number.
func PostgresNumber(key string) int64 {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int64(h.Sum32())
}
