import { randomInt } from 'node:crypto';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

const CASES = 50_000;
const SEEDS = 0x1_0000_0000;

function setting(name: string, fallback: number): number {
  const text = process.env[name] ?? '';
  if (text === '') return fallback;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name} is a whole number, not "${text}"`);
  return value;
}

/** PDUs that each part of a run mutates: `FUZZ_CASES`, else 50 000. */
export const FUZZ_CASES = setting('FUZZ_CASES', CASES);

/** `FUZZ_SEED`, else a new one; printed, so that a failed run can be repeated. */
export const FUZZ_SEED = setting('FUZZ_SEED', randomInt(SEEDS));

export function reportSeed(what: string): void {
  console.log(`${what}: FUZZ_SEED=${FUZZ_SEED} FUZZ_CASES=${FUZZ_CASES}`);
}

v8.setFlagsFromString('--expose_gc');
const collect: unknown = runInNewContext('gc');

/** Octets of the heap in use after a garbage collection. */
export function heapInUse(): number {
  if (typeof collect === 'function') for (let round = 0; round < 3; round++) Reflect.apply(collect, undefined, []);
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
