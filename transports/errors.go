package transports

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is the end of what was closed by its owner.
	ErrClosed = errors.New("transports: closed")
	// ErrNoResponder is a call that nobody served.
	ErrNoResponder = errors.New("transports: nobody serves")
	// ErrAnswered is a second answer to one request.
	ErrAnswered = errors.New("transports: already answered")
	// ErrTimeout is a call that the wire itself gave up on.
	ErrTimeout = errors.New("transports: the wire gave up waiting for the reply")
)

// LinkError is a lost link with its reason.
type LinkError struct {
	// Peer is who was at the other end, such as "tcp/127.0.0.1:7447".
	Peer string
	// Err is the reason.
	Err error
}

func (e *LinkError) Error() string { return fmt.Sprintf("link to %s lost: %v", e.Peer, e.Err) }

// Unwrap is the reason.
func (e *LinkError) Unwrap() error { return e.Err }

// RemoteError is a call that the server refused.
type RemoteError struct {
	Service string
	Reason  string
}

func (e *RemoteError) Error() string { return fmt.Sprintf("%s refused: %s", e.Service, e.Reason) }

// NameError is a topic or service name that a wire does not take.
type NameError struct {
	Name string
	// Reason says which rule it breaks, and where.
	Reason string
}

func (e *NameError) Error() string { return fmt.Sprintf("name %q: %s", e.Name, e.Reason) }
