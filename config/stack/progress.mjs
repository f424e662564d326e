// Messages of a run to its user. Progress goes to standard error; standard output is for the result alone.
import { printable } from './printable.mjs';

/** An error that the user can correct: its message says how, and is shown without a stack. */
export class StartError extends Error {}

/** @returns {(message: string) => void} prints one line with the time since the log was created */
export function startLog(name = 'countersign') {
  const startedAt = performance.now();
  return (message) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    for (const line of message.split('\n')) {
      process.stderr.write(`[${name} +${seconds}s] ${printable(line)}\n`);
    }
  };
}

/** Logs every few seconds that a step still runs. @returns {() => void} ends it */
export function stillWorking(log, what, everyMs = 5000) {
  const startedAt = performance.now();
  const timer = setInterval(() => log(`${what} … ${Math.round((performance.now() - startedAt) / 1000)} s`), everyMs);
  return () => clearInterval(timer);
}

/** The text of an error: the message of a StartError, else all details. */
export const faultText = (error) => (error instanceof StartError ? error.message : (error?.stack ?? String(error)));
