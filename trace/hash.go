package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Hash identifies the run: two runs with one hash had the same events. A trace that
// was written as JSON and read again has the hash that it had.
func (t *Trace) Hash() string {
	h := sha256.New()
	var event bytes.Buffer
	enc := json.NewEncoder(&event)
	for i := range t.Events {
		event.Reset()
		if err := enc.Encode(&t.Events[i]); err != nil {
			panic(err) // an Event holds nothing that JSON cannot
		}
		// Of bytes that are no text JSON keeps only the sign that stands for them.
		h.Write(bytes.ReplaceAll(event.Bytes(), []byte(`\ufffd`), []byte("\ufffd")))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
