import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { Subject } from './processes.js';
import { type Environment, startBaseline } from './subjects.js';

/** What the process of the receivers is told. */
export interface Orders {
  /** Take requests and never answer, until the next orders; by their places. */
  readonly hanging: readonly number[];
}

/** What it saw since the last orders; an event counts once. Times are of the machine's clock. */
export interface Arrivals {
  readonly urls: readonly string[];
  readonly hosts: readonly { readonly received: number; readonly firstMs: number; readonly lastMs: number }[];
  /** From the moment that the event tells to the first octet of its webhook. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The first that came. */
  readonly sample: { readonly body: string; readonly headers: Readonly<Record<string, string>> };
}

export interface Receivers {
  readonly subject: Subject;
  readonly urls: readonly string[];
  expect(orders: Orders): Promise<void>;
  /** Resolves once so many have arrived; rejects when that takes too long. */
  received(count: number, withinMs?: number): Promise<Arrivals>;
}

const POLL_MS = 100;
const ARRIVAL_DEADLINE_MS = 60_000;
const MS_PER_SECOND = 1_000;

export async function startReceivers(environment: Environment, count: number): Promise<Receivers> {
  const subject = await startBaseline('receivers', 'receivers.js', { ...environment, RECEIVERS: String(count) });
  const call = async (method: 'GET' | 'PUT', body: Orders | null = null): Promise<Arrivals> => {
    const answer = await request(`http://127.0.0.1:${subject.port}/`, {
      method,
      body: body === null ? null : JSON.stringify(body),
    });
    return (await answer.body.json()) as Arrivals;
  };
  const { urls } = await call('GET');
  return {
    subject,
    urls,
    expect: async (orders) => {
      await call('PUT', orders);
    },
    received: async (wanted, withinMs = ARRIVAL_DEADLINE_MS) => {
      const deadlineMs = performance.now() + withinMs;
      for (;;) {
        const arrivals = await call('GET');
        const { received } = flowOf(arrivals);
        if (received >= wanted) return arrivals;
        if (performance.now() > deadlineMs) throw new Error(`${received} of ${wanted} webhooks arrived`);
        await delay(POLL_MS);
      }
    },
  };
}

/** How many arrived at the receivers before that place, and how many a second. */
export function flowOf({ hosts }: Arrivals, before = hosts.length): { received: number; perSecond: number } {
  const own = hosts.slice(0, before).filter(({ received }) => received > 0);
  const received = own.reduce((sum, host) => sum + host.received, 0);
  const firstMs = Math.min(...own.map((host) => host.firstMs));
  const lastMs = Math.max(...own.map((host) => host.lastMs));
  return { received, perSecond: received === 0 ? 0 : (received * MS_PER_SECOND) / Math.max(1, lastMs - firstMs) };
}
