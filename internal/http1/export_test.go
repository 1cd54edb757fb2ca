package http1

// MaxTestBody is the maximum length of a body that the servers of the tests accept, in
// bytes.
const MaxTestBody = maxTestBody

// Streams returns what clients write on connections in the tests: valid requests, malformed
// ones, and both together.
func Streams() (all []string) {
	concatenated := ""
	for _, r := range requests {
		all = append(all, r.bytes, r.bytes+r.bytes)
		concatenated += r.bytes
	}
	all = append(all, concatenated)
	for _, m := range malformed {
		all = append(all, m.bytes, requests[0].bytes+m.bytes+requests[0].bytes)
	}
	const closing = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
	const put = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
	return append(all,
		closing+requests[0].bytes,
		put+"Expect: 100-continue\r\n\r\nhello"+requests[0].bytes,
		put+"Expect: a miracle\r\n\r\nhello"+requests[0].bytes,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n\r\n"+requests[0].bytes,
		requests[0].bytes+"\r\n"+requests[0].bytes,
	)
}
