package jute_test

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/internal/jute"
)

// Values are read in the order in which they are in the message.
func TestReader(t *testing.T) {
	r := jute.NewReader([]byte("\x01" + "\xff\xff\xff\xfe" + "\x00\x00\x00\x00\x00\x00\x01\x00" +
		"\x00\x00\x00\x02/a" + "\xff\xff\xff\xff" + "\x00\x00\x00\x02\x00\x00\x00\x01x\x00\x00\x00\x00" + "rest"))
	if v := r.Bool(); !v {
		t.Error("the boolean value is false")
	}
	if v := r.Int(); v != -2 {
		t.Errorf("the number is %d, want -2", v)
	}
	if v := r.Long(); v != 256 {
		t.Errorf("the long number is %d, want 256", v)
	}
	if v := r.Text(); v != "/a" {
		t.Errorf("the text is %q, want /a", v)
	}
	if v := r.Buffer(); v != nil {
		t.Errorf("the null buffer is %q, want nil", v)
	}
	if v := r.Texts(); !slices.Equal(v, []string{"x", ""}) {
		t.Errorf(`the list is %q, want "x" and ""`, v)
	}
	if r.Len() != 4 || r.IsShort() {
		t.Errorf("%d bytes are left and short is %v, want 4 and false", r.Len(), r.IsShort())
	}
}

// A value that claims to be longer than the message reads as zero, and ends a list.
func TestReaderOfShortMessages(t *testing.T) {
	for name, message := range map[string]string{
		"a number of three bytes":                 "\x00\x00\x01",
		"a list with a text that is too long":     "\x00\x00\x00\x01" + "\x00\x00\x00\x09/a",
		"a list with a text of a negative length": "\x00\x00\x00\x01\x80\x00\x00\x00/a",
		"a list of two thousand million":          "\x7f\xff\xff\xff\x00\x00\x00\x01x",
	} {
		r := jute.NewReader([]byte(message))
		if r.Texts(); !r.IsShort() || r.Len() != 0 || r.Long() != 0 {
			t.Errorf("%s: short is %v with %d bytes left, want true and 0", name, r.IsShort(), r.Len())
		}
	}
}
