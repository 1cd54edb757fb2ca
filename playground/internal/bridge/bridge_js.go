package bridge

import (
	"syscall/js"

	"github.com/locksim/locksim/internal/playground"
)

// Run answers the requests of the Web Worker in which the program runs, and never returns. It gives
// the worker the function locksimServe, which takes a request in JSON and a function that gets the
// answer in JSON. It answers the requests one after the other. locksimServe returns before its
// request is answered, because running a world needs the event loop of the browser.
func Run() {
	type call struct {
		request string
		reply   js.Value
	}
	calls := make(chan call, 64)
	js.Global().Set("locksimServe", js.FuncOf(func(_ js.Value, args []js.Value) any {
		calls <- call{args[0].String(), args[1]}
		return nil
	}))
	js.Global().Call("locksimReady")
	for c := range calls {
		c.reply.Invoke(string(playground.Serve([]byte(c.request))))
	}
}
