package sql

import "fmt"

// An Error is why a statement is refused, as PostgreSQL reports it.
type Error struct {
	// Code is PostgreSQL's SQLSTATE: five letters and digits.
	Code, Message string
	// MayBeValid reports that a real PostgreSQL may accept the statement, which this server
	// does not support.
	MayBeValid bool
}

func (e *Error) Error() string { return e.Message + " (SQLSTATE " + e.Code + ")" }

// syntaxError returns a syntax error. PostgreSQL's own parser may accept the text.
func syntaxError(format string, args ...any) error {
	return &Error{Code: "42601", Message: fmt.Sprintf(format, args...), MayBeValid: true}
}

// raiseUnsupportedIf panics with the error of [Unsupported] if the condition is true.
func raiseUnsupportedIf(condition bool, feature string) {
	if condition {
		panic(Unsupported(feature))
	}
}

// Unsupported returns the error for something that PostgreSQL supports and this server does
// not.
func Unsupported(feature string) error {
	return &Error{Code: "0A000", Message: "the simulated server does not have " + feature, MayBeValid: true}
}
