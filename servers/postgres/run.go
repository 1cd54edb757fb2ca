package postgres

// This file executes a plan. A statement runs in its session's coroutine and can wait
// there, for a lock or for a standby.

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A plan is an analysed statement: the types of its parameters, the columns of its result,
// and how to execute it.
type plan struct {
	text       string
	statement  sql.Statement
	params     []sql.Type
	subqueries []*query // they are executed before the statement
	outputs    []output
	// carryOut executes the statement. This takes no virtual time unless the statement has to wait.
	carryOut func(*run)
	// schemaVersion is the server's schemaVersion at the time of planning.
	schemaVersion int
}

// An output is a column of a result.
type output struct {
	name string
	typ  sql.Type
	node *node
}

// A run is one execution of a plan by a session, or a commit that waits for a standby.
type run struct {
	b      *backend
	tx     *tx
	plan   *plan
	params []value
	frame  frame
	// snapshot is the number of the latest commit that the statement sees.
	snapshot        uint64
	subqueryResults []value   // the results of the subqueries
	rows            [][]value // the rows of the result
	tag             string    // what the server reports to the client when the statement is complete, such as SELECT 1
	wait            *wait     // nil if the run does not wait
	waitError       error     // the error that ended the wait, or nil
	// isCommit is true for a commit that waits for a standby. waitCanceled reports whether
	// the client has canceled that wait.
	isCommit, waitCanceled bool
}

// A wait describes what a run waits for.
type wait struct {
	ready     func() bool     // reports whether the run can continue
	holder    func() *backend // returns the session that the run waits for; nil if the run does not wait for a session
	since     int64           // when the wait began, by the monotonic clock in nanoseconds
	sinceWall timestamp       // when the wait began, by the wall clock
	// advisoryLock is the lock for which the run waits, or nil if it waits for something
	// else.
	advisoryLock *advisoryLock
	timers       []*agenda.Timer // they end a wait that takes too long
}

// carryOut executes the subqueries and then the statement.
func (r *run) carryOut() {
	for _, q := range r.plan.subqueries {
		r.frame = frame{r: r}
		q.carryOut(r)
		raiseIf(len(r.rows) > 1, cardinality, "more than one row returned by a subquery used as an expression")
		var v value
		if len(r.rows) == 1 {
			v = r.rows[0][0]
		}
		r.subqueryResults, r.rows = append(r.subqueryResults, v), nil
	}
	r.frame = frame{r: r}
	r.plan.carryOut(r)
}

// waitFor suspends the run until w.ready is true. It raises an error if the wait fails.
func (r *run) waitFor(w *wait) {
	r.wait = w
	if !r.b.yield(struct{}{}) {
		raise(errAbandoned)
	}
	if r.waitError != nil {
		raise(r.waitError)
	}
}

// waitForEnd suspends the run until another transaction has ended.
func (r *run) waitForEnd(t *tx) {
	r.waitFor(&wait{ready: func() bool { return t.state != running }, holder: func() *backend { return t.b }})
}

// deadlockTimeout is how long a session waits before it looks for a deadlock: PostgreSQL's
// default.
const deadlockTimeout = time.Second

// start starts the timers that end the wait when it takes too long.
func (w *wait) start(r *run) {
	t := r.b.s.timers
	w.since, w.sinceWall = t.Now(), r.b.s.now()
	if r.isCommit {
		return // a commit that is on the disk cannot fail any more
	}
	failAt := func(due int64, err error) {
		w.timers = append(w.timers, t.At(due, func() { r.failWait(err) }))
	}
	if d := r.b.duration("statement_timeout"); d > 0 {
		failAt(r.b.receivedMono+int64(d), newError(queryCanceled, "canceling statement due to statement timeout"))
	}
	if w.holder == nil {
		return
	}
	if d := r.b.duration("lock_timeout"); d > 0 {
		failAt(w.since+int64(d), newError(lockNotAvailable, "canceling statement due to lock timeout"))
	}
	w.timers = append(w.timers, t.After(deadlockTimeout, func() {
		if r.isDeadlocked() {
			r.failWait(newError(deadlock, "deadlock detected"))
		}
	}))
}

// isDeadlocked reports whether the run waits for its own session, by way of other sessions
// that wait.
func (r *run) isDeadlocked() bool {
	seen := map[*backend]bool{}
	for b := r.wait.holder(); b != nil && !seen[b]; {
		if b == r.b {
			return true
		}
		seen[b] = true
		if b.running == nil || b.running.wait == nil || b.running.wait.holder == nil {
			return false
		}
		b = b.running.wait.holder()
	}
	return false
}

// failWait ends the run's wait with an error and lets the session continue.
func (r *run) failWait(err error) {
	if r.wait == nil {
		return
	}
	r.endWait()
	r.waitError = err
	r.b.s.removeWaiter(r)
	r.b.serveQueued()
}

// endWait ends the run's wait and stops its timers.
func (r *run) endWait() {
	for _, t := range r.wait.timers {
		r.b.s.timers.Stop(t)
	}
	r.wait = nil
}

// lockRow locks the row of version v for the run's transaction and returns the row's latest
// version. If another transaction has locked the row, lockRow waits for it. If that transaction
// made a new version, matches decides whether the statement still applies to the row. lockRow
// returns nil if there is nothing to lock. It sets xmax if setsXmax is true or if the row has a
// newer version than v. Otherwise the caller's update sets xmax.
func (r *run) lockRow(v *version, locking sql.Locking, setsXmax bool, matches func(*version) bool) *version {
	for t := v.row.otherLocker(r.tx); t != nil; t = v.row.otherLocker(r.tx) {
		switch {
		case locking.SkipLocked:
			return nil
		case locking.NoWait:
			raise(newError(lockNotAvailable, "could not obtain lock on row in relation \"%s\"", v.row.table.name))
		}
		r.waitForEnd(t)
	}
	latest := v
	for latest.endedBy != nil {
		if latest = latest.next; latest == nil {
			return nil
		}
	}
	r.tx.lock(v.row)
	if setsXmax || latest != v {
		latest.xmax = r.tx.id()
	}
	if latest != v && !matches(latest) {
		return nil
	}
	return latest
}

// isTrue reports whether a condition is true for a row. A nil condition is true.
func (r *run) isTrue(condition *node, rows ...*version) bool {
	return condition == nil || r.eval(condition, rows...) == true
}

// eval returns the value of an expression. rows are the current rows of the scope's
// relations.
func (r *run) eval(n *node, rows ...*version) value {
	r.frame.rows = [2]*version{}
	copy(r.frame.rows[:], rows)
	return n.eval(&r.frame)
}

// addRow adds a row to the result: the values of the outputs for a row version.
func (r *run) addRow(outputs []output, v *version) {
	if len(outputs) == 0 {
		return
	}
	row := make([]value, len(outputs))
	for i, o := range outputs {
		row[i] = r.eval(o.node, v)
	}
	r.rows = append(r.rows, row)
}

// countTag returns a command tag with a number of rows, such as UPDATE 1.
func countTag(command string, n int) string { return fmt.Sprint(command, " ", n) }
