// A client's program with a lock that is on no server. Its extend fails, and says how many
// milliseconds have passed since the grant by the wall clock and by the monotonic clock.
'use strict'

let wall, monotonic
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const command = JSON.parse(line)
  let answer = { type: { init: 'ready', release: 'released' }[command.type] || 'ok' }
  if (command.type === 'acquire') {
    wall = Date.now()
    monotonic = performance.now()
    answer = { type: 'acquired', until: wall + 400 }
  } else if (command.type === 'extend') {
    const passed = [Date.now() - wall, performance.now() - monotonic]
    answer = { type: 'failed', error: passed.map(Math.round).join(' ') }
  }
  console.log(JSON.stringify(answer))
})
