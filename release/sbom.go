package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An sbom is a list of what a program contains, in the format CycloneDX 1.5.
type sbom struct {
	Format      string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Version     int    `json:"version"`
	Metadata    struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

// A component is a module, or Go's standard library.
type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Ref        string     `json:"bom-ref"`
	Properties []property `json:"properties,omitempty"`
}

// A property is a value for which CycloneDX has no field.
type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// newComponent returns a module of version v as a component. kind is its type in CycloneDX,
// and sum its checksum in go.sum, or "".
func newComponent(kind, name, v, sum string) component {
	purl := "pkg:golang/" + name + "@" + v
	c := component{Type: kind, Name: name, Version: v, PURL: purl, Ref: purl}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}

// sbomOf lists what a program contains, as the Go linker recorded it. Modules of this
// repository have the version v.
func sbomOf(info *buildinfo.BuildInfo, v, platform string) *sbom {
	s := &sbom{Format: "CycloneDX", SpecVersion: "1.5", Version: 1}
	s.Metadata.Component = newComponent("application", info.Main.Path, v, "")
	s.Metadata.Component.Properties = []property{{"go:platform", platform}}
	for _, setting := range info.Settings {
		if strings.HasPrefix(setting.Key, "vcs.") {
			s.Metadata.Component.Properties = append(s.Metadata.Component.Properties, property{"go:" + setting.Key, setting.Value})
		}
	}
	s.Components = []component{newComponent("library", "stdlib", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, d := range info.Deps {
		if isOwn(d.Path) {
			s.Components = append(s.Components, newComponent("library", d.Path, v, ""))
			continue
		}
		if d.Replace != nil {
			d = d.Replace
		}
		s.Components = append(s.Components, newComponent("library", d.Path, d.Version, d.Sum))
	}
	return s
}

// isOwn reports whether a module is one of this repository.
func isOwn(module string) bool {
	return module == ownModule || strings.HasPrefix(module, ownModule+"/")
}

// writeSBOM writes the SBOM of a program.
func writeSBOM(name string, info *buildinfo.BuildInfo, v, platform string) error {
	data, err := json.MarshalIndent(sbomOf(info, v, platform), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o666)
}

// licencesOf returns the licences and notices of the modules that a program contains, and that of
// Go. Most licences demand that their text is passed on with the program.
func licencesOf(info *buildinfo.BuildInfo) ([]file, error) {
	goroot, err := output(".", "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	files, err := licencesIn(goroot, "licences/go")
	if err != nil {
		return nil, err
	}
	download := []string{"go", "mod", "download", "-json"}
	for _, d := range info.Deps {
		if isOwn(d.Path) {
			continue
		}
		if d.Replace != nil {
			d = d.Replace
		}
		download = append(download, d.Path+"@"+d.Version)
	}
	if len(download) == 4 {
		return files, nil // without names, go would download everything
	}
	modules, err := output(".", download...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(modules)); ; {
		var module struct{ Path, Dir string }
		if err := d.Decode(&module); err == io.EOF {
			return files, nil
		} else if err != nil {
			return nil, err
		}
		found, err := licencesIn(module.Dir, "licences/"+module.Path)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
}

// licencesIn returns the licences and notices in a folder, as files of the folder to in an archive.
// A file such as license.go is code, and does not count. A folder without any licence is an error,
// so that somebody looks into it.
func licencesIn(folder, to string) (files []file, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		isLicence := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, func(p string) bool { return strings.HasPrefix(name, p) })
		if !isLicence || !e.Type().IsRegular() || strings.HasSuffix(name, ".GO") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{to + "/" + e.Name(), data, 0o644})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no licence; a release needs it", folder)
	}
	return files, nil
}
