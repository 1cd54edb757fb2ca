package sql

import "fmt"

// An Error is the error with which PostgreSQL refuses a statement.
type Error struct {
	// Code is PostgreSQL's SQLSTATE: five letters and digits.
	Code, Message string
	// MayBeValid reports that a real PostgreSQL server may accept the statement, because
	// the simulated server supports only a part of SQL.
	MayBeValid bool
}

func (e *Error) Error() string { return e.Message + " (SQLSTATE " + e.Code + ")" }

// syntaxError returns a syntax error of this parser. PostgreSQL's own parser may accept the
// text.
func syntaxError(format string, args ...any) error {
	return &Error{Code: "42601", Message: fmt.Sprintf(format, args...), MayBeValid: true}
}

// raiseUnsupportedIf panics with the error of [Unsupported] if the condition is true.
func raiseUnsupportedIf(condition bool, feature string) {
	if condition {
		panic(Unsupported(feature))
	}
}

// Unsupported returns the error for a feature that PostgreSQL supports and the simulated
// server does not.
func Unsupported(feature string) error {
	return &Error{Code: "0A000", Message: "the simulated server does not have " + feature, MayBeValid: true}
}
