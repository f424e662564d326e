// What a run tells its user. Progress goes to standard error; standard output is for the answer alone.

/** A fault that the user can mend: its message says how, and is shown without a stack. */
export class StartError extends Error {}

/** @returns {(message: string) => void} prints one line with the time since this was made */
export function startLog(name = 'countersign') {
  const startedAt = performance.now();
  return (message) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    for (const line of message.split('\n')) process.stderr.write(`[${name} +${seconds}s] ${line}\n`);
  };
}

/** Says every few seconds that something still goes on. @returns {() => void} ends it */
export function stillWorking(log, what, everyMs = 5000) {
  const startedAt = performance.now();
  const timer = setInterval(() => log(`${what} … ${Math.round((performance.now() - startedAt) / 1000)} s`), everyMs);
  return () => clearInterval(timer);
}

/** A fault as it is shown: a sentence when it is one of ours, else everything known. */
export const faultText = (error) => (error instanceof StartError ? error.message : (error?.stack ?? String(error)));
