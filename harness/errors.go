package harness

import (
	"errors"
	"fmt"
	"time"

	"github.com/robospec/robospec/transports"
)

var (
	// ErrClosed is the end of what was closed by its owner.
	ErrClosed = errors.New("harness: closed")
	// ErrEnded is the end of a source that has given all it had.
	ErrEnded = errors.New("harness: the source has ended")
	// ErrAnswered is a second answer to one request.
	ErrAnswered = transports.ErrAnswered
	// ErrNotHeld is a place in the log whose messages were dropped since.
	ErrNotHeld = errors.New("harness: no longer held by the log")
)

// closed is err in the harness's own words.
func closed(err error) error {
	if errors.Is(err, transports.ErrClosed) {
		return ErrClosed
	}
	return err
}

// WaitError is a wait that did not get what it waited for.
type WaitError struct {
	// Op is the wait, such as "WaitForNext"; Topic what it waited on.
	Op    string
	Topic string
	// Waited is how long, Received how many messages came meanwhile.
	Waited   time.Duration
	Received uint64
	// Err is why it ended: a *SoftTimeout, the cause of the caller's context,
	// ErrClosed, a *transports.LinkError.
	Err error
	// Cause is why nothing could come, from the graph; "" where the graph tells
	// nothing.
	Cause string
}

func (e *WaitError) Error() string {
	s := fmt.Sprintf("%s on %s: %v (waited %v, %d messages came)", e.Op, e.Topic, e.Err, e.Waited.Round(time.Microsecond), e.Received)
	if e.Cause != "" {
		s += "\n" + e.Cause
	}
	return s
}

// Unwrap is Err.
func (e *WaitError) Unwrap() error { return e.Err }

// FormattedGomegaError keeps Gomega from dumping the error by reflection.
func (e *WaitError) FormattedGomegaError() string { return e.Error() }

// LossError is a stretch of messages that the log dropped before a reliable
// reader came to them.
type LossError struct {
	Topic string
	// Lost is how many; of a Reader after a mark that the log had forgotten already
	// when the Reader was made, at most how many.
	Lost uint64

	atMost bool
}

func (e *LossError) Error() string {
	upTo := ""
	if e.atMost {
		upTo = "up to "
	}
	return upTo + fmt.Sprintf("%d messages on %s were dropped by the log before they were read; read faster or subscribe with a larger harness.Keep", e.Lost, e.Topic)
}

// MessageError is a message that did not decode.
type MessageError struct {
	Topic string
	// Size is the length of the payload in bytes.
	Size int
	// Err says what was expected and at which offset it went wrong.
	Err error
}

func (e *MessageError) Error() string {
	return fmt.Sprintf("message of %d bytes on %s does not decode: %v", e.Size, e.Topic, e.Err)
}

// Unwrap is the codec's error.
func (e *MessageError) Unwrap() error { return e.Err }
