package exercises

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// moduleFiles has the files that the reader begins with, and solutionFiles the model
// solutions.
//
//go:embed _module
var moduleFiles embed.FS

//go:embed _solutions
var solutionFiles embed.FS

// A File is a file to write, with its name relative to the folder, with slashes.
type File struct {
	Name string
	Data []byte
}

// ModuleFiles returns the files that the reader begins with, except go.mod.
func ModuleFiles() []File {
	files := filesIn(moduleFiles, "_module")
	for i, f := range files {
		if f.Name == "README.md" {
			files[i].Data = fillReadme(f.Data)
		}
	}
	return files
}

// fillReadme puts the tables of the stages and of the scenarios into the text for the reader.
func fillReadme(text []byte) []byte {
	var stages, scenarios strings.Builder
	for _, s := range Stages() {
		fmt.Fprintf(&stages, "| %d | %s | %s |\n", s.Number, s.Name, s.Property)
	}
	for _, s := range scenarioExercises {
		fmt.Fprintf(&scenarios, "| `%s` | %s |\n", s.File, s.Title)
	}
	return []byte(strings.NewReplacer("STAGES\n", stages.String(), "SCENARIOS\n", scenarios.String()).Replace(string(text)))
}

// SolutionFiles returns the model solutions.
func SolutionFiles() []File { return filesIn(solutionFiles, "_solutions") }

// filesIn returns all files in a folder, in alphabetical order.
func filesIn(all embed.FS, root string) (files []File) {
	err := fs.WalkDir(all, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := all.ReadFile(name)
		files = append(files, File{strings.TrimPrefix(name, root+"/"), data})
		return err
	})
	if err != nil {
		panic(err) // impossible: the files are part of the program
	}
	return files
}
