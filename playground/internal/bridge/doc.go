// Package bridge connects a page in a browser to the simulator. The page loads a program that
// calls Run in a Web Worker, and sends it requests; see package playground.
package bridge
