import { describe, expect, it } from 'vitest';
import type { BusEvents } from './bus-connection.js';
import { MAX_MESSAGE_OCTETS, MAX_PUBLISHED_OCTETS, PubSub } from './pub-sub.js';
import { encodeEnvelope } from './request-envelope.js';

interface Fixture {
  readonly bus: PubSub;
  readonly errors: string[];
  /** Topics to which the bus sent. */
  readonly sent: string[];
  /** As if another client of the store had published. */
  readonly receive: BusEvents['onMessage'];
}

function fixture(): Fixture {
  const errors: string[] = [];
  const sent: string[] = [];
  let events: BusEvents | undefined;
  const bus = new PubSub(
    (given) => {
      events = given;
      return {
        send: (topic) => void sent.push(topic),
        join: () => Promise.resolve(),
        leave: () => undefined,
        close: () => Promise.resolve(),
      };
    },
    (error) => errors.push(String(error)),
  );
  return { bus, errors, sent, receive: (topic, octets) => events?.onMessage(topic, octets) };
}

/** JSON that takes longer to parse than to receive. */
const nested = Buffer.from(`[${'[],'.repeat(80_000)}0]`);

describe('received messages', () => {
  it('are parsed for a part of each second only, so that forged ones do not hold the process', async () => {
    const { bus, errors, receive } = fixture();
    const parsed: unknown[] = [];
    bus.subscribe('events', (message) => parsed.push(message.json()));
    const count = 1_000;
    for (let n = 0; n < count; n++) receive('events', nested);
    const values = parsed.filter((value) => value !== undefined);
    expect(values.length).toBeGreaterThan(0);
    expect(values.length).toBeLessThan(count);
    expect(errors.join()).toContain('was not parsed');
    await expect
      .poll(() => {
        receive('events', Buffer.from('1'));
        return parsed.at(-1);
      })
      .toBe(1);
  });

  it('are larger than what the product publishes only as responses', () => {
    const { bus, receive } = fixture();
    const topics: string[] = [];
    for (const topic of ['events', 'reply:1']) bus.subscribe(topic, (message) => topics.push(message.topic));
    for (const topic of ['events', 'reply:1']) receive(topic, Buffer.alloc(MAX_PUBLISHED_OCTETS + 1));
    for (const topic of ['events', 'reply:1']) receive(topic, Buffer.alloc(MAX_MESSAGE_OCTETS + 1));
    expect(topics).toEqual(['reply:1']);
  });
});

describe('a request', () => {
  it('is answered on a topic of responses only', async () => {
    const { bus, sent, receive } = fixture();
    let answered = 0;
    bus.answer('trace', () => `answer ${++answered}`);
    for (const replyTo of ['events', 'binds', '', 'reply:1']) {
      receive('trace', encodeEnvelope({ id: '1', replyTo, payload: Buffer.from('{}') }));
    }
    await expect.poll(() => sent).toEqual(['reply:1']);
    expect(answered).toBe(1);
  });
});
