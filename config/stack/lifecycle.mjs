// The stop order of a run. Each step has a deadline; the order is the same for every cause and at every stage of the
// start.
import { parentOf } from './processes.mjs';

/** Clients before servers: apps, then the carrier of their binds, then the stores, then the lock. */
const ORDER = ['apps', 'simulator', 'stores', 'last'];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_POLL_MS = 250;
/** After more signals than this, the stop does not wait any longer. */
const PATIENT_SIGNALS = 2;

/**
 * @param {(message: string) => void} log
 * @returns what the steps of a run register with; `signal` aborts when the stop begins
 */
export function createLifecycle(log) {
  const controller = new AbortController();
  const steps = new Map(ORDER.map((phase) => [phase, []]));
  const children = new Set();
  let anythingRan = false;
  let stopping;

  async function goDown(code) {
    for (const phase of ORDER) {
      const settled = await Promise.allSettled(steps.get(phase).map((step) => step()));
      for (const { reason } of settled) if (reason !== undefined) log(`while stopping: ${reason.message ?? reason}`);
    }
    if (anythingRan) log('stopped');
    process.exit(code);
  }

  function stop(code, why) {
    if (stopping === undefined) {
      log(why);
      controller.abort(new Error('stopping'));
      stopping = goDown(code);
    }
    return stopping;
  }

  function kill() {
    for (const child of children) child.kill('SIGKILL');
    process.exit(130);
  }

  return {
    signal: controller.signal,
    stop,
    /** Registers a step of the stop. Steps of one phase run at the same time. */
    onStop: (phase, step) => steps.get(phase).push(step),
    /** Registers an object with a `stop` before its start has ended: a stop that begins meanwhile stops it too. */
    async starting(phase, start) {
      controller.signal.throwIfAborted();
      const started = start();
      steps.get(phase).push(async () => (await started.catch(() => undefined))?.stop());
      return started;
    },
    /** Registers work that ends when the signal aborts; the stop waits for its end. */
    during(phase, work) {
      steps.get(phase).push(() => work.catch(() => undefined));
      return work;
    },
    /** Registers a child; its end ends the run. */
    dependOn(name, child, lastWords = () => '') {
      children.add(child);
      anythingRan = true;
      child.once('exit', (code, signal) => {
        children.delete(child);
        void stop(
          1,
          `${name} ended unexpectedly (${signal ?? `exit code ${code}`}): stopping everything${lastWords()}`,
        );
      });
    },
    watch: () => watch(stop, kill, log),
  };
}

function watch(stop, kill, log) {
  let received = 0;
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (++received > PATIENT_SIGNALS) kill();
      if (received === PATIENT_SIGNALS) log('still stopping; once more to kill everything');
      void stop(0, `${name}: stopping`);
    });
  }
  process.on('uncaughtException', (error) => void stop(1, error.stack ?? String(error)));
  // A closed terminal must not prevent an orderly stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (process.env.npm_lifecycle_event !== undefined) watchNpm(() => void stop(0, 'npm is gone: stopping'));
}

/**
 * A killed npm does not pass the signal on, and the shell between npm and this process may live on: both are watched.
 */
function watchNpm(onGone) {
  const parent = process.ppid;
  const grandparent = parentOf(parent);
  const timer = setInterval(() => {
    if (process.ppid === parent && parentOf(parent) === grandparent) return;
    clearInterval(timer);
    onGone();
  }, PARENT_POLL_MS);
  timer.unref();
}
