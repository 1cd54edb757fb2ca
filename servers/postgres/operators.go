package postgres

// This file analyses expressions with operators.

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

func upper(s string) string { return strings.ToUpper(s) }

// analyseOperation analyses an operator with its operands.
func (sc *scope) analyseOperation(e *sql.Operation) *node {
	if e.X == nil {
		return sc.analyseUnary(e)
	}
	x := sc.analyse(e.X)
	y := sc.analyse(e.Y)
	switch e.Op {
	case "and", "or":
		x = sc.require(x, sql.Bool, upper(e.Op))
		return combineLogic(x, sc.require(y, sql.Bool, upper(e.Op)), e.Op == "or")
	case "||":
		return sc.analyseConcatenation(x, y)
	case "is not distinct from":
		x, y = sc.unifyComparable(x, y, "=")
		return &node{typ: sql.Bool, eval: func(f *frame) value {
			a := x.eval(f)
			return equal(a, y.eval(f))
		}}
	}
	if comparisons[e.Op] != nil {
		return sc.analyseComparison(e.Op, x, y)
	}
	return sc.analyseArithmetic(e.Op, x, y)
}

func (sc *scope) analyseUnary(e *sql.Operation) *node {
	y := sc.analyse(e.Y)
	if e.Op == "not" {
		return strict(sc.require(y, sql.Bool, "NOT"), sql.Bool, func(v value) value { return !v.(bool) })
	}
	if y.typ == sql.Interval {
		return strict(y, sql.Interval, func(v value) value { return v.(interval).negate() })
	}
	raiseIf(y.typ != unknown && !isNumber(y.typ), unknownFunction, "operator does not exist: - %s", y.typ)
	return sc.analyseArithmetic("-", constant(int64(0), sql.Int4), y)
}

// strict returns a node that applies a func to the value of x. If the value is NULL, the
// result is NULL, as with functions that PostgreSQL calls strict.
func strict(x *node, t sql.Type, do func(value) value) *node {
	return &node{typ: t, eval: func(f *frame) value {
		v := x.eval(f)
		if v == nil {
			return nil
		}
		return do(v)
	}}
}

// strict2 is [strict] for two operands.
func strict2(x, y *node, t sql.Type, do func(a, b value) value) *node {
	return &node{typ: t, eval: func(f *frame) value {
		a, b := x.eval(f), y.eval(f)
		if a == nil || b == nil {
			return nil
		}
		return do(a, b)
	}}
}

// combineLogic returns x OR y if decisive is true, and x AND y if it is false. If an operand equals
// decisive, so does the result. Otherwise the result is NULL if an operand is NULL.
func combineLogic(x, y *node, decisive bool) *node {
	return &node{typ: sql.Bool, eval: func(f *frame) value {
		a := x.eval(f)
		if a == decisive {
			return a
		}
		b := y.eval(f)
		if b == decisive {
			return b
		}
		if a == nil || b == nil {
			return nil
		}
		return !decisive
	}}
}

// comparisons are the operators that compare two values. Each func gets the order of the
// values, as [compare] returns it, and reports whether the operator is true.
var comparisons = map[string]func(order int) bool{
	"=":  func(order int) bool { return order == 0 },
	"<>": func(order int) bool { return order != 0 },
	"<":  func(order int) bool { return order < 0 },
	">":  func(order int) bool { return order > 0 },
	"<=": func(order int) bool { return order <= 0 },
	">=": func(order int) bool { return order >= 0 },
}

// analyseComparison analyses an operator that compares two values.
func (sc *scope) analyseComparison(op string, x, y *node) *node {
	x, y = sc.unifyComparable(x, y, op)
	holds := comparisons[op]
	return strict2(x, y, sql.Bool, func(a, b value) value { return holds(compare(a, b)) })
}

// unifyComparable converts two operands to one type that has the operator. Transaction IDs
// have no order, but can be compared for equality, also with an integer (PostgreSQL's
// function xideqint4).
func (sc *scope) unifyComparable(x, y *node, op string) (*node, *node) {
	if x.typ != sql.XID && y.typ != sql.XID {
		return sc.unify(x, y, op)
	}
	noOperator := newError(unknownFunction, "operator does not exist: %s %s %s", x.typ, op, y.typ)
	if op != "=" && op != "<>" || x.typ != sql.XID && x.typ != unknown {
		raise(noOperator)
	}
	if y.typ == sql.Int2 || y.typ == sql.Int4 {
		y = strict(y, sql.XID, func(v value) value { return int64(uint32(v.(int64))) })
	}
	x = sc.coerce(x, sql.XID, isImplicit, noOperator)
	return x, sc.coerce(y, sql.XID, isImplicit, noOperator)
}

// analyseConcatenation analyses ||. One of the operands must be a text.
func (sc *scope) analyseConcatenation(x, y *node) *node {
	noOperator := newError(unknownFunction, "operator does not exist: %s || %s", x.typ, y.typ)
	raiseUnsupportedIf(x.typ == sql.Bytea || y.typ == sql.Bytea, "|| of bytea")
	texts := isText(x.typ) || isText(y.typ) || x.typ == unknown || y.typ == unknown
	convertible := func(from, _ sql.Type) bool { return texts && from != void }
	x = sc.coerce(x, sql.Text, convertible, noOperator)
	y = sc.coerce(y, sql.Text, convertible, noOperator)
	return strict2(x, y, sql.Text, func(a, b value) value { return a.(string) + b.(string) })
}

// An operator is an arithmetic operator for two types of operands; typ is the type of the
// result.
type operator struct {
	op        string
	x, y, typ sql.Type
	do        func(a, b value) value
}

const (
	timestampType = sql.TimestampTZ
	intervalType  = sql.Interval
)

// init adds the operators that both types of timestamps have.
func init() {
	for _, t := range []sql.Type{sql.TimestampTZ, sql.Timestamp} {
		operators = append(operators,
			operator{"+", t, intervalType, t, func(a, b value) value { return a.(timestamp).add(b.(interval)) }},
			operator{"+", intervalType, t, t, func(a, b value) value { return b.(timestamp).add(a.(interval)) }},
			operator{"-", t, t, intervalType, func(a, b value) value { return a.(timestamp).sub(b.(timestamp)) }},
			operator{"-", t, intervalType, t, func(a, b value) value { return a.(timestamp).add(b.(interval).negate()) }},
		)
	}
}

// operators are the arithmetic operators. If an operation fits several, the first is taken.
var operators = slices.Concat(integerOperators(sql.Int4), integerOperators(sql.Int8), []operator{
	{"+", sql.Float8, sql.Float8, sql.Float8, floats(func(a, b float64) float64 { return a + b })},
	{"-", sql.Float8, sql.Float8, sql.Float8, floats(func(a, b float64) float64 { return a - b })},
	{"*", sql.Float8, sql.Float8, sql.Float8, floats(func(a, b float64) float64 { return a * b })},
	{"/", sql.Float8, sql.Float8, sql.Float8, checkDivisor(floats(func(a, b float64) float64 { return a / b }))},
	{"+", intervalType, intervalType, intervalType, func(a, b value) value { return a.(interval).add(b.(interval)) }},
	{"-", intervalType, intervalType, intervalType, func(a, b value) value { return a.(interval).add(b.(interval).negate()) }},
	{"*", sql.Float8, intervalType, intervalType, func(a, b value) value { return b.(interval).multiply(a.(float64)) }},
	{"*", intervalType, sql.Float8, intervalType, func(a, b value) value { return a.(interval).multiply(b.(float64)) }},
	{"/", intervalType, sql.Float8, intervalType, checkDivisor(func(a, b value) value { return a.(interval).multiply(1 / b.(float64)) })},
})

// checkDivisor returns a func that refuses a division by zero and otherwise calls the func do.
func checkDivisor(do func(a, b value) value) func(a, b value) value {
	return func(a, b value) value {
		if b == int64(0) || b == float64(0) {
			raise(newError(divisionByZero, "division by zero"))
		}
		return do(a, b)
	}
}

// integerOperators returns the operators of an integer type. Arithmetic raises an error if
// the result does not fit the type; operations on bits truncate the result.
func integerOperators(t sql.Type) []operator {
	size := int64(bitsOf(t))
	fits := func(do func(n, a, b *big.Int) *big.Int) func(a, b value) value {
		return func(a, b value) value {
			n := do(new(big.Int), big.NewInt(a.(int64)), big.NewInt(b.(int64)))
			if !n.IsInt64() || n.Int64()<<(64-size)>>(64-size) != n.Int64() {
				raise(newError(outOfRange, "%s out of range", t))
			}
			return n.Int64()
		}
	}
	bits := func(do func(a, b int64) int64) func(a, b value) value {
		return func(a, b value) value { return do(a.(int64), b.(int64)) << (64 - size) >> (64 - size) }
	}
	return []operator{
		{"+", t, t, t, fits((*big.Int).Add)},
		{"-", t, t, t, fits((*big.Int).Sub)},
		{"*", t, t, t, fits((*big.Int).Mul)},
		{"/", t, t, t, checkDivisor(fits((*big.Int).Quo))},
		{"%", t, t, t, checkDivisor(fits((*big.Int).Rem))},
		{"<<", t, sql.Int4, t, bits(func(a, b int64) int64 { return a << (b & (size - 1)) })},
		{">>", t, sql.Int4, t, bits(func(a, b int64) int64 { return a >> (b & (size - 1)) })},
		{"&", t, t, t, bits(func(a, b int64) int64 { return a & b })},
		{"|", t, t, t, bits(func(a, b int64) int64 { return a | b })},
		{"#", t, t, t, bits(func(a, b int64) int64 { return a ^ b })},
	}
}

// analyseArithmetic chooses an operator as PostgreSQL does. It takes an operator that fits
// exactly. An operand of unknown type counts as the type of the other operand. If none fits
// exactly, it takes the first that fits after implicit conversions.
func (sc *scope) analyseArithmetic(op string, x, y *node) *node {
	noOperator := newError(unknownFunction, "operator does not exist: %s %s %s", x.typ, op, y.typ)
	switch {
	case x.typ == sql.Int2 || y.typ == sql.Int2:
		raise(unsupported("arithmetic with a smallint"))
	case op == "%" && (x.typ == sql.Float8 || y.typ == sql.Float8):
		raise(unsupported("%% of decimals"))
	case x.typ == unknown && y.typ == unknown:
		raise(newError("42725", "operator is not unique: unknown %s unknown", op))
	}
	a, b := x.typ, y.typ
	if a == unknown {
		a = b
	}
	if b == unknown {
		b = a
	}
	for _, fits := range []func(operator) bool{
		func(o operator) bool { return o.x == a && o.y == b },
		func(o operator) bool { return isImplicit(x.typ, o.x) && isImplicit(y.typ, o.y) },
	} {
		for _, o := range operators {
			if o.op == op && fits(o) {
				x = sc.coerce(x, o.x, isImplicit, noOperator)
				return strict2(x, sc.coerce(y, o.y, isImplicit, noOperator), o.typ, o.do)
			}
		}
	}
	panic(raisedError{noOperator})
}

// floats returns an operation on floating-point numbers that raises an error if the result
// is too large.
func floats(do func(a, b float64) float64) func(a, b value) value {
	return func(a, b value) value {
		f := do(a.(float64), b.(float64))
		if math.IsInf(f, 0) && !math.IsInf(a.(float64), 0) && !math.IsInf(b.(float64), 0) {
			raise(newError(outOfRange, "value out of range: overflow"))
		}
		return f
	}
}
