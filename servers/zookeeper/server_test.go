package zookeeper_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/servers/zookeeper"
	"github.com/locksim/locksim/sim"
)

// ensembleWorld returns a world with this many servers, and clients that run programs.
func ensembleWorld(servers int, clients ...sim.Client) sim.Config {
	cfg := ToyWorld(clients...)
	cfg.Nodes = Nodes("zookeeper", servers)
	return cfg
}

// openSession writes the first message of a connection, which asks for a session, and reads
// the answer.
func openSession(c net.Conn) error {
	if _, err := c.Write(zookeeper.Hello(0, nil)); err != nil {
		return err
	}
	size := make([]byte, 4)
	if _, err := io.ReadFull(c, size); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, binary.BigEndian.Uint32(size)))
	return err
}

// A client sends any bytes. The server must still answer other clients.
func FuzzServer(f *testing.F) {
	all := zookeeper.Samples()
	f.Add(bytes.Join(all, nil), uint8(1))
	f.Add(bytes.Join(all, nil), uint8(3))
	for _, m := range all {
		f.Add(m[:len(m)/2], uint8(1))
		f.Add(append(binary.BigEndian.AppendUint32(nil, uint32(len(m)-6)), m[4:len(m)-2]...), uint8(3))
	}
	f.Add([]byte("ruok"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, servers uint8) {
		feed := func(ctx context.Context, p *sim.Program) error {
			c, err := p.Env().Dial(ctx, "tcp", p.Env().Nodes[0])
			if err != nil {
				return err
			}
			defer c.Close()
			if err := openSession(c); err != nil {
				return err
			}
			if _, err := c.Write(b); err != nil {
				return err
			}
			c.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
			return nil
		}
		check := func(ctx context.Context, p *sim.Program) error {
			SleepUntil(10 * time.Second)
			c, err := p.Env().Dial(ctx, "tcp", p.Env().Nodes[0])
			if err != nil {
				return err
			}
			defer c.Close()
			return openSession(c)
		}
		RunWorld(t, ensembleWorld(1+int(servers%3), Client(t, "client-1", feed), Client(t, "client-2", check)))
	})
}

// If a client sends a request that a real server supports and this one does not, the run is
// inconclusive.
func TestRequestsThatAreNotServed(t *testing.T) {
	// The indexes in Samples of two requests that are not served and of one that is.
	for i, want := range map[int]string{
		15: "zookeeper-1 was asked for createContainer, which a real ZooKeeper server does and this one does not",
		18: "zookeeper-1 was asked for whoAmI, which a real ZooKeeper server does and this one does not",
		0:  "",
	} {
		tr := RunWorld(t, ensembleWorld(1, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			c, err := p.Env().Dial(ctx, "tcp", p.Env().Nodes[0])
			if err != nil {
				return err
			}
			defer c.Close()
			if err := openSession(c); err != nil {
				return err
			}
			_, err = c.Write(zookeeper.Samples()[i])
			time.Sleep(time.Second)
			return err
		})))
		Equal(t, fmt.Sprintf("the doubts of the run after sample %d", i), strings.Join(tr.Doubts, ", "), want)
	}
	// These are all unsupported opcodes, and one that does not exist.
	for op, want := range map[int32]string{
		17: "checkWatches", 18: "removeWatches", 20: "deleteContainer", 22: "multiRead", 102: "sasl", 103: "getEphemerals",
		104: "getAllChildrenNumber", 105: "setWatches2", 106: "addWatch", 107: "whoAmI", 99: "",
	} {
		header := binary.BigEndian.AppendUint32(nil, 8)
		header = binary.BigEndian.AppendUint32(header, 1)
		doubts := doubtsAfter(t, binary.BigEndian.AppendUint32(header, uint32(op)))
		if want != "" {
			want = "zookeeper-1 was asked for " + want + ", which a real ZooKeeper server does and this one does not"
		}
		Equal(t, fmt.Sprintf("the doubts of the run after opcode %d", op), doubts, want)
	}
	// A container node in a multi: the header of an operation, the path, no data, no ACL,
	// the flags, and the header of the end.
	container := []byte("\x00\x00\x00\x13\x00\xff\xff\xff\xff" + "\x00\x00\x00\x02/c" + "\xff\xff\xff\xff" + "\x00\x00\x00\x00" + "\x00\x00\x00\x04" + "\xff\xff\xff\xff\x01\xff\xff\xff\xff")
	multi := binary.BigEndian.AppendUint32(nil, uint32(8+len(container)))
	multi = append(append(multi, "\x00\x00\x00\x01\x00\x00\x00\x0e"...), container...)
	Equal(t, "the doubts of the run after a multi with a container", doubtsAfter(t, multi), "zookeeper-1 was asked for createContainer, which a real ZooKeeper server does and this one does not")
}

// doubtsAfter returns the doubts of a run in which a client writes bytes in its session.
func doubtsAfter(t *testing.T, b []byte) string {
	t.Helper()
	tr := RunWorld(t, ensembleWorld(1, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		c, err := p.Env().Dial(ctx, "tcp", p.Env().Nodes[0])
		if err != nil {
			return err
		}
		defer c.Close()
		if err := openSession(c); err != nil {
			return err
		}
		_, err = c.Write(b)
		time.Sleep(time.Second)
		return err
	})))
	return strings.Join(tr.Doubts, ", ")
}

// A four-letter command, which an operator sends at the beginning of a connection, makes
// the run inconclusive too.
func TestFourLetterCommands(t *testing.T) {
	for command, want := range map[string]string{
		"ruok": "zookeeper-1 was asked for ruok, which a real ZooKeeper server does and this one does not",
		"stat": "zookeeper-1 was asked for stat, which a real ZooKeeper server does and this one does not",
		"none": "",
	} {
		tr := RunWorld(t, ensembleWorld(1, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			c, err := p.Env().Dial(ctx, "tcp", p.Env().Nodes[0])
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.Write([]byte(command))
			time.Sleep(time.Second)
			return err
		})))
		Equal(t, "the doubts of the run after "+command, strings.Join(tr.Doubts, ", "), want)
	}
}
