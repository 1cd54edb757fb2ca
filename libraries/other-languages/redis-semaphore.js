// The RedlockMutex of the npm package redis-semaphore 5.8, or its Mutex if there is one
// server, with ioredis. It renews its leases by itself, unless the first argument is
// "no-refresh".
'use strict'

const { Mutex, RedlockMutex } = require('redis-semaphore')
const { say, serve, connect } = require('./protocol')

const leases = new Map()
const refreshes = process.argv[2] !== 'no-refresh'
let create

serve({
  init(command) {
    const clients = connect(command.servers)
    create = (section) => {
      const options = {
        lockTimeout: command.ttl,
        acquireAttemptsLimit: 1,
        onLockLost: () => say({ type: 'lost', section }),
      }
      if (!refreshes) options.refreshInterval = 0
      return clients.length > 1 ? new RedlockMutex(clients, command.key, options) : new Mutex(clients[0], command.key, options)
    }
    return { key: 'mutex:' + command.key }
  },
  async acquire(section) {
    const mutex = create(section)
    if (!(await mutex.tryAcquire())) throw new Error('not acquired')
    leases.set(section, mutex)
    return { notifies: refreshes }
  },
  async extend() {
    throw new Error('redis-semaphore has no method to extend a lease')
  },
  async release(section) {
    await leases.get(section).release()
  },
})
