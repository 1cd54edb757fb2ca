package redis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/resp"
	"github.com/locksim/locksim/sim"
)

// respValues are values of every type of RESP 2 and RESP 3, and commands that are typed on
// one line.
var respValues = []string{
	"+OK\r\n", "-ERR no\r\n", ":-42\r\n", "_\r\n", "#t\r\n", ",1.5\r\n", "(12345678901234567890\r\n",
	"$-1\r\n", "$0\r\n\r\n", "$5\r\nhello\r\n", "$4\r\n\r\n\r\n\r\n", "=7\r\ntxt:abc\r\n", "!5\r\nERR x\r\n",
	"*-1\r\n", "*0\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "*2\r\n*1\r\n:1\r\n*2\r\n+a\r\n$-1\r\n", "~1\r\n+a\r\n",
	"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n", ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\nx\r\n", "|1\r\n+ttl\r\n:3600\r\n",
	"PING\r\n", "SET k v\n",
}

// The size of a value does not depend on the bytes after it, and an incomplete value has no
// size.
func TestRespSize(t *testing.T) {
	for _, value := range respValues {
		for _, rest := range []string{"", "+OK\r\n", "*2\r\n$3"} {
			if size := resp.Size([]byte(value + rest)); size != len(value) {
				t.Errorf("%q before %q: size %d, want %d", value, rest, size, len(value))
			}
		}
		if value[0] == '_' || len(value) < 3 {
			continue
		}
		for n := range len(value) {
			if size := resp.Size([]byte(value[:n])); size != 0 {
				t.Errorf("incomplete value %q: size %d, want 0", value[:n], size)
			}
		}
	}
}

// Bytes that are not RESP count as one value, so that the reader does not wait for its end
// forever.
func TestRespSizeOfMalformedBytes(t *testing.T) {
	for _, malformed := range []string{"$x\r\nabc\r\n", "*many\r\n", "%1\r\n+a\r\n$?\r\n"} {
		if size := resp.Size([]byte(malformed)); size != len(malformed) {
			t.Errorf("%q: size %d, want all %d", malformed, size, len(malformed))
		}
	}
}

// readRequest returns the words of a command. It returns none if the command is incomplete
// or malformed.
func TestReadRequest(t *testing.T) {
	for text, want := range map[string][]string{
		"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n":               {"GET", "k"},
		"*2\r\n$3\r\nGET\r\n$0\r\n\r\n":                {"GET", ""},
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\r\n\r\n": {"SET", "k", "\r\n"},
		"*0\r\n":        nil,
		"SET  k v\r\n":  {"SET", "k", "v"},
		"SET k 'a b'\n": {"SET", "k", "a b"},
	} {
		size, got, problem := readRequest([]byte(text + "*1\r\n"))
		if size != len(text) || !slices.Equal(got, want) || problem != "" {
			t.Errorf("%q: got size %d, words %q and error %q, want size %d, words %q and no error", text, size, got, problem, len(text), want)
		}
		for n := 1; n < len(text); n++ {
			if size, _, problem := readRequest([]byte(text[:n])); size != 0 || problem != "" {
				t.Errorf("incomplete command %q: got size %d and error %q, want size 0 and no error", text[:n], size, problem)
			}
		}
	}
}

// Each kind of reply has the right text in the trace.
func TestDescribeReply(t *testing.T) {
	for reply, want := range map[string]string{
		"":                   "",
		"+OK\r\n":            "OK",
		"-ERR no\r\n":        "ERR no",
		":7\r\n":             "7",
		"_\r\n":              "nil",
		"$-1\r\n":            "nil",
		"$5\r\nhello\r\n":    "hello",
		"*-1\r\n":            "nil",
		"*2\r\n:1\r\n:2\r\n": "(2 elements)",
		"%1\r\n+a\r\n:2\r\n": "(1 elements)",
	} {
		if got := resp.Describe([]byte(reply), sim.NewNames().Value); got != want {
			t.Errorf("reply %q: text %q, want %q", reply, got, want)
		}
	}
}

// A readable word is shown unchanged. A word that looks random is replaced by a name, which
// is always the same one for the same word.
func TestNamesOfWords(t *testing.T) {
	names := sim.NewNames()
	for _, plain := range []string{"v", "client-1", "lock:orders", "a_rather_long_name_in_one_case", "ERR VALUE IS NOT", "12345"} {
		if got := names.Value(plain); got != plain {
			t.Errorf("%q is shown as %q, want it unchanged", plain, got)
		}
	}
	random := []string{"0123456789abcdef0123456789abcdef", "q83vEjRWeJASNFZ4kBI0Vg==", "binary\x00\xff", "b1946ac92492d2347c6235b4d2611184"}
	for i, word := range random {
		want := "value-" + string(rune('1'+i))
		if first, again := names.Value(word), names.Value(word); first != want || again != want {
			t.Errorf("%q is shown as %q, then as %q, want both times %q", word, first, again, want)
		}
	}
	// A script and its SHA-1 have the same name.
	script := "return redis.call('get', KEYS[1])"
	sha := "4e6d8fc8bb01276962cce5371fa795a7763657ae"
	eval := describeCommand(names, []string{"eval", script, "1", "k"})
	if evalsha := describeCommand(names, []string{"evalsha", sha, "1", "k"}); eval != "EVAL script-1 1 k" || evalsha != "EVALSHA script-1 1 k" {
		t.Errorf("a script is shown in %q and %q, want it named script-1 in both", eval, evalsha)
	}
	// A lock's key is shown unchanged, even if it looks random.
	key := "0123456789abcdef0123456789abcdeX"
	if got := describeCommand(sim.NewNames(key), []string{"GET", key}); got != "GET "+key {
		t.Errorf("the lock's key is shown in %q, want it unchanged: %q", got, "GET "+key)
	}
}

// The framer cuts any input into pieces that are neither empty nor longer than the input.
// The pieces do not depend on how the input arrives. The framer stops at bytes that are not
// a command.
func FuzzFramer(f *testing.F) {
	for _, value := range respValues {
		f.Add([]byte(value), 1)
		f.Add([]byte(value+value[:len(value)/2]), 3)
	}
	for _, hostile := range []string{
		"*\n$", "\n", "*1000000000\r\n", "*1\r\n*1\r\n*1\r\n", "*1\r\n$536870913\r\n", "*1\r\n$9223372036854775807\r\n", "*2147483648\r\n",
		"SET \"\\x41\\n\" 'a\\'b'\r\n", "GET 'a\r\n", "PING\x00\r\n", "*1\r\x00\r\n",
	} {
		f.Add([]byte(hostile), 2)
	}
	cut := func(framer *framer, b []byte) (pieces []string, rest []byte) {
		for len(b) > 0 {
			size, frame := framer.Next(b)
			if size < 0 || size > len(b) {
				t := fmt.Sprintf("%q has size %d", b, size)
				panic(t)
			}
			if size == 0 {
				break
			}
			if framer.isBroken {
				return append(pieces, fmt.Sprint(frame.Body)), nil
			}
			pieces, b = append(pieces, fmt.Sprintf("%q %q", b[:size], frame.Body)), b[size:]
		}
		return pieces, b
	}
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		at = max(0, min(at, len(b)))
		whole, left := cut(&framer{names: sim.NewNames()}, b)
		parts := &framer{names: sim.NewNames()}
		first, rest := cut(parts, b[:at])
		if !parts.isBroken {
			var more []string
			more, rest = cut(parts, append(slices.Clone(rest), b[at:]...))
			first = append(first, more...)
		}
		if !slices.Equal(whole, first) || string(left) != string(rest) {
			t.Errorf("the input at once: pieces %q and rest %q; in two parts: pieces %q and rest %q; want the same", whole, left, first, rest)
		}
	})
}

// Any reply of a server is cut into pieces without a panic.
func FuzzRESP(f *testing.F) {
	for _, value := range respValues {
		f.Add([]byte(value))
		f.Add([]byte(value + value[:len(value)/2]))
	}
	f.Add([]byte("*\n$"))
	f.Add([]byte("\n"))
	f.Add([]byte("*1000000000\r\n"))
	f.Add([]byte("*1\r\n*1\r\n*1\r\n"))
	f.Add([]byte("$9223372036854775807\r\n"))
	f.Add([]byte("%4611686018427387904\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		size := resp.Size(b)
		if size < 0 || size > len(b) {
			t.Fatalf("%q has size %d", b, size)
		}
		resp.Describe(b[:size], sim.NewNames().Value)
		if size == 0 || size == len(b) {
			return
		}
		// Bytes after a value are not part of it.
		if again := resp.Size(b[:size]); again != size {
			t.Errorf("%q has size %d alone and size %d before %q, want the same", b[:size], again, size, b[size:])
		}
	})
}

// Values may be nested to any depth.
func TestRespSizeOfNestedValues(t *testing.T) {
	deep := strings.Repeat("*1\r\n", 1_000_000)
	if size := resp.Size([]byte(deep)); size != 0 {
		t.Errorf("a million nested arrays without an innermost value: size %d, want 0", size)
	}
	if size := resp.Size([]byte(deep + ":1\r\n" + "+OK\r\n")); size != len(deep)+4 {
		t.Errorf("a million nested arrays: size %d, want %d", size, len(deep)+4)
	}
}
