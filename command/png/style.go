package png

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A style holds the properties of an element that matter for drawing it.
type style struct {
	// color is the colour that currentColor names. A paint is a colour, "currentColor", a pattern
	// such as "url(#paused)", or "none".
	color, fill, stroke                 string
	strokeWidth, fontSize               float64
	dashes                              []float64
	opacity, fillOpacity, strokeOpacity float64
	isBold, strokesFirst                bool
	anchor                              string
}

// initialStyle is the style of an element without rules.
var initialStyle = style{
	color: "#000000", fill: "#000000", stroke: "none", strokeWidth: 1, fontSize: 16,
	opacity: 1, fillOpacity: 1, strokeOpacity: 1, anchor: "start",
}

// A sheet is a style sheet.
type sheet []rule

// A rule sets properties of the elements that fit its selector: a list of parts, the last
// of which is for the element and the others for elements around it.
type rule struct {
	selector     []part
	declarations []declaration
}

// A part of a selector fits an element with this name, or any if it is "", that has these
// classes.
type part struct {
	name    string
	classes []string
}

// A declaration sets one property.
type declaration struct{ property, value string }

// parseSheet reads a style sheet. It leaves out rules for some media only.
func parseSheet(css string) (sheet, error) {
	var rules sheet
	css = withoutComments(css)
	for {
		head, rest, ok := strings.Cut(css, "{")
		if !ok {
			return rules, nil
		}
		if head = strings.TrimSpace(head); strings.HasPrefix(head, "@media") {
			css = afterBlock(rest)
			continue
		}
		body, rest, ok := strings.Cut(rest, "}")
		if !ok {
			return nil, fmt.Errorf("the rule for %q has no end", head)
		}
		css = rest
		declarations, err := parseDeclarations(body)
		if err != nil {
			return nil, err
		}
		for selector := range strings.SplitSeq(head, ",") {
			parts, err := parseSelector(selector)
			if err != nil {
				return nil, err
			}
			rules = append(rules, rule{parts, declarations})
		}
	}
}

// withoutComments returns a style sheet without its comments.
func withoutComments(css string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(css, "/*")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, css, _ = strings.Cut(rest, "*/")
	}
}

// afterBlock returns what follows a block. css begins inside the block, after its opening brace.
func afterBlock(css string) string {
	depth := 1
	for i, c := range css {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return css[i+1:]
			}
		}
	}
	return ""
}

func parseDeclarations(body string) ([]declaration, error) {
	var all []declaration
	for text := range strings.SplitSeq(body, ";") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		property, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("%q sets no property", text)
		}
		all = append(all, declaration{strings.TrimSpace(property), strings.TrimSpace(value)})
	}
	return all, nil
}

func parseSelector(selector string) ([]part, error) {
	if strings.ContainsAny(selector, ":>+~[*#") {
		return nil, fmt.Errorf("the selector %q is of a kind that is not known", strings.TrimSpace(selector))
	}
	var parts []part
	for word := range strings.FieldsSeq(selector) {
		names := strings.Split(word, ".")
		parts = append(parts, part{names[0], names[1:]})
	}
	return parts, nil
}

// fits reports whether the part fits an element.
func (p part) fits(e *element) bool {
	if p.name != "" && p.name != e.name {
		return false
	}
	return !slices.ContainsFunc(p.classes, func(class string) bool { return !slices.Contains(e.classes, class) })
}

// fits reports whether the rule applies to an element. around are the elements around it,
// from the outermost.
func (r rule) fits(e *element, around []*element) bool {
	last := len(r.selector) - 1
	if last < 0 || !r.selector[last].fits(e) {
		return false
	}
	n := last
	for _, outer := range slices.Backward(around) {
		if n > 0 && r.selector[n-1].fits(outer) {
			n--
		}
	}
	return n == 0
}

// weight orders rules that set the same property, as CSS does: classes count more than
// elements.
func (r rule) weight() int {
	weight := 0
	for _, p := range r.selector {
		weight += 100 * len(p.classes)
		if p.name != "" {
			weight++
		}
	}
	return weight
}

// presentation are the attributes that set a property. Any rule outweighs them.
var presentation = []string{"fill", "stroke", "font-size", "font-weight", "text-anchor"}

// styleOf returns the style of an element that is inside an element with the style outer.
func (s sheet) styleOf(e *element, around []*element, outer style) (style, error) {
	result := outer
	result.opacity = 1 // not inherited: the painter multiplies the opacities
	for _, name := range presentation {
		if value, ok := e.attributes[name]; ok {
			if err := result.set(declaration{name, value}); err != nil {
				return result, err
			}
		}
	}
	var rules []rule
	for _, r := range s {
		if r.fits(e, around) {
			rules = append(rules, r)
		}
	}
	slices.SortStableFunc(rules, func(a, b rule) int { return a.weight() - b.weight() })
	for _, r := range rules {
		for _, d := range r.declarations {
			if err := result.set(d); err != nil {
				return result, err
			}
		}
	}
	result.opacity *= outer.opacity
	return result, nil
}

// set sets one property.
func (s *style) set(d declaration) error {
	var err error
	switch d.property {
	case "color":
		s.color = d.value
	case "fill":
		s.fill = d.value
	case "stroke":
		s.stroke = d.value
	case "stroke-width":
		s.strokeWidth, err = pixels(d.value)
	case "stroke-dasharray":
		s.dashes = nil
		if d.value == "none" {
			break
		}
		for word := range strings.FieldsSeq(d.value) {
			n, wrong := pixels(word)
			if wrong != nil {
				err = wrong
			}
			s.dashes = append(s.dashes, n)
		}
	case "opacity":
		s.opacity, err = strconv.ParseFloat(d.value, 64)
	case "fill-opacity":
		s.fillOpacity, err = strconv.ParseFloat(d.value, 64)
	case "stroke-opacity":
		s.strokeOpacity, err = strconv.ParseFloat(d.value, 64)
	case "font-size":
		s.fontSize, err = pixels(d.value)
	case "font-weight":
		err = s.setWeight(d.value)
	case "font":
		err = s.setFont(d.value)
	case "text-anchor":
		s.anchor = d.value
	case "paint-order":
		s.strokesFirst = strings.HasPrefix(d.value, "stroke")
	case "display":
		if d.value == "none" {
			err = fmt.Errorf("it is for hidden elements, which are not known")
		}
	case "font-family", "unicode-bidi", "white-space", "width", "height", "cursor", "stroke-linejoin": // these change little or nothing here
	default:
		err = fmt.Errorf("this property is not known")
	}
	if err != nil {
		return fmt.Errorf("style %q: %w", d.property+": "+d.value, err)
	}
	return nil
}

// setFont sets what the property font gives: a weight, which may be absent, a size, and
// names.
func (s *style) setFont(value string) error {
	s.isBold = false
	for word := range strings.FieldsSeq(value) {
		if strings.HasSuffix(word, "px") {
			var err error
			s.fontSize, err = pixels(word)
			return err
		}
		if err := s.setWeight(word); err != nil {
			return err
		}
	}
	return fmt.Errorf("it has no size in px")
}

// bold is the smallest weight that is drawn in bold letters.
const bold = 600

func (s *style) setWeight(value string) error {
	n, err := strconv.Atoi(value)
	s.isBold = n >= bold
	return err
}

// pixels reads a length in pixels.
func pixels(value string) (float64, error) {
	return strconv.ParseFloat(strings.TrimSuffix(value, "px"), 64)
}
