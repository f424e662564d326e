import type { Tenant } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { ResumeTurns } from './resume-turns.js';

const tenant = (accountId: string): Tenant => ({ accountId, mode: 'live' });

interface Work {
  readonly name: string;
  readonly end: () => void;
  readonly done: Promise<void>;
}

/** Works that run until they are ended, and the names of those that have started. */
function works(): {
  readonly turns: ResumeTurns;
  readonly started: string[];
  readonly add: (name: string, account: string) => Work;
} {
  const turns = new ResumeTurns();
  const started: string[] = [];
  return {
    turns,
    started,
    add: (name, account) => {
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const done = turns.run(tenant(account), () => {
        started.push(name);
        return ended;
      });
      return { name, end, done };
    },
  };
}

describe('resumes', () => {
  it('of one account run two at a time, the others in their order, and hold up no other account', async () => {
    const { started, add } = works();
    const [one, two, three] = ['a1', 'a2', 'a3', 'a4'].map((name) => add(name, 'a'));
    add('b1', 'b');
    expect(started).toEqual(['a1', 'a2', 'b1']);
    two?.end();
    await two?.done;
    await expect.poll(() => started).toEqual(['a1', 'a2', 'b1', 'a3']);
    one?.end();
    three?.end();
    await expect.poll(() => started).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  });

  it('of all accounts are bounded, and a failed one gives its place away', async () => {
    const { turns, started, add } = works();
    const running = Array.from({ length: 40 }, (_, at) => add(`w${at}`, `account ${at}`));
    const bound = started.length;
    expect(bound).toBeLessThan(40);
    for (const work of running) work.end();
    await Promise.all(running.map(({ done }) => done));
    expect(started).toHaveLength(40);
    const failing = (): Promise<void> => Promise.reject(new Error('the rows cannot be read'));
    for (let at = 0; at < bound; at += 1)
      await expect(turns.run(tenant('a'), failing)).rejects.toThrow('cannot be read');
    const next = add('next', 'a');
    expect(started.at(-1)).toBe('next');
    next.end();
    await next.done;
  });
});
