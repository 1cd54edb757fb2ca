package checks

// A code of type codeN, such as code2, belongs to reasons with N arguments. The type parameters are
// the types of the arguments, so the compiler checks them.

type code0 Code

// Reason returns a reason with this code.
func (k code0) Reason() Reason { return reason(Code(k)) }

type code1[A any] Code

// Reason returns a reason with this code and this argument.
func (k code1[A]) Reason(a A) Reason { return reason(Code(k), a) }

type code2[A, B any] Code

// Reason returns a reason with this code and these arguments.
func (k code2[A, B]) Reason(a A, b B) Reason { return reason(Code(k), a, b) }

type code3[A, B, C any] Code

// Reason returns a reason with this code and these arguments.
func (k code3[A, B, C]) Reason(a A, b B, c C) Reason { return reason(Code(k), a, b, c) }

type code4[A, B, C, D any] Code

// Reason returns a reason with this code and these arguments.
func (k code4[A, B, C, D]) Reason(a A, b B, c C, d D) Reason { return reason(Code(k), a, b, c, d) }

type code5[A, B, C, D, E any] Code

// Reason returns a reason with this code and these arguments.
func (k code5[A, B, C, D, E]) Reason(a A, b B, c C, d D, e E) Reason {
	return reason(Code(k), a, b, c, d, e)
}

type code6[A, B, C, D, E, F any] Code

// Reason returns a reason with this code and these arguments.
func (k code6[A, B, C, D, E, F]) Reason(a A, b B, c C, d D, e E, f F) Reason {
	return reason(Code(k), a, b, c, d, e, f)
}

type code7[A, B, C, D, E, F, G any] Code

// Reason returns a reason with this code and these arguments.
func (k code7[A, B, C, D, E, F, G]) Reason(a A, b B, c C, d D, e E, f F, g G) Reason {
	return reason(Code(k), a, b, c, d, e, f, g)
}
