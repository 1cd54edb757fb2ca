package postgres

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A plan is a statement that has been analysed: what it needs, and what comes of it.
type plan struct {
	text    string
	of      sql.Statement
	params  []sql.Type
	subs    []*query // are run first
	outputs []output
	// carryOut does it. All of it happens at one moment, unless it has to wait.
	carryOut func(*run)
	// made says which tables there were when it was made.
	made int
}

// An output is a column of a result.
type output struct {
	name string
	typ  sql.Type
	node *node
}

// A run is the execution of a plan by a session, or a commit that waits for a standby.
type run struct {
	b      *backend
	tx     *tx
	plan   *plan
	params []value
	frame  frame
	// snapshot is the latest commit that the statement sees.
	snapshot uint64
	subs     []value // what the queries in brackets came to
	rows     [][]value
	tag      string
	wait     *wait
	failed   error // why it does not go on after a wait
	// enough says of one that commits that the client does not want it to wait any more.
	commits, enough bool
}

// A wait is what a run waits for.
type wait struct {
	ready  func() bool
	holder func() *backend // who keeps it waiting; nil is nobody
	since  int64
	at     stamp // by the time of day
	// advisory is the lock that it waits for, if it is such a one.
	advisory *advisory
	timers   []*agenda.Timer
}

// carryOut carries the statement out, and the queries in brackets before it.
func (r *run) carryOut() {
	for _, q := range r.plan.subs {
		r.frame = frame{r: r}
		q.carryOut(r)
		refuse(len(r.rows) > 1, cardinality, "more than one row returned by a subquery used as an expression")
		var v value
		if len(r.rows) == 1 {
			v = r.rows[0][0]
		}
		r.subs, r.rows = append(r.subs, v), nil
	}
	r.frame = frame{r: r}
	r.plan.carryOut(r)
}

// waits has the run wait.
func (r *run) waits(w *wait) {
	r.wait = w
	if !r.b.yield(struct{}{}) {
		raise(errAbandoned)
	}
	if r.failed != nil {
		raise(r.failed)
	}
}

// waitEnd has it wait for the end of a transaction.
func (r *run) waitEnd(t *tx) {
	r.waits(&wait{ready: func() bool { return t.state != running }, holder: func() *backend { return t.b }})
}

// deadlockTimeout is how long a session waits until it looks for a deadlock: PostgreSQL's
// default.
const deadlockTimeout = time.Second

// begins has it wait no longer than it may.
func (w *wait) begins(r *run) {
	t := r.b.s.timers
	w.since, w.at = t.Now(), r.b.s.now()
	if r.commits {
		return // a commit that is on the disk cannot fail any more
	}
	limit := func(due int64, err error) {
		w.timers = append(w.timers, t.At(due, func() { r.fails(err) }))
	}
	if d := r.b.duration("statement_timeout"); d > 0 {
		limit(r.b.askedAt+int64(d), fail(queryCanceled, "canceling statement due to statement timeout"))
	}
	if w.holder == nil {
		return
	}
	if d := r.b.duration("lock_timeout"); d > 0 {
		limit(w.since+int64(d), fail(lockNotAvailable, "canceling statement due to lock timeout"))
	}
	w.timers = append(w.timers, t.After(deadlockTimeout, func() {
		if r.deadlocked() {
			r.fails(fail(deadlock, "deadlock detected"))
		}
	}))
}

// deadlocked says whether those who keep it waiting wait for it.
func (r *run) deadlocked() bool {
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

// fails ends its wait with an error.
func (r *run) fails(err error) {
	if r.wait == nil {
		return
	}
	r.unwait()
	r.failed = err
	r.b.s.forget(r)
	r.b.step()
}

func (r *run) unwait() {
	for _, t := range r.wait.timers {
		r.b.s.timers.Stop(t)
	}
	r.wait = nil
}

// lock gives the run's transaction a row, of which it has found a version, and returns the
// latest one: who was before it may have made another, of which still says whether it is to
// be found as well. Nil is that there is nothing to lock. The version says who has locked it if
// that is what the statement is for (marks), or if it had to look for it: else an update of it says
// the same.
func (r *run) lock(v *version, how sql.Locking, marks bool, still func(*version) bool) *version {
	for t := v.row.others(r.tx); t != nil; t = v.row.others(r.tx) {
		switch {
		case how.SkipLocked:
			return nil
		case how.NoWait:
			raise(fail(lockNotAvailable, "could not obtain lock on row in relation \"%s\"", v.row.of.name))
		}
		r.waitEnd(t)
	}
	latest := v
	for latest.over != nil {
		if latest = latest.next; latest == nil {
			return nil
		}
	}
	r.tx.lock(v.row)
	if marks || latest != v {
		latest.xmax = r.tx.id()
	}
	if latest != v && !still(latest) {
		return nil
	}
	return latest
}

// holds says whether a condition is true for a row.
func (r *run) holds(condition *node, rows ...*version) bool {
	return condition == nil || r.eval(condition, rows...) == true
}

// eval is what an expression comes to for a row.
func (r *run) eval(n *node, rows ...*version) value {
	r.frame.rows = [2]*version{}
	copy(r.frame.rows[:], rows)
	return n.eval(&r.frame)
}

// give adds a row to the result.
func (r *run) give(outputs []output, of *version) {
	if len(outputs) == 0 {
		return
	}
	row := make([]value, len(outputs))
	for i, o := range outputs {
		row[i] = r.eval(o.node, of)
	}
	r.rows = append(r.rows, row)
}

// count is a tag with the number of rows.
func count(what string, n int) string { return fmt.Sprint(what, " ", n) }
