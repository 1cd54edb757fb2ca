// Package jute reads jute, the encoding of ZooKeeper's protocol. Numbers are big-endian.
// Buffers and lists begin with their length, and the length -1 means null. Source: the
// package org.apache.jute of Apache ZooKeeper, class BinaryInputArchive.
package jute

import "encoding/binary"

// A Reader reads the values of one message from its beginning to its end. If the bytes end too
// early, the missing values read as zero, and the reader becomes short: IsShort then returns true.
type Reader struct {
	rest    []byte
	isShort bool
}

// NewReader returns a reader of the bytes, which it does not copy.
func NewReader(b []byte) *Reader { return &Reader{rest: b} }

// IsShort reports whether a value was missing.
func (r *Reader) IsShort() bool { return r.isShort }

// SetShort makes the reader short, for a message that makes no sense from here on.
func (r *Reader) SetShort() { r.rest, r.isShort = nil, true }

// Len returns how many bytes have not been read.
func (r *Reader) Len() int { return len(r.rest) }

// Take reads the next n bytes; nil if there are fewer.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.SetShort()
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// Bool reads a boolean value, of one byte.
func (r *Reader) Bool() bool {
	b := r.Take(1)
	return len(b) == 1 && b[0] != 0
}

// Int reads a number of 32 bits.
func (r *Reader) Int() int32 {
	b := r.Take(4)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

// Long reads a number of 64 bits.
func (r *Reader) Long() int64 {
	b := r.Take(8)
	if b == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// Buffer reads bytes with their length before them; null is nil.
func (r *Reader) Buffer() []byte {
	n := r.Int()
	if n == -1 {
		return nil
	}
	return r.Take(int(n))
}

// Text reads a text with its length before it; null is "".
func (r *Reader) Text() string { return string(r.Buffer()) }

// Each calls f for each entry of a list; f must read the entry. If the bytes end before the list
// does, the reader becomes short, and Each stops.
func (r *Reader) Each(f func()) {
	for n := r.Int(); n > 0 && !r.isShort; n-- {
		f()
	}
}

// Texts reads a list of texts.
func (r *Reader) Texts() (all []string) {
	r.Each(func() { all = append(all, r.Text()) })
	return all
}
