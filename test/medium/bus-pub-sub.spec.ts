import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MAX_MESSAGE_OCTETS, MAX_PUBLISHED_OCTETS, openPubSub, type PubSub } from '@countersign/bus';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { freePort, startPostgres } from '../../config/stack/postgres.mjs';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { freshDatabase, migrated, type TestDatabase } from '../support/database.js';
import { type Line, lineTo } from '../support/line.js';
import { until } from '../support/until.js';

/** A line that was broken is in use again within this time after it was mended. */
const HEAL_MS = 10_000;
const ANSWER_MS = 5_000;

const redisUrl = inject('redisUrl');
const stores = [
  { store: 'PostgreSQL', skipped: false },
  { store: 'Redis', skipped: redisUrl === null },
];

describe.each(stores)('messages over $store', ({ store, skipped }) => {
  describe.skipIf(skipped)('reach', () => {
    let home: TestDatabase;
    let line: Line;
    let topic: string;
    let here: PubSub;
    let there: PubSub;
    let errors: unknown[];

    const open = (): PubSub => {
      const address =
        store === 'Redis' ? { redisUrl: line.url, databaseUrl: home.url } : { redisUrl: null, databaseUrl: line.url };
      return openPubSub(address, (error) => errors.push(error));
    };

    beforeAll(async () => {
      home = await freshDatabase();
      line = await lineTo(store === 'Redis' ? (redisUrl ?? '') : home.url);
    });
    afterAll(async () => {
      await line.close();
      await home.drop();
    });
    beforeEach(() => {
      topic = `test:${randomBytes(6).toString('hex')}`;
      errors = [];
      [here, there] = [open(), open()];
    });
    afterEach(async () => {
      await Promise.all([here.close(), there.close()]);
    });

    /** Messages of the topic that a process receives, as JSON. */
    async function receivedMessagesOf(bus: PubSub, name = topic): Promise<unknown[]> {
      const received: unknown[] = [];
      await bus.subscribe(name, (message) => received.push(message.json())).ready;
      return received;
    }

    /** The connection of the publisher may come up later than that of the subscriber. */
    async function publishes(bus: PubSub, name = topic): Promise<void> {
      let arrived = false;
      const probe = there.subscribe(`${name}:probe`, () => (arrived = true));
      await until('a message gets through', HEAL_MS, () => {
        if (!arrived) bus.publish(`${name}:probe`);
        return arrived;
      });
      probe.close();
    }

    it('every process that has subscribed, the one that publishes included, in their order', async () => {
      const [mine, theirs] = [await receivedMessagesOf(here), await receivedMessagesOf(there)];
      await publishes(here);
      const said = Array.from({ length: 300 }, (_, n) => ({ n, text: 'é' }));
      for (const each of said) here.publish(topic, each);
      await expect.poll(() => theirs).toEqual(said);
      await expect.poll(() => mine).toEqual(said);
      expect(errors.map(String)).toEqual([]);
    });

    it('nobody else', async () => {
      const received = await receivedMessagesOf(there);
      await publishes(here);
      here.publish(`${topic}:other`, 'wrong');
      here.publish(topic, 'right');
      await expect.poll(() => received).toEqual(['right']);
    });

    it('their handlers as octets, whatever these are', async () => {
      const octets: Buffer[] = [];
      await there.subscribe(topic, (message) => octets.push(message.octets)).ready;
      await publishes(here);
      const said = [randomBytes(1_000), Buffer.from([0, 10, 13, 255]), Buffer.alloc(0)];
      for (const each of said) here.publish(topic, each);
      await expect.poll(() => octets.length).toBe(said.length);
      expect(Buffer.concat(octets)).toEqual(Buffer.concat(said));
    });

    it('them whole when they are large; those beyond the bound are refused and reported', async () => {
      const sizes: number[] = [];
      await there.subscribe(topic, (message) => sizes.push(message.octets.length)).ready;
      await publishes(here);
      here.publish(topic, Buffer.alloc(MAX_PUBLISHED_OCTETS + 1));
      expect(errors.map(String)).toHaveLength(1);
      here.publish(topic, Buffer.alloc(MAX_PUBLISHED_OCTETS, 1));
      await expect.poll(() => sizes, { timeout: ANSWER_MS }).toEqual([MAX_PUBLISHED_OCTETS]);
    });

    it('a response of several MiB, which is larger than what is published', async () => {
      const envelopeOctets = 1_024;
      const answer = Buffer.alloc(MAX_MESSAGE_OCTETS - envelopeOctets, 1);
      const subscription = there.answer(topic, () => answer);
      await subscription.ready;
      await publishes(here);
      const message = await here.ask<Buffer>(topic, Buffer.alloc(0), ANSWER_MS);
      expect(message?.octets.equals(answer)).toBe(true);
    });

    it('every handler of a topic, until it is closed, and the others when one fails', async () => {
      const received: string[] = [];
      const failing = (): void => {
        throw new Error('a handler that fails');
      };
      await there.subscribe(topic, failing).ready;
      const first = there.subscribe(topic, () => received.push('first'));
      const second = there.subscribe(topic, () => received.push('second'));
      await Promise.all([first.ready, second.ready]);
      await publishes(here);
      here.publish(topic);
      await expect.poll(() => received).toEqual(['first', 'second']);
      expect(errors.map(String)).toHaveLength(1);
      first.close();
      here.publish(topic);
      await expect.poll(() => received).toEqual(['first', 'second', 'second']);
      second.close();
    });

    it('them before a process that says them and closes is gone', async () => {
      const received = await receivedMessagesOf(there);
      await publishes(here);
      here.publish(topic, 'goodbye');
      await here.close();
      await expect.poll(() => received).toEqual(['goodbye']);
    });

    it('them again after the server was down, without anybody subscribing anew', async () => {
      const received = await receivedMessagesOf(there);
      await publishes(here);
      await line.cut();
      here.publish(topic, 'lost');
      await until('the loss is reported', HEAL_MS, () => errors.length > 0);
      await line.mend();
      await until('a message is received', HEAL_MS, () => {
        here.publish(topic, 'after');
        return received.includes('after');
      });
      expect(received).not.toContain('lost');
    });

    it('them again after a server that was silent, and nobody was held up by it', async () => {
      const received = await receivedMessagesOf(there);
      await publishes(here);
      line.strand();
      const startMs = performance.now();
      for (let n = 0; n < 100; n++) here.publish(topic, 'lost');
      expect(performance.now() - startMs).toBeLessThan(2_000);
      await until('a message is received', 2 * HEAL_MS, () => {
        here.publish(topic, 'after');
        return received.includes('after');
      });
    });

    it('whoever answers a question, and the answer who asked', async () => {
      const answers = there.answer(topic, (question) => ({ echo: question.json() }));
      await answers.ready;
      await publishes(here);
      const echoes = await Promise.all([1, 2, 3].map((n) => here.ask(topic, { n }, ANSWER_MS)));
      expect(echoes.map((answer) => answer?.json())).toEqual([1, 2, 3].map((n) => ({ echo: { n } })));
    });

    it('nobody who answers, and then who asks has null when the time is over', async () => {
      await Promise.all([
        there.answer(topic, () => null).ready,
        there.answer(topic, () => Promise.reject(new Error('cannot say'))).ready,
      ]);
      await publishes(here);
      expect(await here.ask(topic, 'who?', 300)).toBeNull();
      expect(errors.map(String)).toHaveLength(1);
    });

    it('nobody while the store is away, and who asks or subscribes waits no longer than it says', async () => {
      await line.cut();
      const lonely = open();
      await lonely.subscribe(topic, () => undefined).ready;
      expect(await lonely.ask(topic, 'who?', 300)).toBeNull();
      await lonely.close();
      await line.mend();
    });
  });
});

describe.each(stores)('messages over $store', ({ store, skipped }) => {
  const noServer = skipped || (store === 'Redis' && findRedis() === undefined);
  it.skipIf(noServer)('are received again when the server itself was started anew', async () => {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-bus-'));
    const port = await freePort();
    const options = { dataDir, log: () => undefined, port };
    const start = async (): Promise<{ url: string; stop(): Promise<void> }> => {
      if (store === 'Redis') return startRedis(options);
      const postgres = await startPostgres(options);
      await migrated(postgres);
      return postgres;
    };
    let server = await start();
    const address = { redisUrl: store === 'Redis' ? server.url : null, databaseUrl: server.url };
    const buses = [openPubSub(address, () => undefined), openPubSub(address, () => undefined)] as const;
    const received: unknown[] = [];
    await buses[1].subscribe('topic', (message) => received.push(message.json())).ready;
    const publishUntilReceived = (word: string): Promise<void> =>
      until(`${word} is received`, HEAL_MS, () => {
        if (!received.includes(word)) buses[0].publish('topic', word);
        return received.includes(word);
      });
    await publishUntilReceived('before');
    await server.stop();
    server = await start();
    await publishUntilReceived('after');
    await Promise.all(buses.map((bus) => bus.close()));
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
});

describe('payloads of messages over PostgreSQL', () => {
  it('travel by a table: a notification names their ids only', async () => {
    const home = await freshDatabase();
    const bus = openPubSub({ redisUrl: null, databaseUrl: home.url }, () => undefined);
    const spy = new pg.Client({ connectionString: home.url });
    const words: string[] = [];
    spy.on('notification', ({ payload }) => words.push(payload ?? ''));
    await spy.connect();
    await spy.query('LISTEN countersign_bus');
    bus.publish('topic', 'something said');
    await expect.poll(() => words).toHaveLength(1);
    expect(words[0]).toMatch(/^[\da-f-]{36} 16 topic$/);
    const { rows } = await spy.query<{ payload: Buffer }>('SELECT payload FROM bus_payloads');
    expect(rows.map(({ payload }) => payload.toString())).toEqual(['"something said"']);
    await bus.close();
    await spy.end();
    await home.drop();
  });
});
