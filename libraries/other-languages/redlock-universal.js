// The locks of the npm package redlock-universal 0.8, with ioredis.
'use strict'

const { createLock, createRedlock, IoredisAdapter } = require('redlock-universal')
const { serve, connect } = require('./protocol')

const leases = new Map()
let lock, ttl

serve({
  init(command) {
    ttl = command.ttl
    const adapters = connect(command.servers).map((client) => new IoredisAdapter(client))
    const options = { key: command.key, ttl, retryAttempts: 0 }
    lock = adapters.length > 1 ? createRedlock({ adapters, ...options }) : createLock({ adapter: adapters[0], ...options })
  },
  async acquire(section) {
    const handle = await lock.acquire()
    leases.set(section, handle)
    return { until: handle.acquiredAt + handle.ttl }
  },
  async extend(section) {
    if (!(await lock.extend(leases.get(section), ttl))) throw new Error('not extended')
    return { until: Date.now() + ttl }
  },
  async release(section) {
    if (!(await lock.release(leases.get(section)))) throw new Error('not released: the lock is lost')
  },
})
