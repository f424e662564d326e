import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CORPUS } from './corpus.js';
import { FUZZ_CASES, FUZZ_SEED, heapInUse, reportSeed } from './fuzz-run.js';
import { LinkRun } from './link-run.js';

/** Heap growth after a run that counts as a leak, in octets; buffers of sockets vary. */
const HEAP_ALLOWANCE = 16 * 1024 * 1024;
const WARM_UP_CONNECTIONS = 50;

let run: LinkRun;
beforeAll(async () => {
  run = await LinkRun.open(
    CORPUS.map(({ octets }) => octets),
    FUZZ_SEED,
  );
});
afterAll(() => run.close());

describe('links that are sent mutants', () => {
  it('answer or close, settle what they asked, throw nothing and keep no memory, in both roles', async () => {
    reportSeed('links');
    const ends = { answered: 0, closed: 0 };
    let before = 0;
    for (let read = 0, connections = 0; read < FUZZ_CASES; connections++) {
      if (connections === WARM_UP_CONNECTIONS) before = heapInUse();
      const outcome = await run.connection(connections % 2 === 0 ? 'smsc' : 'esme');
      read += outcome.read;
      ends[outcome.end]++;
    }
    expect(run.errors).toEqual([]);
    expect(ends.answered).toBeGreaterThan(0);
    expect(ends.closed).toBeGreaterThan(0);
    if (before > 0) expect(heapInUse() - before).toBeLessThan(HEAP_ALLOWANCE);
  });
});
