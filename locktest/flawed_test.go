package locktest

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// A flaw is one mistake of a lock that is otherwise right. The empty flaw is none.
type flaw string

const (
	deletesAnything  flaw = "release deletes the key, whoever has set it"
	prolongsAnything flaw = "extend prolongs the key, whoever has set it"
	revives          flaw = "extend sets the key again if it is gone"
	believesErrors   flaw = "extend counts an error as a yes"
	reusesValue      flaw = "all attempts of a client have one value"
	ignoresTime      flaw = "acquire does not look how long it took"
	adopts           flaw = "a second try that meets the key of the first counts as if it had set it"
	forgets          flaw = "a failed attempt removes its key only from where it was told that it stands"
)

// flawed is Redlock, one node asked after the other, with a flaw. On one node it is
// the usual lock with SET NX.
type flawed struct {
	flaw
	env   *Env
	value string
}

// withFlaw makes such locks.
func withFlaw(f flaw) New {
	return func(env *Env) (locks.Lock, error) {
		l := &flawed{flaw: f, env: env}
		l.value = l.newValue()
		return l, nil
	}
}

func (l *flawed) newValue() string {
	var b [16]byte
	io.ReadFull(l.env.Rand(), b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func (l *flawed) now() fakeclock.Reading { return l.env.Clock().Read(fakeclock.Monotonic) }

// A command asks one node and says whether it did what it was asked.
type command func(context.Context, *redis.Client) (bool, error)

// ask asks some nodes and returns those that said yes, and how many did not answer.
func (l *flawed) ask(ctx context.Context, nodes []int, c command) (yes []int, silent int) {
	for _, i := range nodes {
		bounded, cancel := fakeclock.WithTimeout(ctx, l.env.Clock(), l.env.TTL()/20)
		did, err := c(bounded, l.env.Redis(i))
		cancel()
		switch {
		case err != nil:
			silent++
		case did:
			yes = append(yes, i)
		}
	}
	return yes, silent
}

func (l *flawed) all() (nodes []int) {
	for i := range l.env.Nodes() {
		nodes = append(nodes, i)
	}
	return nodes
}

func (l *flawed) quorum() int { return l.env.Nodes()/2 + 1 }

var errNo = errors.New("no quorum")

func (l *flawed) Acquire(ctx context.Context) (locks.Lease, error) {
	lease := &flawedLease{flawed: l, value: l.value}
	if l.flaw != reusesValue {
		lease.value = l.newValue()
	}
	start := l.now()
	granted, silent := l.ask(ctx, l.all(), lease.set)
	if l.flaw == adopts && silent > 0 {
		start = l.now()
		granted, _ = l.ask(ctx, l.all(), lease.setAgain)
	}
	lease.lasts(start)
	if len(granted) >= l.quorum() && (l.flaw == ignoresTime || lease.ends.Sub(l.now()) > 0) {
		return lease, nil
	}
	if l.flaw != forgets {
		granted = l.all()
	}
	l.ask(context.WithoutCancel(ctx), granted, lease.remove)
	return nil, errNo
}

type flawedLease struct {
	*flawed
	value string
	ends  fakeclock.Reading
}

// lasts has the lease last for a TTL, less what the clocks may differ by.
func (l *flawedLease) lasts(since fakeclock.Reading) {
	l.ends = since.Add(l.env.TTL() - l.env.TTL()/100 - 2*time.Millisecond)
}

func (l *flawedLease) Expires() fakeclock.Reading { return l.ends }

func (l *flawedLease) Release(ctx context.Context) error {
	l.ask(ctx, l.all(), l.remove)
	return nil
}

func (l *flawedLease) Extend(ctx context.Context) error {
	start := l.now()
	yes, silent := l.ask(ctx, l.all(), l.prolong)
	n := len(yes)
	if l.flaw == believesErrors {
		n += silent
	}
	if n < l.quorum() {
		return locks.ErrLost
	}
	if l.lasts(start); l.ends.Sub(l.now()) <= 0 {
		return locks.ErrLost
	}
	return nil
}

func (l *flawedLease) set(ctx context.Context, node *redis.Client) (bool, error) {
	err := node.Do(ctx, "SET", l.env.Key(), l.value, "NX", "PX", l.env.TTL().Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

func (l *flawedLease) setAgain(ctx context.Context, node *redis.Client) (bool, error) {
	if did, err := l.set(ctx, node); did || err != nil {
		return did, err
	}
	found, err := node.Get(ctx, l.env.Key()).Result()
	return found == l.value, err
}

func (l *flawedLease) remove(ctx context.Context, node *redis.Client) (bool, error) {
	if l.flaw == deletesAnything {
		n, err := node.Del(ctx, l.env.Key()).Result()
		return n > 0, err
	}
	return l.script(ctx, node, `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) end return 0`)
}

func (l *flawedLease) prolong(ctx context.Context, node *redis.Client) (bool, error) {
	switch l.flaw {
	case prolongsAnything:
		return node.PExpire(ctx, l.env.Key(), l.env.TTL()).Result()
	case revives:
		return l.script(ctx, node, `local is = redis.call("get",KEYS[1])
			if is and is ~= ARGV[1] then return 0 end
			redis.call("set",KEYS[1],ARGV[1],"PX",ARGV[2])
			return 1`)
	}
	return l.script(ctx, node, `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) end return 0`)
}

func (l *flawedLease) script(ctx context.Context, node *redis.Client, text string) (bool, error) {
	n, err := redis.NewScript(text).Run(ctx, node, []string{l.env.Key()}, l.value, l.env.TTL().Milliseconds()).Int()
	return n > 0, err
}
