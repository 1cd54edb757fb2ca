// The lock of the npm package redlock 4.2, with ioredis.
'use strict'

const Redlock = require('redlock')
const { serve, connect } = require('./protocol')

const leases = new Map()
let redlock, key, ttl

serve({
  init(command) {
    key = command.key
    ttl = command.ttl
    redlock = new Redlock(connect(command.servers), { retryCount: 0 })
  },
  async acquire(section) {
    const lock = await redlock.lock(key, ttl)
    leases.set(section, lock)
    return { until: lock.expiration }
  },
  async extend(section) {
    const lock = await leases.get(section).extend(ttl)
    leases.set(section, lock)
    return { until: lock.expiration }
  },
  async release(section) {
    await leases.get(section).unlock()
  },
})
