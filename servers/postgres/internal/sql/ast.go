// Package sql reads the part of PostgreSQL's SQL that locks are made of: one table at a time,
// with expressions over its columns, parameters and functions.
//
// What it does not know it refuses with PostgreSQL's own codes: 0A000 (feature not supported)
// for what PostgreSQL is known to have, and 42601 (syntax error) for everything else.
package sql

import "strings"

// A Statement is one statement. Its tag is what a client is told that was done.
type Statement interface{ Tag() string }

// Select is SELECT, of one table or of none.
type Select struct {
	Outputs []Output
	From    Source // Table is "" if there is none
	Where   Expr   // nil is none, here and below
	Order   []Order
	Limit   Expr
	Lock    Locking
}

// A Source is a table, and what the statement calls it.
type Source struct{ Table, Alias string }

// An Output is one column of a result. All columns of the table are one with no Expr.
type Output struct {
	Expr Expr
	Name string // "" is what PostgreSQL calls it
}

// An Order is one expression by which rows are put in order.
type Order struct {
	Expr Expr
	Desc bool
}

// Locking is what SELECT does with the rows that it finds.
type Locking struct {
	Update     bool // FOR UPDATE, or FOR NO KEY UPDATE
	NoWait     bool
	SkipLocked bool
}

// Insert is INSERT … VALUES, or INSERT … SELECT of no table, which is one row or none.
type Insert struct {
	Into    Source
	Columns []string // nil is all, in their order
	// Rows are the values; a nil one is DEFAULT.
	Rows      [][]Expr
	Where     Expr // of the SELECT
	Conflict  *Conflict
	Returning []Output
}

// A Conflict says what to do instead if there is such a row already.
type Conflict struct {
	Columns []string // nil is any unique key
	// Update says what is set in the row that is there; with none nothing is done.
	Update []Assign
	Where  Expr
}

// An Assign sets a column; a nil Expr is DEFAULT.
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

// A Column is a column as it was declared.
type Column struct {
	Name    string
	Type    Type
	Size    int  // how many characters a Varchar has at most; 0 is any number
	Serial  bool // it counts from a sequence of its own
	NotNull bool
	Default Expr
}

// A Key is a primary or unique key.
type Key struct {
	Columns []string
	Primary bool
}

// CreateIndex is CREATE INDEX on columns, which changes nothing but how fast something is found,
// unless it is a unique one.
type CreateIndex struct {
	Name        string // "" is what PostgreSQL calls it
	Unique      bool
	IfNotExists bool
	Table       string
	Columns     []string
}

// CreateSequence is CREATE SEQUENCE, from 1 in steps of 1.
type CreateSequence struct {
	Name        string
	IfNotExists bool
}

// Drop is DROP TABLE or DROP SEQUENCE.
type Drop struct {
	What     string // "table" or "sequence"
	Name     string
	IfExists bool
}

// Begin, Commit and Rollback are what transactions are made with, under all their names.
type (
	Begin    struct{ As string } // BEGIN or START TRANSACTION
	Commit   struct{}
	Rollback struct{}
)

// Set is SET and RESET.
type Set struct {
	Name  string
	Value string
	// Default has it as it was when the session began, and Local lasts for the transaction.
	Default, Local bool
	As             string // SET or RESET
}

// Show is SHOW.
type Show struct{ Name string }

// Deallocate is DEALLOCATE; without a name it is of all.
type Deallocate struct{ Name string }

// Tag is as in [Statement], here and below.
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

// An Expr is an expression.
type Expr interface{ expr() }

// The expressions.
type (
	// A Literal is a value that is written down. String is one in quotes, whose type
	// depends on where it stands, and so does that of Null.
	Literal struct {
		Kind LiteralKind
		Text string
	}
	// A Param is $1 and so on.
	Param struct{ Number int }
	// A Ref is a column, of a table if it says so.
	Ref struct{ Table, Column string }
	// An Operation is an operator with one operand (X is nil) or two. What is made of others stands
	// as these: BETWEEN, IN of values, and IS DISTINCT FROM.
	Operation struct {
		Op   string
		X, Y Expr
	}
	// Is is IS [NOT] NULL, TRUE, FALSE or UNKNOWN.
	Is struct {
		X    Expr
		What string
		Not  bool
	}
	// A Cast is X::type, CAST(X AS type) or a type before a string.
	Cast struct {
		X    Expr
		Type Type
		Size int // as in [Column]
	}
	// A Call is of a function.
	Call struct {
		Name string
		Args []Expr
		Star bool // count(*)
		// Named are the names of the arguments, if they have any.
		Named []string
	}
	// Case is CASE WHEN … THEN … ELSE … END.
	Case struct {
		When, Then []Expr
		Else       Expr
	}
	// Sub is a query in brackets, whose only row and column it is, or EXISTS of one: whether it has
	// a row.
	Sub struct {
		Select *Select
		Exists bool
	}
)

// LiteralKind is what a literal is.
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

// A Type is a type of PostgreSQL's, under the name that its errors have for it.
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

	// These are those of columns of the server's own. No table can have one here.
	Int2 Type = "smallint"
	OID  Type = "oid"
	XID  Type = "xid"
	TID  Type = "tid"
	Name Type = "name"
)

// Own says that a type is only that of columns of the server's own.
func (t Type) Own() bool { return t == Int2 || t == OID || t == XID || t == TID || t == Name }
