import { Random } from '../support/random.js';
import type { Phone, SimulatedGuard, SimulatedSession } from './simulated-guard.js';

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const BEGIN_MS = Date.parse('2024-05-01T00:00:00Z');

/** The same seed gives the same traffic. */
export function randomOf(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}

const COUNTRIES = [
  ['US', '+1212'],
  ['GB', '+4479'],
  ['DE', '+4915'],
  ['FR', '+3361'],
  ['BR', '+5511'],
  ['IN', '+9198'],
] as const;

/** The n-th number of the m-th block of a country. */
export function phoneOf(countryAt: number, blockAt: number, at: number): Phone {
  const [country, prefix] = COUNTRIES[countryAt % COUNTRIES.length] ?? COUNTRIES[0];
  return { country, e164: `${prefix}${String(blockAt).padStart(4, '0')}${String(at % 10_000).padStart(4, '0')}` };
}

/** A time that is log-normal about its median. */
export function logNormal(random: () => number, median: number, sigma: number): number {
  const angle = 2 * Math.PI * random();
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return median * Math.exp(sigma * radius * Math.cos(angle));
}

/** Milliseconds to the next arrival at a rate per second (Poisson). */
export const gapMs = (random: () => number, perSecond: number): number =>
  (-Math.log(1 - random()) / perSecond) * SECOND_MS;

/** Events in the order of their times; an event may add later ones. */
export class Timeline {
  private readonly heap: { readonly atMs: number; readonly run: (nowMs: number) => void }[] = [];

  add(atMs: number, run: (nowMs: number) => void): void {
    this.heap.push({ atMs, run });
    let at = this.heap.length - 1;
    while (at > 0 && this.isBefore(at, (at - 1) >> 1)) at = this.swap(at, (at - 1) >> 1);
  }

  run(): void {
    for (let next = this.take(); next !== undefined; next = this.take()) next.run(next.atMs);
  }

  private take() {
    const [first] = this.heap;
    const last = this.heap.pop();
    if (last === undefined || this.heap.length === 0) return last;
    this.heap[0] = last;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const child = left + 1 < this.heap.length && this.isBefore(left + 1, left) ? left + 1 : left;
      if (child >= this.heap.length || !this.isBefore(child, at)) return first;
      at = this.swap(at, child);
    }
  }

  private isBefore(one: number, other: number): boolean {
    return (this.heap[one]?.atMs ?? 0) < (this.heap[other]?.atMs ?? 0);
  }

  private swap(one: number, other: number): number {
    const [first, second] = [this.heap[one], this.heap[other]];
    if (first !== undefined && second !== undefined) [this.heap[one], this.heap[other]] = [second, first];
    return other;
  }
}

/** The most moments that lie in any window of this length. */
export function mostWithin(sortedMs: readonly number[], windowMs: number): number {
  let most = 0;
  let from = 0;
  sortedMs.forEach((atMs, at) => {
    while ((sortedMs[from] ?? atMs) <= atMs - windowMs) from += 1;
    most = Math.max(most, at - from + 1);
  });
  return most;
}

/** The most moments that lie on one UTC day. */
export function mostOnADay(momentsMs: readonly number[]): number {
  const days = new Map<number, number>();
  for (const atMs of momentsMs) days.set(Math.floor(atMs / DAY_MS), (days.get(Math.floor(atMs / DAY_MS)) ?? 0) + 1);
  return Math.max(0, ...days.values());
}

/** Sends one code in a session of its own; the session, and whether the code went. */
export function sendTo(
  guard: SimulatedGuard,
  phone: Phone,
  nowMs: number,
): { session: SimulatedSession; sent: boolean } {
  const session: SimulatedSession = { phone, sentMs: [] };
  return { session, sent: guard.send(session, nowMs) === null };
}
