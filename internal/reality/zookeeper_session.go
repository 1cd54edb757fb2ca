package reality

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/locksim/locksim/internal/jute"
)

// A zooKeeperSession is a session of the harness itself with a ZooKeeper server.
type zooKeeperSession struct {
	conn   net.Conn
	in     *bufio.Reader
	pause  time.Duration // between two pings
	notify func(path string, isDeleted bool)

	mu sync.Mutex // guards the fields below, and writing
	// number counts the requests. waiting are the receivers of answers, by number.
	number  int32
	waiting map[int32]chan []byte
	isRead  bool // see startReading
	hasDied bool
}

// The opcodes of the requests that the harness sends, and of the requests whose changes it needs to
// know: ZooDefs.OpCode in ZooKeeper's source.
const (
	zkCreate          = 1
	zkDelete          = 2
	zkExists          = 3
	zkSetData         = 5
	zkGetChildren     = 8
	zkSync            = 9
	zkPing            = 11
	zkMulti           = 14
	zkCreate2         = 15
	zkCreateContainer = 19
	zkCreateTTL       = 21
	zkAddWatch        = 106
	zkCloseSession    = -11
)

// The numbers of messages that answer no request, and of those that answer a ping.
const (
	zkNotification = -1
	zkPong         = -2
)

// errNoNode is the answer about a node that does not exist.
var errNoNode = errors.New("there is no such node")

// openZooKeeperSession opens a session.
func openZooKeeperSession(address string) (*zooKeeperSession, error) {
	conn, err := net.DialTimeout("tcp", address, zooKeeperPatience)
	if err != nil {
		return nil, err
	}
	s := &zooKeeperSession{conn: conn, in: bufio.NewReader(conn), waiting: map[int32]chan []byte{}}
	_ = conn.SetDeadline(time.Now().Add(zooKeeperPatience))
	const longest = 60 * time.Second // the server gives less
	hello := make([]byte, 0, 64)
	hello = binary.BigEndian.AppendUint32(hello, 0) // the version of the protocol
	hello = binary.BigEndian.AppendUint64(hello, 0) // the last change that the client has seen
	hello = binary.BigEndian.AppendUint32(hello, uint32(longest/time.Millisecond))
	hello = binary.BigEndian.AppendUint64(hello, 0) // a new session
	hello = appendBuffer(hello, make([]byte, 16))   // its password
	_, err = conn.Write(appendBuffer(nil, append(hello, 0)))
	var answer []byte
	if err == nil {
		answer, err = s.readMessage()
	}
	if err == nil && len(answer) < 16 {
		err = errors.New("the answer to a connection is too short")
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	s.pause = time.Duration(binary.BigEndian.Uint32(answer[4:])) * time.Millisecond / 4
	return s, nil
}

// appendBuffer appends bytes with their length before them.
func appendBuffer(b, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(data))), data...)
}

// readMessage reads one message, which begins with its length.
func (s *zooKeeperSession) readMessage() ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(s.in, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > zkLargest {
		return nil, fmt.Errorf("a message of ZooKeeper claims to have %d bytes; the most is %d", n, zkLargest)
	}
	message := make([]byte, n)
	_, err := io.ReadFull(s.in, message)
	return message, err
}

// send sends a request with the given number.
func (s *zooKeeperSession) send(number, op int32, body []byte) error {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(number)), uint32(op))
	_, err := s.conn.Write(appendBuffer(nil, append(header, body...)))
	return err
}

// ask sends a request and returns what follows the header of the answer.
func (s *zooKeeperSession) ask(op int32, body []byte) ([]byte, error) {
	s.mu.Lock()
	if s.hasDied {
		s.mu.Unlock()
		return nil, net.ErrClosed
	}
	s.number++
	answered := make(chan []byte, 1)
	s.waiting[s.number] = answered
	err := s.send(s.number, op, body)
	isRead := s.isRead
	s.mu.Unlock()
	for err == nil && !isRead && len(answered) == 0 {
		_ = s.conn.SetReadDeadline(time.Now().Add(zooKeeperPatience))
		err = s.readOne()
	}
	if err != nil {
		return nil, err
	}
	var answer []byte
	select {
	case answer = <-answered:
	case <-time.After(zooKeeperPatience):
	}
	if len(answer) < 16 {
		return nil, errors.New("a ZooKeeper server does not answer")
	}
	const noNode = -101
	switch code := int32(binary.BigEndian.Uint32(answer[12:])); code {
	case 0:
		return answer[16:], nil
	case noNode:
		return nil, errNoNode
	default:
		return nil, fmt.Errorf("ZooKeeper answers with the error %d", code)
	}
}

// readOne reads one message and passes it on.
func (s *zooKeeperSession) readOne() error {
	message, err := s.readMessage()
	if err != nil {
		return err
	}
	if len(message) < 16 {
		return errors.New("a message is too short")
	}
	number := int32(binary.BigEndian.Uint32(message))
	if number == zkNotification {
		body := jute.NewReader(message[16:])
		kind, _, path := body.Int(), body.Int(), body.Text()
		if s.notify != nil && kind >= 1 && kind <= 3 {
			s.notify(path, kind == 2)
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if answered := s.waiting[number]; answered != nil {
		answered <- message
		delete(s.waiting, number)
	}
	return nil
}

// startReading records that from now on only [zooKeeperSession.readAll] reads messages.
func (s *zooKeeperSession) startReading() {
	_ = s.conn.SetReadDeadline(time.Time{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isRead = true
}

// readAll reads messages until the connection ends.
func (s *zooKeeperSession) readAll() error {
	for {
		if err := s.readOne(); err != nil {
			s.close()
			return err
		}
	}
}

// keepAlive sends pings until the connection ends.
func (s *zooKeeperSession) keepAlive() {
	for {
		time.Sleep(s.pause)
		s.mu.Lock()
		hasDied := s.hasDied
		if !hasDied {
			hasDied = s.send(zkPong, zkPing, nil) != nil
		}
		s.mu.Unlock()
		if hasDied {
			return
		}
	}
}

// close ends the connection. The session ends some time later.
func (s *zooKeeperSession) close() {
	s.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hasDied = true
	for number, answered := range s.waiting {
		close(answered)
		delete(s.waiting, number)
	}
}

// watchAll asks for notifications of all changes of all nodes.
func (s *zooKeeperSession) watchAll() error {
	const recursive = 1
	_, err := s.ask(zkAddWatch, binary.BigEndian.AppendUint32(appendBuffer(nil, []byte("/")), recursive))
	return err
}

// sync returns when the server knows all that was committed before.
func (s *zooKeeperSession) sync() error {
	_, err := s.ask(zkSync, appendBuffer(nil, []byte("/")))
	return err
}

// A zooKeeperNode has the server's data about a node: the changes that created it and last
// wrote it, and the session to which it is bound, in hexadecimal; "" if to none.
type zooKeeperNode struct {
	created, written int64
	session          string
}

// node asks about a node.
func (s *zooKeeperSession) node(path string) (n zooKeeperNode, err error) {
	stat, err := s.ask(zkExists, append(appendBuffer(nil, []byte(path)), 0))
	const ownerAt = 44 // the session in the structure Stat
	if err == nil && len(stat) < ownerAt+8 {
		err = errors.New("the answer about a node is too short")
	}
	if err != nil {
		return n, err
	}
	n.created, n.written = int64(binary.BigEndian.Uint64(stat)), int64(binary.BigEndian.Uint64(stat[8:]))
	if owner := binary.BigEndian.Uint64(stat[ownerAt:]); owner != 0 {
		n.session = strconv.FormatUint(owner, 16)
	}
	return n, nil
}

// children lists the children of a node.
func (s *zooKeeperSession) children(path string) ([]string, error) {
	answer, err := s.ask(zkGetChildren, append(appendBuffer(nil, []byte(path)), 0))
	if err != nil {
		return nil, err
	}
	return jute.NewReader(answer).Texts(), nil
}
