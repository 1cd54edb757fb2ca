package proof

import (
	"reflect"
	"strings"
	"testing"
)

// Find takes the name of a bug's folder and the name of a version in versions.json.
func TestFind(t *testing.T) {
	b, v, err := Find("redsync-setnx-on-extend/bad")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Version{Name: "bad", Number: "v4.18.1", Option: "WithSetNXOnExtend"}); v != want || !v.Bad() {
		t.Errorf("the version is %+v, want %+v", v, want)
	}
	if off := (Version{Name: "off", Number: "v4.18.1"}); !reflect.DeepEqual(b.Versions, []Version{v, off}) || off.Bad() {
		t.Errorf("the versions of the bug are %+v, want %+v and %+v", b.Versions, v, off)
	}
	if b.Name != "redsync-setnx-on-extend" || b.Library != "github.com/go-redsync/redsync/v4" || b.Test != "redsync-v4/goredis9" || b.Story == nil {
		t.Errorf("the bug is %+v", b)
	}
	for _, name := range []string{"", "redsync-setnx-on-extend", "redsync-setnx-on-extend/", "redsync-setnx-on-extend/fixed", "no-bug/bad"} {
		if _, _, err := Find(name); err == nil || !strings.Contains(err.Error(), "redsync-setnx-on-extend/off") {
			t.Errorf("%q: the error is %v, want one that lists the versions", name, err)
		}
	}
}

// Lists of versions that cannot show what causes the bug are refused.
func TestReadVersions(t *testing.T) {
	const start = `{"library": "a.b/c", "test": "x", "versions": `
	for _, c := range []struct{ file, says string }{
		{start + `{"bad": "v1.2.0", "fixed": "v1.3.0"}}`, ""},
		{start + `{"bad": "v1.2.0 with X", "fixed": "v1.3.0 with X", "off": "v1.2.0"}}`, ""},
		{start + `{"bad": "v0.0.0-20180628173108-788fd7840127", "fixed": "v2.0.0+incompatible"}}`, ""},
		{`{"library": "a.b/c", "versions": {"bad": "v1.2.0"}}`, "the package in libraries"},
		{`{"test": "x", "versions": {"bad": "v1.2.0"}}`, "name the module"},
		{`{"library": "a.b/c", "test": "x"}`, "begins with bad"},
		{start + `{"fixed": "v1.3.0"}}`, "begins with bad"},
		{start + `{"bad": "v1.2"}}`, `bad is "v1.2"; write a version`},
		{start + `{"bad": "latest"}}`, "write a version"},
		{start + `{"bad": "v1.2.0 X"}}`, "write a version"},
		{start + `{"bad": "v1.2.0 with "}}`, "write a version"},
		{start + `{"bad": "v1.2.0", "fixed": "v1.2.0"}}`, "bad and fixed are the same"},
		{start + `{"bad": "v1.2.0 with X", "fixed": "v1.3.0"}}`, "so they must have the same option"},
		{`{"library": "a.b/c", "tests": "x", "versions": {"bad": "v1.2.0"}}`, `"tests"`},
		{"", "EOF"},
	} {
		var b Bug
		err := b.readVersions([]byte(c.file))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q: the error is %v, want %q", c.file, err, c.says)
		}
	}
}
