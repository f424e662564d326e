import { CpuMeter } from '../cpu/meter.js';
import type { MeteredProcess } from '../cpu/use.js';
import { halfPace, isReached } from '../half-load.js';
import type { HttpsTask } from '../load/https.js';
import type { HttpsAtRateTask } from '../load/https-at-rate.js';
import type { Pace } from '../load/open-loop.js';
import type { SmppTask } from '../load/smpp.js';
import { Probes } from '../probe/probes.js';
import { runLoad } from '../processes.js';
import { flowOf, type Receivers, startReceivers } from '../receivers.js';
import { type Measure, withProbes } from '../report.js';
import { type Environment, LOCAL_WEBHOOKS } from '../subjects.js';
import { warmUp } from '../warm-up.js';
import {
  approvedCount,
  callEach,
  createBody,
  expectApproved,
  nextPhone,
  openSessions,
  type OpenSession,
} from './sessions.js';
import type { Side } from './side.js';

/** A load that uses public interfaces only (REST, SMPP, webhooks), so that every build can be measured with it. */
export interface Section {
  readonly needsGateway: boolean;
  /** Variables of the applications, beside those that every section has. */
  readonly environment: Environment;
  /** One measured run; opens the sessions that it needs. */
  run(side: Side): Promise<Measure>;
  stop(): Promise<void>;
}

const CONNECTIONS = 64;
const LINKS = 4;
const WINDOW = 50;
const SECONDS = 5;
const CREATE_PHONES = 4_000;
const POLLED_SESSIONS = 4_000;
const MESSAGES = 15_000;
/** The first messages of a run, which are not measured. */
const RAMP_MESSAGES = 1_000;
const CHECKS = 6_000;
const WEBHOOKS = 12_000;
const RECEIVERS = 20;
/** The code of every session of a test key (documentation of the product, Test keys). */
const TEST_CODE = '424242';

const onlyRest = { needsGateway: false, environment: {}, stop: () => Promise.resolve() };

/** Requests to the control plane of a side, over 64 connections if nothing else is said. */
export const https = (
  side: Side,
  task: Omit<HttpsTask, 'origin' | 'connections' | 'processes'> & { readonly connections?: number },
): Promise<Measure> =>
  runLoad<Measure>('https.js', {
    connections: CONNECTIONS,
    ...task,
    origin: `https://127.0.0.1:${side.controlPlane.port}`,
    processes: [...side.controlPlane.processes, ...side.stores],
  } satisfies HttpsTask);

/** Creates, each for another phone. */
export function createRequests(side: Side, count = CREATE_PHONES): HttpsTask['requests'] {
  const webhookUrl = 'https://hooks.example.com/countersign';
  const bodies = Array.from({ length: count }, () => createBody(side, nextPhone(), webhookUrl));
  return bodies.map((body) => ({ path: '/v1/verify', body }));
}

const create: Section = {
  ...onlyRest,
  run: (side) =>
    https(side, {
      method: 'POST',
      authorization: `Bearer ${side.demo.apiKey}`,
      requests: createRequests(side),
      seconds: SECONDS,
    }),
};

export const createAtRate = (side: Side, pace: Pace): Promise<Measure> =>
  runLoad<Measure>('https-at-rate.js', {
    port: side.controlPlane.port,
    apiKey: side.demo.apiKey,
    method: 'POST',
    requests: createRequests(side, pace.count),
    pace,
    processes: [...side.controlPlane.processes, ...side.stores],
  } satisfies HttpsAtRateTask);

const poll: Section = {
  ...onlyRest,
  run: async (side) => {
    const sessions = await openSessions(side, POLLED_SESSIONS);
    return https(side, {
      method: 'GET',
      authorization: `Bearer ${side.demo.apiKey}`,
      requests: sessions.map(({ sessionId }) => ({ path: `/v1/verify/${sessionId}` })),
      seconds: SECONDS,
    });
  },
};

/** Uses a test key: its codes are known, and nothing is sent to a carrier. */
const check: Section = {
  ...onlyRest,
  run: async (side) => {
    const { testApiKey: apiKey } = side.demo;
    const sessions = await openSessions(side, CHECKS, { apiKey });
    const pathOf = ({ sessionId }: OpenSession, action: string): string => `/v1/verify/${sessionId}/${action}`;
    const sends = sessions.map((session) => ({ path: pathOf(session, 'send-sms'), body: '{}' }));
    await callEach(side, apiKey, sends);
    const before = await approvedCount(side, apiKey);
    const measure = await https(side, {
      method: 'POST',
      authorization: `Bearer ${apiKey}`,
      requests: sessions.map((session) => ({
        path: pathOf(session, 'check'),
        body: JSON.stringify({ code: TEST_CODE }),
      })),
      seconds: null,
    });
    await expectApproved(side, apiKey, before + CHECKS);
    return measure;
  },
};

function smppTask(
  { demo, gateway }: Side,
  messages: SmppTask['messages'],
  processes: readonly MeteredProcess[],
): SmppTask {
  const { systemId, password } = demo;
  return { port: gateway?.port ?? 0, systemId, password, links: LINKS, window: WINDOW, messages, processes };
}

/** The control plane is stopped (SIGSTOP) while the gateway is measured. */
export function sendMessages(
  side: Side,
  messages: readonly OpenSession[],
  pace: Pick<SmppTask, 'ramp' | 'perSecond'> = { ramp: RAMP_MESSAGES },
): Promise<Measure> {
  const processes = [...(side.gateway?.processes ?? []), ...side.stores];
  side.controlPlane.freeze();
  return runLoad<Measure>('smpp.js', { ...smppTask(side, messages, processes), ...pace }).finally(() =>
    side.controlPlane.thaw(),
  );
}

async function matched(side: Side, count: number, pace?: Pick<SmppTask, 'ramp' | 'perSecond'>): Promise<Measure> {
  const { apiKey } = side.demo;
  const before = await approvedCount(side, apiKey);
  const measure = await sendMessages(side, await openSessions(side, count), pace);
  await expectApproved(side, apiKey, before + count);
  return measure;
}

const inbound: Section = {
  ...onlyRest,
  needsGateway: true,
  run: (side) => matched(side, MESSAGES),
};

const inboundAtRate = (side: Side, { count, ...pace }: Pace): Promise<Measure> => matched(side, count, pace);

/** The rate is half of the throughput of the side that runs first, and the same for both. */
function atHalfLoad(saturated: Section, runAtRate: (side: Side, pace: Pace) => Promise<Measure>): Section {
  let pace: Pace | null = null;
  return {
    ...saturated,
    run: async (side) => {
      if (pace === null) {
        await warmUp(`${side.name}, saturated`, () => saturated.run(side));
        pace = halfPace((await saturated.run(side)).perSecond);
      }
      const measure = await runAtRate(side, pace);
      if (!isReached(measure.perSecond, pace.perSecond)) {
        process.stderr.write(`${side.name}: RATE NOT REACHED, ${measure.perSecond}/s of ${pace.perSecond}/s\n`);
      }
      return measure;
    },
  };
}

/**
 * A backlog of webhooks: the control plane is stopped until every session is approved. CPU time is measured from its
 * continuation to the last webhook; latencies are left out, because they include the stop.
 */
async function webhooks(environment: Environment): Promise<Section> {
  const receivers = await startReceivers(environment, RECEIVERS);
  return {
    needsGateway: true,
    environment: LOCAL_WEBHOOKS,
    run: (side) => backlog(side, receivers),
    stop: () => receivers.subject.stop(),
  };
}

async function backlog(side: Side, receivers: Receivers): Promise<Measure> {
  const messages = await openSessions(side, WEBHOOKS, { webhookUrl: (at) => receivers.urls[at % RECEIVERS] ?? null });
  await receivers.expect({ hanging: [] });
  const asLoad = receivers.subject.processes.map(({ pid }) => ({ role: 'load generator', pid }) as const);
  const meter = new CpuMeter([...side.controlPlane.processes, ...side.stores, ...asLoad]);
  const probes = new Probes(side.controlPlane.processes);
  side.controlPlane.freeze();
  const sent = await runLoad<Measure>('smpp.js', smppTask(side, messages, [])).finally(() => {
    meter.start();
    probes.open();
    side.controlPlane.thaw();
  });
  const arrivals = await receivers.received(WEBHOOKS);
  const { received, perSecond } = flowOf(arrivals);
  const cpu = { operations: received, micros: meter.stop() };
  return withProbes({ perSecond, p50Ms: 0, p99Ms: 0, errors: sent.errors, cpu }, received, await probes.close());
}

/** By name; `environment` is for what a section starts itself. */
export async function openSection(name: string, environment: Environment): Promise<Section> {
  if (name === 'webhooks') return webhooks(environment);
  const sections = {
    create,
    inbound,
    check,
    poll,
    'create-half': atHalfLoad(create, createAtRate),
    'inbound-half': atHalfLoad(inbound, inboundAtRate),
  };
  const found = new Map(Object.entries(sections)).get(name);
  if (found === undefined) throw new Error(`${name} is not a section that can be compared`);
  return found;
}
