import { setTimeout as delay } from 'node:timers/promises';
import type { Measure } from '../report.js';
import { atRate, measureOf } from './pace.js';
import { type Answer, PlainCaller } from './plain-https.js';

/**
 * Sends creates without cards at a constant rate; after some time also many creates that wait for cards which do not
 * arrive. One process sends both, so that their times can be compared.
 */
export interface ClientsTask {
  readonly port: number;
  readonly apiKey: string;
  readonly perSecond: number;
  /** In rotation. */
  readonly bodies: readonly string[];
  /** Duration without waiting creates; its first second is not counted. */
  readonly aloneSeconds: number;
  readonly clients: readonly string[];
  /** Duration in which the waiting creates are sent … */
  readonly gatherSeconds: number;
  /** … and the time that each of them waits. */
  readonly waitSeconds: number;
}

export interface ClientsFigure {
  readonly alone: Measure;
  readonly beside: Measure;
  /** Creates that waited during the whole measurement of `beside`. */
  readonly waited: number;
}

const CONNECTIONS = 64;
const WARM_UP_MS = 1_000;
/** From the last waiting create until its card is sent. */
const SETTLE_MS = 500;
/** A create that was held for a smaller share did not wait for its card. */
const WAITED_SHARE = 0.9;
const MS_PER_SECOND = 1_000;

interface Seen {
  readonly dueMs: number;
  readonly endMs: number;
  readonly ok: boolean;
}

const isFallback = ({ status, body }: Answer): boolean => status === 200 && body.includes('"channel":"sms_fallback"');

/** Sends at a rate and records each result; resolves when all are answered. */
async function sendAll(
  caller: PlainCaller,
  perSecond: number,
  count: number,
  bodies: readonly string[],
): Promise<Seen[]> {
  const answered: Promise<Seen>[] = [];
  await atRate(perSecond, count, (at, dueMs) => {
    const one = (resolve: (seen: Seen) => void): void =>
      caller.post('/v1/verify', bodies[at % bodies.length] ?? '', (answer) =>
        resolve({ dueMs, endMs: performance.now(), ok: isFallback(answer) }),
      );
    answered.push(new Promise(one));
  });
  return Promise.all(answered);
}

function within(seen: readonly Seen[], fromMs: number, untilMs: number): Measure {
  const own = seen.filter(({ dueMs }) => dueMs >= fromMs && dueMs < untilMs);
  const latenciesMs = own.map(({ dueMs, endMs }) => endMs - dueMs);
  return measureOf(latenciesMs, own.filter(({ ok }) => !ok).length, (untilMs - fromMs) / MS_PER_SECOND);
}

async function run(task: ClientsTask): Promise<ClientsFigure> {
  const { port, apiKey, perSecond, bodies, clients, aloneSeconds, gatherSeconds, waitSeconds } = task;
  const open = (connections: number): Promise<PlainCaller> => PlainCaller.open(port, `Bearer ${apiKey}`, connections);
  const [caller, clientsCaller] = [await open(CONNECTIONS), await open(clients.length)];
  const begunMs = performance.now();
  const others = sendAll(caller, perSecond, Math.ceil(perSecond * (aloneSeconds + waitSeconds)), bodies);
  await delay(aloneSeconds * MS_PER_SECOND);
  const aloneUntilMs = performance.now();
  const waiting = await sendAll(clientsCaller, clients.length / gatherSeconds, clients.length, clients);
  const seen = await others;
  for (const each of [caller, clientsCaller]) each.close();
  const leastMs = WAITED_SHARE * waitSeconds * MS_PER_SECOND;
  const stayed = waiting.filter(({ dueMs, endMs, ok }) => ok && endMs - dueMs >= leastMs);
  const fromMs = Math.max(...waiting.map(({ dueMs }) => dueMs)) + SETTLE_MS;
  const untilMs = Math.min(...stayed.map(({ endMs }) => endMs), begunMs + (aloneSeconds + waitSeconds) * MS_PER_SECOND);
  return {
    alone: within(seen, begunMs + WARM_UP_MS, aloneUntilMs),
    beside: within(seen, fromMs, untilMs),
    waited: stayed.length,
  };
}

process.once('message', (task: ClientsTask) => {
  void run(task).then((figure) => process.send?.(figure, () => process.disconnect()));
});
