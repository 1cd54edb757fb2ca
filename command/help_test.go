package command

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// The help of each command fits in a terminal of helpWidth columns.
func TestHelpFitsInATerminal(t *testing.T) {
	tested := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				check(sub)
			}
		}
		tested++
		var help bytes.Buffer
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if status := locksim(args, &help, io.Discard); status != success {
			t.Errorf("%q ends with status %d", args, status)
		}
		for line := range strings.Lines(help.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
				t.Errorf("%q: a line has %d columns: %s", args, n, line)
			}
		}
	}
	t.Setenv("COLUMNS", "")
	check(rootCommand(io.Discard, io.Discard))
	if tested < 15 {
		t.Errorf("only %d commands were tested", tested)
	}
}

// The help and the lists are no wider than the terminal, except for examples, which can be
// copied. They use a wider terminal.
func TestListsFitInATerminal(t *testing.T) {
	commands := [][]string{{"learn"}, {"ask", "--list"}, {"version"}, {"list"}, {"--help"}, {"run", "--help"}, {"learn", "--help"}, {"explore", "--help"}, {"ask", "--help"}, {"completion", "--help"}}
	for _, width := range []int{60, 72, 90, 200} {
		t.Setenv("COLUMNS", strconv.Itoa(width))
		for _, args := range commands {
			var printed bytes.Buffer
			if status := locksim(args, &printed, io.Discard); status != success {
				t.Errorf("%q ends with status %d", args, status)
			}
			head, widest := "", 0
			for line := range strings.Lines(printed.String()) {
				if line = strings.TrimRight(line, "\n"); strings.HasSuffix(line, ":") {
					head = line
				}
				if n := utf8.RuneCountInString(line); head != "Examples:" && head != "Usage:" {
					widest = max(widest, n)
				}
			}
			if widest > width || width == 200 && args[len(args)-1] == "--help" && widest < 85 {
				t.Errorf("%q on %d columns: the longest line has %d", args, width, widest)
			}
		}
	}
}

// A report is as wide as COLUMNS says, within limits. A value that is not a number is
// ignored.
func TestChooseWidth(t *testing.T) {
	for value, want := range map[string]int{"": 0, "100": 100, "60": 60, "10": leastWidth, "1000": mostWidth, "-5": 0, "0": 0, "wide": 0, "99999999999999999999": 0} {
		t.Setenv("COLUMNS", value)
		if got := chooseWidth(new(bytes.Buffer)); got != want {
			t.Errorf("with COLUMNS=%q the width is %d, want %d", value, got, want)
		}
	}
}
