import { describe, expect, it } from 'vitest';
import { excessOf, MAX_SLOW, MAX_SLOW_LIVE, MAX_SLOW_TEST } from './slow-posts.js';

const slowOf = (accountId: string, count: number, test = false) =>
  Array.from({ length: count }, (_, at) => ({ owner: { accountId, test }, name: `${accountId}${at}` }));
const namesOf = (posts: readonly { readonly name: string }[]): string[] => posts.map(({ name }) => name);

describe('slow POSTs', () => {
  it.each([
    ['live', false, MAX_SLOW_LIVE],
    ['test', true, MAX_SLOW_TEST],
  ])('of %s deliveries beyond the limit of their account end, the slowest first', (_mode, test, most) => {
    expect(excessOf(slowOf('a', most, test))).toEqual([]);
    expect(namesOf(excessOf([...slowOf('a', most + 2, test), ...slowOf('b', 3)]))).toEqual(['a0', 'a1']);
  });

  it('of live and of test deliveries of an account are counted apart', () => {
    expect(excessOf([...slowOf('a', MAX_SLOW_LIVE), ...slowOf('a', MAX_SLOW_TEST, true)])).toEqual([]);
  });

  it('of all accounts beyond their limit end where an account has most, so that one with few keeps all', () => {
    const hanging = Array.from({ length: 8 }, (_, account) => slowOf(`hanging${account}-`, MAX_SLOW_LIVE)).flat();
    const slow = [...slowOf('few', 3), ...hanging];
    const ended = excessOf(slow);
    expect(ended.filter(({ owner }) => owner.accountId === 'few')).toEqual([]);
    expect(slow.length - ended.length).toBeLessThanOrEqual(MAX_SLOW);
    expect(slow.length - ended.length).toBeGreaterThan(MAX_SLOW - 9);
  });

  it('of more accounts than there may be slow POSTs keep one each', () => {
    const slow = Array.from({ length: MAX_SLOW + 5 }, (_, account) => slowOf(`account${account}-`, 2)).flat();
    expect(excessOf(slow)).toHaveLength(MAX_SLOW + 5);
  });
});
