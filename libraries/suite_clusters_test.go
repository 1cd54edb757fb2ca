package libraries_test

import "github.com/locksim/locksim/internal/locksuite"

// What the suite finds in etcd's locks on three members, by story. A session lives as long
// as its process, and the recipes leave it to the caller to end it. Most of it is documented, or follows
// from what is:
//
//   - A release that fails leaves its key, which stands as long as the session does: progress.
//     The client does not ask again; whoever uses it has to, or has to end the session.
//   - With etcd, whoever asks again with a session whose key still stands has the lock by that
//     key, with the same token: token-order. So has who asks for it twice: handles.
//   - The loss is told late: section-exclusion. etcd's client looks once a second, and counts
//     from when the answer to a keep-alive came. So is that of a holder who was paused and runs
//     again: of the catalogue's pauses, those that end while the next one is in.
//   - The answer by which one has the lock may come when the session is over, and nobody
//     looks at that: section-exclusion of late-reply, late/acquire and pause. Who stops at
//     once because it is told so has got nothing done: progress.
//   - etcd's client keeps a connection on which nothing comes any more: node-silent.
var (
	onEtcd = locksuite.Findings{
		"handles":                                        {"lease-exclusion", "section-exclusion", "token-order", "progress"},
		"contexts/cancelled-before":                      {"progress"},
		"lost-request/release":                           {"progress", "token-order"},
		"late-request/meanwhile":                         {"section-exclusion"},
		"late-reply/acquire":                             {"section-exclusion", "progress"},
		"late-reply/acquire/majority":                    {"section-exclusion"},
		"late-reply/acquire/all":                         {"section-exclusion"},
		"silence/meanwhile":                              {"section-exclusion"},
		"silence/work":                                   {"section-exclusion"},
		"silence/work/majority":                          {"section-exclusion"},
		"silence/work/all":                               {"section-exclusion"},
		"errors/acquire":                                 {"token-order"},
		"errors/acquire/majority":                        {"progress"},
		"errors/acquire/all":                             {"progress"},
		"errors/release":                                 {"progress", "token-order"},
		"node-down/acquire":                              {"progress", "token-order"},
		"node-down/acquire/majority":                     {"progress"},
		"node-down/release":                              {"progress", "token-order"},
		"node-down/meanwhile":                            {"progress"},
		"node-silent/work/minority":                      {"progress"},
		"catalogue/same-holder-cut-off":                  {"section-exclusion"},
		"late/acquire":                                   {"section-exclusion", "progress"},
		"pause/acquire":                                  {"section-exclusion"},
		"pause/work":                                     {"section-exclusion"},
		"catalogue/pause-in-flight/elapsed-check":        {"section-exclusion", "progress"},
		"catalogue/fencing-lost-update/writes":           {"section-exclusion"},
		"catalogue/fencing-lost-update/reads-and-writes": {"section-exclusion"},
	}
	electedOnEtcd = locksuite.Findings{
		"handles":                                        {"lease-exclusion", "section-exclusion", "token-order", "progress"},
		"contexts/cancelled-before":                      {"progress"},
		"lost-request/release":                           {"progress", "token-order"},
		"late-request/meanwhile":                         {"section-exclusion"},
		"late-reply/acquire":                             {"progress"},
		"late-reply/acquire/majority":                    {"section-exclusion"},
		"late-reply/acquire/all":                         {"section-exclusion"},
		"late-reply/release":                             {"progress"},
		"late-reply/meanwhile":                           {"section-exclusion", "progress"},
		"silence/work":                                   {"section-exclusion"},
		"silence/work/majority":                          {"section-exclusion"},
		"silence/work/all":                               {"section-exclusion"},
		"errors/acquire/majority":                        {"progress"},
		"errors/acquire/all":                             {"progress"},
		"errors/release":                                 {"progress", "token-order"},
		"node-down/acquire":                              {"progress", "token-order"},
		"node-down/acquire/majority":                     {"progress"},
		"node-down/release":                              {"progress", "token-order"},
		"node-down/meanwhile":                            {"progress"},
		"node-silent/work/minority":                      {"progress"},
		"catalogue/same-holder-cut-off":                  {"section-exclusion"},
		"late/acquire":                                   {"section-exclusion", "progress"},
		"pause/meanwhile":                                {"section-exclusion"},
		"pause/work":                                     {"section-exclusion"},
		"catalogue/pause-in-flight/elapsed-check":        {"progress"},
		"catalogue/fencing-lost-update/writes":           {"section-exclusion"},
		"catalogue/fencing-lost-update/reads-and-writes": {"section-exclusion"},
	}
)
