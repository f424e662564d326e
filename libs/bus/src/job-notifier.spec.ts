import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { JobNotifier, type JobIds } from './job-notifier.js';

type Answer = (error?: Error) => void;

/** A queue whose adds the test completes. */
class FakeQueue {
  readonly added: string[][] = [];
  readonly open: Answer[] = [];

  add(_name: string, data: JobIds): Promise<void> {
    this.added.push(data.ids);
    return new Promise((resolve, reject) => {
      this.open.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  }

  async answer(error?: Error): Promise<void> {
    this.open.shift()?.(error);
    await turn();
  }
}

const turn = async (): Promise<void> => {
  for (let count = 0; count < 3; count++) await new Promise((resolve) => setImmediate(resolve));
};

describe('the job notifier', () => {
  let queue: FakeQueue;
  let errors: unknown[];
  let notifier: JobNotifier;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    queue = new FakeQueue();
    errors = [];
    notifier = new JobNotifier(queue, (error) => errors.push(error));
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('puts the notifications of one turn into one job', async () => {
    notifier.notify(['a']);
    notifier.notify(['b', 'c']);
    notifier.notify([]);
    expect(queue.added).toEqual([]);
    await turn();
    expect(queue.added).toEqual([['a', 'b', 'c']]);
  });

  it('collects notifications made while an add is pending', async () => {
    notifier.notify(['a']);
    await turn();
    notifier.notify(['b']);
    await turn();
    notifier.notify(['c']);
    await turn();
    expect(queue.added).toEqual([['a']]);
    await queue.answer();
    expect(queue.added).toEqual([['a'], ['b', 'c']]);
  });

  it('splits many ids into several jobs', async () => {
    notifier.notify(Array.from({ length: 1_200 }, (_, n) => `${n}`));
    await turn();
    while (queue.open.length > 0) await queue.answer();
    expect(queue.added.map((ids) => ids.length)).toEqual([500, 500, 200]);
  });

  it('drops a notification that failed, reports once a second, and continues', async () => {
    for (const id of ['a', 'b', 'c']) {
      notifier.notify([id]);
      await turn();
      await queue.answer(new Error('away'));
    }
    expect(errors).toEqual([new Error('away')]);
    await vi.advanceTimersByTimeAsync(1_000);
    notifier.notify(['d']);
    await turn();
    await queue.answer(new Error('still away'));
    expect(errors).toEqual([new Error('away'), new Error('still away')]);
    expect(queue.added).toEqual([['a'], ['b'], ['c'], ['d']]);
  });

  it('abandons an add after a second, and adds nothing while four are unsettled', async () => {
    notifier.notify(['0']);
    for (let n = 1; n <= 6; n++) {
      await turn();
      notifier.notify([`${n}`]);
      await vi.advanceTimersByTimeAsync(1_001);
    }
    await turn();
    expect(queue.added).toEqual([['0'], ['1'], ['2'], ['3']]);
    await queue.answer();
    expect(queue.added.at(-1)).toEqual(['4', '5', '6']);
  });

  it('keeps a bounded number of ids, the latest', async () => {
    notifier.notify(['first']);
    await turn();
    for (let n = 0; n < 70; n++) notifier.notify(Array.from({ length: 100 }, (_, m) => `${n * 100 + m}`));
    while (queue.open.length > 0) await queue.answer();
    const ids = queue.added.flat();
    expect([ids.length, ids[0], ids[1], ids.at(-1)]).toEqual([5_001, 'first', '2000', '6999']);
  });

  it('adds a last job when it closes, and none afterwards', async () => {
    notifier.notify(['a']);
    const closing = notifier.close();
    notifier.notify(['b']);
    await queue.answer();
    await closing;
    expect(queue.added).toEqual([['a']]);
    await notifier.close();
  });

  it('closes within half a second even if its last add never settles', async () => {
    notifier.notify(['a']);
    await turn();
    let closed = false;
    void notifier.close().then(() => (closed = true));
    await vi.advanceTimersByTimeAsync(499);
    expect(closed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(closed).toBe(true);
  });

  it('does not throw when its queue does', async () => {
    const broken = new JobNotifier(
      {
        add: () => {
          throw new Error('broken');
        },
      },
      (error) => errors.push(error),
    );
    broken.notify(['a']);
    await turn();
    expect(errors).toEqual([new Error('broken')]);
  });
});
