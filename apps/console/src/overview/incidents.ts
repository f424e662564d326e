import type { Schemas } from '../api/client.js';
import type { Tone } from '../ui/layout.js';

/** Something that an engineer should look at now. */
export interface Incident {
  readonly id: string;
  readonly tone: Extract<Tone, 'warn' | 'bad'>;
  readonly title: string;
  readonly detail: string;
  readonly to: '/binds' | '/systems' | '/queues' | '/gateways' | '/guard' | '/webhooks';
}

export interface Observed {
  readonly binds: readonly Schemas['BindAnswer'][];
  readonly systems: readonly Schemas['SmppSystemAnswer'][];
  readonly queues: readonly Schemas['QueueAnswer'][];
  readonly gateways: readonly Schemas['GatewayAnswer'][];
  readonly rules: readonly Schemas['DestinationAnswer'][];
  readonly budgets: readonly Schemas['BudgetAnswer'][];
  readonly nowMs: number;
}

/** A gateway sends a heartbeat every 5 s. */
const SILENT_MS = 15_000;
const LATE_SECONDS = 30;
/** The share of a cap from which on it is near. */
const NEAR_CAP = 0.9;

const plural = (count: number, one: string, many: string): string => (count === 1 ? one : `${String(count)} ${many}`);

function ofBinds({ binds }: Observed): Incident[] {
  return binds.flatMap(({ id, name, status: { state, connections } }): Incident[] => {
    if (state !== 'unbound' && state !== 'degraded') return [];
    const error = connections.find(({ lastError }) => lastError !== null)?.lastError;
    const bound = connections.filter((each) => each.state === 'bound').length;
    const detail = error ?? `${String(bound)} of ${String(connections.length)} connections are bound`;
    return [{ id, tone: state === 'unbound' ? 'bad' : 'warn', title: `${name} is ${state}`, detail, to: '/binds' }];
  });
}

const ofSystems = ({ systems }: Observed): Incident[] =>
  systems.flatMap(({ id, systemId, trustWarning }) =>
    trustWarning === null
      ? []
      : [{ id, tone: 'warn', title: `${systemId} approves nothing`, detail: trustWarning, to: '/systems' }],
  );

function ofQueues({ queues }: Observed): Incident[] {
  return queues.flatMap(({ name, paused, oldestAgeSeconds }): Incident[] => {
    const queue = { id: name, to: '/queues' } as const;
    if (paused) return [{ ...queue, tone: 'warn', title: `The queue ${name} is paused`, detail: 'New jobs wait.' }];
    if (oldestAgeSeconds === null || oldestAgeSeconds <= LATE_SECONDS) return [];
    const detail = `Its oldest job waits for ${String(oldestAgeSeconds)} s.`;
    return [{ ...queue, tone: 'bad', title: `The queue ${name} is late`, detail }];
  });
}

function ofGateways({ gateways, nowMs }: Observed): Incident[] {
  const running = gateways.filter(({ seenAt, stopping }) => !stopping && nowMs - Date.parse(seenAt) <= SILENT_MS);
  const silent = gateways.filter(({ seenAt, stopping }) => !stopping && nowMs - Date.parse(seenAt) > SILENT_MS);
  const to = '/gateways';
  return [
    ...(running.length > 0
      ? []
      : [{ id: 'none', tone: 'bad', to, title: 'No gateway runs', detail: 'No SMS is sent or received.' } as const]),
    ...silent.map(({ id, host }): Incident => {
      return { id, tone: 'bad', to, title: `The gateway on ${host} is silent`, detail: 'Others take its connections.' };
    }),
  ];
}

function ofGuard({ rules, budgets, nowMs }: Observed): Incident[] {
  const blocks = rules.filter(
    ({ origin, until }) => origin === 'guard' && (until === null || Date.parse(until) > nowMs),
  );
  const to = '/guard';
  const [first] = blocks;
  const blocked: Incident[] =
    first === undefined
      ? []
      : [
          {
            ...{ id: 'blocks', tone: 'warn', to },
            title: `The guard blocks ${plural(blocks.length, first.prefix, 'blocks of numbers')}`,
            detail: 'Too few codes to them are used. Release them if the traffic is real.',
          },
        ];
  return [...blocked, ...budgets.flatMap((budget) => ofBudget(budget))];
}

function ofBudget({
  id,
  name,
  today,
  lastHour,
  dailyMessageCap,
  spentTodayUsd,
  dailySpendCapUsd,
}: Observed['budgets'][number]): Incident[] {
  const capped = (used: number, cap: number | null): number => (cap === null ? 0 : cap === 0 ? 1 : used / cap);
  const cap = dailySpendCapUsd === null ? null : Number(dailySpendCapUsd);
  const share = Math.max(capped(today.sends, dailyMessageCap), capped(Number(spentTodayUsd), cap));
  const to = '/guard';
  const found: Incident[] = [];
  if (share >= NEAR_CAP && today.sends > 0)
    found.push({
      ...{ id: `${id} cap`, tone: share >= 1 ? 'bad' : 'warn', to },
      title: `${name} has used ${String(Math.round(share * 100))} % of its daily cap`,
      detail: `${String(today.sends)} codes, $${spentTodayUsd} today.`,
    });
  if (lastHour.unconverted >= lastHour.allowed && lastHour.sends > 0)
    found.push({
      ...{ id: `${id} budget`, tone: 'warn', to },
      title: `${name} is over its conversion budget`,
      detail: `${String(lastHour.unconverted)} codes of the last hour are not used, ${String(lastHour.allowed)} are allowed.`,
    });
  return found;
}

/** The incidents, bad ones first. */
export const incidentsOf = (observed: Observed): Incident[] =>
  [ofGateways, ofBinds, ofQueues, ofGuard, ofSystems]
    .flatMap((of) => of(observed))
    .sort((one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'));
