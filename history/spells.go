package history

import "github.com/locksim/locksim/trace"

// A Spell is a stretch of time that a process spent in a state other than running.
type Spell struct {
	Process string
	State   State
	// How is how it was paused ([trace.PauseMode]) or crashed ([trace.Crash]), or the error
	// that it answers with.
	How string
	// Began is the event with which it began, Ended the one with which it ended; nil for
	// one that has not ended. A crash ends whatever else the process was in; one that is
	// to fail goes on to do so once it is restarted.
	Began, Ended *trace.Event
}

// During is the stretch of time.
func (s *Spell) During() Interval {
	i := Interval{MomentOf(s.Began), Never}
	if s.Ended != nil {
		i.To = MomentOf(s.Ended)
	}
	return i
}

// Recovered is the event with which the process went on; nil if it has not, or if a crash
// or another such spell followed at once.
func (s *Spell) Recovered() *trace.Event {
	if s.Ended == nil {
		return nil
	}
	switch s.Ended.Kind {
	case trace.KindResume, trace.KindRestart, trace.KindRecover:
		return s.Ended
	}
	return nil
}

// Spells are those of all processes, in the order in which they began.
func (h *History) Spells() []*Spell {
	return h.spells.of(func() []*Spell {
		var all []*Spell
		type of struct {
			process string
			state   State
		}
		open := map[of]*Spell{}
		failing := map[string]string{} // with which error, a process that is down included
		end := func(process string, state State, ev *trace.Event) {
			if s := open[of{process, state}]; s != nil {
				s.Ended = ev
				delete(open, of{process, state})
			}
		}
		begin := func(state State, how string, ev *trace.Event) {
			end(ev.Process, state, ev)
			s := &Spell{Process: ev.Process, State: state, How: how, Began: ev}
			open[of{ev.Process, state}] = s
			all = append(all, s)
		}
		for _, ev := range h.apart {
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
				if open[of{ev.Process, Down}] == nil {
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

// ClockChanges are the events after which the clocks of a process showed something else,
// or ran otherwise, than before, in order; the first of each process is its first
// reading.
func (h *History) ClockChanges() []*trace.Event { return h.clocks.all }
