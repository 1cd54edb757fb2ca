// Package script runs the Lua scripts of a Redis server as Redis runs them: in one
// interpreter that outlives them and whose globals no script can change, with the commands
// of the server behind redis.call.
//
// It is independent of the server: a script's commands go to a [Call].
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

// A Script is a compiled script. It never changes.
type Script struct {
	// SHA is its digest, by which EVALSHA identifies it.
	SHA  string
	main *lua.FunctionProto
}

// source is Redis's name for a script in errors.
const source = "user_script"

// compiled are the scripts that any server has received, because most worlds have the same
// ones.
var compiled = struct {
	sync.Mutex
	scripts map[string]*Script // by text
}{scripts: map[string]*Script{}}

// maxKept is how many compiled scripts are kept: a client may send another one with each
// call.
const maxKept = 1000

// maxKeptLength is the maximum length of a script that is kept, in bytes.
const maxKeptLength = 16 << 10

// Compile compiles a script. Its error begins like Redis's reply, without the name of the
// error; the rest is in the words of another parser.
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
	if len(compiled.scripts) >= maxKept {
		clear(compiled.scripts)
	}
	if len(text) <= maxKeptLength {
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
