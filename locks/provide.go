package locks

import "fmt"

// Provide gives a kind that has an Adapter its New. It is for the initialisation of
// that package. A name that is not registered and one that is provided already panic:
// one of two would silently never run.
func Provide(name string, make func(*Env) (Lock, error)) {
	k, ok := kinds[name]
	switch {
	case !ok:
		panic("locks: no kind is called " + name)
	case k.New != nil:
		panic("locks: " + name + " is provided already")
	}
	k.New = make
	kinds[name] = k
}

// Provided is an error if nobody can make a lock of this kind, because the program
// does not import the package that does. The error names it.
func (k Kind) Provided() error {
	if k.New != nil {
		return nil
	}
	return fmt.Errorf("the lock %s is not in this program: it is made by the package %s, which has to be imported", k.Name, k.Adapter)
}
