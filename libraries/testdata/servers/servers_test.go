package servers

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"github.com/jackc/pgx/v5/stdlib"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/locksim/locksim/libraries/consul"
	"github.com/locksim/locksim/libraries/kubernetes"
	"github.com/locksim/locksim/libraries/postgres"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// onPostgres is a lock that is held by a row of a table, which names the holder and the end of the lease.
type onPostgres struct {
	db          *sql.DB
	key, holder string
	ttl         time.Duration
}

const table = `CREATE TABLE IF NOT EXISTS locks (name text PRIMARY KEY, holder text NOT NULL, expires_at timestamptz NOT NULL)`

const take = `INSERT INTO locks AS l VALUES ($1, $2, now() + $3::interval) ON CONFLICT (name) DO UPDATE
	SET holder = excluded.holder, expires_at = excluded.expires_at WHERE l.expires_at < now()`

func (l onPostgres) Acquire(ctx context.Context) (locks.Lease, error) {
	taken, err := l.db.ExecContext(ctx, take, l.key, l.holder, l.ttl.String())
	if err != nil {
		return nil, err
	}
	if n, err := taken.RowsAffected(); err != nil || n == 0 {
		return nil, locks.ErrNotAcquired
	}
	return l, nil
}

func (l onPostgres) Release(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, `DELETE FROM locks WHERE name = $1`, l.key)
	return err
}

func TestOnPostgres(t *testing.T) {
	locktest.Run(t, locktest.Config{System: locks.Postgres}, func(env *locktest.Env) (locks.Lock, error) {
		config, err := postgres.Config(env.Base()) // for pgx.ConnectConfig and pgxpool, too
		if err != nil {
			return nil, err
		}
		db := stdlib.OpenDB(*config)
		env.Cleanup(func() { _ = db.Close() })
		_, err = db.Exec(table)
		return onPostgres{db, env.Key(), env.Client(), env.TTL()}, err
	})
}

// onConsul is a lock that is held by a key of a session that no client renews.
type onConsul struct {
	client *api.Client
	key    string
	ttl    time.Duration
}

func (l onConsul) Acquire(ctx context.Context) (locks.Lease, error) {
	with := new(api.WriteOptions).WithContext(ctx)
	session, _, err := l.client.Session().Create(&api.SessionEntry{TTL: l.ttl.String()}, with)
	if err != nil {
		return nil, err
	}
	got, _, err := l.client.KV().Acquire(&api.KVPair{Key: l.key, Session: session}, with)
	if err == nil && !got {
		err = locks.ErrNotAcquired
	}
	return consulLease{l, session}, err
}

type consulLease struct {
	onConsul
	session string
}

func (l consulLease) Release(ctx context.Context) error {
	_, _, err := l.client.KV().Release(&api.KVPair{Key: l.key, Session: l.session}, new(api.WriteOptions).WithContext(ctx))
	return err
}

func TestOnConsul(t *testing.T) {
	locktest.Run(t, locktest.Config{System: locks.Consul}, func(env *locktest.Env) (locks.Lock, error) {
		client, err := consul.Client(env.Base())
		return onConsul{client, env.Key(), env.TTL()}, err
	})
}

// onKubernetes is leader election by client-go.
type onKubernetes struct {
	env  *locktest.Env
	lock resourcelock.Interface
}

func (l onKubernetes) Acquire(ctx context.Context) (locks.Lease, error) {
	leads, over := make(chan struct{}), make(chan struct{})
	elector, err := kubernetes.Elector(l.env.Base(), leaderelection.LeaderElectionConfig{
		Lock:          l.lock,
		LeaseDuration: l.env.TTL(), RenewDeadline: l.env.TTL() * 2 / 3, RetryPeriod: l.env.TTL() / 10,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(leads) },
			OnStoppedLeading: func() { close(over) },
		},
	})
	if err != nil {
		return nil, err
	}
	quiet := klog.NewContext(l.env.Base().Lifetime(), klog.Logger{})
	quiet, cancel := context.WithCancel(quiet)
	go elector.Run(quiet)
	select {
	case <-leads:
		return kubernetesLease{l, cancel, over}, nil
	case <-ctx.Done():
		cancel()
		return nil, locks.ErrNotAcquired
	}
}

type kubernetesLease struct {
	onKubernetes
	cancel context.CancelFunc
	over   chan struct{}
}

func (l kubernetesLease) Release(context.Context) error {
	l.cancel()
	<-l.over
	return nil
}

// Lost is closed when the elector has given up.
func (l kubernetesLease) Lost() <-chan struct{} { return l.over }

// Session says that the lease lasts as long as its holder renews it.
func (l kubernetesLease) Session() string {
	return locks.KubernetesSession(l.env.Key(), l.lock.Identity())
}

func TestOnKubernetes(t *testing.T) {
	config := locktest.Config{System: locks.Kubernetes, Notifies: true}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		client, err := coordinationv1.NewForConfig(kubernetes.Config(env.Base()))
		namespace, name, _ := strings.Cut(locks.KubernetesLease(env.Key()), "/")
		return onKubernetes{env, &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: env.Client()},
		}}, err
	})
}
