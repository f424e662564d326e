import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { Subject } from './processes.js';
import { type Environment, startBaseline } from './subjects.js';

/** Orders for the process of the receivers. */
export interface Orders {
  /** Receivers, by index, that accept requests and do not answer until the next orders. */
  readonly hanging: readonly number[];
}

/** The arrivals since the last orders; an event counts once. Times are of the machine's clock. */
export interface Arrivals {
  readonly urls: readonly string[];
  readonly hosts: readonly { readonly received: number; readonly firstMs: number; readonly lastMs: number }[];
  /** From the time in the event to the first octet of its webhook. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The first webhook that arrived. */
  readonly sample: { readonly body: string; readonly headers: Readonly<Record<string, string>> };
}

export interface Receivers {
  readonly subject: Subject;
  readonly urls: readonly string[];
  expect(orders: Orders): Promise<void>;
  /** Resolves when as many have arrived; rejects after the deadline. */
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

/** Arrivals at the receivers before that index, in total and per second. */
export function flowOf({ hosts }: Arrivals, before = hosts.length): { received: number; perSecond: number } {
  const own = hosts.slice(0, before).filter(({ received }) => received > 0);
  const received = own.reduce((sum, host) => sum + host.received, 0);
  const firstMs = Math.min(...own.map((host) => host.firstMs));
  const lastMs = Math.max(...own.map((host) => host.lastMs));
  return { received, perSecond: received === 0 ? 0 : (received * MS_PER_SECOND) / Math.max(1, lastMs - firstMs) };
}
