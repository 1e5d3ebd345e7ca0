package wire

// Resolution holds the negotiated widths of sequence numbers (bits 0–1) and
// request ids (bits 2–3): 0 is 8 bit, 1 is 16, 2 is 32, 3 is 64. The zero value
// is [DefaultResolution]; parsing sets bit 7, so that 8 bit for both differs
// from it.
type Resolution byte

// DefaultResolution is 32 bit for both.
const DefaultResolution Resolution = resolutionSet | 0x0a

const resolutionSet = 0x80

// ResolutionOf is the resolution with the wire's byte b.
func ResolutionOf(b byte) Resolution { return Resolution(b&0x0f) | resolutionSet }

// bits is the byte on the wire.
func (r Resolution) bits() byte {
	if r == 0 {
		r = DefaultResolution
	}
	return byte(r & 0x0f)
}

// snMasks lose one bit per byte of the variable-length integer; the 64-bit
// class is held in 32 bits (zenoh.md §3.1).
var snMasks = [4]uint32{0x7f, 0x3fff, 0x0fffffff, 0xffffffff}

// SNMask is the largest sequence number: after it comes 0. A sequence number
// outside the mask makes the peer close the transport.
func (r Resolution) SNMask() uint32 { return snMasks[r.bits()&3] }

// RequestIDMask is the largest request id.
func (r Resolution) RequestIDMask() uint32 { return snMasks[r.bits()>>2] }

// Min is the smaller width of r and o in each field: what a handshake settles
// on.
func (r Resolution) Min(o Resolution) Resolution {
	a, b := r.bits(), o.bits()
	return ResolutionOf(min(a&0x03, b&0x03) | min(a&0x0c, b&0x0c))
}

// Newer reports whether a lane whose last accepted sequence number is last
// accepts sn: the gap from last to sn, modulo mask+1, is not zero and less than
// half the range. Gaps are accepted, repeats and steps back are not
// (zenoh.md §3.3).
func Newer(last, sn, mask uint32) bool {
	gap := (sn - last) & mask
	return gap != 0 && gap <= mask>>1
}
