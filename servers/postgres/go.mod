module github.com/locksim/locksim/servers/postgres

go 1.26.0

require (
	github.com/jackc/pgx/v5 v5.12.0
	github.com/locksim/locksim v0.1.0
)

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/redis/go-redis/v9 v9.16.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)
