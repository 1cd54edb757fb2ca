package redis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// A stream is what a client writes on a connection, and what it must then read.
type stream struct {
	written, read string
	hangsUp       bool // whether the server then closes the connection
}

// violation returns a stream that violates the protocol, so that the server answers with an
// error and closes the connection.
func violation(written, why string) stream {
	return stream{written, "-ERR Protocol error: " + why + "\r\n", true}
}

const ping, pong = "*1\r\n$4\r\nPING\r\n", "+PONG\r\n"

var long = strings.Repeat("1", 64<<10)

// streams are commands and malformed commands, with the answers of Redis 7. Before 7.0, a
// command could have no more than 1,048,576 words.
var streams = []stream{
	{written: ping + "PING\r\n" + ping, read: pong + pong + pong},
	{written: "*0\r\n*-1\r\n*-10\r\n\r\n\n  \r\n" + ping, read: pong},
	{written: "*1\r\n$4\r\nPINGxx" + ping, read: pong + pong},
	{written: "*1\rx$4\ryPING\r\n" + ping, read: pong + pong},
	{written: "*1\r\n$0\r\n\r\n", read: "-ERR unknown command '', with args beginning with: \r\n"},
	violation("*2147483648\r\n", "invalid multibulk length"),
	violation("*1000000000\r\n"+"PING\r\n", "expected '$', got 'P'"),
	violation("*many\r\n", "invalid multibulk length"),
	violation("*\r\n", "invalid multibulk length"),
	violation("*01\r\n", "invalid multibulk length"),
	violation("*+1\r\n", "invalid multibulk length"),
	violation("*1\n$4\r\n", "invalid multibulk length"),
	violation(ping+"*x\r\n"+ping, "invalid multibulk length").withAnswers(pong),
	violation(strings.Repeat("*1\r\n", 100_000), "expected '$', got '*'"),
	violation("*1\r\n:1\r\n", "expected '$', got ':'"),
	violation("*1\r\n\n\r\n", "expected '$', got ' '"),
	violation("*1\r\n$-1\r\n", "invalid bulk length"),
	violation("*1\r\n$x\r\n", "invalid bulk length"),
	violation("*2\r\n$4\r\nECHO\r\n$536870913\r\n", "invalid bulk length"),
	violation("*2\r\n$4\r\nECHO\r\n$9223372036854775808\r\n", "invalid bulk length"),
	{written: "*2\r\n$4\r\nECHO\r\n$536870912\r\nx"},
	{written: "*2147483647\r\n$4\r\nPING\r\n"},
	{written: "PING\x00\r\n" + ping},
	{written: long},
	violation(long+"1", "too big inline request"),
	violation("*"+long, "too big mbulk count string"),
	violation("*1\r\n$"+long, "too big bulk count string"),
	{written: "SET a 'b c' px\t\"\\x31\\x30000\"\r\nGET \"\\a\\b\\t\\n\\r\\\"\"\r\nECHO a\\n'b\\'\\n'\r\nGET a\r\n",
		read: "+OK\r\n$-1\r\n$7\r\na\\nb'\\n\r\n$3\r\nb c\r\n"},
	violation("GET \"a\r\n", "unbalanced quotes in request"),
	violation("GET 'a'b\r\n", "unbalanced quotes in request"),
	{written: "host: redis\r\n" + ping, hangsUp: true},
	{written: "POST / HTTP/1.1\r\n\r\n", hangsUp: true},
	{written: "*1\r\n$4\r\nQUIT\r\n" + ping, read: "+OK\r\n", hangsUp: true},
	{written: "$3\r\n+OK\r\n%1\r\n\xff\r\n", read: "-ERR unknown command '$3', with args beginning with: \r\n-ERR unknown command '+OK', with args beginning with: \r\n" +
		"-ERR unknown command '%1', with args beginning with: \r\n-ERR unknown command '\xff', with args beginning with: \r\n"},
	{written: "nothing a '" + long[:120] + "' " + long[:200] + " b\r\n", read: "-ERR unknown command 'nothing', with args beginning with: 'a' '" + long[:120] + "' '" + long[:1] + "' \r\n"},
	{written: "'n\\no\nthing' \"a\x01\\r\"\r\n", read: "-ERR Protocol error: unbalanced quotes in request\r\n", hangsUp: true},
	{written: "nothing \"a\\r\\n\" \"b\\x00c\"\r\n" + long[:200] + "\r\n", read: "-ERR unknown command 'nothing', with args beginning with: 'a  ' 'b' \r\n-ERR unknown command '" + long[:128] + "', with args beginning with: \r\n"},
}

// withAnswers returns the stream with more expected answers, before those that it already
// has.
func (s stream) withAnswers(answers string) stream {
	s.read = answers + s.read
	return s
}

// check writes the stream to a server, and compares the answers. After the last expected
// answer, it waits for a while to see whether more arrive.
func (s stream) check(c net.Conn) error {
	go func() { _, _ = io.WriteString(c, s.written) }()
	got := make([]byte, len(s.read))
	_ = c.SetReadDeadline(time.Now().Add(patience))
	n, err := io.ReadFull(c, got)
	if err != nil || string(got[:n]) != s.read {
		return fmt.Errorf("%.80q: got answer %.300q and error %v, want answer %.300q", s.written, got[:n], err, s.read)
	}
	if !s.hangsUp {
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	}
	more, err := c.Read(make([]byte, 1000))
	if open := errors.Is(err, os.ErrDeadlineExceeded); more > 0 || open == s.hangsUp {
		return fmt.Errorf("after the answer to %.80q: got %d more bytes and error %v, want no bytes, and that the server closes the connection: %t", s.written, more, err, s.hangsUp)
	}
	return nil
}

// Our nodes give the answers in streams, and then still serve other connections.
func TestProtocolOfOurNodes(t *testing.T) {
	for _, s := range streams {
		cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			c, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			defer c.Close()
			if err := s.check(c); err != nil {
				t.Error(err)
			}
			again, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			defer again.Close()
			return stream{written: ping, read: pong}.check(again) // the node serves the next connection
		}))
		RunWorld(t, cfg)
	}
}
