package history

import "github.com/locksim/locksim/trace"

// A Spell is an interval in which a process was in a state other than running.
type Spell struct {
	Process string
	State   State
	// How is how the process was paused ([trace.PauseMode]) or crashed ([trace.Crash]), or
	// the error with which it answers.
	How string
	// Began is the event with which the spell began. Ended is the event with which it
	// ended; nil if it has not. A crash ends all other spells of the process. A failing
	// process that crashed fails again once it is restarted.
	Began, Ended *trace.Event
}

// Interval returns the time span of the spell.
func (s *Spell) Interval() Interval {
	i := Interval{MomentOf(s.Began), Never}
	if s.Ended != nil {
		i.To = MomentOf(s.Ended)
	}
	return i
}

// RecoveryEvent returns the event with which the process recovered. It is nil if the process
// has not recovered, or if a crash or another spell of the same kind followed immediately.
func (s *Spell) RecoveryEvent() *trace.Event {
	if s.Ended == nil {
		return nil
	}
	switch s.Ended.Kind {
	case trace.KindResume, trace.KindRestart, trace.KindRecover:
		return s.Ended
	}
	return nil
}

// Spells returns the spells of all processes, in the order in which they began.
func (h *History) Spells() []*Spell {
	return h.spells.get(func() []*Spell {
		var all []*Spell
		type processState struct {
			process string
			state   State
		}
		open := map[processState]*Spell{}
		failing := map[string]string{} // the error of each failing process, also while it is down
		end := func(process string, state State, ev *trace.Event) {
			if s := open[processState{process, state}]; s != nil {
				s.Ended = ev
				delete(open, processState{process, state})
			}
		}
		begin := func(state State, how string, ev *trace.Event) {
			end(ev.Process, state, ev)
			s := &Spell{Process: ev.Process, State: state, How: how, Began: ev}
			open[processState{ev.Process, state}] = s
			all = append(all, s)
		}
		for _, ev := range h.nonMessages {
			switch ev.Kind {
			case trace.KindPause:
				begin(Paused, ev.Text, ev)
			case trace.KindResume:
				end(ev.Process, Paused, ev)
			case trace.KindCrash:
				end(ev.Process, Paused, ev)
				end(ev.Process, Failing, ev)
				begin(Down, ev.Text, ev)
			case trace.KindRestart:
				end(ev.Process, Down, ev)
				if why, fails := failing[ev.Process]; fails {
					begin(Failing, why, ev)
				}
			case trace.KindFail:
				failing[ev.Process] = ev.Text
				if open[processState{ev.Process, Down}] == nil {
					begin(Failing, ev.Text, ev)
				}
			case trace.KindRecover:
				delete(failing, ev.Process)
				end(ev.Process, Failing, ev)
			}
		}
		return all
	})
}

// ClockChanges returns the events that changed the reading or the rate of a process's
// clocks, in order. The first event of each process is its first reading.
func (h *History) ClockChanges() []*trace.Event { return h.clocks.all }
