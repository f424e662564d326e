import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { Agent, request } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { Random } from '../support/random.js';
import { seedDemo, type SeededDemo } from '../support/demo.js';
import { type Part, type Parts, type Queues, isRedisInstalled, startParts, type StorePart } from '../support/parts.js';
import { Phone } from '../support/phone.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const IN_FLIGHT = 16;
/** The lifetime of a session, longer than its outages. */
const TTL_SECONDS = 300;
/** Time limit of one call, after which it is repeated. */
const CALL_DEADLINE_MS = 5_000;
/** Verifications between two kills, drawn anew each time. */
const KILL_AFTER = { least: 15, most: 70 };
const SETTLED_WITHIN_MS = 60_000;

let parts: Parts;
let demo: SeededDemo;
let receiver: Receiver;
let phone: Phone;
let api: Agent;

const closers: (() => Promise<void>)[] = [];

async function begin(queues: Queues): Promise<void> {
  parts = await startParts(queues);
  closers.push(() => parts.stop());
  receiver = await startReceiver();
  closers.push(() => receiver.close());
  demo = await seedDemo(parts.environment, { webhookUrl: receiver.url });
  phone = new Phone({ port: parts.smppPort, systemId: demo.systemId, password: demo.password });
  closers.push(() => phone.close());
  api = new Agent({ connect: { ca: readFileSync(parts.caFile) }, headersTimeout: CALL_DEADLINE_MS });
  closers.push(() => api.close());
}

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Created {
  readonly id: string;
  readonly fallbackUri: string;
}

/** Repeats a create until it is answered 200, as callers do while a server restarts. */
async function create(number: string): Promise<Created> {
  const body = JSON.stringify({
    phone: number,
    accountId: demo.accountId,
    brandId: demo.brandId,
    clientChallenge: 'c'.repeat(64),
    ttl: TTL_SECONDS,
  });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${demo.apiKey}` };
  let created: Created | undefined;
  await until(`a session for ${number}`, SETTLED_WITHIN_MS, async () => {
    const answer = await request(`${parts.baseUrl}/v1/verify`, {
      method: 'POST',
      dispatcher: api,
      headers,
      body,
    }).catch(() => undefined);
    if (answer === undefined) return false;
    const text = await answer.body.text();
    if (answer.statusCode === 200) created = JSON.parse(text) as Created;
    else expect([500, 503]).toContain(answer.statusCode);
    return created !== undefined;
  });
  if (created === undefined) throw new Error('unreachable: until has thrown');
  return created;
}

const textOf = (fallbackUri: string): string => decodeURIComponent(fallbackUri.slice(fallbackUri.indexOf('body=') + 5));

/** Valid numbers for the library: one San Francisco exchange after the other, ten thousand numbers each. */
const numberOf = (index: number): string =>
  `+1415${555 + Math.floor(index / 10_000)}${String(2_000 + (index % 8_000))}`;

/** A fault; `strike` resolves when it is over. */
interface Trouble {
  readonly name: string;
  strike(): Promise<void>;
}

/** Kills a process and restarts it at once. */
const deathOf = (part: Part): Trouble => ({
  name: part.name,
  strike: async () => {
    await part.kill();
    await part.start();
  },
});

/** Applies random faults at random times, one at a time. */
class Chaos {
  readonly struck: string[] = [];
  readonly #random: Random;
  #nextAt: number;
  #last: Promise<void> = Promise.resolve();
  #open = 0;

  constructor(
    private readonly troubles: readonly Trouble[],
    seed: number,
  ) {
    this.#random = new Random(seed);
    this.#nextAt = this.#pause();
  }

  /**
   * The first round applies each fault once, so that every run has all of them; further faults only where requested.
   */
  tick(done: number, more: boolean): void {
    if (done < this.#nextAt) return;
    this.#nextAt = done + this.#pause();
    const isFirstRound = this.struck.length < this.troubles.length;
    if (!isFirstRound && (!more || this.#open > 0)) return;
    const index = isFirstRound ? this.struck.length : this.#random.below(this.troubles.length);
    const trouble = this.troubles[index];
    if (trouble === undefined) return;
    this.struck.push(trouble.name);
    this.#open += 1;
    this.#last = this.#last.then(() => trouble.strike()).finally(() => (this.#open -= 1));
  }

  /** Whether each fault has been applied and is over. */
  get over(): boolean {
    return this.#open === 0 && new Set(this.struck).size === this.troubles.length;
  }

  settled(): Promise<void> {
    return this.#last;
  }

  #pause(): number {
    return this.#random.between(KILL_AFTER.least, KILL_AFTER.most);
  }
}

/** Verifies that many phones, and more until each fault has been applied; then checks the results. */
async function verifyThrough(troubles: readonly Trouble[], least: number): Promise<void> {
  const seed = Date.now() % 2 ** 31;
  const chaos = new Chaos(troubles, seed);
  const sessions: string[] = [];
  let next = 0;
  const verifyInTurn = async (): Promise<void> => {
    while (next < least || !chaos.over) {
      const number = numberOf(next++);
      const session = await create(number);
      await phone.sendUntilOk({ from: number, to: demo.inboundNumber, text: textOf(session.fallbackUri) });
      sessions.push(session.id);
      chaos.tick(sessions.length, next < least);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, verifyInTurn));
  await chaos.settled();
  expect(new Set(chaos.struck).size, `seed ${seed}`).toBe(troubles.length);
  expect(sessions).toHaveLength(next);
  await expectAllStored(next);
  await until('every event was delivered', SETTLED_WITHIN_MS, () => receiver.sessionsSeen() >= next);
  for (const id of sessions) expect(receiver.eventIdsOf(id), `one event id for ${id}`).toHaveLength(1);
}

/** Every answered message is stored and approved its session: an unmatched message would reduce the count. */
async function expectAllStored(verifications: number): Promise<void> {
  const client = new pg.Client({ connectionString: parts.databaseUrl });
  await client.connect();
  try {
    const one = async (text: string): Promise<number> => Number((await client.query<{ n: string }>(text)).rows[0]?.n);
    expect(await one(`SELECT count(DISTINCT session_id) AS n FROM messages WHERE fate = 'matched'`)).toBe(
      verifications,
    );
    expect(await one(`SELECT count(*) AS n FROM sessions WHERE status = 'approved'`)).toBe(verifications);
    expect(await one(`SELECT count(*) AS n FROM messages`)).toBeGreaterThanOrEqual(phone.answeredOk);
    expect(await one(`SELECT count(*) AS n FROM events WHERE type = 'verification.completed'`)).toBe(verifications);
  } finally {
    await client.end();
  }
}

const runs: readonly { readonly queues: Queues; readonly verifications: number }[] = [
  { queues: 'redis', verifications: 1_000 },
  { queues: 'postgresql', verifications: 300 },
];

it.for(runs)(
  'kill -9 of any process, queues on $queues, loses no message that was answered OK, no approval and no event',
  async ({ queues, verifications }, { skip }) => {
    if (queues === 'redis' && !isRedisInstalled()) skip('no redis-server is on the machine');
    await begin(queues);
    const victims = [parts.gateway, parts.controlPlane, parts.postgres, ...(parts.redis === null ? [] : [parts.redis])];
    await verifyThrough(victims.map(deathOf), verifications);
  },
);

/** Time after Redis's return within which webhooks arrive again. */
const FLOWS_WITHIN_MS = 10_000;
const FROZEN_MS = 3_000;

/** Sends commands to Redis while it is available. */
async function sendToRedis(url: string, send: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(url);
  try {
    await send(redis);
  } finally {
    redis.disconnect();
  }
}

async function flowsAgain(): Promise<void> {
  const before = receiver.sessionsSeen();
  await until('webhooks flow again', FLOWS_WITHIN_MS, () => receiver.sessionsSeen() > before);
}

it('Redis frozen, flushed and stopped, and PostgreSQL restarted, lose no approval and no event', async ({ skip }) => {
  if (!isRedisInstalled()) skip('no redis-server is on the machine');
  await begin('redis');
  const { redis, postgres } = parts;
  if (redis === null) throw new Error('a run on Redis has none');
  const frozen = async (): Promise<void> => {
    redis.signal('SIGSTOP');
    await delay(FROZEN_MS);
    redis.signal('SIGCONT');
    await flowsAgain();
  };
  const stoppedAndStarted = (part: StorePart, then: () => Promise<void>) => async (): Promise<void> => {
    await part.stop();
    await part.start();
    await then();
  };
  const flushed = async (): Promise<void> => {
    await sendToRedis(redis.url, (client) => client.flushall());
    await flowsAgain();
  };
  await verifyThrough(
    [
      { name: 'redis frozen', strike: frozen },
      { name: 'redis flushed', strike: flushed },
      { name: 'redis stopped', strike: stoppedAndStarted(redis, flowsAgain) },
      { name: 'postgres restarted', strike: stoppedAndStarted(postgres, () => Promise.resolve()) },
    ],
    500,
  );
});
