package locks

import "fmt"

// Provide sets the New of a kind that has an Adapter. Only that adapter may call it, while
// it is initialised. It panics if the name is not registered, or if New was already
// provided, because one of the two functions would silently never be called.
func Provide(name string, create func(*Env) (Lock, error)) {
	k, ok := kinds[name]
	switch {
	case !ok:
		panic("locks: no kind is called " + name)
	case k.New != nil:
		panic("locks: " + name + " is provided already")
	}
	k.New = create
	kinds[name] = k
}

// CheckProvided returns an error if this program cannot make a lock of this kind, because
// it does not import the kind's adapter. The error names that package.
func (k Kind) CheckProvided() error {
	if k.New != nil {
		return nil
	}
	return fmt.Errorf("the lock %s is not in this program: import the package %s, which provides it", k.Name, k.Adapter)
}
