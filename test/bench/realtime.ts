import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { SmppTask } from './load/smpp.js';
import type { AwaitOrder, Frames, Opened, OpenOrder, WatchOrder } from './load/sockets.js';
import { type LiveLoad, runLoad, startLoad, type Subject } from './processes.js';
import { type Measure, type Ratio, type Row, ratioOf } from './report.js';
import { alternate, type Contender } from './rounds.js';
import { type Demo, type Message, pendingSessions } from './seed.js';
import { type Environment, startBaseline, startControlPlane, startGateway } from './subjects.js';

const SECTION = 'realtime';
const IDLE_SOCKETS = 10_000;
const LISTENERS = 5_000;
/** Events of one run, sequential, with sufficient distance. */
const EVENTS = 5;
const EVENTS_PER_SECOND = 2;
const APPROVALS = 6_000;
const LINKS = 4;
const WINDOW = 50;
const OPEN_SECONDS = 30;
const ARRIVAL_SECONDS = 30;
/** Files that a process needs beside its sockets, and ports that are in use. */
const SPARE = 1_000;
const KIB_PER_MIB = 1_024;
const MS_PER_SECOND = 1_000;

type Figures = { readonly rows: readonly Row[]; readonly ratios: readonly Ratio[] };

/** The processes of this section. */
interface Stage {
  readonly environment: Environment;
  readonly demo: Demo;
  readonly product: Subject;
  readonly gateway: Subject;
}

/** The open sockets; `words` has their number, and why there are no more. */
interface Clients {
  readonly load: LiveLoad;
  readonly open: number;
  readonly words: string;
}

const ratio = (name: string, value: number, reachFor: string): Ratio => ({ section: SECTION, name, value, reachFor });

const numbersIn = (file: string, pattern: RegExp): number[] =>
  (pattern.exec(readFileSync(file, 'utf8')) ?? []).slice(1).map(Number);

/**
 * The limit of this machine for sockets of one process to one port; each end is in a process of its own and needs one
 * file.
 */
function mostSockets(): number {
  const [files = 1_024] = numbersIn('/proc/self/limits', /Max open files\s+(\d+)/);
  const [low = 0, high = 0] = numbersIn('/proc/sys/net/ipv4/ip_local_port_range', /(\d+)\s+(\d+)/);
  return Math.min(files, high - low) - SPARE;
}

async function clients(demo: Demo, port: number, wanted: number, channels: readonly string[] | null): Promise<Clients> {
  const count = Math.min(wanted, mostSockets());
  const load = startLoad('sockets.js');
  const order: OpenOrder = {
    kind: 'open',
    port,
    apiKey: demo.apiKey,
    channels,
    count,
    withinSeconds: OPEN_SECONDS,
  };
  const { open, fault } = await load.ask<Opened>(order);
  if (open === 0) throw new Error(`no socket was opened: ${fault ?? ''}`);
  const because = fault ?? (count < wanted ? 'open files or ports' : null);
  return { load, open, words: because === null ? String(open) : `only ${open} of ${wanted} (${because})` };
}

/** Receives the frames that `cause` leads to; all must arrive. */
async function arrived(load: LiveLoad, frames: number, cause: () => Promise<unknown>): Promise<Frames> {
  await load.ask({ kind: 'watch' } satisfies WatchOrder);
  await cause();
  const order: AwaitOrder = { kind: 'await', frames, withinSeconds: ARRIVAL_SECONDS };
  const arrivals = await load.ask<Frames>(order);
  if (arrivals.frames < frames) throw new Error(`${arrivals.frames} of ${frames} frames arrived`);
  return arrivals;
}

function approve({ demo, gateway }: Stage, messages: readonly Message[], perSecond: number | null): Promise<Measure> {
  return runLoad<Measure>('smpp.js', {
    port: gateway.port,
    systemId: demo.systemId,
    password: demo.password,
    links: perSecond === null ? LINKS : 1,
    window: WINDOW,
    messages,
    ...(perSecond === null ? {} : { perSecond }),
  } satisfies SmppTask);
}

/** Memory of idle sockets, each subscribed to a session of its own. */
async function idle({ demo, product }: Stage): Promise<Figures> {
  const sessions = await pendingSessions(demo, IDLE_SOCKETS);
  const before = product.rssMiB();
  const channels = sessions.map(({ sessionId }) => `session:${sessionId}`);
  const { load, open, words } = await clients(demo, product.port, IDLE_SOCKETS, channels);
  const after = product.rssMiB();
  await load.stop();
  const subject = `${words} idle sockets, a session each`;
  const kib = Math.round(((after - before) * KIB_PER_MIB) / open);
  return {
    rows: [{ section: SECTION, subject, perSecond: 0, p50Ms: 0, p99Ms: 0, errors: 0, rssMiB: after }],
    ratios: [ratio(`RSS KiB a socket, ${words} idle`, kib, 'measured')],
  };
}

const fanOut = (arrivals: Frames): Measure => ({
  perSecond: (arrivals.frames * MS_PER_SECOND) / Math.max(1, arrivals.fanOutMs),
  p50Ms: arrivals.p50Ms,
  p99Ms: arrivals.p99Ms,
  errors: 0,
});

async function postEvents(port: number): Promise<void> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  for (let sent = 0; sent < EVENTS; sent += 1) {
    await (await request(`https://127.0.0.1:${port}/`, { method: 'POST', dispatcher })).body.dump();
    await delay(MS_PER_SECOND / EVENTS_PER_SECOND);
  }
  await dispatcher.close();
}

/**
 * One event to many sockets on the account's channel, against `ws` with frames of the same length to as many sockets.
 */
async function fanOuts(stage: Stage, rounds: number): Promise<Figures> {
  const { demo, product, environment } = stage;
  const listeners = await clients(demo, product.port, LISTENERS, [`account:${demo.accountId}`]);
  const events = async (): Promise<Frames> => {
    const messages = await pendingSessions(demo, EVENTS);
    return arrived(listeners.load, EVENTS * listeners.open, () => approve(stage, messages, EVENTS_PER_SECOND));
  };
  const { octets } = await events(); // warm, not counted
  const bare = await startBaseline('bare ws', 'bare-ws.js', { ...environment, FRAME_OCTETS: String(octets) });
  const before = bare.rssMiB();
  const others = await clients(demo, bare.port, listeners.open, null);
  const kib = Math.round(((bare.rssMiB() - before) * KIB_PER_MIB) / others.open);
  const run = async (): Promise<Measure> =>
    fanOut(await arrived(others.load, EVENTS * others.open, () => postEvents(bare.port)));
  const contenders: readonly [Contender, Contender] = [
    { subject: { ...bare, name: `bare ws, one frame to ${others.words} sockets` }, run },
    {
      subject: { ...product, name: `one event to ${listeners.words} sockets` },
      run: async () => fanOut(await events()),
    },
  ];
  try {
    const rows = await alternate(SECTION, rounds, contenders);
    return {
      rows,
      ratios: [
        ratio('fan-out, of bare ws', ratioOf(rows[1], rows[0]), '>= 0.6'),
        ratio(`RSS KiB a socket, bare ws, ${others.words} idle`, kib, '-'),
      ],
    };
  } finally {
    await Promise.all([listeners.load.stop(), others.load.stop(), bare.stop()]);
  }
}

/** From the approval by SMS to the frame, on one socket on the account's channel. */
async function latencies(stage: Stage, rounds: number, seconds: number): Promise<Figures> {
  const { demo, product } = stage;
  const { load } = await clients(demo, product.port, 1, [`account:${demo.accountId}`]);
  const run = async (count: number, perSecond: number | null): Promise<Measure> => {
    const messages = await pendingSessions(demo, count);
    const { spanMs, ...rest } = await arrived(load, count, () => approve(stage, messages, perSecond));
    return {
      perSecond: (count * MS_PER_SECOND) / Math.max(1, spanMs),
      p50Ms: rest.p50Ms,
      p99Ms: rest.p99Ms,
      errors: 0,
    };
  };
  try {
    const full = { ...product, name: 'approved by SMS, frames on one socket' };
    const [fullRow] = await alternate(SECTION, rounds, [{ subject: full, run: () => run(APPROVALS, null) }]);
    const perSecond = Math.ceil(fullRow.perSecond / 2);
    const half = { ...product, name: `the same, half load, ${perSecond}/s` };
    const [halfRow] = await alternate(SECTION, rounds, [
      { subject: half, run: () => run(perSecond * seconds, perSecond) },
    ]);
    return {
      rows: [fullRow, halfRow],
      ratios: [ratio('p99 ms, event to frame, half load', halfRow.p99Ms, '< 100')],
    };
  } finally {
    await load.stop();
  }
}

/** Sockets over TLS: idle, receiving one event together, and the latency from an approval to its frame. */
export async function benchRealtime(
  environment: Environment,
  demo: Demo,
  rounds: number,
  seconds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const product = await startControlPlane('countersign', environment);
  const gateway = await startGateway('gateway', environment);
  const stage = { environment, demo, product, gateway };
  try {
    const figures = [await idle(stage), await fanOuts(stage, rounds), await latencies(stage, rounds, seconds)];
    return { rows: figures.flatMap(({ rows }) => rows), ratios: figures.flatMap(({ ratios }) => ratios) };
  } finally {
    await Promise.all([gateway.stop(), product.stop()]);
  }
}
