package postgres

// This file handles the messages of a client's session after its startup: they prepare and
// execute statements.

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A preparedStatement is a statement that a client has prepared. If its text is empty,
// statement and plan are nil.
type preparedStatement struct {
	text      string
	statement sql.Statement
	params    []sql.Type // the types that the client has given
	plan      *plan
}

// A portal is a statement with its parameters, and the result rows that the client has not
// fetched yet. plan is nil if the statement is empty.
type portal struct {
	plan    *plan
	params  []value
	formats []int16
	maxRows uint32 // how many rows the client fetches at a time; 0 means all
	run     *run   // nil before the first fetch
}

// handle handles one message of the client.
func (b *backend) handle(m pgproto3.FrontendMessage) {
	if _, isSync := m.(*pgproto3.Sync); b.isSkipping && !isSync {
		return
	}
	switch m := m.(type) {
	case answeredMessage:
		b.send(m.answer)
	case silentParse:
		outBefore := b.out
		b.parse(m.Parse)
		b.out = outBefore
	case *pgproto3.Query:
		b.recordQuery(m.String)
		b.runScript(func() []sql.Statement {
			b.checkFailure()
			return parseStatements(m.String)
		})
	case *pgproto3.Parse:
		b.recordQuery(m.Query)
		b.checkFailure()
		b.parse(m)
	case *pgproto3.Bind:
		b.checkFailure()
		b.bind(m)
	case *pgproto3.Describe:
		b.describe(m)
	case *pgproto3.Execute:
		b.execute(m)
	case *pgproto3.Close:
		if m.ObjectType == 'S' {
			delete(b.statements, m.Name)
		} else {
			delete(b.portals, m.Name)
		}
		b.send(&pgproto3.CloseComplete{})
	case *pgproto3.Sync:
		b.isSkipping = false
		b.commitImplicit()
		clear(b.portals)
		b.sendReady()
	case *pgproto3.Flush:
	case *pgproto3.Terminate:
		b.close()
		b.s.closeEnd(b.end)
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail: // ignored, as after a failed COPY
	case *pgproto3.FunctionCall:
		raise(unsupported("the message FunctionCall"))
	default:
		b.closeWithError(newError(protocolViolation, "invalid frontend message type"))
	}
}

// checkFailure raises an error while a fault makes the server's statements fail.
func (b *backend) checkFailure() {
	if why := b.s.host.Failure(); why != "" && !b.request.IsHandshake() {
		raise(newError(diskFull, "%s", why))
	}
}

// parseStatements parses the statements in a text. It raises an error if the text is
// malformed.
func parseStatements(text string) []sql.Statement {
	statements, err := sql.Parse(text)
	if err != nil {
		raise(err)
	}
	return statements
}

// parse handles Parse, which prepares a statement.
func (b *backend) parse(m *pgproto3.Parse) {
	statements := parseStatements(m.Query)
	switch {
	case len(statements) > 1:
		raise(newError(syntaxError, "cannot insert multiple commands into a prepared statement"))
	case m.Name != "" && b.statements[m.Name] != nil:
		raise(newError(duplicateStatement, "prepared statement \"%s\" already exists", m.Name))
	}
	st := &preparedStatement{text: m.Query}
	for _, oid := range m.ParameterOIDs {
		t, known := typeOf(oid)
		switch {
		case oid == 0 || oid == 705: // 705 is the OID of the type unknown
			t = unknown
		case !known:
			raise(unsupported("parameters of the type %d", oid))
		}
		st.params = append(st.params, t)
	}
	if len(statements) == 1 {
		st.statement = statements[0]
		b.checkTxState(st.statement)
		st.plan = b.s.planStatement(st.text, st.statement, st.params)
	}
	b.statements[m.Name] = st
	b.send(&pgproto3.ParseComplete{})
}

// checkTxState raises an error for a statement in a failed transaction, except for COMMIT
// and ROLLBACK.
func (b *backend) checkTxState(stmt sql.Statement) {
	switch stmt.(type) {
	case *sql.Commit, *sql.Rollback:
		return
	}
	raiseIf(b.hasFailed, transactionFailed, "current transaction is aborted, commands ignored until end of transaction block")
}

// currentPlan returns the statement's plan. If tables have changed since the statement was
// planned, it plans the statement again.
func (b *backend) currentPlan(st *preparedStatement) *plan {
	if st.statement == nil || st.plan.schemaVersion == b.s.schemaVersion {
		return st.plan
	}
	p, previous := b.s.planStatement(st.text, st.statement, st.params), st.plan
	sameType := func(a, b output) bool { return a.typ == b.typ }
	raiseIf(len(p.params) != len(previous.params) || !slices.EqualFunc(p.outputs, previous.outputs, sameType), notSupported, "cached plan must not change result type")
	st.plan = p
	return p
}

// findStatement returns the prepared statement with the given name, or raises an error.
func (b *backend) findStatement(name string) *preparedStatement {
	st := b.statements[name]
	raiseIf(st == nil, unknownStatement, "prepared statement \"%s\" does not exist", name)
	return st
}

// findPortal returns the portal with the given name, or raises an error.
func (b *backend) findPortal(name string) *portal {
	p := b.portals[name]
	raiseIf(p == nil, unknownCursor, "portal \"%s\" does not exist", name)
	return p
}

// bind handles Bind, which makes a portal of a prepared statement and its parameters.
func (b *backend) bind(m *pgproto3.Bind) {
	raiseIf(m.PreparedStatement == "" && b.statements[""] == nil, unknownStatement, "unnamed prepared statement does not exist")
	st := b.findStatement(m.PreparedStatement)
	b.recordQuery(st.text)
	if st.statement != nil {
		b.checkTxState(st.statement)
	}
	pl := b.currentPlan(st)
	p := &portal{plan: pl, formats: m.ResultFormatCodes}
	if pl != nil {
		raiseIf(len(m.Parameters) != len(pl.params), protocolViolation, "bind message supplies %d parameters, but prepared statement \"%s\" requires %d", len(m.Parameters), m.PreparedStatement, len(pl.params))
		if n := len(m.ParameterFormatCodes); n > 1 && n != len(m.Parameters) {
			raise(newError(protocolViolation, "bind message has %d parameter formats but %d parameters", n, len(m.Parameters)))
		}
		if n := len(m.ResultFormatCodes); n > 1 && n != len(pl.outputs) {
			raise(newError(protocolViolation, "bind message has %d result formats but query has %d columns", n, len(pl.outputs)))
		}
		for i, t := range pl.params {
			p.params = append(p.params, decode(m.Parameters[i], t, formatOf(m.ParameterFormatCodes, i)))
		}
	}
	b.portals[m.DestinationPortal] = p
	b.send(&pgproto3.BindComplete{})
}

// formatOf returns the format of the i-th value of several. A single format applies to all
// values; no format means text.
func formatOf(formats []int16, i int) int16 {
	switch len(formats) {
	case 0:
		return textFormat
	case 1:
		return formats[0]
	}
	return formats[i]
}

// describe handles Describe, which asks for the columns of a portal or of a prepared
// statement.
func (b *backend) describe(m *pgproto3.Describe) {
	if m.ObjectType == 'P' {
		p := b.findPortal(m.Name)
		b.sendColumns(p.plan, p.formats)
		return
	}
	pl := b.currentPlan(b.findStatement(m.Name))
	d := &pgproto3.ParameterDescription{}
	if pl != nil {
		for _, t := range pl.params {
			d.ParameterOIDs = append(d.ParameterOIDs, types[t].oid)
		}
	}
	b.send(d)
	b.sendColumns(pl, nil)
}

// sendColumns describes the columns of a plan's result to the client.
func (b *backend) sendColumns(p *plan, formats []int16) {
	if p == nil || len(p.outputs) == 0 {
		b.send(&pgproto3.NoData{})
		return
	}
	d := &pgproto3.RowDescription{}
	for i, o := range p.outputs {
		d.Fields = append(d.Fields, pgproto3.FieldDescription{
			Name: []byte(o.name), DataTypeOID: types[o.typ].oid, DataTypeSize: types[o.typ].size, TypeModifier: -1, Format: formatOf(formats, i),
		})
	}
	b.send(d)
}

// execute handles Execute, which asks for the next rows of a portal.
func (b *backend) execute(m *pgproto3.Execute) {
	p := b.findPortal(m.Portal)
	p.maxRows = m.MaxRows
	switch {
	case p.plan == nil:
		b.send(&pgproto3.EmptyQueryResponse{})
	case p.run != nil:
		b.sendPortalRows(p)
	default:
		if p.run = b.runPlan(p.plan, p.params); p.run != nil {
			b.sendPortalRows(p)
		}
	}
}

// runScript executes the statements of a simple query until one fails. statements returns
// them, or raises an error.
func (b *backend) runScript(statements func() []sql.Statement) {
	b.try(func() {
		parsed := statements()
		if len(parsed) == 0 {
			b.send(&pgproto3.EmptyQueryResponse{})
		}
		for _, stmt := range parsed {
			b.executeStatement(stmt)
		}
	})
	b.isSkipping = false
	b.commitImplicit()
	b.sendReady()
}

// executeStatement executes one statement of a simple query.
func (b *backend) executeStatement(stmt sql.Statement) {
	b.checkTxState(stmt)
	p := b.s.planStatement("", stmt, nil)
	raiseIf(len(p.params) > 0, "42P02", "there is no parameter $1")
	r := b.runPlan(p, nil)
	if r == nil {
		return
	}
	if len(p.outputs) > 0 {
		b.sendColumns(p, nil)
	}
	b.sendRows(p, r.rows, nil)
	b.sendComplete(r.tag)
}

// runPlan executes a plan. For a statement that begins or ends a transaction it returns
// nil, because such a statement has no rows and its reply is complete.
func (b *backend) runPlan(p *plan, params []value) *run {
	b.checkTxState(p.statement)
	if b.controlTx(p.statement) {
		return nil
	}
	b.s.checkStandby(p.statement)
	b.beginTx()
	r := &run{b: b, tx: b.tx, plan: p, params: params, snapshot: b.s.commitCount}
	b.running = r
	r.carryOut()
	b.running = nil
	return r
}

// checkStandby raises an error for a statement that a standby cannot execute, if this server is a
// standby.
func (s *server) checkStandby(stmt sql.Statement) {
	if !s.isStandby() {
		return
	}
	switch stmt := stmt.(type) {
	case *sql.Insert, *sql.Update, *sql.Delete, *sql.CreateTable, *sql.CreateIndex, *sql.CreateSequence, *sql.Drop:
		raise(readOnlyError(stmt.Tag()))
	case *sql.Select:
		if stmt.Lock.Update {
			raise(readOnlyError("SELECT FOR UPDATE"))
		}
	}
}

// readOnlyError returns the error for a command that a standby refuses.
func readOnlyError(command string) error {
	return newError(readOnlyTransaction, "cannot execute %s in a read-only transaction", command)
}

// controlTx executes a statement that begins or ends a transaction. It returns false, and
// does nothing, for any other statement.
func (b *backend) controlTx(stmt sql.Statement) bool {
	switch stmt.(type) {
	case *sql.Begin:
		if b.inBlock {
			b.sendNotice("WARNING", "25001", "there is already a transaction in progress")
		}
		b.beginTx()
		b.inBlock = true
		b.sendComplete(stmt.Tag())
		return true
	case *sql.Commit, *sql.Rollback:
		if !b.inBlock {
			b.sendNotice("WARNING", "25P01", "there is no transaction in progress")
		}
		_, isCommit := stmt.(*sql.Commit)
		isCommit = isCommit && !b.hasFailed
		tag := "ROLLBACK"
		if isCommit {
			tag = "COMMIT"
		}
		switch {
		case b.tx != nil && isCommit:
			b.commitTx()
		case b.tx != nil:
			b.tx.abort()
		}
		b.inBlock, b.hasFailed = false, false
		b.sendComplete(tag)
		return true
	}
	return false
}

// commitImplicit commits a transaction that no BEGIN has started.
func (b *backend) commitImplicit() {
	if b.tx != nil && !b.inBlock {
		b.commitTx()
	}
}

// sendPortalRows sends the next rows of a portal.
func (b *backend) sendPortalRows(p *portal) {
	n := len(p.run.rows)
	if p.maxRows > 0 {
		n = min(n, int(p.maxRows))
	}
	b.sendRows(p.plan, p.run.rows[:n], p.formats)
	if p.run.rows = p.run.rows[n:]; len(p.run.rows) > 0 {
		b.send(&pgproto3.PortalSuspended{})
		return
	}
	b.sendComplete(p.run.tag)
}

// sendRows sends rows to the client. The trace shows only the first of them.
func (b *backend) sendRows(p *plan, rows [][]value, formats []int16) {
	for i, row := range rows {
		m := &pgproto3.DataRow{}
		var texts []string
		for j, v := range row {
			m.Values = append(m.Values, encode(v, p.outputs[j].typ, formatOf(formats, j)))
			texts = append(texts, b.describeValue(v))
		}
		b.send(m)
		if i == 0 {
			b.addText("(" + strings.Join(texts, ", ") + ")")
		}
	}
}

// describeValue returns a value as the trace shows it. A random text becomes a name that is
// equal in every run.
func (b *backend) describeValue(v value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return b.s.host.Names().Value(v)
	case octets:
		return b.s.host.Names().Value(formatValue(v))
	}
	return formatValue(v)
}

// sendComplete sends the client the tag of a statement that is complete.
func (b *backend) sendComplete(tag string) {
	b.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	b.addText(tag)
}
