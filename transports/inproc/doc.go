// Package inproc is the graph in memory: the wire of specs whose nodes live in
// one process, and the reference for what every other transport means.
//
// A message is delivered on the goroutine that publishes it: when Publish
// returns, every sink has had it. The exception is a Publish that meets its
// own publisher already delivering, from inside a sink or on another
// goroutine: it leaves the message to the delivery that runs, which keeps the
// order, and returns. No goroutine is started, nothing travels, nothing is
// lost, and no lock is held while a sink, handler or done runs, so these may
// publish, call, subscribe and close. The one thing that runs elsewhere is the
// end of a call by its context, which the context package calls.
//
// A Close from inside any sink of this package does not wait for other sinks:
// two that close each other's subscription would wait for ever.
package inproc
