package postgres

import (
	"errors"
	"fmt"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// The error codes of PostgreSQL's Appendix A that this server uses.
const (
	protocolViolation   = "08P01"
	notSupported        = "0A000"
	cardinality         = "21000"
	outOfRange          = "22003"
	tooLong             = "22001"
	badTimestamp        = "22007"
	timeOutOfRange      = "22008"
	divisionByZero      = "22012"
	badParameterValue   = "22023"
	badText             = "22P02"
	badBinary           = "22P03"
	notNullViolation    = "23502"
	uniqueViolation     = "23505"
	idleInTransaction   = "25P03"
	transactionFailed   = "25P02"
	readOnlyTransaction = "25006"
	unknownStatement    = "26000"
	unknownCursor       = "34000"
	deadlock            = "40P01"
	syntaxError         = "42601"
	ambiguousColumn     = "42702"
	unknownColumn       = "42703"
	unknownObject       = "42704"
	duplicateColumn     = "42701"
	groupingError       = "42803"
	typeMismatch        = "42804"
	indeterminateType   = "42P18"
	ambiguousParameter  = "42P08"
	unknownFunction     = "42883"
	badColumnReference  = "42P10"
	unknownTable        = "42P01"
	duplicateStatement  = "42P05"
	duplicateTable      = "42P07"
	badTableDefinition  = "42P16"
	cannotCoerce        = "42846"
	wrongObjectType     = "42809"
	diskFull            = "53100"
	objectNotInState    = "55000"
	lockNotAvailable    = "55P03"
	queryCanceled       = "57014"
	idleSession         = "57P05"
	adminShutdown       = "57P01"
	tooManyColumnsInRow = "54011"
)

// newError returns an error that clients get, with one of the codes above.
func newError(code, format string, args ...any) error {
	return &sql.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// unsupported returns the error for something that PostgreSQL supports and this server does
// not.
func unsupported(format string, args ...any) error {
	return sql.Unsupported(fmt.Sprintf(format, args...))
}

// raisedError is the value with which [raise] panics. [catch] turns it into an error again.
type raisedError struct{ error }

// raise panics with err. [catch] recovers from the panic and returns err.
func raise(err error) { panic(raisedError{err}) }

// raiseIf raises a [newError] if the condition is true.
func raiseIf(condition bool, code, format string, args ...any) {
	if condition {
		raise(newError(code, format, args...))
	}
}

// raiseUnsupportedIf raises an [unsupported] error if the condition is true.
func raiseUnsupportedIf(condition bool, format string, args ...any) {
	if condition {
		raise(unsupported(format, args...))
	}
}

// catch calls f and returns the error that it raises, or nil.
func catch(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			raised, is := r.(raisedError)
			if !is {
				panic(r)
			}
			err = raised.error
		}
	}()
	f()
	return nil
}

// toSQLError returns an error of this package or of the parser in the form that clients
// get. Any other error means that the simulator cannot run the statement, although a real
// PostgreSQL server perhaps can. Clients get it as an internal error (XX000).
func toSQLError(err error) *sql.Error {
	if e, ok := errors.AsType[*sql.Error](err); ok {
		return e
	}
	// MayBeValid means that the statement may be valid.
	return &sql.Error{Code: "XX000", Message: err.Error(), MayBeValid: true}
}
