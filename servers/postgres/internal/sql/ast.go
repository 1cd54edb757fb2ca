// Package sql parses the part of PostgreSQL's SQL that locks need: one table at a time,
// with expressions over its columns, parameters and functions.
//
// It refuses everything else with PostgreSQL's own codes: 0A000 (feature not supported) for
// what PostgreSQL is known to support, and 42601 (syntax error) for the rest.
package sql

import "strings"

// A Statement is one statement. Tag returns the word by which the server reports to a
// client that the statement is complete.
type Statement interface{ Tag() string }

// Select is SELECT, of one table or of none.
type Select struct {
	Outputs []Output
	From    Source // Table is "" without FROM
	Where   Expr   // the condition of WHERE, or nil
	Order   []Order
	Limit   Expr
	Lock    Locking
}

// A Source is a table and the name that it has in the statement.
type Source struct{ Table, Alias string }

// An Output is one column of a result. An Output without Expr is *, which means all columns
// of the table.
type Output struct {
	Expr Expr
	Name string // "" means PostgreSQL's default name
}

// An Order is one expression of ORDER BY.
type Order struct {
	Expr Expr
	Desc bool
}

// Locking says whether and how SELECT locks the rows that it finds.
type Locking struct {
	Update     bool // FOR UPDATE, or FOR NO KEY UPDATE
	NoWait     bool
	SkipLocked bool
}

// Insert is INSERT … VALUES, or INSERT … SELECT without a table, which inserts one row or
// none.
type Insert struct {
	Into    Source
	Columns []string // nil means all columns, in their order
	// Rows are the rows to insert, each with its values. A nil value is DEFAULT.
	Rows      [][]Expr
	Where     Expr // the condition of the SELECT
	Conflict  *Conflict
	Returning []Output
}

// A Conflict is ON CONFLICT: what the statement does if a row with the same key exists.
type Conflict struct {
	Columns []string // nil means any unique key
	// Update is how the existing row is changed; nil means DO NOTHING.
	Update []Assign
	Where  Expr
}

// An Assign sets a column to a value; a nil Expr is DEFAULT.
type Assign struct {
	Column string
	Expr   Expr
}

// Update is UPDATE.
type Update struct {
	Of        Source
	Set       []Assign
	Where     Expr
	Returning []Output
}

// Delete is DELETE.
type Delete struct {
	From      Source
	Where     Expr
	Returning []Output
}

// CreateTable is CREATE TABLE.
type CreateTable struct {
	Name        string
	IfNotExists bool
	Columns     []Column
	Keys        []Key
}

// A Column is a column declaration.
type Column struct {
	Name    string
	Type    Type
	Size    int  // the greatest number of characters of a Varchar; 0 means any number
	Serial  bool // its default is the next value of its own sequence
	NotNull bool
	Default Expr
}

// A Key is a primary or unique key.
type Key struct {
	Columns []string
	Primary bool
}

// CreateIndex is CREATE INDEX on columns. Only a unique index has an effect on results.
type CreateIndex struct {
	Name        string // "" means PostgreSQL's default name
	Unique      bool
	IfNotExists bool
	Table       string
	Columns     []string
}

// CreateSequence is CREATE SEQUENCE, from 1 in steps of 1.
type CreateSequence struct {
	Name          string
	IfNotExists   bool
	Table, Column string // the column of a table that owns the sequence; "" if none does
}

// Drop is DROP TABLE or DROP SEQUENCE.
type Drop struct {
	What     string // "table" or "sequence"
	Name     string
	IfExists bool
}

// Begin, Commit and Rollback are the statements that begin and end transactions, including their
// synonyms such as START TRANSACTION.
type (
	Begin    struct{ As string } // BEGIN or START TRANSACTION
	Commit   struct{}
	Rollback struct{}
)

// Set is SET and RESET.
type Set struct {
	Name  string
	Value string
	// Default restores the value that the setting had when the session began. With Local
	// the value lasts until the transaction ends.
	Default, Local bool
	As             string // the statement's tag: SET or RESET
}

// Show is SHOW.
type Show struct{ Name string }

// Deallocate is DEALLOCATE; an empty name means ALL.
type Deallocate struct{ Name string }

// Tag is as in [Statement].
func (*Select) Tag() string         { return "SELECT" }
func (*Insert) Tag() string         { return "INSERT" }
func (*Update) Tag() string         { return "UPDATE" }
func (*Delete) Tag() string         { return "DELETE" }
func (*CreateTable) Tag() string    { return "CREATE TABLE" }
func (*CreateIndex) Tag() string    { return "CREATE INDEX" }
func (*CreateSequence) Tag() string { return "CREATE SEQUENCE" }
func (d *Drop) Tag() string         { return "DROP " + strings.ToUpper(d.What) }
func (b *Begin) Tag() string        { return b.As }
func (*Commit) Tag() string         { return "COMMIT" }
func (*Rollback) Tag() string       { return "ROLLBACK" }
func (s *Set) Tag() string          { return s.As }
func (*Show) Tag() string           { return "SHOW" }

// Tag is as in [Statement].
func (d *Deallocate) Tag() string {
	if d.Name == "" {
		return "DEALLOCATE ALL"
	}
	return "DEALLOCATE"
}

// An Expr is an expression. Its method only marks the types that are expressions.
type Expr interface{ expr() }

// The expressions.
type (
	// A Literal is a constant. The type of a String, which is in quotes, and of Null
	// depends on the context.
	Literal struct {
		Kind LiteralKind
		Text string
	}
	// A Param is a parameter such as $1.
	Param struct{ Number int }
	// A Ref is a column. Table is "" if the name is not qualified.
	Ref struct{ Table, Column string }
	// An Operation is an operator with two operands, or with one, Y, if X is nil. BETWEEN,
	// IN with values, and IS DISTINCT FROM are rewritten to Operations.
	Operation struct {
		Op   string
		X, Y Expr
	}
	// Is is IS [NOT] NULL, TRUE, FALSE or UNKNOWN.
	Is struct {
		X    Expr
		What string // null, true, false or unknown
		Not  bool
	}
	// A Cast is X::type, CAST(X AS type) or a type before a string.
	Cast struct {
		X    Expr
		Type Type
		Size int // as in [Column]
	}
	// A Call is the call of a function.
	Call struct {
		Name string
		Args []Expr
		Star bool // the call is count(*)
		// Named are the names of the arguments, or nil.
		Named []string
	}
	// A Case is CASE WHEN … THEN … ELSE … END. Then has the result for each condition in
	// When.
	Case struct {
		When, Then []Expr
		Else       Expr
	}
	// A Sub is a query in parentheses with one column and at most one row. With Exists it
	// is EXISTS of the query, which asks whether the query has a row.
	Sub struct {
		Select *Select
		Exists bool
	}
)

// LiteralKind is the kind of a literal.
type LiteralKind uint8

const (
	String LiteralKind = iota
	Integer
	Decimal
	Boolean // Text is "true" or "false"
	Null
)

func (*Literal) expr()   {}
func (*Param) expr()     {}
func (*Ref) expr()       {}
func (*Operation) expr() {}
func (*Is) expr()        {}
func (*Cast) expr()      {}
func (*Call) expr()      {}
func (*Case) expr()      {}
func (*Sub) expr()       {}

// A Type is a PostgreSQL type, under the name that PostgreSQL's error messages use.
type Type string

const (
	Bool        Type = "boolean"
	Int4        Type = "integer"
	Int8        Type = "bigint"
	Float8      Type = "double precision"
	Text        Type = "text"
	Varchar     Type = "character varying"
	Bytea       Type = "bytea"
	Timestamp   Type = "timestamp without time zone"
	TimestampTZ Type = "timestamp with time zone"
	Interval    Type = "interval"

	// These types occur only in columns of the server's own tables. The simulated server refuses
	// them in the tables of clients.
	Int2 Type = "smallint"
	OID  Type = "oid"
	XID  Type = "xid"
	TID  Type = "tid"
	Name Type = "name"
)

// IsServerOwned reports whether a type occurs only in columns of the server's own tables.
func (t Type) IsServerOwned() bool { return t == Int2 || t == OID || t == XID || t == TID || t == Name }
