package etcd_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// This runs the scripts of the table on a real etcd server: the one that LOCKSIM_ETCD
// names, or the installed one. Each script gets a new server.
func TestFidelityOfRealEtcd(t *testing.T) {
	as := realDialect(t)
	for _, f := range fidelities {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.run(t, &scriptRunner{client: startEtcd(t).client(t), pass: time.Sleep}, as)
		})
	}
}

// etcdProgram returns the path of the server to run. It skips the test with -short, because
// a real session takes seconds to expire.
func etcdProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a real session takes seconds to expire")
	}
	return cmp.Or(os.Getenv("LOCKSIM_ETCD"), "etcd")
}

// realDialect returns the dialect of the server that can be run.
func realDialect(t *testing.T) dialect {
	t.Helper()
	program := etcdProgram(t)
	version, err := exec.Command(program, "--version").Output()
	if err != nil {
		skip(t, "there is no etcd server to compare with (%v); on Debian and Ubuntu: apt-get install etcd-server", err)
	}
	m := regexp.MustCompile(`Version: (\d+\.\d+)`).FindSubmatch(version)
	if m == nil {
		t.Fatalf("%s --version prints %q, want a line with the version", program, version)
	}
	switch string(m[1]) {
	case "3.4":
		return old
	case "3.5", "3.6":
		skip(t, "the scripts have the answers of etcd 3.4 and 3.7, and this server is %s", version)
	}
	return newest
}

// skip skips a test, or fails it where etcd is required, as in CI.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("LOCKSIM_REQUIRE_ETCD") != "" {
		t.Fatalf("LOCKSIM_REQUIRE_ETCD is set, but "+format, args...)
	}
	t.Skipf(format, args...)
}

// A realEtcd is a real server with its own directory, which contains its sockets.
type realEtcd struct {
	program   string
	dir, data string
	process   *exec.Cmd
	log       bytes.Buffer
}

// The addresses on which the server listens. etcd wants HOST:PORT; with unix:// that is the
// name of a file in the directory in which the server runs.
const (
	forClients = "clients:1"
	forPeers   = "peers:1"
	clientsURL = "unix://" + forClients
	peersURL   = "unix://" + forPeers
)

// startEtcd starts a server for a test.
func startEtcd(t *testing.T) *realEtcd {
	t.Helper()
	dir, err := os.MkdirTemp("", "etcd") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	r := &realEtcd{program: etcdProgram(t), dir: dir, data: "data"}
	t.Cleanup(func() {
		r.stop()
		os.RemoveAll(dir)
		if t.Failed() {
			t.Logf("the server's log:\n%s", &r.log)
		}
	})
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *realEtcd) start() error {
	r.process = exec.Command(r.program, "--data-dir", r.data,
		"--listen-client-urls", clientsURL, "--advertise-client-urls", clientsURL,
		"--listen-peer-urls", peersURL, "--initial-advertise-peer-urls", peersURL, "--initial-cluster", "default="+peersURL)
	r.process.Dir = r.dir
	r.process.Stdout, r.process.Stderr = &r.log, &r.log
	return r.process.Start()
}

func (r *realEtcd) stop() {
	if r.process != nil && r.process.Process != nil {
		r.process.Process.Kill()
		r.process.Wait()
	}
	// A killed server leaves its sockets behind.
	os.Remove(filepath.Join(r.dir, forClients))
	os.Remove(filepath.Join(r.dir, forPeers))
}

// client returns a client of the server, as soon as the server replies.
func (r *realEtcd) client(t *testing.T, options ...grpc.DialOption) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{"unix://" + filepath.Join(r.dir, forClients)},
		Logger:      zap.NewNop(),
		DialOptions: options,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := client.Get(ctx, "ready"); err != nil {
		t.Fatal(fmt.Errorf("the server does not answer: %w", err))
	}
	return client
}
