// Package script runs the Lua scripts of a Redis server as Redis runs them: in one
// interpreter that outlives them, whose globals nobody can change, with the commands of
// the server behind redis.call.
//
// It knows no server: what a script calls is a [Call].
package script

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// A Script is one that has been compiled. It never changes.
type Script struct {
	// SHA is its digest, by which EVALSHA names it.
	SHA  string
	main *lua.FunctionProto
}

// source is what Redis calls a script in the errors that it raises.
const source = "user_script"

// compiled are the scripts that any server was sent, because most worlds have the same.
var compiled = struct {
	sync.Mutex
	scripts map[string]*Script // by text
}{scripts: map[string]*Script{}}

// most of them are kept: a client may send another with each call.
const most = 1000

// longest is how long a script that is kept may be, in bytes.
const longest = 16 << 10

// Compile compiles a script. The error is as Redis's reply begins, without the name of the
// error and in the words of another parser.
func Compile(text string) (*Script, error) {
	compiled.Lock()
	defer compiled.Unlock()
	if s := compiled.scripts[text]; s != nil {
		return s, nil
	}
	s, err := compile(text)
	if err != nil {
		return nil, fmt.Errorf("Error compiling script (new function): %w", err) //lint:ignore ST1005 Redis says it so
	}
	if len(compiled.scripts) >= most {
		clear(compiled.scripts)
	}
	if len(text) <= longest {
		compiled.scripts[text] = s
	}
	return s, nil
}

func compile(text string) (*Script, error) {
	main, err := compileSource(strings.NewReader(text), source)
	if e := (*parse.Error)(nil); errors.As(err, &e) {
		if e.Pos.Line == parse.EOF {
			return nil, fmt.Errorf("%s:%d: %s near '<eof>'", source, strings.Count(text, "\n")+1, e.Message)
		}
		return nil, fmt.Errorf("%s:%d: %s near '%s'", source, e.Pos.Line, e.Message, e.Token)
	}
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(text))
	return &Script{SHA: hex.EncodeToString(sum[:]), main: main}, nil
}
