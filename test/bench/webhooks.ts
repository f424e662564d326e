import { CpuMeter } from './cpu/meter.js';
import { addMicros, type CpuMicros, type MeteredProcess, withoutProbes } from './cpu/use.js';
import type { PostsFigure, PostsTask } from './load/posts.js';
import type { SmppTask } from './load/smpp.js';
import { runLoad, type RunningSubject, type Subject } from './processes.js';
import { type ProbeFigures, Probes } from './probe/probes.js';
import { type Arrivals, flowOf, type Receivers, startReceivers } from './receivers.js';
import { type Measure, type Ratio, type Row, ratioOf, withProbes } from './report.js';
import { alternate } from './rounds.js';
import { type Demo, pendingSessions } from './seed.js';
import { median } from './statistics.js';
import { type Environment, LOCAL_WEBHOOKS, startControlPlane, startGateway, storeProcesses } from './subjects.js';
import { warmUp } from './warm-up.js';

const SECTION = 'webhooks';
const RECEIVERS = 20;
/** The product's limit for each (contract, Fairness); the bare loop gets the same. */
const IN_FLIGHT_PER_RECEIVER = 5;
/** The last receiver is the one that hangs, if any. */
const OTHERS = RECEIVERS - 1;
const APPROVALS = 6_000;
const BARE_POSTS = 20_000;
const LINKS = 4;
const WINDOW = 50;
/** On a slow machine requests to the hanging receiver time out before it answers, and are retried much later. */
const LEFT_OVER_DEADLINE_MS = 10_000;

/** The processes of this section, and the inputs of its runs. */
interface Stage {
  readonly demo: Demo;
  readonly product: RunningSubject;
  readonly gateway: Subject;
  readonly receivers: Receivers;
  /** PostgreSQL and Redis, where they are private to the run. */
  readonly stores: readonly MeteredProcess[];
}

/** Webhooks that arrived, and the CPU time and allocations from the first SMS (of a backlog: from its release) to the last webhook. */
type Delivered = Arrivals & { readonly errors: number; readonly micros: CpuMicros; readonly probed: ProbeFigures };

interface Approvals {
  readonly count: number;
  /** Null: as fast as they are answered. */
  readonly perSecond: number | null;
  readonly hangs: boolean;
  /** The control plane is stopped until all sessions are approved, so that only the work of webhooks is measured. */
  readonly backlog?: boolean;
}

const ratio = (name: string, value: number, reachFor: string): Ratio => ({ section: SECTION, name, value, reachFor });

const measureOf = (delivered: Delivered, before = RECEIVERS): Measure => {
  const { received, perSecond } = flowOf(delivered, before);
  const { p50Ms, p99Ms, errors, micros, probed } = delivered;
  const measure = { perSecond, p50Ms, p99Ms, errors, cpu: { operations: received, micros } };
  return withProbes(measure, received, probed);
};

/** The receivers are part of the load: their CPU time is counted with the generator's. */
const asLoad = ({ processes }: Subject): MeteredProcess[] =>
  processes.map(({ pid }) => ({ role: 'load generator', pid }));

/** Approves sessions by SMS, each with one of the receivers, until all expected webhooks have arrived. */
async function approve(stage: Stage, approvals: Approvals): Promise<Delivered> {
  const { demo, product, gateway, receivers, stores } = stage;
  const { count, perSecond, hangs, backlog = false } = approvals;
  const messages = await pendingSessions(demo, count, (at) => receivers.urls[at % RECEIVERS] ?? null);
  await receivers.expect({ hanging: hangs ? [OTHERS] : [] });
  const processes = [...product.processes, ...gateway.processes, ...stores];
  const meter = new CpuMeter([...processes, ...asLoad(receivers.subject)]);
  const probes = new Probes(processes);
  if (backlog) product.freeze();
  meter.start();
  if (!backlog) probes.open();
  const sent = await runLoad<Measure>('smpp.js', {
    port: gateway.port,
    systemId: demo.systemId,
    password: demo.password,
    links: LINKS,
    window: WINDOW,
    messages,
    processes: withoutProbes(processes),
    ...(perSecond === null ? {} : { perSecond }),
  } satisfies SmppTask).finally(() => {
    if (backlog) {
      meter.start();
      probes.open();
    }
    product.thaw();
  });
  const lost = hangs ? messages.filter((_, at) => at % RECEIVERS === OTHERS).length : 0;
  const arrivals = await receivers.received(count - lost);
  const micros = meter.stop();
  const probed = await probes.close();
  if (hangs) await drainHangingReceiver(receivers, lost);
  const ofSender = backlog ? {} : { 'load generator': sent.cpu?.micros['load generator'] ?? 0 };
  return { ...arrivals, errors: sent.errors, micros: addMicros(micros, ofSender), probed };
}

/**
 * The receiver answers from now on, so that the next run begins without a backlog; requests that it held are not sent
 * again.
 */
async function drainHangingReceiver(receivers: Receivers, lost: number): Promise<void> {
  await receivers.expect({ hanging: [] });
  const late = (error: unknown): void => {
    process.stderr.write(`${SECTION} requests of the hanging receiver did not complete: ${String(error)}\n`);
  };
  await receivers.received(lost - IN_FLIGHT_PER_RECEIVER, LEFT_OVER_DEADLINE_MS).then(() => undefined, late);
}

async function bareLoop({ receivers }: Stage, { sample }: Arrivals): Promise<Measure> {
  await receivers.expect({ hanging: [] });
  const meter = new CpuMeter(asLoad(receivers.subject)).start();
  const { errors, micros } = await runLoad<PostsFigure>('posts.js', {
    urls: receivers.urls,
    perUrl: IN_FLIGHT_PER_RECEIVER,
    ...sample,
    count: BARE_POSTS,
  } satisfies PostsTask);
  const arrivals = await receivers.received(BARE_POSTS);
  const measure = measureOf({ ...arrivals, errors, micros: addMicros(micros, meter.stop()), probed: { profiles: [] } });
  // All bodies are one old event: the time since that event has no meaning.
  return { ...measure, p50Ms: 0, p99Ms: 0 };
}

async function measured(stage: Stage, rounds: number, seconds: number): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const { product } = stage;
  const approvals = { count: APPROVALS, perSecond: null, hangs: false };
  const first = await approve(stage, approvals);
  await warmUp(`${SECTION} approved by SMS`, async () => measureOf(await approve(stage, approvals)));
  await warmUp(`${SECTION} bare undici`, () => bareLoop(stage, first));
  /** The rate at the answering receivers in runs without a hanging one, for comparison with the other runs. */
  const healthy: number[] = [];
  const run = async (hangs: boolean): Promise<Measure> => {
    const delivered = await approve(stage, { ...approvals, hangs });
    if (!hangs) healthy.push(flowOf(delivered, OTHERS).perSecond);
    return measureOf(delivered, hangs ? OTHERS : RECEIVERS);
  };
  const drained = async (): Promise<Measure> => {
    // The time since the events is the time that the control plane was stopped.
    return { ...measureOf(await approve(stage, { ...approvals, backlog: true })), p50Ms: 0, p99Ms: 0 };
  };
  const bare = { ...stage.receivers.subject, name: `bare undici, ${RECEIVERS} x ${IN_FLIGHT_PER_RECEIVER} in flight` };
  const rows = await alternate(SECTION, rounds, [
    { subject: bare, run: () => bareLoop(stage, first) },
    { subject: { ...product, name: `approved by SMS, ${RECEIVERS} receivers` }, run: () => run(false) },
    { subject: { ...product, name: `${OTHERS} receivers, beside one that hangs` }, run: () => run(true) },
    { subject: { ...product, name: `a backlog of ${APPROVALS}, ${RECEIVERS} receivers` }, run: drained },
  ]);
  const perSecond = Math.ceil(rows[1].perSecond / 2);
  const half = { ...product, name: `approved by SMS, half load, ${perSecond}/s` };
  const [halfRow] = await alternate(SECTION, rounds, [
    {
      subject: half,
      run: async () => measureOf(await approve(stage, { count: perSecond * seconds, perSecond, hangs: false })),
    },
  ]);
  const [bareRow, productRow, besideRow, backlogRow] = rows;
  const lossPercent = Math.round((1 - besideRow.perSecond / median(healthy)) * 1_000) / 10;
  return {
    rows: [...rows, halfRow],
    ratios: [
      ratio('approvals that arrive, of bare undici', ratioOf(productRow, bareRow), '>= 0.4'),
      ratio('of a backlog, the gateway at rest, of bare undici', ratioOf(backlogRow, bareRow), '-'),
      ratio('p99 ms, event to first octet, half load', halfRow.p99Ms, '< 200'),
      ratio(`loss of ${OTHERS} beside one that hangs, percent`, lossPercent, '< 10'),
    ],
  };
}

/**
 * Webhooks from the approval, by SMS and through the gateway, to a local receiver that answers at once; p50 and p99
 * from the time of the event to the first octet at the receiver. The gateway, the sender of SMS and the approvals'
 * share of PostgreSQL run on the same machine: the backlog's rate shows the capacity of webhooks alone.
 */
export async function benchWebhooks(
  environment: Environment,
  demo: Demo,
  rounds: number,
  seconds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const receivers = await startReceivers(environment, RECEIVERS);
  const local = { ...environment, ...LOCAL_WEBHOOKS };
  const product = await startControlPlane('countersign', local);
  const gateway = await startGateway('gateway', local);
  try {
    return await measured({ demo, product, gateway, receivers, stores: storeProcesses(local) }, rounds, seconds);
  } finally {
    await Promise.all([gateway.stop(), product.stop()]);
    await receivers.subject.stop();
  }
}
