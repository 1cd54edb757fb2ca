package checks

import (
	"encoding/binary"
	"math"

	"github.com/anishathalye/porcupine"

	"github.com/locksim/locksim/history"
)

// maxSteps bounds the search of porcupine, a checker for linearizability. The bound is a number of
// steps and not a time, so every run gives the same result. It is enough for any history in which
// fewer than a dozen critical sections overlap. A step copies the state of all objects, so with
// more than objectsPerStep objects it counts as several steps.
const (
	maxSteps       = 200_000
	objectsPerStep = 100
)

// A porcupineResult is porcupine's result for a history.
type porcupineResult string

const (
	serial    porcupineResult = "serial"
	notSerial porcupineResult = "not-serial"
	// notSearched: the search was ended at maxSteps, without a result.
	notSearched porcupineResult = "not-searched"
)

// An objectAccess is one operation of a section: a read, or a write, which replaces the version
// that it sees by the version that it makes. Objects and versions are given as numbers.
type objectAccess struct {
	object      int
	isWrite     bool
	sees, makes uint32
}

// linearize asks porcupine whether sections can be ordered one after the other. Each section is one
// operation, from acquire returned to release called, on a resource that holds all objects. In the
// order, each read must return the version that it returned in the run, and each write must replace
// the version that it replaced in the run.
func linearize(sections []*history.Section) porcupineResult {
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
	var operations []porcupine.Operation
	for _, s := range sections {
		var accesses []objectAccess
		for _, o := range s.WorkOperations() {
			name := o.Sees.Object
			if _, known := objects[name]; !known {
				objects[name] = len(objects)
			}
			v := objectAccess{object: objects[name], sees: number(o.Sees)}
			if o.Makes != nil {
				v.isWrite, v.makes = true, number(o.Makes)
			}
			accesses = append(accesses, v)
		}
		op := porcupine.Operation{Input: accesses, Call: int64(s.From.Seq), Return: math.MaxInt64}
		if s.To != history.Never {
			op.Return = int64(s.To.Seq)
		}
		operations = append(operations, op)
	}
	steps, cost := 0, 1+len(objects)/objectsPerStep
	model := porcupine.Model{
		Init: func() any { return string(make([]byte, 4*len(objects))) },
		// The history is one partition, so porcupine takes all steps in one goroutine.
		Step: func(state, input, _ any) (bool, any) {
			if steps += cost; steps > maxSteps {
				return false, state
			}
			versions := []byte(state.(string))
			for _, v := range input.([]objectAccess) {
				stored := versions[4*v.object:]
				if binary.BigEndian.Uint32(stored) != v.sees {
					return false, state
				}
				if v.isWrite {
					binary.BigEndian.PutUint32(stored, v.makes)
				}
			}
			return true, string(versions)
		},
	}
	switch ok := porcupine.CheckOperations(model, operations); {
	case ok:
		return serial
	case steps > maxSteps:
		return notSearched
	}
	return notSerial
}

// disagreement returns why the results of the two checkers disagree; zero if they agree.
func disagreement(ours Outcome, porcupines porcupineResult) Reason {
	switch {
	case porcupines == notSearched || ours == Unknown || (ours == Holds) == (porcupines == serial):
		return Reason{}
	case porcupines == serial:
		return porcupineFindsOrder.Reason(ours)
	}
	return porcupineFindsNone.Reason(ours)
}
