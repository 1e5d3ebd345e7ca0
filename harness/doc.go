// Package harness is the heart of robospec: one participant on a robot graph
// that keeps every message, stamped on arrival, on a timeline it shares with
// everything the spec does to the system. Matchers judge that log, never
// samples of it.
//
// It holds no expectations (package matchers) and knows no test framework
// (package fixtures).
package harness
