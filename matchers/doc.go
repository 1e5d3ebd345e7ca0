// Package matchers are the words of a spec: Gomega matchers over live robot
// traffic and over recorded windows of it.
//
// An expectation on live traffic is one of two waits, asked once: Within looks
// for an effect, Over watches for a time. Inside them stand words that judge
// messages and windows; a word alone judges a *measure.Window at once. Each
// wait is driven by arrivals, never by polling, and has three verdicts: an
// inconclusive one is the error of Match, red also under negation.
//
// A matcher reads nothing when it is made and may be used again: each Match is
// a new wait. One matcher is for one goroutine at a time.
package matchers
