package checks

import (
	"encoding/binary"
	"math"

	"github.com/anishathalye/porcupine"

	"github.com/locksim/locksim/history"
)

// maxSteps bounds porcupine's search by the number of its steps and not by time, so that
// every run gives the same result. It is enough for any history in which fewer than a dozen
// sections overlap. A step copies the state of all objects, so with more than
// objectsPerStep objects it counts as several steps.
const (
	patience = 200_000
	roomy    = 100
)

// A porcupineResult is porcupine's result for a history.
type opinion string

const (
	serial      opinion = "serial"
	notSerial   opinion = "not-serial"
	notSearched opinion = "not-searched"
)

// An objectAccess is one operation of a section, with objects and versions numbered.
type visit struct {
	object      int
	write       bool
	sees, makes uint32
}

// linearize asks porcupine whether sections can be ordered one after the other. Each
// section is one operation, from acquire returned to release called, on a resource that
// holds all objects. Each of its reads must return the version that it did return, and each
// of its writes must replace the version that it did replace.
func linearize(sections []*history.Section) opinion {
	objects := map[string]int{}
	numbers := map[*history.Version]uint32{}
	// The initial version of an object is number 0.
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

// disagreement returns a reason if the two checkers disagree; otherwise it is zero.
func disagreement(ours Outcome, porcupines opinion) Reason {
	switch {
	case porcupines == notSearched || (ours == Holds) == (porcupines == serial):
		return Reason{}
	case porcupines == serial:
		return porcupineFindsOrder.Reason(ours)
	}
	return porcupineFindsNone.Reason(ours)
}
