package zookeeper

import "encoding/binary"

// A writer encodes values in jute, which package jute describes.
type writer struct{ b []byte }

func (w *writer) bool(v bool) {
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) int(v int32)  { w.b = binary.BigEndian.AppendUint32(w.b, uint32(v)) }
func (w *writer) long(v int64) { w.b = binary.BigEndian.AppendUint64(w.b, uint64(v)) }

func (w *writer) buffer(v []byte) {
	if v == nil {
		w.int(-1)
		return
	}
	w.int(int32(len(v)))
	w.b = append(w.b, v...)
}

func (w *writer) string(v string) {
	w.int(int32(len(v)))
	w.b = append(w.b, v...)
}

func (w *writer) strings(all []string) {
	w.int(int32(len(all)))
	for _, v := range all {
		w.string(v)
	}
}

// framed returns what was written as a message, which begins with its length.
func (w *writer) framed() []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(w.b)), uint32(len(w.b))), w.b...)
}
