import { beforeEach, describe, expect, it } from 'vitest';
import type { PhoneItem } from '../phone/phone-item.js';
import type { Clock } from './clock.js';
import { PhoneProfiles } from '../phone/phone-profile.js';
import type { RbmEvent } from './rbm-event.js';
import { RbmPlatform } from './rbm-platform.js';
import { RbmSwitches } from './rbm-switches.js';

/** A clock that the test advances. */
class HandClock implements Clock {
  #nowMs = Date.parse('2026-01-15T10:00:00Z');
  readonly #plans = new Set<{ readonly atMs: number; readonly what: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  get planned(): number {
    return this.#plans.size;
  }

  after(ms: number, what: () => void): () => void {
    const plan = { atMs: this.#nowMs + ms, what };
    this.#plans.add(plan);
    return () => void this.#plans.delete(plan);
  }

  pass(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#plans].filter(({ atMs }) => atMs <= untilMs).sort((one, other) => one.atMs - other.atMs);
      if (next === undefined) break;
      this.#plans.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.what();
    }
    this.#nowMs = untilMs;
  }
}

const PHONE = '+14155552671';
const AGENT = 'acme';
const ONE = '11111111-1111-4111-8111-111111111111';
let clock: HandClock;
let events: RbmEvent[];
let shown: PhoneItem[];
let platform: RbmPlatform;

const open = (mostMessages = 100): RbmPlatform =>
  new RbmPlatform({
    clock,
    phones: new PhoneProfiles(),
    switches: new RbmSwitches(),
    listener: {
      onEvent: (event) => events.push(event),
      onItem: (item) => shown.push(item),
      onPhone: () => undefined,
    },
    mostMessages,
  });

const send = (messageId = ONE, phone = PHONE, body: object = {}): unknown =>
  platform.send({
    agentId: AGENT,
    phone,
    messageId,
    body: {
      contentMessage: {
        text: 'Sign in?',
        suggestions: ['Approve', 'Deny'].map((text) => ({ reply: { text, postbackData: text } })),
      },
      ttl: '90s',
      ...body,
    },
  });
const kinds = (): unknown[] => events.map(({ body }) => body['eventType'] ?? 'tap');

beforeEach(() => {
  clock = new HandClock();
  events = [];
  shown = [];
  platform = open();
});

describe('a message', () => {
  it('is delivered when the phone says, tapped when the person does, and shown all the way', () => {
    platform.setPhone(PHONE, { reachable: true, deliverAfterMs: 300, autoTap: 'deny', tapAfterMs: 1_000 });
    send();
    clock.pass(299);
    expect(events).toEqual([]);
    clock.pass(1);
    expect(kinds()).toEqual(['DELIVERED']);
    clock.pass(1_000);
    expect(kinds()).toEqual(['DELIVERED', 'READ', 'tap']);
    expect(events[2]?.body['suggestionResponse']).toEqual({ postbackData: 'Deny', text: 'Deny', type: 'REPLY' });
    expect(shown.map((item) => item.kind === 'text' && item.state)).toEqual(['waiting', 'delivered', 'read', 'tapped']);
    expect(new Set(shown.map(({ id }) => id)).size).toBe(1);
  });

  it('expires on a phone that stays off, and is not delivered after that', () => {
    platform.setPhone(PHONE, { reachable: true, online: false });
    send();
    clock.pass(90_000);
    expect(kinds()).toEqual(['TTL_EXPIRATION_REVOKED']);
    platform.setPhone(PHONE, { online: true });
    clock.pass(1_000);
    expect(events).toHaveLength(1);
    expect(clock.planned).toBe(0);
  });

  it('does not expire once it is delivered', () => {
    platform.setPhone(PHONE, { reachable: true });
    send();
    clock.pass(100_000);
    expect(kinds()).toEqual(['DELIVERED']);
  });

  it('that is revoked while it waits has nothing planned any more', () => {
    platform.setPhone(PHONE, { reachable: true, deliverAfterMs: 5_000 });
    send();
    platform.revoke(AGENT, PHONE, ONE);
    expect(clock.planned).toBe(0);
    clock.pass(100_000);
    expect(events).toEqual([]);
    expect(platform.tap(ONE, 0)).toBe('not_on_phone');
  });

  it('of another phone or agent is not revoked by its id', () => {
    platform.setPhone(PHONE, { reachable: true });
    send();
    platform.revoke(AGENT, '+14155552672', ONE);
    platform.revoke('other', PHONE, ONE);
    clock.pass(100);
    expect(kinds()).toEqual(['DELIVERED']);
  });

  it('may be tapped again, which sends another event with another id', () => {
    platform.setPhone(PHONE, { reachable: true, deliverAfterMs: 0 });
    send();
    clock.pass(0);
    for (const index of [0, 1]) expect(platform.tap(ONE, index)).toBe('tapped');
    expect(kinds()).toEqual(['DELIVERED', 'READ', 'tap', 'tap']);
    expect(events[2]?.body['messageId']).not.toBe(events[3]?.body['messageId']);
  });

  it('is forgotten when many came after it, with all that was planned for it', () => {
    platform = open(2);
    platform.setPhone(PHONE, { reachable: true, online: false });
    for (const digit of [1, 2, 3]) send(ONE.replaceAll('1', String(digit)));
    expect(platform.list(undefined)).toHaveLength(2);
    expect(platform.tap(ONE, 0)).toBe('unknown_message');
    expect(clock.planned).toBe(2);
  });
});
