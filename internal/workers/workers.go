// Package workers runs jobs in processes of their own: a job that panics in some
// goroutine, ends its process or never returns costs itself and nothing else.
//
// A worker is a process that calls [Serve], most often the program that hires it,
// started again with other arguments. It reads orders from its standard input and
// answers on its standard output, in JSON, one line each. What it answers is behind
// a mark, which tells it from whatever the job prints.
package workers

// Ahead is how many orders a worker may be given before their time, so that it does
// not idle when the one that hired it is slow to be woken.
const Ahead = 15

// What the lines of a worker begin with. The rest is JSON.
const (
	noted    = "\x1enote "
	answered = "\x1eanswer "
)
