import { WebSocket } from 'ws';
import { quantile } from '../statistics.js';

/** Opens sockets and keeps them; each subscribes to one channel of the list, in turn. Null: no subscription. */
export interface OpenOrder {
  readonly kind: 'open';
  readonly port: number;
  readonly apiKey: string;
  readonly channels: readonly string[] | null;
  readonly count: number;
  /** Time limit; the sockets that are open by then are used. */
  readonly withinSeconds: number;
}

export interface Opened {
  readonly open: number;
  /** Why fewer are open; null if all are open. */
  readonly fault: string | null;
}

/** Counts frames of events until the given number has arrived. */
export interface WatchOrder {
  readonly kind: 'watch';
}

export interface AwaitOrder {
  readonly kind: 'await';
  readonly frames: number;
  readonly withinSeconds: number;
}

/** The frames that arrived; times are of the machine's clock. */
export interface Frames {
  readonly frames: number;
  /** From the first frame to the last. */
  readonly spanMs: number;
  /** The sum of the same span of each event. */
  readonly fanOutMs: number;
  /** From the time in the event to its frame. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly octets: number;
}

const AT_ONCE = 100;
const MOST_FAULTS = 100;
const MS_PER_SECOND = 1_000;
const POLL_MS = 50;
const EVENT = Buffer.from('{"type":"event"');
const ID = /"id":"(evt_[^"]+)"/;
const TIMESTAMP = /"timestamp":"([^"]+)"/;

const sockets = new Set<WebSocket>();
let latenciesMs: number[] = [];
let events = new Map<string, { firstMs: number; lastMs: number }>();
let octets = 0;

function hear(data: Buffer): void {
  if (data.compare(EVENT, 0, EVENT.length, 0, EVENT.length) !== 0) return;
  const nowMs = performance.timeOrigin + performance.now();
  const text = data.toString('latin1');
  const id = ID.exec(text)?.[1] ?? '';
  const event = events.get(id);
  if (event === undefined) events.set(id, { firstMs: nowMs, lastMs: nowMs });
  else event.lastMs = nowMs;
  latenciesMs.push(nowMs - Date.parse(TIMESTAMP.exec(text)?.[1] ?? ''));
  octets = data.length;
}

/** Resolves after the subscription; rejects with the error. */
function openOne({ port, apiKey, channels }: OpenOrder, at: number): Promise<void> {
  const socket = new WebSocket(`wss://127.0.0.1:${port}/v1/realtime`, ['countersign.v1'], {
    headers: { authorization: `Bearer ${apiKey}` },
    rejectUnauthorized: false,
    perMessageDeflate: false,
  });
  const channel = channels?.[at % channels.length];
  return new Promise((resolve, reject) => {
    const ready = (): void => {
      sockets.add(socket);
      resolve();
    };
    socket.on('error', reject);
    socket.on('close', (code) => {
      sockets.delete(socket);
      reject(new Error(`closed with ${code}`));
    });
    socket.on('open', () => {
      if (channel === undefined) ready();
      else socket.send(JSON.stringify({ type: 'subscribe', id: '1', channel }));
    });
    socket.on('message', (data: Buffer) => {
      if (data.toString('latin1', 0, 20) === '{"type":"subscribed"') ready();
      else hear(data);
    });
  });
}

async function open(order: OpenOrder): Promise<Opened> {
  const untilMs = performance.now() + order.withinSeconds * MS_PER_SECOND;
  const faults: string[] = [];
  let next = 0;
  const openSockets = async (): Promise<void> => {
    while (next < order.count && faults.length < MOST_FAULTS && performance.now() < untilMs) {
      next += 1;
      await openOne(order, next).catch((error: unknown) => faults.push(String(error)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openSockets));
  if (sockets.size >= order.count) return { open: sockets.size, fault: null };
  return { open: sockets.size, fault: faults[0] ?? `in ${order.withinSeconds} s` };
}

function watch(): Record<string, never> {
  latenciesMs = [];
  events = new Map();
  return {};
}

async function awaitFrames({ frames, withinSeconds }: AwaitOrder): Promise<Frames> {
  const untilMs = performance.now() + withinSeconds * MS_PER_SECOND;
  while (latenciesMs.length < frames && performance.now() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const spans = [...events.values()];
  const sorted = latenciesMs.sort((a, b) => a - b);
  return {
    frames: sorted.length,
    spanMs: Math.max(...spans.map(({ lastMs }) => lastMs)) - Math.min(...spans.map(({ firstMs }) => firstMs)),
    fanOutMs: spans.reduce((sum, { firstMs, lastMs }) => sum + lastMs - firstMs, 0),
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    octets,
  };
}

function obey(order: OpenOrder | WatchOrder | AwaitOrder): Promise<object> | object {
  if (order.kind === 'open') return open(order);
  return order.kind === 'watch' ? watch() : awaitFrames(order);
}

process.on('message', (order: OpenOrder | WatchOrder | AwaitOrder) => {
  void Promise.resolve(obey(order)).then((answer) => process.send?.(answer));
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
