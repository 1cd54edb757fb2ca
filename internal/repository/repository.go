// Package repository has the addresses of the project's files on the web. The command may be
// installed without a clone of the repository, so it refers to documents by these addresses.
package repository

// Files is the beginning of the address of a file; the path of the file follows.
const Files = "https://github.com/locksim/locksim/blob/main/"

// Document returns the address of a document of the folder docs.
func Document(name string) string { return Files + "docs/" + name }
