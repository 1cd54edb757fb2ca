package exercises

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/locksim/locksim/internal/story"
)

// A printedText keeps the beginning of what a lock prints. A program writes its standard
// output and its standard error to it at the same time.
type printedText struct {
	mu   sync.Mutex
	head bytes.Buffer
	more int // bytes that were left out
}

// mostPrinted is the greatest number of bytes of what a lock prints that are kept, and
// mostPrintedLines the greatest number of lines that are shown.
const (
	mostPrinted      = 16 << 10
	mostPrintedLines = 40
)

func (p *printedText) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(text), mostPrinted-p.head.Len())
	p.head.Write(text[:n])
	p.more += len(text) - n
	return len(text), nil
}

// lines returns the text in lines that are safe to show, and says at the end how much is left
// out. It returns none if nothing was printed.
func (p *printedText) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	text := strings.TrimRight(p.head.String(), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		if text != "" {
			all = append(all, story.Visible(strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    ")))
		}
	}
	more := p.more
	if len(all) > mostPrintedLines {
		more += len(strings.Join(all[mostPrintedLines:], "\n"))
		all = all[:mostPrintedLines]
	}
	if more > 0 {
		all = append(all, fmt.Sprintf("⋮ %s more", story.Count(more, "byte")))
	}
	return all
}
