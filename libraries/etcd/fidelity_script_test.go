package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/status"
)

// A fidelity is a script of requests of the unmodified client, one in each line, with
// etcd's answers. The same script runs on a simulated server and on real ones. Each run
// uses a new server.
//
//	put a 1            => rev 2             a request and its answer
//	put a 1            => rev 2; 3.4 rev 1  what etcd 3.4 answers, if that differs
//	put a 1            => rev 2; ours rev 1 what our server answers, if that differs
//	pass 2s                                 time passes
//
// An answer shows a key and its value as a=1 (c2 m3 v2 L1): created in revision 2, changed
// in revision 3, its second version, with lease L1. The answer "res/L1 made in 2, got in 5" to
// a lock is its key, the revision that created the key, and the revision at which the lock
// was acquired. The table commands defines the words of each request.
type fidelity struct {
	name   string
	script string
	// ourDifference is the reason why our server answers differently, if it does.
	ourDifference string
	// oldDifference is the reason why etcd 3.4 answers differently, if it does.
	oldDifference string
}

// A dialect is a kind of server, by which the expected answers are chosen. "" is the newest
// real server.
type dialect string

const (
	newest dialect = ""
	old    dialect = "3.4"
	ours   dialect = "ours"
)

// run executes the script on the server of s and compares the answers with those of the
// dialect.
func (f fidelity) run(t *testing.T, s *scriptRunner, as dialect) {
	t.Helper()
	dialects := map[dialect]bool{}
	for line := range strings.Lines(f.script) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		request, answers, asks := strings.Cut(line, "=>")
		want := ""
		for i, answer := range strings.Split(answers, ";") {
			answer = strings.TrimSpace(answer)
			if i == 0 {
				want = answer
				continue
			}
			server, itsAnswer, _ := strings.Cut(answer, " ")
			dialects[dialect(server)] = true
			if dialect(server) == as {
				want = itsAnswer
			}
		}
		got, err := s.execute(strings.Fields(request))
		switch {
		case err != nil:
			t.Errorf("%s: %v", line, err)
			return
		case asks && got != want, !asks && got != "":
			t.Errorf("%s\n\tthe server answers %s", line, got)
		}
	}
	if dialects[ours] != (f.ourDifference != "") || dialects[old] != (f.oldDifference != "") {
		t.Errorf("the script gives an answer that differs without a reason, or a reason without such an answer")
	}
}

// A scriptRunner executes the commands of the scripts with a client.
type scriptRunner struct {
	client *clientv3.Client
	// pass lets time pass.
	pass func(time.Duration)
	// save makes a backup of the server. restore makes the server lose its disk and start
	// from the backup.
	save, restore func() error

	leases         []lease
	watches        map[string]watching
	holders        map[string]*holding
	serverHoldings map[string]*serverHolding
}

type lease struct {
	name string
	id   clientv3.LeaseID
}

type watching struct {
	events clientv3.WatchChan
	cancel context.CancelFunc
	ctx    context.Context
}

// patience is how long an answer may take before the test fails.
const patience = 10 * time.Second

func (s *scriptRunner) execute(words []string) (string, error) {
	command, ok := commands[words[0]]
	if !ok {
		return "", fmt.Errorf("there is no command %s", words[0])
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got, err := command(s, ctx, words[1:])
	if unknown := (*unknownWord)(nil); errors.As(err, &unknown) {
		return "", unknown
	}
	if err != nil {
		got = describeError(err)
	}
	return s.replaceLeaseIDs(got), nil
}

// unknownWord is the error for a word that no script may contain.
type unknownWord struct{ word string }

func (m *unknownWord) Error() string { return "the script has an unknown word: " + m.word }

// describeError returns the text of an error with its gRPC code.
func describeError(err error) string {
	var of rpctypes.EtcdError
	if errors.As(err, &of) {
		return fmt.Sprintf("%v: %s", of.Code(), of.Error())
	}
	if s, ok := status.FromError(err); ok {
		return fmt.Sprintf("%v: %s", s.Code(), s.Message())
	}
	return err.Error()
}

// replaceLeaseIDs replaces the IDs of leases by their names in the script.
func (s *scriptRunner) replaceLeaseIDs(text string) string {
	for _, l := range s.leases {
		text = strings.ReplaceAll(text, fmt.Sprintf("%x", l.id), l.name)
	}
	return text
}

func (s *scriptRunner) lease(name string) (clientv3.LeaseID, error) {
	for _, l := range s.leases {
		if l.name == name {
			return l.id, nil
		}
	}
	if name == "unknown" {
		return 0x7777, nil
	}
	return 0, &unknownWord{name}
}

func (s *scriptRunner) rememberLease(name string, id clientv3.LeaseID) {
	s.leases = append(s.leases, lease{name, id})
}

// commands are the funcs that execute the requests of the scripts, by their first word. The
// comments show the words after it: L is the name of a lease or session, W of a watch.
var commands map[string]func(*scriptRunner, context.Context, []string) (string, error)

func init() {
	commands = map[string]func(*scriptRunner, context.Context, []string) (string, error){
		"pass":       (*scriptRunner).passTime,
		"save":       (*scriptRunner).takeBackup,
		"restore":    (*scriptRunner).restoreBackup, // and wait until the server answers
		"put":        op("put"),                     // KEY VALUE [lease=L] [prev] [ignore-value] [ignore-lease]
		"get":        op("get"),                     // KEY [prefix|from|to=KEY] [rev=N] [limit=N] [by=TARGET-ORDER] [keys] [count] …
		"del":        op("del"),                     // KEY [prefix|from|to=KEY] [prev]
		"txn":        (*scriptRunner).txn,           // CONDITION & … ? OPERATION , … : OPERATION , …
		"puts":       (*scriptRunner).puts,          // a transaction with this many puts
		"large":      (*scriptRunner).large,         // a put of this many bytes
		"compact":    (*scriptRunner).compact,       // REVISION
		"grant":      (*scriptRunner).grant,         // L TTL [id=HEX]
		"revoke":     (*scriptRunner).revoke,        // L
		"keep-alive": (*scriptRunner).keepAlive,     // L: renews it once
		"ttl":        (*scriptRunner).timeToLive,    // L [keys] [whole]: whole shows only that the TTL has just started again
		"leases":     (*scriptRunner).allLeases,
		"watch":      (*scriptRunner).watch,    // W KEY [prefix] [rev=N] [prev] [created] [progress] [no-put] [no-delete]
		"next":       (*scriptRunner).next,     // W: its next response, or "nothing"
		"progress":   (*scriptRunner).progress, // W: asks for a progress notification
		"cancel":     (*scriptRunner).cancel,   // W
		"status":     (*scriptRunner).status,
		"members":    (*scriptRunner).members,
		"auth":       (*scriptRunner).auth,
		"alarms":     (*scriptRunner).alarms,
		"defragment": (*scriptRunner).defragment,
		"hash":       (*scriptRunner).hash,
		"session":    (*scriptRunner).session,    // L TTL
		"end":        (*scriptRunner).endSession, // L
		"orphan":     (*scriptRunner).orphan,     // L: stops renewing it
		"lost":       (*scriptRunner).lost,       // L: whether the client knows that the session has ended
		"lock":       (*scriptRunner).lock,       // L KEY [for DURATION]
		"trylock":    (*scriptRunner).tryLock,    // L KEY
		"wait":       (*scriptRunner).wait,       // L KEY: lock, in the background
		"got":        (*scriptRunner).got,        // L: the result of wait
		"unlock":     (*scriptRunner).unlock,     // L
		"owner":      (*scriptRunner).isOwner,    // L: whether the key of its mutex still exists
		"campaign":   (*scriptRunner).campaign,   // L KEY VALUE [for DURATION]
		"proclaim":   (*scriptRunner).proclaim,   // L VALUE
		"resign":     (*scriptRunner).resign,     // L
		"leader":     (*scriptRunner).leader,     // L KEY
	}
}

func (s *scriptRunner) passTime(_ context.Context, words []string) (string, error) {
	d, err := time.ParseDuration(words[0])
	if err != nil {
		return "", &unknownWord{words[0]}
	}
	s.pass(d)
	return "", nil
}

func (s *scriptRunner) takeBackup(context.Context, []string) (string, error) { return "", s.save() }

func (s *scriptRunner) restoreBackup(context.Context, []string) (string, error) {
	if err := s.restore(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		_, err := s.client.Get(ctx, "ready")
		if err == nil || ctx.Err() != nil {
			return "", err
		}
	}
}

// options parses the options of a request on keys.
func (s *scriptRunner) options(words []string) (opts []clientv3.OpOption, err error) {
	plain := map[string]func() clientv3.OpOption{
		"prefix": clientv3.WithPrefix, "from": clientv3.WithFromKey, "prev": clientv3.WithPrevKV,
		"ignore-value": clientv3.WithIgnoreValue, "ignore-lease": clientv3.WithIgnoreLease,
		"keys": clientv3.WithKeysOnly, "count": clientv3.WithCountOnly, "serializable": clientv3.WithSerializable,
		"created": clientv3.WithCreatedNotify, "progress": clientv3.WithProgressNotify,
		"no-put": clientv3.WithFilterPut, "no-delete": clientv3.WithFilterDelete, "fragment": clientv3.WithFragment,
	}
	numbered := map[string]func(int64) clientv3.OpOption{
		"rev": clientv3.WithRev, "limit": clientv3.WithLimit,
		"min-create": clientv3.WithMinCreateRev, "max-create": clientv3.WithMaxCreateRev,
		"min-mod": clientv3.WithMinModRev, "max-mod": clientv3.WithMaxModRev,
	}
	targets := map[string]clientv3.SortTarget{
		"key": clientv3.SortByKey, "create": clientv3.SortByCreateRevision, "mod": clientv3.SortByModRevision,
		"version": clientv3.SortByVersion, "value": clientv3.SortByValue,
	}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch {
		case plain[word] != nil:
			opts = append(opts, plain[word]())
		case numbered[name] != nil:
			opts = append(opts, numbered[name](n))
		case name == "to":
			opts = append(opts, clientv3.WithRange(value))
		case name == "lease":
			id, err := s.lease(value)
			if err != nil {
				return nil, err
			}
			opts = append(opts, clientv3.WithLease(id))
		case name == "by":
			target, order, _ := strings.Cut(value, "-")
			by := clientv3.SortAscend
			if order == "down" {
				by = clientv3.SortDescend
			}
			opts = append(opts, clientv3.WithSort(targets[target], by))
		default:
			return nil, &unknownWord{word}
		}
	}
	return opts, nil
}

// operation parses an operation of a transaction.
func (s *scriptRunner) operation(words []string) (clientv3.Op, error) {
	fixed := 2
	if words[0] == "put" && !strings.HasPrefix(words[2], "ignore-value") {
		fixed = 3
	}
	opts, err := s.options(words[fixed:])
	if err != nil {
		return clientv3.Op{}, err
	}
	key := strings.Trim(words[1], "'")
	switch words[0] {
	case "put":
		value := ""
		if fixed == 3 {
			value = words[2]
		}
		return clientv3.OpPut(key, value, opts...), nil
	case "get":
		return clientv3.OpGet(key, opts...), nil
	case "del":
		return clientv3.OpDelete(key, opts...), nil
	}
	return clientv3.Op{}, &unknownWord{words[0]}
}

// op returns the command that executes one operation: put, get or del.
func op(verb string) func(*scriptRunner, context.Context, []string) (string, error) {
	return func(s *scriptRunner, ctx context.Context, words []string) (string, error) {
		return s.op(ctx, append([]string{verb}, words...))
	}
}

func (s *scriptRunner) op(ctx context.Context, words []string) (string, error) {
	op, err := s.operation(words)
	if err != nil {
		return "", err
	}
	r, err := s.client.Do(ctx, op)
	if err != nil {
		return "", err
	}
	switch {
	case op.IsPut():
		return describeResponse((*etcdserverpb.PutResponse)(r.Put())), nil
	case op.IsGet():
		return describeResponse((*etcdserverpb.RangeResponse)(r.Get())), nil
	}
	return describeResponse((*etcdserverpb.DeleteRangeResponse)(r.Del())), nil
}

// describeResponse describes an answer.
func describeResponse(m any) string {
	var texts []string
	add := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	switch r := m.(type) {
	case *etcdserverpb.PutResponse:
		add("rev %d", r.GetHeader().GetRevision())
		if r.PrevKv != nil {
			add("was %s", describeKeyValue(r.PrevKv))
		}
	case *etcdserverpb.RangeResponse:
		add("rev %d, count %d", r.GetHeader().GetRevision(), r.Count)
		if r.More {
			add("more")
		}
		for _, kv := range r.Kvs {
			add("%s", describeKeyValue(kv))
		}
	case *etcdserverpb.DeleteRangeResponse:
		add("rev %d, deleted %d", r.GetHeader().GetRevision(), r.Deleted)
		for _, kv := range r.PrevKvs {
			add("was %s", describeKeyValue(kv))
		}
	case *etcdserverpb.TxnResponse:
		add("rev %d, %v", r.GetHeader().GetRevision(), r.Succeeded)
		for _, o := range r.Responses {
			add("[%s]", describeResponse(innerResponse(o)))
		}
	}
	return strings.Join(texts, ", ")
}

func innerResponse(o *etcdserverpb.ResponseOp) any {
	switch r := o.Response.(type) {
	case *etcdserverpb.ResponseOp_ResponsePut:
		return r.ResponsePut
	case *etcdserverpb.ResponseOp_ResponseRange:
		return r.ResponseRange
	case *etcdserverpb.ResponseOp_ResponseDeleteRange:
		return r.ResponseDeleteRange
	case *etcdserverpb.ResponseOp_ResponseTxn:
		return r.ResponseTxn
	}
	return nil
}

func describeKeyValue(kv *mvccpb.KeyValue) string {
	leased := ""
	if kv.Lease != 0 {
		leased = fmt.Sprintf(" %x", kv.Lease)
	}
	return fmt.Sprintf("%s=%s (c%d m%d v%d%s)", kv.Key, kv.Value, kv.CreateRevision, kv.ModRevision, kv.Version, leased)
}

// txn executes a transaction: txn CONDITION & … ? OPERATION , … : OPERATION , …
func (s *scriptRunner) txn(ctx context.Context, words []string) (string, error) {
	text := strings.Join(words, " ")
	conditions, branches, _ := strings.Cut(text, "?")
	then, otherwise, _ := strings.Cut(branches, ":")
	cmps, err := s.conditions(conditions)
	if err != nil {
		return "", err
	}
	a, err := s.operations(then)
	if err != nil {
		return "", err
	}
	b, err := s.operations(otherwise)
	if err != nil {
		return "", err
	}
	r, err := s.client.Txn(ctx).If(cmps...).Then(a...).Else(b...).Commit()
	if err != nil {
		return "", err
	}
	return describeResponse((*etcdserverpb.TxnResponse)(r)), nil
}

func (s *scriptRunner) operations(text string) (ops []clientv3.Op, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if words := strings.Fields(part); len(words) > 0 {
			op, err := s.operation(words)
			if err != nil {
				return nil, err
			}
			ops = append(ops, op)
		}
	}
	return ops, nil
}

// conditions parses conditions such as create(a)=0, joined by &. A key that ends with * is
// a prefix.
func (s *scriptRunner) conditions(text string) (cmps []clientv3.Cmp, err error) {
	for part := range strings.SplitSeq(text, "&") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		target, rest, _ := strings.Cut(part, "(")
		key, rest, ok := strings.Cut(rest, ")")
		if !ok {
			return nil, &unknownWord{part}
		}
		sign := strings.TrimRight(rest, "-0123456789abcdefghijklmnopqrstuvwxyzL")
		value := rest[len(sign):]
		n, _ := strconv.ParseInt(value, 10, 64)
		prefix := strings.HasSuffix(key, "*")
		key = strings.TrimSuffix(key, "*")
		var cmp clientv3.Cmp
		switch target {
		case "create":
			cmp = clientv3.Compare(clientv3.CreateRevision(key), sign, n)
		case "mod":
			cmp = clientv3.Compare(clientv3.ModRevision(key), sign, n)
		case "version":
			cmp = clientv3.Compare(clientv3.Version(key), sign, n)
		case "value":
			cmp = clientv3.Compare(clientv3.Value(key), sign, value)
		case "lease":
			id := clientv3.LeaseID(n)
			if strings.HasPrefix(value, "L") {
				if id, err = s.lease(value); err != nil {
					return nil, err
				}
			}
			cmp = clientv3.Compare(clientv3.LeaseValue(key), sign, id)
		default:
			return nil, &unknownWord{part}
		}
		if prefix {
			cmp = cmp.WithPrefix()
		}
		cmps = append(cmps, cmp)
	}
	return cmps, nil
}

func (s *scriptRunner) puts(ctx context.Context, words []string) (string, error) {
	n, _ := strconv.Atoi(words[0])
	var ops []clientv3.Op
	for i := range n {
		ops = append(ops, clientv3.OpPut(fmt.Sprint("k", i), ""))
	}
	r, err := s.client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d", r.Header.GetRevision()), nil
}

func (s *scriptRunner) large(ctx context.Context, words []string) (string, error) {
	n, _ := strconv.Atoi(words[0])
	r, err := s.client.Put(ctx, "large", strings.Repeat("x", n))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d", r.Header.GetRevision()), nil
}

func (s *scriptRunner) compact(ctx context.Context, words []string) (string, error) {
	n, _ := strconv.ParseInt(words[0], 10, 64)
	r, err := s.client.Compact(ctx, n)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d", r.Header.GetRevision()), nil
}

func (s *scriptRunner) grant(ctx context.Context, words []string) (string, error) {
	ttl, _ := strconv.ParseInt(words[1], 10, 64)
	if len(words) > 2 { // the Grant of the client lets the server choose the ID
		n, _ := strconv.ParseInt(strings.TrimPrefix(words[2], "id="), 16, 64)
		r, err := clientv3.RetryLeaseClient(s.client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{TTL: ttl, ID: n})
		if err != nil {
			return "", rpctypes.Error(err)
		}
		s.rememberLease(words[0], clientv3.LeaseID(r.ID))
		return fmt.Sprintf("ttl %d, rev %d", r.TTL, r.Header.GetRevision()), nil
	}
	r, err := s.client.Grant(ctx, ttl)
	if err != nil {
		return "", err
	}
	s.rememberLease(words[0], r.ID)
	return fmt.Sprintf("ttl %d, rev %d", r.TTL, r.GetRevision()), nil
}

func (s *scriptRunner) revoke(ctx context.Context, words []string) (string, error) {
	id, err := s.lease(words[0])
	if err != nil {
		return "", err
	}
	r, err := s.client.Revoke(ctx, id)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d", r.Header.GetRevision()), nil
}

func (s *scriptRunner) keepAlive(ctx context.Context, words []string) (string, error) {
	id, err := s.lease(words[0])
	if err != nil {
		return "", err
	}
	r, err := s.client.KeepAliveOnce(ctx, id)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("ttl %d, rev %d", r.TTL, r.GetRevision()), nil
}

func (s *scriptRunner) timeToLive(ctx context.Context, words []string) (string, error) {
	id, err := s.lease(words[0])
	if err != nil {
		return "", err
	}
	var opts []clientv3.LeaseOption
	if slices.Contains(words, "keys") {
		opts = append(opts, clientv3.WithAttachedKeys())
	}
	r, err := s.client.TimeToLive(ctx, id, opts...)
	if err != nil {
		return "", err
	}
	left := fmt.Sprintf("ttl %d", r.TTL)
	if slices.Contains(words, "whole") && r.TTL > r.GrantedTTL-2 {
		left = "the whole ttl"
	}
	got := fmt.Sprintf("%s of %d, rev %d", left, r.GrantedTTL, r.GetRevision())
	// The server returns the keys in the random order of a map.
	slices.SortFunc(r.Keys, func(a, b []byte) int { return strings.Compare(string(a), string(b)) })
	for _, key := range r.Keys {
		got += ", " + string(key)
	}
	return got, nil
}

func (s *scriptRunner) allLeases(ctx context.Context, _ []string) (string, error) {
	r, err := s.client.Leases(ctx)
	if err != nil {
		return "", err
	}
	got := []string{"leases"}
	for _, l := range r.Leases {
		got = append(got, fmt.Sprintf("%x", l.ID))
	}
	return strings.Join(got, " "), nil
}

func (s *scriptRunner) watch(_ context.Context, words []string) (string, error) {
	opts, err := s.options(words[2:])
	if err != nil {
		return "", err
	}
	// The watch lasts until it is cancelled.
	ctx, cancel := context.WithCancel(context.Background())
	events := s.client.Watch(ctx, strings.Trim(words[1], "'"), opts...)
	if s.watches == nil {
		s.watches = map[string]watching{}
	}
	s.watches[words[0]] = watching{events: events, ctx: ctx, cancel: cancel}
	return "", nil
}

// quiet is how long a script waits before it concludes that nothing arrives.
const quiet = 300 * time.Millisecond

func (s *scriptRunner) next(ctx context.Context, words []string) (string, error) {
	w, ok := s.watches[words[0]]
	if !ok {
		return "", &unknownWord{words[0]}
	}
	select {
	case r, ok := <-w.events:
		if !ok {
			return "closed", nil
		}
		return describeWatchResponse(r), nil
	case <-time.After(quiet):
		return "nothing", nil
	}
}

func describeWatchResponse(r clientv3.WatchResponse) string {
	texts := []string{fmt.Sprintf("rev %d", r.Header.GetRevision())}
	if r.Created {
		texts = append(texts, "created")
	}
	if r.IsProgressNotify() {
		texts = append(texts, "progress")
	}
	for _, ev := range r.Events {
		text := fmt.Sprintf("%v %s", ev.Type, describeKeyValue(ev.Kv))
		if ev.PrevKv != nil {
			text += " was " + describeKeyValue(ev.PrevKv)
		}
		texts = append(texts, text)
	}
	if r.Canceled {
		texts = append(texts, "cancelled")
	}
	if r.CompactRevision != 0 {
		texts = append(texts, fmt.Sprintf("compacted at %d", r.CompactRevision))
	}
	if err := r.Err(); err != nil {
		texts = append(texts, describeError(err))
	}
	return strings.Join(texts, ", ")
}

func (s *scriptRunner) progress(_ context.Context, words []string) (string, error) {
	return "", s.client.RequestProgress(s.watches[words[0]].ctx)
}

func (s *scriptRunner) cancel(_ context.Context, words []string) (string, error) {
	s.watches[words[0]].cancel()
	return "", nil
}

func (s *scriptRunner) status(ctx context.Context, _ []string) (string, error) {
	r, err := s.client.Status(ctx, s.client.Endpoints()[0])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d, leader %v, learner %v, errors %v", r.Header.GetRevision(), r.Leader == r.Header.GetMemberId(), r.IsLearner, r.Errors), nil
}

func (s *scriptRunner) members(ctx context.Context, _ []string) (string, error) {
	r, err := s.client.MemberList(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d", len(r.Members)), nil
}

func (s *scriptRunner) auth(ctx context.Context, _ []string) (string, error) {
	r, err := s.client.AuthStatus(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("enabled %v", r.Enabled), nil
}

func (s *scriptRunner) alarms(ctx context.Context, _ []string) (string, error) {
	r, err := s.client.AlarmList(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d", len(r.Alarms)), nil
}

func (s *scriptRunner) defragment(ctx context.Context, _ []string) (string, error) {
	if _, err := s.client.Defragment(ctx, s.client.Endpoints()[0]); err != nil {
		return "", err
	}
	return "done", nil
}

func (s *scriptRunner) hash(ctx context.Context, _ []string) (string, error) {
	r, err := s.client.HashKV(ctx, s.client.Endpoints()[0], 0)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d", r.Header.GetRevision()), nil
}
