import { destinationPrefix } from '@countersign/carriers/outbound';
import { ApprovalTally, type SlotAddition } from '../../apps/control-plane/src/guard/approval-tally.js';
import { dayOf, KNOWN_DAYS } from '../../apps/control-plane/src/guard/approved-phones.js';
import { judgeTraffic, type GuardRule } from '../../apps/control-plane/src/guard/guard-rules.js';
import { PhoneCounters } from '../../apps/control-plane/src/guard/phone-counters.js';
import {
  scopesOf,
  SendCounters,
  windowKey,
  type AccountLimits,
  type SendKeys,
  type WindowSums,
} from '../../apps/control-plane/src/guard/send-counters.js';
import { DAY_MS, HOUR_MS, slotOf, windowOf } from '../../apps/control-plane/src/guard/traffic-slots.js';

const ACCOUNT = 'account';
const LIMITS = { phonePerHour: 5, phonePerDay: 10, breakerSends: 50, breakerPercent: 20, breakerBlockSeconds: 3_600 };

export interface Phone {
  readonly e164: string;
  readonly country: string;
}

/** A session with its sends, until it is approved. */
export interface SimulatedSession {
  readonly phone: Phone;
  readonly sentMs: number[];
}

interface Slot {
  sends: number;
  settled: number;
  approvals: number;
}

/**
 * The guard over a simulated account and clock: the product's own rules, ledger, slots and tally of approvals, on maps in
 * place of the tables. Blocks of the breaker and the caps of phones are as in the store.
 */
export class SimulatedGuard {
  private readonly slots = new Map<string, Map<number, Slot>>();
  private readonly counters = new Map<string, { sends: number; endsAtMs: number }>();
  private readonly creditedOn = new Map<string, string>();
  private readonly convertedOn = new Map<string, string>();
  private readonly blockedUntilMs = new Map<string, number>();

  constructor(private readonly limits: Pick<AccountLimits, 'floor' | 'messageCap'>) {}

  /** Sends a code of the session, or returns the rule that refused it. */
  send(session: SimulatedSession, nowMs: number): GuardRule | null {
    const refusal = this.judge(session.phone, nowMs);
    if (refusal === null) this.enter(session, nowMs);
    return refusal;
  }

  /** Approves the session, and counts the approval at once. */
  approve({ phone, sentMs }: SimulatedSession, nowMs: number): void {
    const event = { accountId: ACCOUNT, country: phone.country, block: destinationPrefix(phone.e164) };
    const tally = new ApprovalTally();
    for (const at of sentMs) tally.addSettledSend({ ...event, at: new Date(at) });
    const at = new Date(nowMs);
    if (advance(this.creditedOn, phone.e164, nowMs)) tally.addCredit({ ...event, at });
    if (sentMs.length > 0 && advance(this.convertedOn, phone.e164, nowMs)) tally.addConversion({ ...event, at });
    for (const addition of tally.additions()) this.add(addition);
  }

  /** A phone that approved a session of the account some days ago. */
  remember(phone: Phone, daysAgo: number, nowMs: number): void {
    this.creditedOn.set(phone.e164, dayOf(nowMs - daysAgo * DAY_MS));
  }

  private judge(phone: Phone, nowMs: number): GuardRule | null {
    const keys = keysOf(phone);
    const knownSince = this.creditedOn.get(phone.e164);
    const known = knownSince !== undefined && knownSince >= dayOf(nowMs - KNOWN_DAYS * DAY_MS);
    if (!known && (this.blockedUntilMs.get(keys.block) ?? 0) > nowMs) return 'breaker';
    const traffic = new SendCounters({
      accounts: new Map([[ACCOUNT, { ...this.limits, countries: ['*'], spendCap: null }]]),
      windows: new Map(scopesOf(keys).map((scope) => [windowKey(ACCOUNT, scope), this.sums(scope, nowMs)])),
      phones: new PhoneCounters(new Map(counterKeys(keys).map((key) => [key, this.counter(key, nowMs)])), new Map()),
      spent: new Map(),
      knownPhones: new Set(known ? [keys.phoneKey] : []),
    }).trafficWith(keys);
    const refusal = judgeTraffic(traffic, LIMITS);
    if (refusal?.kind === 'blocked' && refusal.trips) this.blockedUntilMs.set(keys.block, nowMs + HOUR_MS);
    return refusal?.rule ?? null;
  }

  private enter({ phone, sentMs }: SimulatedSession, nowMs: number): void {
    const keys = keysOf(phone);
    sentMs.push(nowMs);
    for (const scope of scopesOf(keys)) this.slot(scope, slotOf(scope, nowMs)).sends += 1;
    for (const key of counterKeys(keys)) {
      const { sends, endsAt } = this.counter(key, nowMs);
      this.counters.set(key, { sends: sends + 1, endsAtMs: endsAt.getTime() });
    }
  }

  private add({ scope, slotMs, settled, approvals }: SlotAddition): void {
    const slot = this.slot(scope, slotMs);
    slot.settled += settled;
    slot.approvals += approvals;
  }

  private slot(scope: string, slotMs: number): Slot {
    const slots = this.slots.get(scope) ?? new Map<number, Slot>();
    this.slots.set(scope, slots);
    const slot = slots.get(slotMs) ?? { sends: 0, settled: 0, approvals: 0 };
    slots.set(slotMs, slot);
    return slot;
  }

  private sums(scope: string, nowMs: number): WindowSums {
    const { sendsFromMs, approvalsFromMs } = windowOf(scope, nowMs);
    const sums = { sends: 0, settled: 0, approvals: 0 };
    const slots = this.slots.get(scope) ?? new Map<number, Slot>();
    for (const [slotMs, slot] of slots) {
      if (slotMs < sendsFromMs) {
        slots.delete(slotMs);
        continue;
      }
      sums.sends += slot.sends;
      sums.settled += slot.settled;
      if (slotMs >= approvalsFromMs) sums.approvals += slot.approvals;
    }
    return sums;
  }

  private counter(key: string, nowMs: number): { readonly sends: number; readonly endsAt: Date } {
    const known = this.counters.get(key);
    if (known !== undefined && known.endsAtMs > nowMs) return { sends: known.sends, endsAt: new Date(known.endsAtMs) };
    return { sends: 0, endsAt: new Date(nowMs + (key.startsWith('hour') ? HOUR_MS : DAY_MS)) };
  }
}

function keysOf({ e164, country }: Phone): SendKeys {
  const phone = { hour: `hour ${e164}`, day: `day ${e164}` };
  const keys = { phone, phoneEverywhere: phone, phoneKey: e164 };
  return { accountId: ACCOUNT, country, block: destinationPrefix(e164), ...keys, price: null };
}

const counterKeys = ({ phone }: SendKeys): readonly string[] => [phone.hour, phone.day];

/** Whether this is the phone's first on its day. */
function advance(days: Map<string, string>, e164: string, nowMs: number): boolean {
  const today = dayOf(nowMs);
  if ((days.get(e164) ?? '') >= today) return false;
  days.set(e164, today);
  return true;
}
