//go:build !race

package interop_test

const perType = 200
