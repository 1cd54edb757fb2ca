package zookeeper

import "encoding/binary"

// A reader parses jute, ZooKeeper's encoding. Numbers are big-endian. Buffers and lists
// begin with their length, and the length -1 means null. If the bytes end too early, the
// missing values read as zero, and the reader is short.
type reader struct {
	b       []byte
	isShort bool
}

// take removes and returns the next n bytes.
func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.b, r.isShort = nil, true
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) bool() bool {
	b := r.take(1)
	return len(b) == 1 && b[0] != 0
}

func (r *reader) int() int32 {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

func (r *reader) long() int64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// buffer reads a buffer; null is nil.
func (r *reader) buffer() []byte {
	n := r.int()
	if n == -1 {
		return nil
	}
	return r.take(int(n))
}

func (r *reader) string() string { return string(r.buffer()) }

// each calls f for each entry of a list. If the list claims to have more entries than there
// are bytes, the reader becomes short, and each stops.
func (r *reader) each(f func()) {
	for n := r.int(); n > 0 && !r.isShort; n-- {
		f()
	}
}

func (r *reader) strings() (all []string) {
	r.each(func() { all = append(all, r.string()) })
	return all
}

// A writer encodes values in jute.
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
