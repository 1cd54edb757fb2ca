package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Hash identifies the run: two runs with the same hash had the same events. Writing a trace
// as JSON and reading it again does not change its hash.
func (t *Trace) Hash() string {
	h := sha256.New()
	var event bytes.Buffer
	enc := json.NewEncoder(&event)
	for i := range t.Events {
		event.Reset()
		if err := enc.Encode(&t.Events[i]); err != nil {
			panic(err) // an Event holds only values that JSON can express
		}
		// Go's JSON encoder writes bytes that are not valid UTF-8 as the escape \ufffd.
		// When the trace is read again, the text contains the character itself, which the
		// encoder does not escape. Both forms must give the same hash, so the escape is
		// replaced by the character.
		h.Write(bytes.ReplaceAll(event.Bytes(), []byte(`\ufffd`), []byte("\ufffd")))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
