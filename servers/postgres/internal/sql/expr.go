package sql

// This file parses expressions, with one method of the parser for each level of precedence.

import "slices"

// binaryOperators are the operators with two operands, by level. The operators of level 0
// bind least.
var binaryOperators = [][]string{
	0: {"or"},
	1: {"and"},
	2: {"<", ">", "=", "<=", ">=", "<>", "!="},
	3: {"||", "<<", ">>", "&", "|", "#"},
	4: {"+", "-"},
	5: {"*", "/", "%"},
}

// comparisonLevel is the level of the comparisons. IN and BETWEEN bind just more strongly than
// comparisons, IS and NOT just less strongly.
const comparisonLevel = 2

func (p *parser) expr() Expr { return p.binary(0) }

// binary parses an expression whose operators are of this level or of a higher one.
func (p *parser) binary(level int) Expr {
	defer p.deeper()()
	if level == len(binaryOperators) {
		return p.unary()
	}
	var x Expr
	if level == comparisonLevel {
		if p.accept("not") {
			return &Operation{Op: "not", Y: p.binary(comparisonLevel)}
		}
		x = p.isTest(p.membership(p.binary(level + 1)))
	} else {
		x = p.binary(level + 1)
	}
	for {
		op := p.peek()
		if op.kind != symbol && op.kind != word || !slices.Contains(binaryOperators[level], op.text) {
			return x
		}
		p.take()
		if op.text == "!=" {
			op.text = "<>"
		}
		y := p.binary(level + 1)
		if level == comparisonLevel {
			y = p.membership(y)
		}
		x = &Operation{Op: op.text, X: x, Y: y}
		if level == comparisonLevel {
			if next := p.peek(); next.kind == symbol && slices.Contains(binaryOperators[comparisonLevel], next.text) {
				panic(syntaxError("syntax error at or near \"%s\"", next.raw)) // as in PostgreSQL, a comparison cannot be an operand of a comparison
			}
			x = p.isTest(x)
		}
	}
}

// membership parses IN and BETWEEN after x. They bind more strongly than comparisons.
func (p *parser) membership(x Expr) Expr {
	not := p.is("not", "in") || p.is("not", "between")
	if not {
		p.take()
	}
	switch {
	case p.accept("in"):
		raiseUnsupportedIf(p.is("(", "select"), "IN of a query")
		var anyOf Expr
		for _, element := range inBrackets(p, p.expr) {
			if equality := (&Operation{Op: "=", X: x, Y: element}); anyOf == nil {
				anyOf = equality
			} else {
				anyOf = &Operation{Op: "or", X: anyOf, Y: equality}
			}
		}
		x = anyOf
	case p.accept("between"):
		raiseUnsupportedIf(p.is("symmetric"), "BETWEEN SYMMETRIC")
		low := p.binary(comparisonLevel + 1)
		p.need("and")
		high := p.binary(comparisonLevel + 1)
		x = &Operation{Op: "and", X: &Operation{Op: ">=", X: x, Y: low}, Y: &Operation{Op: "<=", X: x, Y: high}}
	}
	if not {
		return &Operation{Op: "not", Y: x}
	}
	return x
}

// isTest parses IS after x. It binds less strongly than comparisons.
func (p *parser) isTest(x Expr) Expr {
	for p.accept("is") {
		not := p.accept("not")
		switch {
		case p.accept("distinct", "from"):
			if x = (&Operation{Op: "is not distinct from", X: x, Y: p.binary(comparisonLevel + 1)}); !not {
				x = &Operation{Op: "not", Y: x}
			}
		case p.is("null"), p.is("true"), p.is("false"), p.is("unknown"):
			x = &Is{X: x, What: p.take().text, Not: not}
		default:
			panic(p.unexpected())
		}
	}
	return x
}

// unary parses an operand with its sign, its casts and AT TIME ZONE.
func (p *parser) unary() Expr {
	defer p.deeper()()
	switch {
	case p.accept("-"):
		return &Operation{Op: "-", Y: p.unary()}
	case p.accept("+"):
		return p.unary()
	}
	x := p.primary()
	for p.accept("::") {
		typ, size := p.typ()
		x = &Cast{X: x, Type: typ, Size: size}
	}
	for p.accept("at", "time", "zone") {
		x = &Call{Name: "timezone", Args: []Expr{p.primary(), x}}
	}
	return x
}

// primary parses an operand without operators: a constant, a parameter, a column, a call,
// CASE or an expression in parentheses.
func (p *parser) primary() Expr {
	t := p.peek()
	switch t.kind {
	case stringLiteral:
		p.take()
		return &Literal{String, t.text}
	case integer:
		p.take()
		return &Literal{Integer, t.text}
	case decimal:
		p.take()
		return &Literal{Decimal, t.text}
	case param:
		p.take()
		n := parseCount(t.text)
		if n < 1 || n > 65535 {
			panic(error(&Error{Code: "42P02", Message: "there is no parameter $" + t.text}))
		}
		return &Param{n}
	}
	switch {
	case p.accept("("):
		if p.is("select") {
			return p.sub(false)
		}
		x := p.expr()
		raiseUnsupportedIf(p.is(","), "rows as values")
		p.need(")")
		return x
	case p.is("true"), p.is("false"):
		return &Literal{Boolean, p.take().text}
	case p.accept("null"):
		return &Literal{Kind: Null}
	case p.is("current_schema") && !p.isCall():
		p.take()
		return &Call{Name: "current_schema"}
	case p.accept("current_timestamp"):
		return &Call{Name: "now"}
	case p.accept("cast"):
		p.need("(")
		x := p.expr()
		p.need("as")
		typ, size := p.typ()
		c := &Cast{X: x, Type: typ, Size: size}
		p.need(")")
		return c
	case p.accept("case"):
		return p.caseWhen()
	case p.isTypedString():
		typ, size := p.typ()
		return &Cast{X: &Literal{String, p.take().text}, Type: typ, Size: size}
	case !p.isName():
		panic(p.unexpected())
	case p.accept("exists", "("):
		return p.sub(true)
	case p.is("extract", "("), p.is("position", "("), p.is("substring", "("), p.is("trim", "("), p.is("array"):
		panic(Unsupported(`"` + t.text + `" here`))
	}
	name := p.name()
	if name == "pg_catalog" && p.accept(".") {
		name = p.name()
	}
	switch {
	case p.accept("("):
		return p.call(name)
	case p.accept("."):
		raiseUnsupportedIf(p.is("*"), "all columns of a table by its name")
		return &Ref{Table: name, Column: p.name()}
	}
	return &Ref{Column: name}
}

// sub parses a query in parentheses, after the opening parenthesis.
func (p *parser) sub(exists bool) Expr {
	s := &Sub{p.query(), exists}
	p.need(")")
	return s
}

// isCall reports whether an opening parenthesis follows the next word.
func (p *parser) isCall() bool {
	return len(p.tokens) > 1 && p.tokens[1].kind == symbol && p.tokens[1].text == "("
}

// isTypedString reports whether the next tokens are a type and a string.
func (p *parser) isTypedString() bool {
	t := p.peek()
	return t.kind == word && types[t.text] != "" && p.tokens[1].kind == stringLiteral
}

// call parses the arguments of a call, after the opening parenthesis.
func (p *parser) call(name string) Expr {
	c := &Call{Name: name}
	if p.accept(")") {
		return p.afterCall(c)
	}
	if name == "count" && p.accept("*", ")") {
		c.Star = true
		return p.afterCall(c)
	}
	raiseUnsupportedIf(p.is("*") || p.is("distinct") || p.is("all") || p.is("variadic"), name+"("+p.peek().text+")")
	c.Args = list(p, func() Expr {
		if t := p.peek(); t.kind == word && (p.tokens[1].text == "=>" || p.tokens[1].text == ":=") && p.tokens[1].kind == symbol {
			p.tokens = p.tokens[2:]
			c.Named = append(c.Named, t.text)
		} else if c.Named != nil {
			panic(error(&Error{Code: "42601", Message: "positional argument cannot follow named argument"}))
		}
		return p.expr()
	})
	p.need(")")
	raiseUnsupportedIf(c.Named != nil && len(c.Named) != len(c.Args), "positional and named arguments in one call")
	return p.afterCall(c)
}

// afterCall returns the call. It refuses the clauses that may follow a call in PostgreSQL.
func (p *parser) afterCall(c *Call) Expr {
	raiseUnsupportedIf(p.is("over") || p.is("filter") || p.is("within"), "window functions and aggregates")
	return c
}

// caseWhen parses CASE, after that word.
func (p *parser) caseWhen() Expr {
	c := &Case{}
	raiseUnsupportedIf(!p.is("when"), "CASE of a value")
	for p.accept("when") {
		c.When = append(c.When, p.expr())
		p.need("then")
		c.Then = append(c.Then, p.expr())
	}
	if p.accept("else") {
		c.Else = p.expr()
	}
	p.need("end")
	return c
}
