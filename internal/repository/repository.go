// Package repository has the addresses of the project's files on the web. The command may be
// installed without a clone of the repository, so what it says of a document leads there.
package repository

// Files is the address that precedes the path of a file.
const Files = "https://github.com/locksim/locksim/blob/main/"

// Document returns the address of a document of the folder docs.
func Document(name string) string { return Files + "docs/" + name }
