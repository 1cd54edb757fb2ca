package explore

import (
	"bytes"
	"encoding/json"
)

// A line of a ledger ends with its seal: a last field with the checksum of the rest of the
// line. It reveals a line that was damaged or edited. It is not a signature: anybody can
// forge it.
const (
	sealBefore = `,"sum":"`
	sealAfter  = `"}`
	sealLength = len(sealBefore) + hashLength + len(sealAfter)
)

// addSeal encodes an object as a line of JSON with its seal, without the line end.
func addSeal(v any) ([]byte, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte("}"))
	return append(line, sealBefore+hashOf(line)+sealAfter...), nil
}

// removeSeal returns the object of a line without its seal. ok is false if the line is not
// as it was written.
func removeSeal(line []byte) (object []byte, ok bool) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) < sealLength {
		return nil, false
	}
	object, seal := line[:len(line)-sealLength], line[len(line)-sealLength:]
	if string(seal) != sealBefore+hashOf(object)+sealAfter {
		return nil, false
	}
	return append(bytes.Clone(object), '}'), true
}
