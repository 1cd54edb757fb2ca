package postgres

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// A prepared is a prepared statement. Its statement is nil if the text is empty.
type prepared struct {
	text   string
	of     sql.Statement
	params []sql.Type // the types that the client has given
	plan   *plan
}

// A portal is a statement with its parameters, and the rows that it has not returned yet.
type portal struct {
	plan    *plan
	params  []value
	formats []int16
	most    uint32 // how many rows the client wants at a time; 0 is all
	ran     *run
}

// handle handles one message.
func (b *backend) handle(m pgproto3.FrontendMessage) {
	if _, syncs := m.(*pgproto3.Sync); b.skips && !syncs {
		return
	}
	switch m := m.(type) {
	case said:
		b.send(m.answer)
	case quietly:
		sofar := b.out
		b.parse(m.Parse)
		b.out = sofar
	case *pgproto3.Query:
		b.asks(m.String)
		b.script(func() []sql.Statement {
			b.works()
			return parsed(m.String)
		})
	case *pgproto3.Parse:
		b.asks(m.Query)
		b.works()
		b.parse(m)
	case *pgproto3.Bind:
		b.works()
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
		b.skips = false
		b.finish()
		clear(b.portals)
		b.ready()
	case *pgproto3.Flush:
	case *pgproto3.Terminate:
		b.close()
		b.s.hangUp(b.end)
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail: // ignored, as after a failed COPY
	case *pgproto3.FunctionCall:
		raise(without("the message FunctionCall"))
	default:
		b.dies(fail(protocolViolation, "invalid frontend message type"))
	}
}

// checkFailure refuses every statement while a fault makes the server fail.
func (b *backend) works() {
	if why := b.s.host.Failure(); why != "" && !b.request.Handshake() {
		raise(fail(diskFull, "%s", why))
	}
}

// parseStatements parses a text, or raises the error.
func parsed(text string) []sql.Statement {
	all, err := sql.Parse(text)
	if err != nil {
		raise(err)
	}
	return all
}

func (b *backend) parse(m *pgproto3.Parse) {
	all := parsed(m.Query)
	switch {
	case len(all) > 1:
		raise(fail(syntaxError, "cannot insert multiple commands into a prepared statement"))
	case m.Name != "" && b.statements[m.Name] != nil:
		raise(fail(duplicateStatement, "prepared statement \"%s\" already exists", m.Name))
	}
	st := &prepared{text: m.Query}
	for _, oid := range m.ParameterOIDs {
		t, known := typeOf(oid)
		switch {
		case oid == 0 || oid == 705:
			t = unknown
		case !known:
			raise(without("parameters of the type %d", oid))
		}
		st.params = append(st.params, t)
	}
	if len(all) == 1 {
		st.of = all[0]
		b.allows(st.of)
		st.plan = b.s.plan(st.text, st.of, st.params)
	}
	b.statements[m.Name] = st
	b.send(&pgproto3.ParseComplete{})
}

// checkTxState refuses a statement in a failed transaction, except COMMIT and ROLLBACK.
func (b *backend) allows(of sql.Statement) {
	switch of.(type) {
	case *sql.Commit, *sql.Rollback:
		return
	}
	refuse(b.failed, transactionFailed, "current transaction is aborted, commands ignored until end of transaction block")
}

// currentPlan returns the statement's plan, after planning again if the tables have
// changed.
func (b *backend) planned(st *prepared) *plan {
	if st.of == nil || st.plan.made == b.s.changes {
		return st.plan
	}
	p, was := b.s.plan(st.text, st.of, st.params), st.plan
	sameType := func(a, b output) bool { return a.typ == b.typ }
	refuse(len(p.params) != len(was.params) || !slices.EqualFunc(p.outputs, was.outputs, sameType), notSupported, "cached plan must not change result type")
	st.plan = p
	return p
}

// statement returns a prepared statement by its name.
func (b *backend) statement(name string) *prepared {
	st := b.statements[name]
	refuse(st == nil, unknownStatement, "prepared statement \"%s\" does not exist", name)
	return st
}

// findPortal returns a portal by its name.
func (b *backend) portalOf(name string) *portal {
	p := b.portals[name]
	refuse(p == nil, unknownCursor, "portal \"%s\" does not exist", name)
	return p
}

func (b *backend) bind(m *pgproto3.Bind) {
	refuse(m.PreparedStatement == "" && b.statements[""] == nil, unknownStatement, "unnamed prepared statement does not exist")
	st := b.statement(m.PreparedStatement)
	b.asks(st.text)
	if st.of != nil {
		b.allows(st.of)
	}
	pl := b.planned(st)
	p := &portal{plan: pl, formats: m.ResultFormatCodes}
	if pl != nil {
		refuse(len(m.Parameters) != len(pl.params), protocolViolation, "bind message supplies %d parameters, but prepared statement \"%s\" requires %d", len(m.Parameters), m.PreparedStatement, len(pl.params))
		if n := len(m.ParameterFormatCodes); n > 1 && n != len(m.Parameters) {
			raise(fail(protocolViolation, "bind message has %d parameter formats but %d parameters", n, len(m.Parameters)))
		}
		if n := len(m.ResultFormatCodes); n > 1 && n != len(pl.outputs) {
			raise(fail(protocolViolation, "bind message has %d result formats but query has %d columns", n, len(pl.outputs)))
		}
		for i, t := range pl.params {
			p.params = append(p.params, decode(m.Parameters[i], t, formatOf(m.ParameterFormatCodes, i)))
		}
	}
	b.portals[m.DestinationPortal] = p
	b.send(&pgproto3.BindComplete{})
}

// formatOf returns the format of the i-th value. One format applies to all values; no
// format means text.
func formatOf(formats []int16, i int) int16 {
	switch len(formats) {
	case 0:
		return asText
	case 1:
		return formats[0]
	}
	return formats[i]
}

func (b *backend) describe(m *pgproto3.Describe) {
	if m.ObjectType == 'P' {
		p := b.portalOf(m.Name)
		b.columns(p.plan, p.formats)
		return
	}
	pl := b.planned(b.statement(m.Name))
	d := &pgproto3.ParameterDescription{}
	if pl != nil {
		for _, t := range pl.params {
			d.ParameterOIDs = append(d.ParameterOIDs, types[t].oid)
		}
	}
	b.send(d)
	b.columns(pl, nil)
}

// sendColumns describes the columns of a result to the client.
func (b *backend) columns(p *plan, formats []int16) {
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

func (b *backend) execute(m *pgproto3.Execute) {
	p := b.portalOf(m.Portal)
	p.most = m.MaxRows
	switch {
	case p.plan == nil:
		b.send(&pgproto3.EmptyQueryResponse{})
	case p.ran != nil:
		b.gives(p)
	default:
		if p.ran = b.run(p.plan, p.params); p.ran != nil {
			b.gives(p)
		}
	}
}

// runScript executes the statements of a simple query, up to the first that fails.
func (b *backend) script(statements func() []sql.Statement) {
	b.try(func() {
		all := statements()
		if len(all) == 0 {
			b.send(&pgproto3.EmptyQueryResponse{})
		}
		for _, of := range all {
			b.executes(of)
		}
	})
	b.skips = false
	b.finish()
	b.ready()
}

// executeStatement executes one statement of a simple query.
func (b *backend) executes(of sql.Statement) {
	b.allows(of)
	p := b.s.plan("", of, nil)
	refuse(len(p.params) > 0, "42P02", "there is no parameter $1")
	r := b.run(p, nil)
	if r == nil {
		return
	}
	if len(p.outputs) > 0 {
		b.columns(p, nil)
	}
	b.rows(p, r.rows, nil)
	b.complete(r.tag)
}

// runPlan executes a plan. It returns nil for a statement that begins or ends a
// transaction, because that has no rows and is already answered.
func (b *backend) run(p *plan, params []value) *run {
	b.allows(p.of)
	if b.control(p.of) {
		return nil
	}
	b.s.permits(p.of)
	b.begins()
	r := &run{b: b, tx: b.tx, plan: p, params: params, snapshot: b.s.commits}
	b.running = r
	r.carryOut()
	b.running = nil
	return r
}

// checkStandby refuses statements that a standby cannot execute.
func (s *server) permits(of sql.Statement) {
	if !s.readOnly() {
		return
	}
	switch of := of.(type) {
	case *sql.Insert, *sql.Update, *sql.Delete, *sql.CreateTable, *sql.CreateIndex, *sql.CreateSequence, *sql.Drop:
		raise(readOnly(of.Tag()))
	case *sql.Select:
		if of.Lock.Update {
			raise(readOnly("SELECT FOR UPDATE"))
		}
	}
}

// readOnlyError returns the error for a command that a standby refuses.
func readOnly(what string) error {
	return fail(readOnlyTransaction, "cannot execute %s in a read-only transaction", what)
}

// controlTx executes a statement that begins or ends a transaction; false if it is another
// statement.
func (b *backend) control(of sql.Statement) bool {
	switch of.(type) {
	case *sql.Begin:
		if b.block {
			b.notice("WARNING", "25001", "there is already a transaction in progress")
		}
		b.begins()
		b.block = true
		b.complete(of.Tag())
		return true
	case *sql.Commit, *sql.Rollback:
		if !b.block {
			b.notice("WARNING", "25P01", "there is no transaction in progress")
		}
		_, commits := of.(*sql.Commit)
		commits = commits && !b.failed
		tag := "ROLLBACK"
		if commits {
			tag = "COMMIT"
		}
		switch {
		case b.tx != nil && commits:
			b.commits()
		case b.tx != nil:
			b.tx.abort()
		}
		b.block, b.failed = false, false
		b.complete(tag)
		return true
	}
	return false
}

// commitImplicit commits a transaction that was not begun by BEGIN.
func (b *backend) finish() {
	if b.tx != nil && !b.block {
		b.commits()
	}
}

// sendPortalRows sends the next rows of a portal.
func (b *backend) gives(p *portal) {
	n := len(p.ran.rows)
	if p.most > 0 {
		n = min(n, int(p.most))
	}
	b.rows(p.plan, p.ran.rows[:n], p.formats)
	if p.ran.rows = p.ran.rows[n:]; len(p.ran.rows) > 0 {
		b.send(&pgproto3.PortalSuspended{})
		return
	}
	b.complete(p.ran.tag)
}

// sendRows sends rows. The trace shows only the first.
func (b *backend) rows(p *plan, rows [][]value, formats []int16) {
	for i, row := range rows {
		m := &pgproto3.DataRow{}
		var texts []string
		for j, v := range row {
			m.Values = append(m.Values, encode(v, p.outputs[j].typ, formatOf(formats, j)))
			texts = append(texts, b.word(v))
		}
		b.send(m)
		if i == 0 {
			b.tell("(" + strings.Join(texts, ", ") + ")")
		}
	}
}

// describeValue returns a value for the trace.
func (b *backend) word(v value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return b.s.host.Names().Value(v)
	case octets:
		return b.s.host.Names().Value(write(v))
	}
	return write(v)
}

func (b *backend) complete(tag string) {
	b.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	b.tell(tag)
}
