// How a run goes down: in order, each step with a deadline of its own, whoever asks for it and however far it has come up.
import { parentOf } from './processes.mjs';

/** Who needs another goes first: apps, then the carrier they are bound to, then the stores, then our own lock. */
const ORDER = ['apps', 'simulator', 'stores', 'last'];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_POLL_MS = 250;
/** Who presses Ctrl-C once more than this does not want to wait. */
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
    /** A step of the stop. Steps of one phase run at the same time. */
    onStop: (phase, step) => steps.get(phase).push(step),
    /** Something with a `stop` that is being started: it is stopped even when the stop begins before it is up. */
    async starting(phase, start) {
      controller.signal.throwIfAborted();
      const started = start();
      steps.get(phase).push(async () => (await started.catch(() => undefined))?.stop());
      return started;
    },
    /** Work that gives up when the signal aborts: the stop waits until it has. */
    during(phase, work) {
      steps.get(phase).push(() => work.catch(() => undefined));
      return work;
    },
    /** A child whose end ends the run. */
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
  // A terminal that is gone must not keep us from stopping in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (process.env.npm_lifecycle_event !== undefined) watchNpm(() => void stop(0, 'npm is gone: stopping'));
}

/** npm that is killed does not pass it on, and the shell between us may live: both of them are watched. */
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
