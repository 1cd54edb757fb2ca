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
		// JSON replaces bytes that are no valid text by U+FFFD, written as an escape. Text
		// that was read back from JSON contains the character itself.
		h.Write(bytes.ReplaceAll(event.Bytes(), []byte(`\ufffd`), []byte("\ufffd")))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
