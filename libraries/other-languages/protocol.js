// The line protocol of `locksim reality --client`: one line of JSON on standard input for
// each command, and one on standard output for each answer.
'use strict'

const readline = require('node:readline')

function say(answer) {
  process.stdout.write(JSON.stringify(answer) + '\n')
}

// serve answers the commands of locksim with a lock's methods:
//   init(command)     may return {key, quorum}
//   acquire(section)  returns {token, until, notifies}, all of them optional
//   extend(section)   returns {until}
//   release(section)
// A method that throws has failed.
function serve(lock) {
  const answers = {
    init: async (c) => ({ type: 'ready', ...(await lock.init(c)) }),
    acquire: async (c) => ({ type: 'acquired', ...(await lock.acquire(c.section)) }),
    extend: async (c) => ({ type: 'extended', ...(await lock.extend(c.section)) }),
    release: async (c) => ({ type: 'released', ...(await lock.release(c.section)) }),
    step: async () => ({ type: 'ok' }),
  }
  const lines = readline.createInterface({ input: process.stdin })
  lines.on('line', async (line) => {
    const command = JSON.parse(line)
    try {
      say(await answers[command.type](command))
    } catch (err) {
      say({ type: 'failed', error: String(err.message || err) })
    }
  })
  lines.on('close', () => process.exit(0))
}

// connect returns an ioredis client for each server, with the defaults of ioredis: it waits
// for an answer as long as it takes.
function connect(servers) {
  const Redis = require('ioredis')
  return servers.map((server) => {
    const [host, port] = server.split(':')
    const client = new (Redis.default || Redis)({ host, port: Number(port) })
    client.on('error', () => {}) // the command fails, too
    return client
  })
}

module.exports = { say, serve, connect }
