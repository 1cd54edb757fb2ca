package explore

import (
	"bytes"
	"encoding/json"
)

// A seal is the last field of each line of a ledger: the checksum of the rest of the line.
// It shows if a line was damaged or edited. It is not a signature: anybody can forge it.
const (
	sealBefore = `,"sum":"`
	sealAfter  = `"}`
	sealLength = len(sealBefore) + hashLength + len(sealAfter)
)

// addSeal encodes an object as a line of JSON with its seal, but without a line end.
func addSeal(v any) ([]byte, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte("}"))
	return append(line, sealBefore+hashOf(line)+sealAfter...), nil
}

// removeSeal returns the object of a line without the seal. ok is false if the seal is
// missing or wrong.
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
