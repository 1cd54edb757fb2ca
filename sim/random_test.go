package sim

import (
	"bytes"
	crypto "crypto/rand"
	"math/rand"
	"testing"
)

// Each world seeds the sources from which libraries draw, so a world draws the same numbers
// whatever ran before it. After a world, crypto/rand is as random as before.
func TestLibrariesAreSeeded(t *testing.T) {
	draw := func(seed uint64) (bytes []byte, number int64) {
		defer seedLibraries(seed)()
		bytes = make([]byte, 16)
		crypto.Read(bytes)
		return bytes, rand.Int63()
	}
	first, firstNumber := draw(1)
	outside := make([]byte, 16)
	crypto.Read(outside)
	again, againNumber := draw(1)
	other, otherNumber := draw(2)
	if !bytes.Equal(first, again) || firstNumber != againNumber {
		t.Errorf("a world drew %x and %d, and the same world later %x and %d", first, firstNumber, again, againNumber)
	}
	if bytes.Equal(first, other) || firstNumber == otherNumber {
		t.Errorf("two seeds gave the same numbers: %x, %d", first, firstNumber)
	}
	if bytes.Equal(outside, first) || bytes.Equal(outside, other) {
		t.Error("crypto/rand is seeded outside of worlds, too")
	}
}

// A world that begins while another one runs does not restart crypto/rand, so no value is
// drawn twice.
func TestSourceInUseIsNotRestarted(t *testing.T) {
	drawn := map[[16]byte]bool{}
	draw := func(world string) {
		var value [16]byte
		crypto.Read(value[:])
		if drawn[value] {
			t.Errorf("%s drew %x, which was drawn before", world, value)
		}
		drawn[value] = true
	}
	endFirst := seedLibraries(1)
	draw("the first world")
	endSecond := seedLibraries(1)
	draw("the second world")
	endFirst()
	draw("the second world, after the end of the first")
	endSecond()
}
