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
)

// The table, on a real etcd server: that of LOCKSIM_ETCD, or the one that is installed.
// Each case has one of its own.
func TestFidelityOfRealEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes eight seconds, in which real sessions live and expire")
	}
	program := etcdProgram()
	version, err := exec.Command(program, "--version").Output()
	if err != nil {
		skip(t, "there is no etcd server to compare with (%v); on Debian and Ubuntu: apt-get install etcd-server", err)
	}
	m := regexp.MustCompile(`Version: (\d+\.\d+)`).FindSubmatch(version)
	if m == nil {
		t.Fatalf("%s --version says %q", program, version)
	}
	as := newest
	switch string(m[1]) {
	case "3.4":
		as = old
	case "3.5", "3.6":
		skip(t, "the table tells what etcd 3.4 and 3.7 answer, and this is %s", version)
	}
	for _, f := range fidelities {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.run(t, &speaker{client: realEtcd(t, program), pass: time.Sleep}, as)
		})
	}
}

// etcdProgram is the server to run.
func etcdProgram() string { return cmp.Or(os.Getenv("LOCKSIM_ETCD"), "etcd") }

// skip skips a test, except where etcd is required, as in CI.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("LOCKSIM_REQUIRE_ETCD") != "" {
		t.Fatalf("LOCKSIM_REQUIRE_ETCD is set, but "+format, args...)
	}
	t.Skipf(format, args...)
}

// realEtcd starts a server in a directory of its own, on sockets in it, and returns a
// client of it.
func realEtcd(t *testing.T, program string) *clientv3.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "etcd") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	// It listens on HOST:PORT and on unix://HOST:PORT, which is a file in the directory that
	// it runs in.
	const clients, peers = "unix://clients:1", "unix://peers:1"
	server := exec.Command(program, "--data-dir", "data",
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	server.Dir = dir
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
		os.RemoveAll(dir)
		if t.Failed() {
			t.Logf("the server's log:\n%s", &log)
		}
	})
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"unix://" + filepath.Join(dir, "clients:1")},
		Logger:    zap.NewNop(),
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
