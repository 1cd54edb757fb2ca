package explore

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/locksim/locksim/internal/runs"
)

// A Ledger has the results of worlds that were run before, and records the results of worlds that
// are run now. Its file has a line of JSON for the [Heading], then a line for each world. Each line
// ends with a seal, which is a checksum. A search divides its planned worlds into units: all worlds
// with a single fault, and one unit for each [lane]. The bases and the options of a search
// determine the worlds of each unit and their order. So a world is identified by its unit and its
// index in the unit. A nil Ledger has no results and writes nothing.
type Ledger struct {
	mu sync.Mutex
	w  io.Writer // nil if nothing is written
	// complete means that every world of the search must be in the ledger. outcomes stores
	// equal results only once.
	complete bool
	outcomes *interner
	// planned has the results of the worlds of each unit, by their index in the unit. others has
	// the results of the worlds outside all units, by [runs.WorldSpec.Key]. Such worlds are run,
	// for example, to make a broken world smaller.
	planned map[string]map[int]*runs.WorldResult
	others  map[string]*runs.WorldResult
	// singles has facts about single faults in addition to their results, by the index of
	// the world in its unit.
	singles map[int]singleExtra
}

// A singleExtra is what a ledger has about a single fault in addition to its result.
type singleExtra struct {
	// Grounds are the [runs.Grounds] of the world: observations from which the results of
	// other worlds follow. They are unknown if Repeats is set, because then the world was
	// not run: its result follows from the results of other worlds.
	Grounds *runs.Grounds `json:"g,omitempty"`
	Repeats bool          `json:"r,omitempty"`
}

// The names of the file's format: ledgerSchemas begins all of them, ledgerSchema is the current
// one, and ledgerWithoutSeals is the first one, whose lines have no seals. If the search of a new
// version selects other worlds, the format needs a new name, because a ledger identifies a world by
// its unit and its index in the unit. v4 has the same lines as v3, but its searches select other
// pairs.
const (
	ledgerSchemas      = "locksim/explore-ledger/"
	ledgerSchema       = ledgerSchemas + "v4"
	ledgerWithoutSeals = ledgerSchemas + "v1"
)

// A Heading identifies the search that a ledger belongs to.
type Heading struct {
	Schema string `json:"schema"`
	// Version is the version of the program. Another version may run the same world
	// differently.
	Version string        `json:"version"`
	Lock    string        `json:"lock"`
	Bases   []BaseHeading `json:"bases"`
	// MaxFaults, Worlds, Shard and Shards are the options of the [Search].
	MaxFaults int `json:"max_faults"`
	Worlds    int `json:"worlds"`
	Shard     int `json:"shard,omitempty"`
	Shards    int `json:"shards,omitempty"`
	// Kinds are the kinds of faults that the search tries.
	Kinds Kinds `json:"kinds,omitzero"`
	Quick bool  `json:"quick,omitempty"`
}

// A BaseHeading identifies a base of a search.
type BaseHeading struct {
	Name string `json:"name"`
	Seed uint64 `json:"seed"`
	// Text is the base's scenario.
	Text string `json:"text"`
	// Hash is a checksum of Text.
	Hash string `json:"hash"`
	// Kinds and Takeover are those of the [Base].
	Kinds    Kinds         `json:"kinds,omitzero"`
	Takeover time.Duration `json:"takeover,omitempty"`
}

// Heading returns the heading of a ledger of the search.
func (s *Search) Heading(version, lock string) Heading {
	h := Heading{
		Schema: ledgerSchema, Version: version, Lock: lock,
		MaxFaults: s.MaxFaults, Worlds: s.Worlds, Shard: s.Shard, Shards: s.Shards, Kinds: s.Kinds, Quick: s.Quick,
	}
	for _, b := range s.Bases {
		h.Bases = append(h.Bases, BaseHeading{b.Name, b.Seed, string(b.Text), hashOf(b.Text), b.Kinds, b.Takeover})
	}
	return h
}

// CheckContinues returns an error if the search of h cannot continue the older search whose
// ledger has the heading old. The two may have different budgets, because the new search
// begins with the same worlds. If the search is one part of several, the older search must
// have been the same part: its ledger has nothing of the other parts.
func (h Heading) CheckContinues(old Heading) error {
	if err := h.checkSame(old); err != nil {
		return err
	}
	switch {
	case h.Shard != old.Shard || h.Shards != old.Shards:
		return fmt.Errorf("%w: it belongs to %s, and this search is %s", ErrLedger, old.part(), h.part())
	case h.Shards > 0 && (h.MaxFaults != old.MaxFaults || h.Worlds != old.Worlds):
		return fmt.Errorf("%w: its search tries up to %d faults and %d worlds, and this search tries up to %d faults and %d worlds", ErrLedger, old.MaxFaults, old.Worlds, h.MaxFaults, h.Worlds)
	}
	return nil
}

// CheckJoins returns nil if two ledgers belong to parts of the same search, and otherwise an error.
func (h Heading) CheckJoins(other Heading) error {
	if err := h.checkSame(other); err != nil {
		return err
	}
	switch {
	case h.MaxFaults != other.MaxFaults:
		return fmt.Errorf("%w: its search tries up to %d faults, and that of the first ledger up to %d", ErrLedger, other.MaxFaults, h.MaxFaults)
	case h.Worlds != other.Worlds:
		return fmt.Errorf("%w: its search tries %d worlds with several faults, and that of the first ledger %d", ErrLedger, other.Worlds, h.Worlds)
	case h.Shards != other.Shards:
		return fmt.Errorf("%w: it belongs to %s, and the first ledger to %s", ErrLedger, other.part(), h.part())
	}
	return nil
}

// checkSame returns nil if another heading is about the same search, apart from its budget
// and its part. Otherwise the error says how they differ.
func (h Heading) checkSame(o Heading) error {
	switch {
	case h.Version != o.Version:
		return fmt.Errorf("%w: version %s has written it, and this is version %s", ErrLedger, o.Version, h.Version)
	case h.Lock != o.Lock:
		return fmt.Errorf("%w: it is about the lock %s, not %s", ErrLedger, o.Lock, h.Lock)
	case !h.Kinds.Equal(o.Kinds):
		return fmt.Errorf("%w: its search tried these kinds of faults: %s; this search tries: %s", ErrLedger, o.Kinds, h.Kinds)
	case h.Quick != o.Quick:
		return fmt.Errorf("%w: one of the two searches is quick, so the two try different worlds", ErrLedger)
	case !reflect.DeepEqual(h.Bases, o.Bases):
		return fmt.Errorf("%w: its workload, TTL, number of nodes or seed differs", ErrLedger)
	}
	return nil
}

// part describes which part of a search the ledger belongs to.
func (h Heading) part() string {
	if h.Shards == 0 {
		return "a whole search"
	}
	return fmt.Sprintf("part %d of %d", h.Shard, h.Shards)
}

// check returns an error if the heading is invalid.
func (h Heading) check() error {
	switch {
	case len(h.Bases) == 0:
		return errors.New("it has no bases")
	case h.MaxFaults < 1 || h.MaxFaults > FaultLimit:
		return fmt.Errorf("max_faults is %d; it must be between 1 and %d", h.MaxFaults, FaultLimit)
	case h.Worlds < 0:
		return fmt.Errorf("worlds is %d; it must not be below 0", h.Worlds)
	case h.Shards < 0 || h.Shards > Lanes || h.Shard < 0 || h.Shard > h.Shards || h.Shard == 0 && h.Shards > 0:
		return fmt.Errorf("it is part %d of %d, which does not exist", h.Shard, h.Shards)
	}
	for _, b := range h.Bases {
		if b.Hash != hashOf([]byte(b.Text)) {
			return fmt.Errorf("the text of the base %s was changed: its hash is wrong", b.Name)
		}
	}
	return nil
}

// hashLength is the length of a checksum in hexadecimal digits.
const hashLength = 16

// hashOf returns the checksum of a text.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:hashLength/2])
}

// An entry is one line of a ledger.
type entry struct {
	// Unit is the world's unit in the search, and Index its number in the unit. A world that the
	// search did not plan has no unit. For such a world, World is its key.
	Unit    string            `json:"u,omitempty"`
	Index   int               `json:"i,omitempty"`
	World   string            `json:"w,omitempty"`
	Outcome *runs.WorldResult `json:"o"`
	singleExtra
}

// NewLedger makes an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{outcomes: newInterner(), planned: map[string]map[int]*runs.WorldResult{}, others: map[string]*runs.WorldResult{}, singles: map[int]singleExtra{}}
}

// WriteTo makes the ledger write each later result to w, one line for each. If h is not nil, it
// first writes this heading.
func (l *Ledger) WriteTo(w io.Writer, h *Heading) error {
	l.w = w
	if h == nil {
		return nil
	}
	return l.writeLine(h)
}

// SetComplete declares that the ledger has every world of the search. A world that it lacks
// is then not run: it is reported as [Missing].
func (l *Ledger) SetComplete() { l.complete = true }

// ErrLedger is wrapped by the error for a file that cannot be used as a ledger of the
// search.
var ErrLedger = errors.New("it cannot be used")

// longestLine limits the length of a ledger's line, in bytes. A file with a longer line is
// not a ledger.
const longestLine = 8 << 20

// Read reads a ledger. It calls accept with the heading first, and accept returns an error
// to refuse the ledger. Read returns how many bytes of the file are complete lines: a
// search that was killed may have left part of a line at the end. If any complete line was
// changed, Read returns an error. An error about the ledger itself wraps [ErrLedger].
func (l *Ledger) Read(r io.Reader, accept func(Heading) error) (whole int64, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	lines.Split(wholeLines)
	n := 0
	for lines.Scan() {
		if n++; n == 1 {
			err = readHeading(lines.Bytes(), accept)
		} else if err = l.readEntry(lines.Bytes()); err != nil {
			err = fmt.Errorf("%w: line %d: %w", ErrLedger, n, err)
		}
		if err != nil {
			return whole, err
		}
		whole += int64(len(lines.Bytes()))
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return whole, fmt.Errorf("%w: line %d is longer than %d bytes, so the file is not a ledger; name a file that locksim explore --ledger has written", ErrLedger, n+1, longestLine)
	case err == nil && n == 0:
		return 0, fmt.Errorf("%w: it is empty, because its search did not begin; delete it", ErrLedger)
	default:
		return whole, err
	}
}

// wholeLines splits the file into lines, which keep their line ends. It drops a last line
// that has no line end.
func wholeLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// readHeading reads the first line.
func readHeading(line []byte, accept func(Heading) error) error {
	schema, isHeading := strings.CutPrefix(string(line), `{"schema":"`)
	schema, _, _ = strings.Cut(schema, `"`)
	object, hasSeal := removeSeal(line)
	switch {
	case !isHeading || !strings.HasPrefix(schema, ledgerSchemas):
		return fmt.Errorf("%w: its first line is not the heading of a ledger; name a file that locksim explore --ledger has written", ErrLedger)
	case !hasSeal && schema != ledgerWithoutSeals:
		return fmt.Errorf("%w: line 1, the heading, was damaged or edited: its checksum is wrong; start again with another --ledger", ErrLedger)
	case schema != ledgerSchema:
		return fmt.Errorf("%w: its schema is %q, and this version of locksim reads %q; continue with the version that has written it, or start again with another --ledger", ErrLedger, schema, ledgerSchema)
	}
	var h Heading
	if err := runs.DecodeStrictly(object, &h); err != nil {
		return fmt.Errorf("%w: its heading: %w", ErrLedger, err)
	}
	if err := h.check(); err != nil {
		return fmt.Errorf("%w: its heading: %w", ErrLedger, err)
	}
	return accept(h)
}

// readEntry reads one line after the heading.
func (l *Ledger) readEntry(line []byte) error {
	object, ok := removeSeal(line)
	if !ok {
		return errors.New("it was damaged or edited: its checksum is wrong; delete the line, and --resume runs its world again")
	}
	var e entry
	if err := runs.DecodeStrictly(object, &e); err != nil {
		return err
	}
	if e.Outcome == nil || (e.Unit == "") == (e.World == "") || e.Index < 0 || e.Unit != "" && e.Unit != singlesUnit && laneOf(e.Unit) < 0 {
		return errors.New("it is not the result of a world")
	}
	o := l.outcomes.intern(*e.Outcome)
	l.mu.Lock()
	defer l.mu.Unlock()
	differs := func(world string) error {
		return fmt.Errorf("%s has another result on an earlier line: either another program has written one of the lines, or the world is not deterministic", world)
	}
	if e.World != "" {
		if known, isKnown := l.others[e.World]; isKnown && known != o {
			return differs("the world")
		}
		l.others[e.World] = o
		return nil
	}
	if l.planned[e.Unit] == nil {
		l.planned[e.Unit] = map[int]*runs.WorldResult{}
	}
	if known, isKnown := l.planned[e.Unit][e.Index]; isKnown && known != o {
		return differs(fmt.Sprintf("world %d of %s", e.Index, e.Unit))
	}
	l.planned[e.Unit][e.Index] = o
	if e.Unit == singlesUnit {
		l.singles[e.Index] = e.singleExtra
	}
	return nil
}

// singlesUnit is the unit of all worlds with a single fault. The other units are the lanes.
const singlesUnit = "singles"

// laneUnit returns the name of a lane as a unit of the ledger.
func laneUnit(faults, lane int) string { return fmt.Sprintf("%d faults, lane %d", faults, lane) }

// laneOf returns the lane that a unit names, or -1 if it names none.
func laneOf(unit string) int {
	var faults, lane int
	if n, _ := fmt.Sscanf(unit, "%d faults, lane %d", &faults, &lane); n < 2 || lane < 0 || lane >= Lanes ||
		faults < 2 || faults > FaultLimit || unit != laneUnit(faults, lane) {
		return -1
	}
	return lane
}

// plannedResult returns the result of world i of a unit, and whether the ledger has it.
func (l *Ledger) plannedResult(unit string, i int) (runs.WorldResult, bool) {
	if l == nil {
		return runs.WorldResult{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.planned[unit][i]
	if !ok {
		return runs.WorldResult{}, false
	}
	return *o, true
}

// singleResult returns the result of world i with one fault, and whether the ledger has it.
// repeats means that the world was not run: its result followed from those of other worlds.
func (l *Ledger) singleResult(i int) (o runs.WorldResult, repeats, ok bool) {
	if o, ok = l.plannedResult(singlesUnit, i); !ok {
		return o, false, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.singles[i]
	if known.Grounds != nil {
		o.Grounds = *known.Grounds
	}
	return o, known.Repeats, true
}

// otherResult returns the result of a world outside the plan, by the world's key.
func (l *Ledger) otherResult(world string) (runs.WorldResult, bool) {
	if l == nil {
		return runs.WorldResult{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.others[world]
	if !ok {
		return runs.WorldResult{}, false
	}
	return *o, true
}

// isComplete reports whether the ledger must have every world. A world that it lacks is
// then not run.
func (l *Ledger) isComplete() bool { return l != nil && l.complete }

// writeSingle writes the result of a world with one fault.
func (l *Ledger) writeSingle(i int, o runs.WorldResult, repeats bool) error {
	e := entry{Unit: singlesUnit, Index: i, Outcome: &o, singleExtra: singleExtra{Repeats: repeats}}
	if !repeats && o.Grounds != (runs.Grounds{}) {
		e.Grounds = &o.Grounds
	}
	return l.writeEntry(e)
}

// writeEntry writes a result. It leaves out a result that is unknown because the run took
// too long on this machine. So a later search runs that world again.
func (l *Ledger) writeEntry(e entry) error {
	if l == nil || l.w == nil || e.Outcome.Off.Late || e.Outcome.On.Late {
		return nil
	}
	return l.writeLine(e)
}

// writeLine writes a line immediately, so a killed process loses at most that line.
func (l *Ledger) writeLine(v any) error {
	line, err := addSeal(v)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the ledger cannot be written: %w", err)
	}
	return nil
}

// Missing is the error for a world that none of the joined ledgers has.
type Missing struct {
	Unit  string
	Index int
	// place is the number of the fault's place, for a world with a single fault. All single faults
	// of one kind that strike the same processes at the same moment have the same place.
	place int
}

func (m *Missing) Error() string {
	return fmt.Sprintf("world %d of %s is in none of the ledgers", m.Index, m.Unit)
}

// Part returns the number of the part that has to run the world, if the search is divided into this
// number of shards. It returns 0 if all parts have to run it, or if the search is not divided.
func (m *Missing) Part(maxFaults, shards int) int {
	switch lane := laneOf(m.Unit); {
	case shards == 0:
		return 0
	case lane >= 0:
		return lane%shards + 1
	case maxFaults == 1:
		return m.place%shards + 1
	}
	return 0
}
