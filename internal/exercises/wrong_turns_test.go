package exercises

import (
	"strings"
	"testing"
)

// acquireScript declares a script that sets a key which does not exist.
const acquireScript = "var acquire = redis.NewScript(`\nif redis.call(\"set\", KEYS[1], ARGV[1], \"nx\", \"px\", ARGV[2]) then\n\treturn 1\nend\nreturn 0`)\n\n"

// Plausible mistakes stop a lock at the stage that they are about, and other ways to write a
// right lock do not.
func TestWrongTurns(t *testing.T) {
	turns := []struct {
		name string
		// stage is the stage of the solution that is changed, and reaches the stage that the
		// changed lock reaches.
		stage, reaches int
		changes        []string // old, new, old, new …
	}{
		{"no expiry", 1, 0, []string{`"locked", l.ttl)`, `"locked", 0)`}},
		{"expiry in a second command", 1, 0, []string{
			`"locked", l.ttl).Result()`, `"locked", 0).Result()
	if set {
		l.nodes[0].PExpire(ctx, l.key, l.ttl)
	}`}},
		{"half an expiry", 1, 0, []string{`"locked", l.ttl)`, `"locked", l.ttl/2)`}},
		{"no release", 1, 0, []string{`return l.lock.nodes[0].Del(ctx, l.lock.key).Err()`, `return nil`}},
		{"one value for each handle", 3, 1, []string{
			"\tttl   time.Duration\n}", "\tttl   time.Duration\n\tvalue string\n}",
			"&Lock{nodes, key, ttl}", "&Lock{nodes, key, ttl, rand.Text()}", "value := rand.Text()", "value := l.value"}},
		{"counted from the answer", 4, 3, []string{
			"lease, nil\n\tcase err == nil:", "&Lease{l, lease.value, time.Now().Add(l.ttl)}, nil\n\tcase err == nil:"}},
		{"no look at the clock", 4, 3, []string{"case err == nil && time.Now().Before(lease.expires):", "case err == nil && len(lease.value) > 0:"}},
		{"clean-up with the context of the caller", 4, 3, []string{"context.WithoutCancel(ctx)", "ctx"}},
		{"no clean-up", 4, 3, []string{"_ = lease.Release(cleanUp)", "_ = cleanUp"}},
		{"a script that acquires, and no clean-up", 5, 3, []string{
			`set, err := l.nodes[0].SetNX(ctx, l.key, lease.value, l.ttl).Result()`,
			`short, cancelShort := context.WithTimeout(ctx, l.ttl/10)
	defer cancelShort()
	n, err := acquire.Run(short, l.nodes[0], []string{l.key}, lease.value, l.ttl.Milliseconds()).Int()
	set := n == 1`,
			"// Acquire tries", acquireScript + "// Acquire tries",
			"_ = lease.Release(cleanUp)", "_ = cleanUp"}},
		{"a script that acquires, and no look at the clock", 5, 3, []string{
			`set, err := l.nodes[0].SetNX(ctx, l.key, lease.value, l.ttl).Result()`,
			`n, err := acquire.Run(ctx, l.nodes[0], []string{l.key}, lease.value, l.ttl.Milliseconds()).Int()
	set := n == 1`,
			"// Acquire tries", acquireScript + "// Acquire tries",
			"case err == nil && time.Now().Before(lease.expires):", "case err == nil && len(lease.value) > 0:"}},
		{"a script that acquires, and an expiry in a second command", 5, 0, []string{
			`set, err := l.nodes[0].SetNX(ctx, l.key, lease.value, l.ttl).Result()`,
			`n, err := acquire.Run(ctx, l.nodes[0], []string{l.key}, lease.value).Int()
	set := n == 1
	if set {
		l.nodes[0].PExpire(ctx, l.key, l.ttl)
	}`,
			"// Acquire tries", strings.Replace(acquireScript, `, "px", ARGV[2]`, "", 1) + "// Acquire tries"}},
		{"extends whatever is there", 5, 4, []string{
			`extended, err := extendOwn.Run(ctx, l.lock.nodes[0], []string{l.lock.key}, l.value, l.lock.ttl.Milliseconds()).Int()`,
			`extended, err := 1, l.lock.nodes[0].PExpire(ctx, l.lock.key, l.lock.ttl).Err()`}},
		{"compares, and then extends", 5, 4, []string{
			`extended, err := extendOwn.Run(ctx, l.lock.nodes[0], []string{l.lock.key}, l.value, l.lock.ttl.Milliseconds()).Int()`,
			`extended := 0
	value, err := l.lock.nodes[0].Get(ctx, l.lock.key).Result()
	if err == nil && value == l.value {
		extended, err = 1, l.lock.nodes[0].PExpire(ctx, l.lock.key, l.lock.ttl).Err()
	}`}},
		{"sets the key again", 5, 4, []string{"return redis.call(\"pexpire\", KEYS[1], ARGV[2])\nend\nreturn 0", "return redis.call(\"pexpire\", KEYS[1], ARGV[2])\nend\nredis.call(\"set\", KEYS[1], ARGV[1], \"px\", ARGV[2])\nreturn 1"}},
		{"a script that extends any key, with a timeout", 5, 4, []string{
			"if redis.call(\"get\", KEYS[1]) == ARGV[1] then\n\treturn redis.call(\"pexpire\"", "if redis.call(\"exists\", KEYS[1]) == 1 then\n\treturn redis.call(\"pexpire\"",
			`extended, err := extendOwn.Run(ctx,`, `short, cancel := context.WithTimeout(ctx, l.lock.ttl/10)
	defer cancel()
	extended, err := extendOwn.Run(short,`}},
		{"does not extend", 5, 4, []string{"extended, err := extendOwn.Run(ctx, l.lock.nodes[0], []string{l.lock.key}, l.value, l.lock.ttl.Milliseconds()).Int()", "extended, err := 1, error(nil)"}},
		{"two of five are enough", 6, 5, []string{"len(l.nodes)/2 + 1", "max(1, len(l.nodes)/2)"}},
		{"all five are needed", 6, 5, []string{"len(l.nodes)/2 + 1", "len(l.nodes)"}},
		{"waits long for each node", 6, 5, []string{"min(l.ttl/10, 200*time.Millisecond)", "2 * l.ttl"}},
		{"leaves keys behind", 6, 3, []string{"_ = lease.Release(context.WithoutCancel(ctx))", ""}},
		{"extends on any node", 6, 5, []string{"if extended < l.lock.quorum() ||", "if extended < 1 ||"}},
		{"a script that extends any key on the nodes", 6, 4, []string{
			"if redis.call(\"get\", KEYS[1]) == ARGV[1] then\n\treturn redis.call(\"pexpire\"", "if redis.call(\"exists\", KEYS[1]) == 1 then\n\treturn redis.call(\"pexpire\""}},
		{"does not write the token back", 7, 6, []string{"\tif granted >= l.quorum() {\n", "\tif false {\n"}},
		{"counts on the first node that answers", 7, 6, []string{"lease.token = max(lease.token, n)", "if lease.token == 0 {\n\t\t\tlease.token = n\n\t\t}"}},
		{"the time as a token", 6, 7, []string{"// quorum is", `// Token returns a time: a perfect clock gives a right token.
func (l *Lease) Token() uint64 { return uint64(l.expires.Add(-l.lock.ttl).UnixNano()) }

// quorum is`}},

		// Right in another way.
		{"a transaction in place of the script", 3, 3, []string{
			`removed, err := removeOwn.Run(ctx, l.lock.nodes[0], []string{l.lock.key}, l.value).Int()`,
			`removed := 0
	err := l.lock.nodes[0].Watch(ctx, func(tx *redis.Tx) error {
		value, err := tx.Get(ctx, l.lock.key).Result()
		if err != nil && !errors.Is(err, redis.Nil) || value != l.value {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Del(ctx, l.lock.key).Err() })
		if err == nil {
			removed = 1
		}
		return err
	}, l.lock.key)
	if errors.Is(err, redis.TxFailedErr) {
		err = nil
	}`}},
		{"a script that acquires", 5, 5, []string{
			`set, err := l.nodes[0].SetNX(ctx, l.key, lease.value, l.ttl).Result()`,
			`n, err := acquire.Run(ctx, l.nodes[0], []string{l.key}, lease.value, l.ttl.Milliseconds()).Int()
	set := n == 1`,
			"// Acquire tries", acquireScript + "// Acquire tries"}},
		{"one node after the other", 6, 6, []string{
			"\tctx, cancel := context.WithTimeout(ctx, l.askTimeout())\n\tdefer cancel()\n", "",
			"min(l.ttl/10, 200*time.Millisecond)", "l.ttl / 40",
			"go func() { answers <- do(ctx, node) }()\n\t}\n\tcount := 0\n\tfor range l.nodes {\n\t\tif <-answers {\n\t\t\tcount++\n\t\t}\n", `ctx, cancel := context.WithTimeout(ctx, l.askTimeout())
		if do(ctx, node) {
			count++
		}
		cancel()
`, "answers := make(chan bool)", "count := 0"}},
	}
	var locks [][]byte
	for _, turn := range turns {
		text := string(solution(t, turn.stage))
		for i := 0; i < len(turn.changes); i += 2 {
			if !strings.Contains(text, turn.changes[i]) {
				t.Fatalf("the solution of stage %d does not contain %q", turn.stage, turn.changes[i])
			}
			text = strings.ReplaceAll(text, turn.changes[i], turn.changes[i+1])
		}
		locks = append(locks, []byte(text))
	}
	for i, trial := range newWorkshop(t).openAll(t, locks) {
		t.Run(turns[i].name, func(t *testing.T) {
			got, why := reached(t, trial)
			if got != turns[i].reaches {
				t.Errorf("it reaches stage %d, want %d: %+v", got, turns[i].reaches, why)
			}
			if why != nil {
				t.Logf("%s: %s %s", why.Address, why.Why, why.Example)
			}
		})
	}
}
