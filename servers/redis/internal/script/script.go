// Package script runs the Lua scripts of a Redis server as Redis runs them. All scripts of
// a server run in one interpreter, whose globals no script can change. When a script calls
// redis.call, the server executes the command.
//
// The package is independent of the server: it passes the commands of a script to a [Call].
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
	// SHA is the SHA-1 digest of the script's text, by which EVALSHA identifies it.
	SHA  string
	main *lua.FunctionProto
}

// scriptName is Redis's name for a script in error messages.
const scriptName = "user_script"

// compiled keeps compiled scripts for all servers of this program, because most worlds send
// the same scripts.
var compiled = struct {
	sync.Mutex
	scripts map[string]*Script // by text
}{scripts: map[string]*Script{}}

// maxCompiled is how many compiled scripts are kept. There is a limit because a client may
// send a different script with each call.
const maxCompiled = 1000

// maxCompiledLength is the maximum length of a script that is kept, in bytes.
const maxCompiledLength = 16 << 10

// Compile compiles a script. The text of an error begins as in Redis's reply, without the
// ERR. The rest differs, because Redis uses another parser.
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
	if len(compiled.scripts) >= maxCompiled {
		clear(compiled.scripts)
	}
	if len(text) <= maxCompiledLength {
		compiled.scripts[text] = s
	}
	return s, nil
}

// compile compiles a script, and gives a syntax error the form that errors have in Redis.
func compile(text string) (*Script, error) {
	main, err := compileSource(strings.NewReader(text), scriptName)
	if e := (*parse.Error)(nil); errors.As(err, &e) {
		if e.Pos.Line == parse.EOF {
			return nil, fmt.Errorf("%s:%d: %s near '<eof>'", scriptName, strings.Count(text, "\n")+1, e.Message)
		}
		return nil, fmt.Errorf("%s:%d: %s near '%s'", scriptName, e.Pos.Line, e.Message, e.Token)
	}
	if err != nil {
		return nil, err
	}
	// The interpreter would make the table arg of Lua 5.0 for each run. No script can see it,
	// because arg is a variable only in functions.
	main.IsVarArg &^= lua.VarArgNeedsArg
	sum := sha1.Sum([]byte(text))
	return &Script{SHA: hex.EncodeToString(sum[:]), main: main}, nil
}
