package sql

import "fmt"

// An Error is why a statement is refused, as PostgreSQL says it.
type Error struct {
	// Code is PostgreSQL's: five letters and digits.
	Code, Message string
	// Ours says that PostgreSQL may well do what it was asked for, and this server cannot.
	Ours bool
}

func (e *Error) Error() string { return e.Message + " (SQLSTATE " + e.Code + ")" }

// wrong is a syntax error. What this parser does not know PostgreSQL's may.
func wrong(format string, args ...any) error {
	return &Error{Code: "42601", Message: fmt.Sprintf(format, args...), Ours: true}
}

// lack refuses what comes, if it is what PostgreSQL has and this server has not.
func lack(comes bool, what string) {
	if comes {
		panic(Without(what))
	}
}

// Without is the error of what PostgreSQL has and this server has not.
func Without(what string) error {
	return &Error{Code: "0A000", Message: "the simulated server does not have " + what, Ours: true}
}
