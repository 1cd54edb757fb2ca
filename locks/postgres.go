package locks

// Postgres is the system of locks on PostgreSQL.
const Postgres = "postgres"
