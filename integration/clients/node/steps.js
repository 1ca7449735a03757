'use strict'
// What the Node programs share: how a step is told, and contests.

const [host, port, prefix] = process.argv.slice(-3)
const own = process.argv.slice(2, -3)

function tell (name, result) {
  console.log(JSON.stringify({ [name]: result === undefined ? null : result }))
}

// version reads what is really installed under a folder of node_modules.
function version (...packages) {
  tell('version', packages.map(p => require(require('path').join(__dirname, 'node_modules', p, 'package.json'))
    .version.replace(/^v/, '')).join(' '))
}

async function step (name, call) {
  try {
    const result = await call()
    tell(name, result)
    return result
  } catch (e) {
    tell(name, `FAILED ${e.name}: ${e.message}`)
  }
}

// refused tells the error that the call should end with.
async function refused (name, call) {
  try {
    tell(name, `FAILED: no error, but ${JSON.stringify(await call())}`)
  } catch (e) {
    tell(name, `${e.name}: ${e.message}`)
  }
}

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

// poll calls until it is true. The masters keep a lock a little longer.
async function poll (call, ms = 10000) {
  for (const end = Date.now() + ms; !(await call());) {
    if (Date.now() > end) return `still refused after ${ms} ms`
    await sleep(5)
  }
  return true
}

// waitFor says whether take, which waits, ends after the release 300 ms later.
async function waitFor (release, take) {
  const start = Date.now()
  const released = sleep(300).then(release)
  await take()
  const waited = Date.now() - start
  await released
  return waited >= 290
}

// contest lets workers want one lock at once. take waits and returns a release.
async function contest (take, workers = 8, rounds = 5) {
  let inside = 0; let most = 0; let done = 0
  await Promise.all(Array.from({ length: workers }, async (_, worker) => {
    for (let i = 0; i < rounds; i++) {
      const release = await take(worker)
      most = Math.max(most, ++inside)
      await sleep(1)
      inside--
      done++
      await release()
    }
  }))
  return { rounds: done, 'at once': most }
}

// run ends the process even where a library keeps a connection.
function run (main) {
  main().then(() => process.exit(0), e => {
    console.error(e)
    process.exit(1)
  })
}

module.exports = { host, port: Number(port), password: process.env.BENCH_PASSWORD || undefined, prefix, own, tell, version, step, refused, sleep, poll, waitFor, contest, run }
