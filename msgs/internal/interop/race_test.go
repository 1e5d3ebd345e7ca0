//go:build race

package interop_test

// perType is small under the race detector, which finds nothing in codecs that
// share nothing; CI runs the whole without it.
const perType = 20
