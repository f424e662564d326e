import { quantile } from '../statistics.js';
import { atRate } from './pace.js';
import { PlainCaller } from './plain-https.js';

/** Opens keep-alive connections, on which all further orders send. */
export interface OpenOrder {
  readonly kind: 'open';
  readonly port: number;
  readonly apiKey: string;
  readonly connections: number;
}

/** Offers creates at a constant rate, however many the server accepts. */
export interface OfferOrder {
  readonly kind: 'offer';
  /** In rotation. */
  readonly bodies: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

/** The answers to the creates that were due after the ramp. */
export interface OfferedMeasure {
  /** Accepted ones per second. */
  readonly goodput: number;
  /** Refused ones with 503, per second. */
  readonly refused: number;
  /** Answered in any other way, or lost with their connection. */
  readonly failed: number;
  /** Of accepted ones, from the due time. */
  readonly acceptedP50Ms: number;
  readonly acceptedP99Ms: number;
  /** Of refused ones, from the due time. */
  readonly refusedP99Ms: number;
  /** Sent per second: less than offered where all connections waited for answers. */
  readonly sent: number;
}

const RAMP_SECONDS = 1;
const MS_PER_SECOND = 1_000;

let opened: PlainCaller | null = null;

async function open({ port, apiKey, connections }: OpenOrder): Promise<number> {
  opened = await PlainCaller.open(port, `Bearer ${apiKey}`, connections);
  return connections;
}

async function offer({ bodies, perSecond, seconds }: OfferOrder): Promise<OfferedMeasure> {
  const caller = opened;
  if (caller === null) throw new Error('no connection was opened');
  const accepted: number[] = [];
  const refused: number[] = [];
  let [failed, sent, openedMs] = [0, 0, 0];
  const count = Math.round(perSecond * (RAMP_SECONDS + seconds));
  const ramp = Math.round(perSecond * RAMP_SECONDS);
  await atRate(perSecond, count, (at, dueMs) => {
    if (at === ramp) openedMs = performance.now();
    // Real callers give up; a queue in the generator would be sent after the time of the measurement.
    if (!caller.hasFree) return;
    if (at >= ramp) sent += 1;
    caller.post('/v1/verify', bodies[at % bodies.length] ?? '', ({ status }) => {
      if (at < ramp) return;
      const latencyMs = performance.now() - dueMs;
      if (status === 200) accepted.push(latencyMs);
      else if (status === 503) refused.push(latencyMs);
      else failed += 1;
    });
  });
  const elapsed = (performance.now() - openedMs) / MS_PER_SECOND;
  await caller.idle();
  const each = (requests: number): number => Math.round(requests / elapsed);
  const sorted = accepted.sort((a, b) => a - b);
  return {
    goodput: each(accepted.length),
    refused: each(refused.length),
    failed,
    acceptedP50Ms: quantile(sorted, 0.5),
    acceptedP99Ms: quantile(sorted, 0.99),
    refusedP99Ms: quantile(
      refused.sort((a, b) => a - b),
      0.99,
    ),
    sent: each(sent),
  };
}

process.on('message', (order: OpenOrder | OfferOrder) => {
  const answer: Promise<number | OfferedMeasure> = order.kind === 'open' ? open(order) : offer(order);
  void answer.then((value) => process.send?.(value));
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
