package sql

import (
	"slices"
	"strconv"
	"strings"
)

// Parse parses the statements of a text, which are separated by semicolons.
func Parse(text string) (all []Statement, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, isError := r.(error)
			if _, runtime := r.(interface{ RuntimeError() }); !isError || runtime {
				panic(r)
			}
			all, err = nil, e
		}
	}()
	p := &parser{tokens: lex(text)}
	for {
		for p.accept(";") {
		}
		if p.peek().kind == end {
			return all, nil
		}
		all = append(all, p.statement())
		if p.peek().kind != end && !p.is(";") {
			panic(p.unexpected())
		}
	}
}

// A parser consumes tokens from the front. Its methods panic with an error if the text is
// wrong. [Parse] returns that error.
type parser struct {
	tokens []token
	depth  int // how deep the current expression is nested
}

// maxDepth is how deep expressions can be nested, so that they cannot exhaust the stack.
const maxDepth = 200

// peek returns the next token, and take also consumes it.
func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) take() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// is reports whether the next tokens are the given words or symbols.
func (p *parser) is(texts ...string) bool {
	for i, text := range texts {
		if i >= len(p.tokens) {
			return false
		}
		if t := p.tokens[i]; t.text != text || t.kind != word && t.kind != symbol {
			return false
		}
	}
	return true
}

// accept consumes the next tokens if they are the given words or symbols, and reports
// whether they are.
func (p *parser) accept(texts ...string) bool {
	if !p.is(texts...) {
		return false
	}
	p.tokens = p.tokens[len(texts):]
	return true
}

// need consumes the given words or symbols. It panics if the next tokens are others.
func (p *parser) need(texts ...string) {
	for _, text := range texts {
		if !p.accept(text) {
			panic(p.unexpected())
		}
	}
}

// unsupportedWords are words that PostgreSQL accepts at some places, but this parser does
// not.
var unsupportedWords = []string{
	"join", "inner", "left", "right", "full", "cross", "natural", "group", "having", "window", "union", "intersect",
	"except", "with", "recursive", "distinct", "offset", "fetch", "using", "references", "check", "constraint", "foreign",
	"exclude", "partition", "inherits", "over", "filter", "within", "lateral", "tablesample", "overriding", "array", "row",
	"exists", "any", "some", "like", "ilike", "similar", "collate", "generated", "temp", "temporary", "unlogged", "as",
	"nulls", "start", "increment", "minvalue", "maxvalue", "cache", "cycle", "owned", "share", "key", "of", "only", "at",
	"savepoint", "to", "and", "cascade", "restrict", "select", "isnull", "notnull", "escape", "extract", "position",
	"substring", "trim", "overlay", "grouping", "current_date", "current_user", "session_user", "localtimestamp",
}

// unexpected returns the error that says that the next token must not come here.
func (p *parser) unexpected() error {
	t := p.peek()
	switch {
	case t.kind == end:
		return syntaxError("syntax error at end of input")
	case t.kind == word && slices.Contains(unsupportedWords, t.text):
		return Unsupported(`"` + t.text + `" here`)
	}
	return syntaxError("syntax error at or near \"%s\"", t.raw)
}

// deeper adds a level of nesting. The func that it returns removes the level.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		panic(error(&Error{Code: "54001", Message: "stack depth limit exceeded", MayBeValid: true}))
	}
	return func() { p.depth-- }
}

// unsupportedCommands are PostgreSQL's commands that this parser does not support, or not
// in every form.
var unsupportedCommands = []string{
	"abort", "alter", "analyze", "call", "checkpoint", "close", "cluster", "comment", "copy", "create", "declare", "discard",
	"do", "drop", "execute", "explain", "fetch", "grant", "import", "listen", "load", "lock", "merge", "move", "notify",
	"prepare", "reassign", "refresh", "reindex", "release", "revoke", "rollback", "savepoint", "security", "table",
	"truncate", "unlisten", "vacuum", "values", "with", "commit",
}

// statement parses one statement.
func (p *parser) statement() Statement {
	switch first := p.peek().text; {
	case p.peek().kind != word:
		panic(p.unexpected())
	case p.is("select"):
		return p.query()
	case p.accept("insert"):
		return p.insert()
	case p.accept("update"):
		return p.update()
	case p.accept("delete"):
		return p.delete()
	case p.accept("create", "table"):
		return p.createTable()
	case p.accept("create", "index"):
		return p.createIndex(false)
	case p.accept("create", "unique", "index"):
		return p.createIndex(true)
	case p.accept("create", "sequence"):
		c := &CreateSequence{IfNotExists: p.accept("if", "not", "exists")}
		c.Name = p.name()
		p.accept("cycle") // a sequence of 64 bits never reaches its end
		if p.accept("owned", "by") {
			c.Table = p.name()
			p.need(".")
			c.Column = p.name()
		}
		return c
	case p.is("drop", "table"), p.is("drop", "sequence"):
		p.take()
		d := &Drop{What: p.take().text, IfExists: p.accept("if", "exists")}
		d.Name = p.name()
		raiseUnsupportedIf(p.is(","), "several names in DROP")
		return d
	case p.accept("begin"):
		p.acceptAny("work", "transaction")
		p.modes()
		return &Begin{As: "BEGIN"}
	case p.accept("start", "transaction"):
		p.modes()
		return &Begin{As: "START TRANSACTION"}
	case p.accept("commit"), p.accept("end"):
		p.acceptAny("work", "transaction")
		return &Commit{}
	case p.accept("rollback"), p.accept("abort"):
		p.acceptAny("work", "transaction")
		return &Rollback{}
	case p.accept("set"):
		return p.set()
	case p.accept("reset"):
		return &Set{As: "RESET", Name: p.setting(), Default: true}
	case p.accept("show"):
		return &Show{Name: p.setting()}
	case p.accept("deallocate"):
		p.accept("prepare")
		if p.accept("all") {
			return &Deallocate{}
		}
		return &Deallocate{Name: p.name()}
	case slices.Contains(unsupportedCommands, first):
		panic(Unsupported("the statement " + first))
	}
	panic(p.unexpected())
}

// acceptAny consumes the next token if it is one of the given words.
func (p *parser) acceptAny(texts ...string) {
	for _, text := range texts {
		if p.accept(text) {
			return
		}
	}
}

// modes parses the modes of a transaction. The only isolation level is READ COMMITTED.
func (p *parser) modes() {
	for p.accept("isolation", "level") || p.accept("read", "write") || p.accept(",") {
		switch {
		case p.accept("read", "committed"), p.accept("read", "uncommitted"): // PostgreSQL treats both alike
		case p.is("repeatable"), p.is("serializable"):
			panic(Unsupported("the isolation level " + p.peek().text))
		}
	}
	raiseUnsupportedIf(p.is("read", "only") || p.is("deferrable") || p.is("not"), "this mode of a transaction")
}

// setting parses the name of a setting in SET, RESET or SHOW.
func (p *parser) setting() string {
	switch {
	case p.accept("time", "zone"):
		return "timezone"
	case p.is("transaction"), p.is("session", "characteristics"), p.is("role"), p.is("session", "authorization"), p.is("constraints"), p.is("all"):
		panic(Unsupported("this form of SET, RESET or SHOW"))
	}
	name := p.name()
	for p.accept(".") {
		name += "." + p.name()
	}
	return lower(name)
}

// set parses SET, after that word.
func (p *parser) set() Statement {
	s := &Set{As: "SET"}
	if s.Local = p.accept("local"); !s.Local && !p.is("session", "characteristics") {
		p.accept("session")
	}
	zone := p.is("time", "zone")
	s.Name = p.setting()
	if !zone && !p.accept("=") {
		p.need("to")
	}
	if p.accept("default") {
		s.Default = true
		return s
	}
	sign := ""
	if p.accept("-") {
		sign = "-"
	}
	switch t := p.take(); t.kind {
	case word, quoted, stringLiteral, integer, decimal:
		s.Value = sign + t.text
	default:
		panic(syntaxError("syntax error at or near \"%s\"", t.raw))
	}
	raiseUnsupportedIf(p.is(","), "a list of values in SET")
	return s
}

// reserved are words that cannot be names without quotes.
var reserved = []string{
	"all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast", "check", "collate",
	"column", "constraint", "create", "current_catalog", "current_date", "current_role", "current_time",
	"current_timestamp", "current_user", "default", "deferrable", "desc", "distinct", "do", "else", "end", "except",
	"false", "fetch", "for", "foreign", "from", "grant", "group", "having", "in", "initially", "intersect", "into",
	"lateral", "leading", "limit", "localtime", "localtimestamp", "not", "null", "offset", "on", "only", "or", "order",
	"placing", "primary", "references", "returning", "select", "session_user", "some", "symmetric", "table", "then", "to",
	"trailing", "true", "union", "unique", "user", "using", "variadic", "when", "where", "window", "with",
}

func (p *parser) isName() bool {
	t := p.peek()
	return t.kind == quoted && t.text != "" || t.kind == word && !slices.Contains(reserved, t.text)
}

// name consumes a name and returns it.
func (p *parser) name() string {
	if !p.isName() {
		panic(p.unexpected())
	}
	return p.take().text
}

// table parses the name of a table. Its schema may be public or, for the server's own
// tables, pg_catalog.
func (p *parser) table() string {
	name := p.name()
	if p.accept(".") {
		if t := p.peek(); name == "pg_catalog" && t.kind == word && strings.HasPrefix(t.text, "pg_") {
			return p.name()
		}
		raiseUnsupportedIf(name != "public", "other schemas than public")
		return p.name()
	}
	return name
}

// list parses elements that are separated by commas; parseElement parses an element.
func list[T any](p *parser, parseElement func() T) []T {
	all := []T{parseElement()}
	for p.accept(",") {
		all = append(all, parseElement())
	}
	return all
}

// inBrackets parses elements that are separated by commas, in parentheses.
func inBrackets[T any](p *parser, parseElement func() T) []T {
	p.need("(")
	all := list(p, parseElement)
	p.need(")")
	return all
}

// names parses names in parentheses.
func (p *parser) names() []string { return inBrackets(p, p.name) }

// source parses a table and its alias.
func (p *parser) source() Source {
	s := Source{Table: p.table()}
	s.Alias = s.Table
	if p.accept("as") || p.isName() && !p.is("set") && !p.is("using") && !slices.Contains(joins, p.peek().text) {
		s.Alias = p.name()
	}
	return s
}

// joins are words that begin a join, and so cannot be an alias without AS.
var joins = []string{"join", "inner", "left", "right", "full", "cross", "natural"}

// insert parses INSERT, after that word. Each method below parses the statement or the clause after
// which it is named.
func (p *parser) insert() Statement {
	p.need("into")
	s := &Insert{}
	s.Into.Table = p.table()
	s.Into.Alias = s.Into.Table
	if p.accept("as") {
		s.Into.Alias = p.name()
	}
	if p.is("(") {
		s.Columns = p.names()
	}
	if p.is("select") {
		s.Rows, s.Where = p.insertedQuery()
	} else {
		p.need("values")
		s.Rows = list(p, func() []Expr { return inBrackets(p, p.orDefault) })
	}
	if p.accept("on", "conflict") {
		s.Conflict = p.conflict()
	}
	s.Returning = p.returning()
	return s
}

// insertedQuery parses the query of INSERT … SELECT. It returns the one row of the query,
// and its condition.
func (p *parser) insertedQuery() (rows [][]Expr, where Expr) {
	q := p.query()
	raiseUnsupportedIf(q.From.Table != "" || q.Order != nil || q.Limit != nil || q.Lock.Update, "INSERT of a query on a table, or of one with an order, a limit or a lock")
	var row []Expr
	for _, o := range q.Outputs {
		raiseUnsupportedIf(o.Expr == nil, "INSERT of SELECT *")
		row = append(row, o.Expr)
	}
	return [][]Expr{row}, q.Where
}

// orDefault parses a value. It returns nil for DEFAULT.
func (p *parser) orDefault() Expr {
	if p.accept("default") {
		return nil
	}
	return p.expr()
}

// conflict parses ON CONFLICT, after these words.
func (p *parser) conflict() *Conflict {
	c := &Conflict{}
	if p.is("(") {
		c.Columns = p.names()
	}
	p.need("do")
	if p.accept("nothing") {
		return c
	}
	p.need("update", "set")
	if c.Columns == nil {
		panic(error(&Error{Code: "42601", Message: "ON CONFLICT DO UPDATE requires inference specification or constraint name"}))
	}
	c.Update = list(p, p.assign)
	c.Where = p.where()
	return c
}

func (p *parser) assign() Assign {
	raiseUnsupportedIf(p.is("("), "lists of columns in SET")
	a := Assign{Column: p.name()}
	p.need("=")
	a.Expr = p.orDefault()
	return a
}

func (p *parser) where() Expr {
	if p.accept("where") {
		return p.expr()
	}
	return nil
}

func (p *parser) returning() []Output {
	if p.accept("returning") {
		return list(p, p.output)
	}
	return nil
}

func (p *parser) output() Output {
	if p.accept("*") {
		return Output{}
	}
	o := Output{Expr: p.expr()}
	if p.accept("as") {
		o.Name = p.take().text
	} else if p.isName() {
		o.Name = p.name()
	}
	return o
}

func (p *parser) update() Statement {
	s := &Update{Of: p.source()}
	p.need("set")
	s.Set = list(p, p.assign)
	raiseUnsupportedIf(p.is("from"), "UPDATE … FROM")
	s.Where = p.where()
	s.Returning = p.returning()
	return s
}

func (p *parser) delete() Statement {
	p.need("from")
	s := &Delete{From: p.source()}
	s.Where = p.where()
	s.Returning = p.returning()
	return s
}

func (p *parser) query() *Select {
	defer p.deeper()()
	p.need("select")
	s := &Select{Outputs: list(p, p.output)}
	if p.accept("from") {
		s.From = p.source()
		raiseUnsupportedIf(p.is(","), "several tables in one query")
	}
	s.Where = p.where()
	if p.accept("order", "by") {
		s.Order = list(p, p.ordering)
	}
	for {
		switch {
		case p.accept("limit"):
			if !p.accept("all") {
				s.Limit = p.expr()
			}
		case p.accept("for", "update"), p.accept("for", "no", "key", "update"):
			s.Lock = Locking{Update: true}
			if s.Lock.SkipLocked = p.accept("skip", "locked"); !s.Lock.SkipLocked {
				s.Lock.NoWait = p.accept("nowait")
			}
		case p.is("for"):
			panic(Unsupported("other row locks than FOR UPDATE and FOR NO KEY UPDATE"))
		default:
			return s
		}
	}
}

func (p *parser) ordering() Order {
	o := Order{Expr: p.expr()}
	if o.Desc = p.accept("desc"); !o.Desc {
		p.accept("asc")
	}
	return o
}

func (p *parser) createTable() Statement {
	c := &CreateTable{IfNotExists: p.accept("if", "not", "exists")}
	c.Name = p.table()
	p.need("(")
	for {
		switch {
		case p.accept("primary", "key"):
			c.Keys = append(c.Keys, Key{Columns: p.names(), Primary: true})
		case p.is("unique", "("):
			p.take()
			c.Keys = append(c.Keys, Key{Columns: p.names()})
		default:
			p.column(c)
		}
		if !p.accept(",") {
			break
		}
	}
	p.need(")")
	return c
}

func (p *parser) createIndex(unique bool) Statement {
	raiseUnsupportedIf(p.is("concurrently"), "CREATE INDEX CONCURRENTLY")
	c := &CreateIndex{Unique: unique, IfNotExists: p.accept("if", "not", "exists")}
	if c.IfNotExists || !p.is("on") {
		c.Name = p.name()
	}
	p.need("on")
	c.Table = p.table()
	raiseUnsupportedIf(p.accept("using") && !p.accept("btree"), "an index of another kind than btree")
	p.need("(")
	for {
		c.Columns = append(c.Columns, p.name())
		p.acceptAny("asc", "desc")
		if p.accept(")") {
			break
		}
		raiseUnsupportedIf(!p.is(","), "an index of anything but columns")
		p.take()
	}
	raiseUnsupportedIf(p.is("where") || p.is("include") || p.is("with") || p.is("tablespace") || p.is("nulls"), `"`+p.peek().text+`" of an index`)
	return c
}

// column parses the declaration of a column and adds it to the table.
func (p *parser) column(c *CreateTable) {
	col := Column{Name: p.name()}
	switch {
	case p.accept("bigserial"), p.accept("serial8"):
		col.Type, col.Serial, col.NotNull = Int8, true, true
	case p.accept("serial"), p.accept("serial4"):
		col.Type, col.Serial, col.NotNull = Int4, true, true
	default:
		if col.Type, col.Size = p.typ(); col.Type.IsServerOwned() {
			panic(Unsupported("columns of the type " + string(col.Type)))
		}
	}
	for {
		switch {
		case p.accept("not", "null"):
			col.NotNull = true
		case p.accept("null"):
		case p.accept("primary", "key"):
			c.Keys = append(c.Keys, Key{Columns: []string{col.Name}, Primary: true})
		case p.accept("unique"):
			c.Keys = append(c.Keys, Key{Columns: []string{col.Name}})
		case p.accept("default"):
			col.Default = p.binary(3) // 3: no comparisons and no NOT, as in PostgreSQL's rule b_expr, because NOT NULL may follow
		default:
			c.Columns = append(c.Columns, col)
			return
		}
	}
}

// types are the supported types, by their names of one word.
var types = map[string]Type{
	"bool": Bool, "boolean": Bool, "int": Int4, "int4": Int4, "integer": Int4, "bigint": Int8, "int8": Int8,
	"float8": Float8, "float": Float8, "text": Text, "varchar": Varchar, "bytea": Bytea, "timestamp": Timestamp, "timestamptz": TimestampTZ, "interval": Interval,
	"oid": OID, "xid": XID, "tid": TID, "name": Name,
}

// unsupportedTypes are PostgreSQL's types that the simulated server does not have.
var unsupportedTypes = []string{
	"smallint", "int2", "numeric", "decimal", "real", "float4", "character", "char", "uuid", "json",
	"jsonb", "date", "time", "timetz", "inet", "bit", "money", "xml", "point", "regclass",
}

// typ parses a type and, for character varying, its size. Size 0 means that no size is
// given.
func (p *parser) typ() (Type, int) {
	t := p.peek()
	if !p.isName() {
		panic(p.unexpected())
	}
	switch {
	case p.accept("double", "precision"):
		return Float8, 0
	case p.accept("timestamp", "with", "time", "zone"):
		return TimestampTZ, 0
	case p.accept("timestamp", "without", "time", "zone"):
		return Timestamp, 0
	case p.accept("character", "varying"):
		return Varchar, p.size()
	case t.kind == word && slices.Contains(unsupportedTypes, t.text):
		panic(Unsupported("the type " + t.text))
	case types[t.text] == "":
		panic(error(&Error{Code: "42704", Message: `type "` + t.text + `" does not exist`, MayBeValid: true}))
	}
	p.take()
	if types[t.text] == Varchar {
		return Varchar, p.size()
	}
	raiseUnsupportedIf(p.is("(") || p.is("["), "other types with a size than character varying, and arrays")
	return types[t.text], 0
}

// size parses the size of a type in parentheses. It returns 0 if no size is given.
func (p *parser) size() int {
	raiseUnsupportedIf(p.is("["), "arrays")
	if !p.accept("(") {
		return 0
	}
	if p.peek().kind != integer {
		panic(p.unexpected())
	}
	const maxSize = 10485760
	n := parseCount(p.take().text)
	p.need(")")
	switch {
	case n == 0:
		panic(error(&Error{Code: "22023", Message: "length for type varchar must be at least 1"}))
	case n < 0 || n > maxSize:
		panic(error(&Error{Code: "22023", Message: "length for type varchar cannot exceed " + strconv.Itoa(maxSize)}))
	}
	return n
}

// parseCount returns a number; -1 if it is too large.
func parseCount(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
