//go:build unix

package zookeeper_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// This runs the scripts on a real server: that of Debian's package, or the one in
// LOCKSIM_ZOOKEEPER_CLASSPATH. All scripts use the same server, each below a node of its
// own. They run one after the other, because they count transactions; only the slow ones,
// which do not count them, run at the same time.
func TestFidelityOfRealZooKeeper(t *testing.T) {
	addr := realZooKeeper(t)
	for _, slow := range []bool{false, true} {
		for i, f := range fidelities {
			if f.isSlow != slow {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				if slow {
					t.Parallel()
				}
				s := &script{t: t, root: fmt.Sprintf("/root%02d", i), slack: 10 * time.Second, dial: func() (net.Conn, error) { return net.Dial("tcp", addr) }}
				late := time.AfterFunc(time.Minute, s.giveUp)
				defer late.Stop()
				want := f.want
				if f.real != "" {
					want = f.real
				}
				f.compare(t, s.play(f), want)
			})
		}
	}
}

// realZooKeeper starts a server and returns its address.
func realZooKeeper(t *testing.T) string {
	if os.Getenv("LOCKSIM_REQUIRE_ZOOKEEPER") == "" {
		t.Skip("this test starts a real server only if LOCKSIM_REQUIRE_ZOOKEEPER=1")
	}
	if testing.Short() {
		t.Skip("this test takes twelve seconds, which a real session needs to expire")
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Fatalf("there is no Java to run a ZooKeeper server with; on Debian and Ubuntu: apt-get install zookeeper default-jre-headless")
	}
	classes := os.Getenv("LOCKSIM_ZOOKEEPER_CLASSPATH")
	if classes == "" {
		classes = "/usr/share/java/zookeeper.jar"
		if _, err := os.Stat(classes); err != nil {
			t.Fatalf("there is no ZooKeeper server to compare with: %v; on Debian and Ubuntu: apt-get install zookeeper", err)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	dir := t.TempDir()
	settings := filepath.Join(dir, "zoo.cfg")
	if err := os.WriteFile(settings, fmt.Appendf(nil, `tickTime=2000
dataDir=%s
clientPort=%d
clientPortAddress=127.0.0.1
maxClientCnxns=0
admin.enableServer=false
`, dir, port), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	server := exec.Command(java, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classes,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", settings)
	server.Stdout, server.Stderr, server.Dir = &log, &log, dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
		if t.Failed() {
			t.Logf("the server's log:\n%s", &log)
		}
	})
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		switch got := version(addr); {
		case strings.HasPrefix(got, "3.8."):
			return addr
		case got != "":
			t.Skipf("the scripts have the answers of ZooKeeper 3.8, and this server is %s", got)
		}
	}
	t.Fatal("the server does not answer in a minute")
	return ""
}

// version returns the version of a server, or "" if the server does not answer yet. A
// server that is starting may accept a connection, and then neither answer on it nor close
// it.
func version(addr string) string {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return ""
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := c.Write([]byte("srvr")); err != nil {
		return ""
	}
	answer, _ := io.ReadAll(c)
	_, rest, _ := strings.Cut(string(answer), "Zookeeper version: ")
	number, _, _ := strings.Cut(rest, "-")
	return number
}
