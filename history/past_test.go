package history_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
)

func TestReadersKnowThePast(t *testing.T) {
	told := roof.Playable()
	if testing.Short() {
		told = told[:8]
	}
	if p := roof.KnowThePast(t, told); p.Moments == 0 || p.Keys == 0 || p.Dark == 0 || p.Hindsight == 0 {
		t.Errorf("%+v: the worlds show too little", p)
	}
}
