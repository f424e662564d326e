import type { RbmCommand } from '@countersign/rcs/commands';
import { Metrics } from '@countersign/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RcsMetrics } from '../rcs.metrics.js';
import { RcsCommandProcessor } from './rcs-command.processor.js';
import type { CommandResult } from '../rbm/rbm-answer.js';

const POLL_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const commandOf = (id: string): RbmCommand => ({
  id,
  kind: 'revoke',
  agentId: 'acme_agent',
  phone: '+14155552671',
  brandName: 'Acme',
  messageId: id,
  expiresAt: new Date(0),
});

function opened(
  run: (command: RbmCommand) => Promise<CommandResult> = () => Promise.resolve('done'),
  isConfigured = true,
) {
  const [due, done, failed, errors]: [RbmCommand[], string[], string[], unknown[]] = [[], [], [], []];
  let msToNext: number | null = null;
  const processor = new RcsCommandProcessor(
    {
      claimDueCommands: (limit) => Promise.resolve(due.splice(0, limit)),
      completeCommand: ({ id }) => Promise.resolve(void done.push(id)),
      retryCommand: ({ id }) => Promise.resolve(void failed.push(id)),
      msToNextCommand: () => Promise.resolve(msToNext),
    },
    { isConfigured, runCommand: run },
    new RcsMetrics(new Metrics({ app: 'test', processMetrics: false })),
    { warn: (fault: unknown) => void errors.push(fault) },
  );
  return { processor, due, done, failed, errors, nextIn: (ms: number | null) => void (msToNext = ms) };
}

const settled = async (): Promise<void> => {
  await vi.advanceTimersByTimeAsync(0);
};

describe('a command', () => {
  it('runs when the processor is triggered, and is completed', async () => {
    const { processor, due, done } = opened();
    processor.start();
    await settled();
    due.push(commandOf('a'));
    processor.trigger();
    await settled();
    expect(done).toEqual(['a']);
    await processor.stopClaiming();
  });

  it('is found by polling within a second', async () => {
    const { processor, due, done } = opened();
    processor.start();
    await settled();
    due.push(commandOf('a'));
    await vi.advanceTimersByTimeAsync(POLL_MS);
    expect(done).toEqual(['a']);
    await processor.stopClaiming();
  });

  it('that is due earlier runs when it is due', async () => {
    const { processor, due, done, nextIn } = opened();
    nextIn(400);
    processor.start();
    await settled();
    due.push(commandOf('a'));
    await vi.advanceTimersByTimeAsync(500);
    expect(done).toEqual(['a']);
    nextIn(null);
    await processor.stopClaiming();
  });

  it('is left to other gateways by a gateway without a platform', async () => {
    const { processor, due, done } = opened(undefined, false);
    due.push(commandOf('a'));
    processor.start();
    processor.trigger();
    await vi.advanceTimersByTimeAsync(POLL_MS);
    expect([done, due.length]).toEqual([[], 1]);
    await processor.stopClaiming();
  });

  it('that the platform did not accept is retried', async () => {
    const { processor, due, done, failed } = opened(() => Promise.resolve('again'));
    due.push(commandOf('a'));
    processor.start();
    await settled();
    expect([done, failed]).toEqual([[], ['a']]);
    await processor.stopClaiming();
  });

  it('that throws is reported, and does not hold back others', async () => {
    const { processor, due, done, errors } = opened(({ id }) =>
      id === 'a' ? Promise.reject(new Error('boom')) : Promise.resolve('done'),
    );
    due.push(commandOf('a'), commandOf('b'));
    processor.start();
    await settled();
    expect([done, errors.length]).toEqual([['b'], 1]);
    await processor.stopClaiming();
  });

  it('is claimed in batches of a hundred, 500 at a time in flight, and awaited on a stop', async () => {
    const answers: ((result: CommandResult) => void)[] = [];
    const { processor, due, done } = opened(() => new Promise((resolve) => void answers.push(resolve)));
    for (let at = 0; at < 700; at++) due.push(commandOf(`e${at}`));
    processor.start();
    await settled();
    expect([answers.length, due.length]).toEqual([500, 200]);
    await processor.stopClaiming();
    for (const answer of answers) answer('done');
    await processor.drain();
    expect(done).toHaveLength(500);
  });
});
