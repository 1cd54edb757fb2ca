package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
)

// mergeFlags are the flags of the merge command.
type mergeFlags struct{ searchFlags }

func mergeCommand() *cobra.Command {
	f := &mergeFlags{}
	cmd := &cobra.Command{
		Use:   "merge LEDGER...",
		Short: "Combine the parts of a search into one report",
		Long: `Combine the parts of a search into one report. The parts are the ledgers that
locksim explore --shard has written. The report is the one that the whole search
would have made, byte for byte. The ways are shrunk and measured here.

The exit status is that of locksim explore.`,
		Example: `  locksim merge part-*.jsonl
  locksim merge part-*.jsonl --format markdown -o report.md --ways ways/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("locksim merge: name the ledgers that locksim explore --shard has written")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.define(cmd)
	cmd.Flags().MarkHidden("seed")
	return cmd
}

func (f *mergeFlags) run(cmd *cobra.Command, args []string) error {
	format, err := f.check()
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("seed") {
		return errors.New("locksim merge: --seed is for locksim explore; the parts of a search have their own")
	}
	if err := checkWays(f.ways); err != nil {
		return err
	}
	known, err := f.readKnown()
	if err != nil {
		return err
	}
	search, heading, err := mergeLedgers(args)
	if err != nil {
		return err
	}
	if err := checkLocksLinked(heading.Lock); err != nil {
		return err
	}
	search.Jobs = f.jobs
	if err := checkSameKinds(known, search, f.expect); err != nil {
		return err
	}
	if err := f.prepare(cmd, format, fileSources("the ledger", args...)); err != nil {
		return err
	}
	err = f.explore(cmd, search, format, known)
	var missing *explore.Missing
	if errors.As(err, &missing) {
		return incompleteError(heading, missing)
	}
	return err
}

// mergeLedgers reads the ledgers of the parts of a search: the files with their results. It returns
// the whole search, and the heading of the first ledger.
func mergeLedgers(files []string) (search *explore.Search, first explore.Heading, err error) {
	search = &explore.Search{Ledger: explore.NewLedger()}
	parts := map[int]string{}
	for i, name := range files {
		heading, err := readPart(search.Ledger, name, func(h explore.Heading) error {
			if i > 0 {
				return first.CheckJoins(h)
			}
			if current := searchVersion(h.Lock); h.Version != current {
				return fmt.Errorf("it was written by version %s, and this is version %s; merge with the version that ran the search", h.Version, current)
			}
			return nil
		})
		if err != nil {
			return nil, first, fmt.Errorf("locksim: %s: %w", name, err)
		}
		if other, isDuplicate := parts[heading.Shard]; isDuplicate {
			return nil, first, fmt.Errorf("locksim: %s and %s are of the same part of a search; name each part once", other, name)
		}
		parts[heading.Shard] = name
		if i == 0 {
			first = heading
		}
	}
	for part := 1; part <= first.Shards; part++ {
		if parts[part] == "" {
			return nil, first, fmt.Errorf("locksim: part %d of %d is missing; name the ledgers of all parts", part, first.Shards)
		}
	}
	if first.Worlds == 0 && first.MaxFaults > 1 {
		return nil, first, fmt.Errorf("locksim: %s is of a search with a time limit (--for), so it is not known what the search would have tried; explore --resume makes the report", files[0])
	}
	for _, b := range first.Bases {
		search.Bases = append(search.Bases, explore.Base{Base: runs.Base{Name: b.Name, Text: []byte(b.Text), Seed: b.Seed}, Kinds: b.Kinds, Takeover: b.Takeover})
	}
	search.MaxFaults, search.Worlds, search.Kinds = first.MaxFaults, first.Worlds, first.Kinds
	search.Quick = first.Quick
	search.Ledger.SetComplete()
	return search, first, nil
}

// incompleteError returns an error that names a part of the search that is not complete.
func incompleteError(h explore.Heading, m *explore.Missing) error {
	which := "one of the parts"
	if part := m.Part(h.MaxFaults, h.Shards); part > 0 {
		which = fmt.Sprintf("part %d of %d", part, h.Shards)
	}
	return fmt.Errorf("locksim: %s is not complete: %w; continue it with locksim explore --resume", which, m)
}
