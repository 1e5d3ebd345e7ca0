package wire

// AfterKey is the offset of what follows the key in a PUSH, REQUEST or RESPONSE
// that was parsed without an error (see [Reader.Raw]). Who passes a message on
// under another key or id copies the rest as it came: AppendForward.
func AfterKey(msg []byte) int {
	at := 1
	if msg[0]&idMask != idPush {
		_, at = skipVLE(msg, at)
	}
	_, at = skipVLE(msg, at)
	if msg[0]&flagN != 0 {
		n, after := skipVLE(msg, at)
		at = after + int(n)
	}
	return at
}

// Body is the offset of the body's header in a message whose key ends at
// afterKey.
func Body(msg []byte, afterKey int) int {
	at := afterKey
	for more := msg[0]&flagZ != 0; more; {
		h := msg[at]
		at++
		switch h & extEncMask {
		case extZ64:
			_, at = skipVLE(msg, at)
		case extZBuf:
			n, after := skipVLE(msg, at)
			at = after + int(n)
		}
		more = h&flagZ != 0
	}
	return at
}

// AppendForward appends the beginning of a message that passes on msg, a PUSH,
// REQUEST or RESPONSE: its header, the id in the latter two, and key. What
// follows is msg[AfterKey(msg):].
func AppendForward(dst, msg []byte, id uint32, key *WireExpr) []byte {
	at := len(dst)
	dst = append(dst, msg[0]&(idMask|flagZ))
	if msg[0]&idMask != idPush {
		dst = AppendVLE(dst, uint64(id))
	}
	return key.append(dst, at)
}

// AppendStamped appends the header of the PUT at msg[body:] with a timestamp that
// it did not have. What follows is msg[body+1:].
func AppendStamped(dst, msg []byte, body int, t Timestamp) []byte {
	return t.append(append(dst, msg[body]|0x20))
}

// skipVLE reads a number that is known to be whole.
func skipVLE(b []byte, at int) (v uint64, after int) {
	for i := 0; ; i++ {
		x := b[at+i]
		if i == maxVLE-1 {
			return v | uint64(x)<<56, at + maxVLE
		}
		v |= uint64(x&0x7f) << (7 * i)
		if x < 0x80 {
			return v, at + i + 1
		}
	}
}
