package etcd_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// A holding is a session of a script, and the lock or the election that it holds.
type holding struct {
	session  *concurrency.Session
	mutex    *concurrency.Mutex
	election *concurrency.Election
	result   chan string // gets the result of a Lock that runs in the background
}

func (s *scriptRunner) holder(name string) (*holding, error) {
	if h, ok := s.holders[name]; ok {
		return h, nil
	}
	return nil, &unknownWord{name}
}

func (s *scriptRunner) session(_ context.Context, words []string) (string, error) {
	ttl, _ := strconv.Atoi(words[1])
	session, err := concurrency.NewSession(s.client, concurrency.WithTTL(ttl))
	if err != nil {
		return "", err
	}
	if s.holders == nil {
		s.holders = map[string]*holding{}
	}
	s.holders[words[0]] = &holding{session: session}
	s.rememberLease(words[0], session.Lease())
	return "", nil
}

func (s *scriptRunner) endSession(_ context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	return "", h.session.Close()
}

func (s *scriptRunner) orphan(_ context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	h.session.Orphan()
	return "", nil
}

func (s *scriptRunner) lost(_ context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	select {
	case <-h.session.Done():
		return "true", nil
	default:
		return "false", nil
	}
}

// withTimeout limits the time of a command that ends with "for DURATION".
func withTimeout(ctx context.Context, words []string) (context.Context, context.CancelFunc) {
	for i, word := range words {
		if word == "for" {
			if d, err := time.ParseDuration(words[i+1]); err == nil {
				return context.WithTimeout(ctx, d)
			}
		}
	}
	return context.WithCancel(ctx)
}

func (s *scriptRunner) lock(ctx context.Context, words []string) (string, error) {
	return s.acquireMutex(ctx, words, (*concurrency.Mutex).Lock)
}

func (s *scriptRunner) tryLock(ctx context.Context, words []string) (string, error) {
	return s.acquireMutex(ctx, words, (*concurrency.Mutex).TryLock)
}

func (s *scriptRunner) acquireMutex(ctx context.Context, words []string, lock func(*concurrency.Mutex, context.Context) error) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	ctx, cancel := withTimeout(ctx, words)
	defer cancel()
	m := concurrency.NewMutex(h.session, words[1])
	if err := lock(m, ctx); err != nil {
		return "", err
	}
	h.mutex = m
	owner := m.IsOwner()
	made := owner.GetCompare().GetTargetUnion().(*etcdserverpb.Compare_CreateRevision).CreateRevision
	return fmt.Sprintf("%s made in %d, got in %d", m.Key(), made, m.Header().GetRevision()), nil
}

func (s *scriptRunner) unlock(ctx context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	return "", h.mutex.Unlock(ctx)
}

func (s *scriptRunner) isOwner(ctx context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	r, err := s.client.Txn(ctx).If(h.mutex.IsOwner()).Then(clientv3.OpGet(h.mutex.Key())).Commit()
	if err != nil {
		return "", err
	}
	return fmt.Sprint(r.Succeeded), nil
}

func (s *scriptRunner) campaign(ctx context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	ctx, cancel := withTimeout(ctx, words)
	defer cancel()
	e := concurrency.NewElection(h.session, words[1])
	if err := e.Campaign(ctx, words[2]); err != nil {
		return "", err
	}
	h.election = e
	return fmt.Sprintf("%s made in %d, got in %d", e.Key(), e.Rev(), e.Header().GetRevision()), nil
}

func (s *scriptRunner) proclaim(ctx context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	if err := h.election.Proclaim(ctx, words[1]); err != nil {
		return "", err
	}
	return fmt.Sprintf("rev %d", h.election.Header().GetRevision()), nil
}

func (s *scriptRunner) resign(ctx context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	return "", h.election.Resign(ctx)
}

func (s *scriptRunner) leader(ctx context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	r, err := concurrency.NewElection(h.session, words[1]).Leader(ctx)
	if err != nil {
		return "", err
	}
	return describeKeyValue(r.Kvs[0]), nil
}

func (s *scriptRunner) wait(_ context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	h.result = make(chan string, 1)
	h.mutex = concurrency.NewMutex(h.session, words[1])
	go func() {
		if err := h.mutex.Lock(s.client.Ctx()); err != nil {
			h.result <- describeError(err)
			return
		}
		h.result <- fmt.Sprintf("got in %d", h.mutex.Header().GetRevision())
	}()
	s.pass(quiet) // long enough for its key to exist
	return "", nil
}

func (s *scriptRunner) got(_ context.Context, words []string) (string, error) {
	h, err := s.holder(words[0])
	if err != nil {
		return "", err
	}
	s.pass(quiet)
	select {
	case got := <-h.result:
		return got, nil
	default:
		return "waits", nil
	}
}
