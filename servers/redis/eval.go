package redis

import (
	"fmt"
	"slices"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"

	"github.com/locksim/locksim/servers/redis/internal/script"
)

// storeScript compiles a script, and stores it so that EVALSHA can run it.
func (n *node) storeScript(text string) (*script.Script, error) {
	s, err := script.Compile(text)
	if err != nil {
		return nil, err
	}
	if n.scripts == nil {
		n.scripts = map[string]*script.Script{}
	}
	n.scripts[s.SHA] = s
	return s, nil
}

// correctEVAL runs a script in the interpreter of package script, in place of miniredis. For each
// script that it runs, miniredis makes a new interpreter, which takes longer than everything else
// that a lock does, and its error texts differ from Redis's.
func correctEVAL(n *node, c *mserver.Peer, name string, args []string) bool {
	name, readOnly := strings.CutSuffix(name, "_RO")
	count, ok := parseInteger(args[1])
	words := args[2:]
	switch {
	case !ok:
		return refuse(c, errNotAnInteger)
	case count < 0:
		return refuse(c, "ERR Number of keys can't be negative")
	case count > int64(len(words)):
		return refuse(c, "ERR Number of keys can't be greater than number of args")
	}
	s := n.scripts[strings.ToLower(args[0])]
	if name == "EVAL" {
		var err error
		if s, err = n.storeScript(args[0]); err != nil {
			return refuse(c, "ERR "+err.Error())
		}
	}
	if s == nil {
		return refuse(c, "NOSCRIPT No matching script. Please use EVAL.")
	}
	defer n.lock()()
	inner := n.openInner(c)
	defer inner.close()
	limits := script.Limits{Bytes: n.host.Room(), Stop: n.host.IsHeavy}
	reply, stopErr := n.mini.scriptInterpreter().Run(s, words[:count], words[count:], c.Resp3, limits, func(words []string, resp3 bool) []byte {
		inner.miniPeer.Resp3 = resp3
		return inner.runCommand(words, readOnly)
	})
	switch stopErr {
	case script.ErrMemory:
		n.host.Overflow()
	case script.ErrSteps:
		n.host.StopWorld(stopErr.Error())
	}
	answer := string(reply)
	n.checkLibrary(answer)
	c.WriteRaw(answer)
	return true
}

// runCommand executes a command that a script has called, and returns the reply. It refuses
// what Redis does not allow in scripts.
func (in *innerConnection) runCommand(words []string, readOnly bool) []byte {
	name := toUpper(words[0])
	server := in.n.mini.Server()
	switch {
	case !server.IsRegisteredCommand(name):
		in.n.refuseUnknown(words)
		return []byte("-ERR Unknown Redis command called from script\r\n")
	case slices.Contains(noscriptCommands, name):
		return []byte("-ERR This Redis command is not allowed from script\r\n")
	case canBlock(name, words):
		return fmt.Appendf(nil, "-ERR %s command is not allowed with BLOCK option from scripts\r\n", words[0])
	case in.n.repl.lacksReplicas() && in.n.isWrite(name, words):
		return []byte("-" + errNoReplicas + "\r\n")
	case !readOnly || server.IsReadOnlyCommand(name) || isHandshake(words) || slices.Contains(keylessCommands, name):
	case in.n.repl.isReadOnly():
		return []byte("-" + errReadOnly + "\r\n")
	default:
		return []byte("-ERR Write commands are not allowed from read-only scripts.\r\n")
	}
	reply := in.run(words...)
	if strings.HasPrefix(string(reply), "-ERR wrong number of arguments") {
		return []byte("-ERR Wrong number of args calling Redis command from script\r\n")
	}
	return reply
}

// noscriptCommands are the commands that scripts may not call: those that miniredis knows and that
// have the flag noscript in the reply of Redis 7.0 to COMMAND.
var noscriptCommands = []string{
	"AUTH", "BLMOVE", "BLPOP", "BRPOP", "BRPOPLPUSH", "BZPOPMAX", "BZPOPMIN", "CLIENT", "DISCARD", "EVAL", "EVALSHA",
	"EVALSHA_RO", "EVAL_RO", "EXEC", "HELLO", "MULTI", "PSUBSCRIBE", "PUNSUBSCRIBE", "QUIT", "ROLE", "SCRIPT",
	"SUBSCRIBE", "UNSUBSCRIBE", "UNWATCH", "WAIT", "WATCH",
}

// keylessCommands are commands that read-only scripts may call although miniredis does not
// list them as read-only: they do not touch keys.
var keylessCommands = []string{"ECHO", "TIME"}

// correctSCRIPT answers the subcommands of SCRIPT for the scripts that storeScript stores.
func correctSCRIPT(n *node, c *mserver.Peer, _ string, args []string) bool {
	switch subcommand := toUpper(args[0]); {
	case subcommand == "LOAD" && len(args) == 2:
		s, err := n.storeScript(args[1])
		if err != nil {
			return refuse(c, "ERR "+err.Error())
		}
		c.WriteBulk(s.SHA)
	case subcommand == "EXISTS" && len(args) > 1:
		c.WriteLen(len(args) - 1)
		for _, sha := range args[1:] {
			known := 0
			if n.scripts[strings.ToLower(sha)] != nil {
				known = 1
			}
			c.WriteInt(known)
		}
	case subcommand == "FLUSH" && (len(args) == 1 || len(args) == 2 && slices.Contains([]string{"SYNC", "ASYNC"}, toUpper(args[1]))):
		n.scripts = nil
		c.WriteOK()
	default:
		return false
	}
	return true
}

// lock locks miniredis until unlock is called, so that goroutines of miniredis that wait for a
// change cannot run in the middle of a script or a transaction. If miniredis is already locked,
// neither lock nor unlock does anything.
func (n *node) lock() (unlock func()) {
	if n.isMiniLocked {
		return func() {}
	}
	n.mini.Lock()
	n.isMiniLocked = true
	return func() {
		n.isMiniLocked = false
		n.mini.Unlock()
	}
}
