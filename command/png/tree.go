package png

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// An element is an element of the SVG document.
type element struct {
	name       string
	classes    []string
	attributes map[string]string
	children   []*element
	// text is the text directly in the element.
	text string
}

// parse reads an SVG document and its style sheet.
func parse(picture []byte) (*element, sheet, error) {
	decoder := xml.NewDecoder(bytes.NewReader(picture))
	top := &element{}
	open := []*element{top}
	var styles strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		parent := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			e := &element{name: t.Name.Local, attributes: map[string]string{}}
			for _, a := range t.Attr {
				e.attributes[a.Name.Local] = a.Value
			}
			e.classes = strings.Fields(e.attributes["class"])
			parent.children = append(parent.children, e)
			open = append(open, e)
		case xml.EndElement:
			if parent.name == "style" {
				styles.WriteString(parent.text)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			parent.text += string(t)
		}
	}
	if len(top.children) != 1 || top.children[0].name != "svg" {
		return nil, nil, errors.New("it is not one svg element")
	}
	rules, err := parseSheet(styles.String())
	return top.children[0], rules, err
}

// size returns the width and height of an svg element in pixels.
func (e *element) size() (width, height float64, err error) {
	if width, err = e.number("width"); err == nil {
		height, err = e.number("height")
	}
	if err == nil && (width < 1 || height < 1) {
		err = fmt.Errorf("its size is %g × %g", width, height)
	}
	return width, height, err
}

// number returns the value of an attribute that is a number; 0 if there is no such
// attribute.
func (e *element) number(attribute string) (float64, error) {
	value, ok := e.attributes[attribute]
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%q of %s is not a number", attribute, value, e.name)
	}
	return n, nil
}

// numbers returns the values of several attributes.
func (e *element) numbers(attributes ...string) ([]float64, error) {
	values := make([]float64, len(attributes))
	for i, name := range attributes {
		n, err := e.number(name)
		if err != nil {
			return nil, err
		}
		values[i] = n
	}
	return values, nil
}
