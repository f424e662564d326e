import type { LearnedSenderFormat, SenderLearning, SenderObservation } from '@countersign/carriers/senders';
import { createLogger } from '@countersign/telemetry';
import { afterEach, describe, expect, it } from 'vitest';
import type { InboundLink } from '../links/inbound-link.js';
import { SenderLearner } from './sender-learner.js';

const ID = '01890000-0000-7000-8000-000000000001';
const link = (senderLearning: SenderLearning | null = null, changes: Partial<InboundLink> = {}): InboundLink => ({
  id: ID,
  peer: 'north-1',
  carrier: 'north',
  trustedForMo: true,
  senderFormat: 'auto',
  senderLearning,
  defaultAlphabet: 'gsm',
  retryableMoStatus: 20,
  ...changes,
});
const national = (number: number): Parameters<SenderLearner['observe']>[1] => ({
  phone: `+1415555${number}`,
  ambiguous: false,
  shows: 'national',
});
const CONTRADICTION = { phone: null, ambiguous: true, shows: 'national' } as const;

type Answer = Promise<{ learned: LearnedSenderFormat | null; changed: boolean } | null>;

const learners: SenderLearner[] = [];
afterEach(() => Promise.all(learners.splice(0).map((learner) => learner.stop())));

function opened(answer: () => Answer = () => Promise.resolve({ learned: null, changed: false })): {
  readonly learner: SenderLearner;
  readonly written: SenderObservation[];
  readonly published: string[];
} {
  const written: SenderObservation[] = [];
  const published: string[] = [];
  const learner = new SenderLearner(
    {
      digestsOf: (linkId, e164) => [`${linkId}:${e164}`],
      addSenders: (_, observation) => {
        written.push(observation);
        return answer();
      },
    },
    { transaction: () => Promise.reject(new Error('unexpected transaction')) },
    { publish: (topic, ..._payload) => void published.push(topic) },
    createLogger({ app: 'test', level: 'silent' }),
  );
  learners.push(learner);
  return { learner, written, published };
}

describe('the sender learner', () => {
  it('writes every sender once, at most 20', async () => {
    const { learner, written } = opened();
    for (let times = 0; times < 3; times += 1) {
      for (let number = 1_000; number < 1_030; number += 1) learner.observe(link(), national(number));
    }
    await learner.stop();
    const senders = written.flatMap((observation) => observation.senders);
    expect(senders).toHaveLength(20);
    expect(new Set(senders.map(({ digests }) => digests[0])).size).toBe(20);
  });

  it('uses the learned format of the row, not its own evidence', async () => {
    const { learner } = opened(() => Promise.resolve({ learned: 'national', changed: true }));
    for (let number = 1_000; number < 1_020; number += 1) learner.observe(link(), national(number));
    await learner.stop();
    expect(learner.ruleOf(link())).toEqual({ format: 'auto', learned: null });
    expect(learner.ruleOf(link({ learned: 'national', epoch: 0 }))).toEqual({ format: 'auto', learned: 'national' });
  });

  it('reports a changed learned format, so that rows are read again', async () => {
    const { learner, published } = opened(() => Promise.resolve({ learned: 'national', changed: true }));
    learner.observe(link(), national(1_000));
    await learner.stop();
    expect(published).toEqual(['systems']);
  });

  it('ignores a contradicted format before the contradiction is written, until the row has another epoch', async () => {
    const { learner, written } = opened();
    const international = link({ learned: 'international', epoch: 3 });
    expect(learner.ruleOf(international).learned).toBe('international');
    learner.observe(international, CONTRADICTION);
    expect(learner.ruleOf(international).learned).toBeNull();
    expect(learner.isLearning(international)).toBe(false);
    learner.observe(international, CONTRADICTION);
    expect(learner.ruleOf(link({ learned: 'international', epoch: 4 })).learned).toBe('international');
    await learner.stop();
    expect(written).toEqual([{ linkId: ID, epoch: 3, senders: [{ digests: [''], shows: 'national' }] }]);
  });

  it('keeps senders that could not be written, and writes them with later ones', async () => {
    let unreachable = true;
    const { learner, written } = opened(() =>
      unreachable ? Promise.reject(new Error('unreachable')) : Promise.resolve({ learned: null, changed: false }),
    );
    learner.observe(link(), national(1_000));
    await Promise.resolve();
    unreachable = false;
    learner.observe(link(), national(1_001));
    await learner.stop();
    expect(written.at(-1)?.senders).toHaveLength(2);
  });

  it('writes senders observed during a write', async () => {
    const { learner, written } = opened();
    for (let number = 1_000; number < 1_010; number += 1) {
      learner.observe(link(), national(number));
      await Promise.resolve();
    }
    await learner.stop();
    expect(written.flatMap(({ senders }) => senders)).toHaveLength(10);
  });

  it.each([
    ['a link that is not trusted', link(null, { trustedForMo: false })],
    ['a link with a format', link(null, { senderFormat: 'international' })],
    ['a link whose senders are mixed', link({ learned: 'mixed', epoch: 0 })],
  ])('learns nothing from %s', async (_, of) => {
    const { learner, written } = opened();
    expect(learner.isLearning(of)).toBe(false);
    learner.observe(of, national(1_000));
    await learner.stop();
    expect(written).toEqual([]);
  });
});
