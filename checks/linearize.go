package checks

import (
	"encoding/binary"
	"math"

	"github.com/anishathalye/porcupine"

	"github.com/locksim/locksim/history"
)

// patience bounds porcupine's search by the steps it takes and not by time, so
// that every run of it ends alike. It is enough for any history whose sections
// do not overlap by the dozen. A step copies the state of all objects, so that where
// there are more than roomy of them it counts for several.
const (
	patience = 200_000
	roomy    = 100
)

// opinion is what porcupine says of a history.
type opinion string

const (
	serial      opinion = "serial"
	notSerial   opinion = "not-serial"
	notSearched opinion = "not-searched"
)

// A visit is one operation of a section, with objects and versions numbered.
type visit struct {
	object      int
	write       bool
	sees, makes uint32
}

// linearize asks porcupine whether sections can be put one after the other. Each
// is one operation, from acquire returned to release called, on a resource that
// has all objects: each of its reads must return the version that it did return,
// and each of its writes replace exactly the version that it did replace.
func linearize(sections []*history.Section) opinion {
	objects := map[string]int{}
	numbers := map[*history.Version]uint32{}
	// A version that nobody made is number 0 of its object.
	number := func(v *history.Version) uint32 {
		if v.Made == nil {
			return 0
		}
		if numbers[v] == 0 {
			numbers[v] = uint32(len(numbers) + 1)
		}
		return numbers[v]
	}
	var told []porcupine.Operation
	for _, s := range sections {
		var visits []visit
		for _, o := range s.Work() {
			name := o.Sees.Object
			if _, known := objects[name]; !known {
				objects[name] = len(objects)
			}
			v := visit{object: objects[name], sees: number(o.Sees)}
			if o.Makes != nil {
				v.write, v.makes = true, number(o.Makes)
			}
			visits = append(visits, v)
		}
		op := porcupine.Operation{Input: visits, Call: int64(s.From.Seq), Return: math.MaxInt64}
		if s.To != history.Never {
			op.Return = int64(s.To.Seq)
		}
		told = append(told, op)
	}
	steps, cost := 0, 1+len(objects)/roomy
	model := porcupine.Model{
		Init: func() any { return string(make([]byte, 4*len(objects))) },
		// The history is one partition, so one goroutine takes all steps.
		Step: func(state, input, _ any) (bool, any) {
			if steps += cost; steps > patience {
				return false, state
			}
			now := []byte(state.(string))
			for _, v := range input.([]visit) {
				at := now[4*v.object:]
				if binary.BigEndian.Uint32(at) != v.sees {
					return false, state
				}
				if v.write {
					binary.BigEndian.PutUint32(at, v.makes)
				}
			}
			return true, string(now)
		},
	}
	switch ok := porcupine.CheckOperations(model, told); {
	case ok:
		return serial
	case steps > patience:
		return notSearched
	}
	return notSerial
}

// disagreement says so if the two checkers do not agree; else it is zero.
func disagreement(ours Outcome, porcupines opinion) Reason {
	switch {
	case porcupines == notSearched || (ours == Holds) == (porcupines == serial):
		return Reason{}
	case porcupines == serial:
		return porcupineFindsOrder.Reason(ours)
	}
	return porcupineFindsNone.Reason(ours)
}
