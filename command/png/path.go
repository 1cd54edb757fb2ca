package png

import (
	"fmt"
	"strconv"
	"strings"
)

// addPath adds the path that data describes, in SVG's notation: the commands M, L, H, V,
// Q, T and z, absolute and relative.
func (p *painter) addPath(data string) error {
	var x, y, controlX, controlY, startX, startY float64
	for data = strings.TrimSpace(data); data != ""; {
		command := data[0]
		var n []float64
		var err error
		if n, data, err = cutNumbers(data[1:]); err != nil {
			return err
		}
		arguments, ok := map[byte]int{'M': 2, 'L': 2, 'H': 1, 'V': 1, 'Q': 4, 'T': 2, 'Z': 0}[command&^0x20]
		if !ok || len(n) != arguments && (arguments == 0 || len(n) == 0 || len(n)%arguments != 0) {
			return fmt.Errorf("a path has the command %c with %d numbers, which is not supported", command, len(n))
		}
		if arguments == 0 {
			p.context.ClosePath()
			x, y = startX, startY
			continue
		}
		for ; len(n) > 0; n = n[arguments:] {
			baseX, baseY := 0.0, 0.0
			if command >= 'a' {
				baseX, baseY = x, y
			}
			toX, toY := baseX+n[0], baseY+n[arguments-1]
			nextX, nextY := 0.0, 0.0 // the control point of a curve
			switch command &^ 0x20 {
			case 'M':
				p.context.MoveTo(toX, toY)
				startX, startY = toX, toY
				command = command - 'M' + 'L' // further pairs are lines
			case 'L':
				p.context.LineTo(toX, toY)
			case 'H':
				toY = y
				p.context.LineTo(toX, toY)
			case 'V':
				toX = x
				p.context.LineTo(toX, toY)
			case 'Q':
				nextX, nextY = baseX+n[0], baseY+n[1]
				toX, toY = baseX+n[2], baseY+n[3]
				p.context.QuadraticTo(nextX, nextY, toX, toY)
			case 'T':
				nextX, nextY = 2*x-controlX, 2*y-controlY
				p.context.QuadraticTo(nextX, nextY, toX, toY)
			}
			x, y, controlX, controlY = toX, toY, nextX, nextY
		}
	}
	return nil
}

// cutNumbers returns the numbers at the beginning of path data, and what follows them.
func cutNumbers(data string) (numbers []float64, rest string, err error) {
	for {
		data = strings.TrimLeft(data, " ,\n")
		end := 0
		for end < len(data) && (data[end] == '.' || '0' <= data[end] && data[end] <= '9' || end == 0 && data[end] == '-') {
			end++
		}
		if end == 0 {
			return numbers, data, nil
		}
		n, err := strconv.ParseFloat(data[:end], 64)
		if err != nil {
			return nil, "", fmt.Errorf("a path has %q, which is not a number", data[:end])
		}
		numbers, data = append(numbers, n), data[end:]
	}
}
