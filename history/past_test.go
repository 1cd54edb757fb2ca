package history_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
)

func TestReadersKnowThePast(t *testing.T) {
	scenarios := roof.Playable()
	if testing.Short() {
		scenarios = scenarios[:8]
	}
	if p := roof.KnowThePast(t, scenarios); p.Moments == 0 || p.Keys == 0 || p.Dark == 0 || p.Hindsight == 0 {
		t.Errorf("%+v: the worlds show too little", p)
	}
}
