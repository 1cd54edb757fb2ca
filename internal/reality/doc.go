// Package reality plays the worlds of package sim on real servers, in real time. It starts
// the servers, the storage and the clients as processes of this machine, with a proxy
// between each client and each server. It lets the faults of the world strike. What it sees
// becomes a trace of the same kind as that of a simulated run.
//
// A run is not deterministic: the operating system decides how long everything takes. The
// harness, which is this process, is never stopped itself. It calls the storage on behalf
// of the clients: a client's program says when it would send its request.
//
// The trace lacks the events that the harness cannot see. Therefore the harness asks each
// server for its keys after each command, and again when a key should have expired.
package reality
