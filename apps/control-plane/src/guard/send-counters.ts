import type { Uuid } from '@countersign/ids';
import type { Balance, Traffic } from './guard-rules.js';
import type { PhoneCounters, PhoneKeys } from './phone-counters.js';
import { ACCOUNT_SCOPE, DAY_SCOPE } from './traffic-slots.js';

/** Millionths of a US dollar, as an integer. */
export type Micros = bigint;

/** The send limits of an account. */
export interface AccountLimits {
  /** Countries that the account sends codes to; `*` for all. */
  readonly countries: readonly string[];
  /** `otpUnconvertedFloor`. */
  readonly floor: number;
  /** `otpDailyMessageCap`. */
  readonly messageCap: number;
  /** `otpDailySpendCapUsd`; null for no cap. */
  readonly spendCap: Micros | null;
}

/** Sums over the window of a scope, as they are stored. */
export interface WindowSums {
  readonly sends: number;
  /** Sends whose sessions are approved. */
  readonly settled: number;
  readonly approvals: number;
}

/** The keys under which one send is counted, and its price. */
export interface SendKeys {
  readonly accountId: Uuid;
  /** The scopes of windows: all, the day, the country, the block of numbers. */
  readonly country: string;
  readonly block: string;
  /** Keys of counters. */
  readonly phone: PhoneKeys;
  readonly phoneEverywhere: PhoneKeys;
  /** Key of the phone at the account (`phoneKey` of approved-phones.ts), as in `knownPhones`. */
  readonly phoneKey: string;
  /** Null when there is no price. */
  readonly price: Micros | null;
}

/** The stored state, read after the counters were locked. */
export interface CounterState {
  readonly accounts: ReadonlyMap<Uuid, AccountLimits>;
  /** By `windowKey`; a window without rows may be left out. */
  readonly windows: ReadonlyMap<string, WindowSums>;
  readonly phones: PhoneCounters;
  /** Spending of accounts today (UTC). */
  readonly spent: ReadonlyMap<Uuid, Micros>;
  readonly knownPhones: ReadonlySet<string>;
}

export const windowKey = (accountId: Uuid, scope: string): string => `${accountId} ${scope}`;

/** The scopes that count a send, always in this order. */
export const scopesOf = ({ country, block }: Pick<SendKeys, 'country' | 'block'>): readonly string[] => [
  ACCOUNT_SCOPE,
  DAY_SCOPE,
  country,
  block,
];

const NO_TRAFFIC: WindowSums = { sends: 0, settled: 0, approvals: 0 };

/**
 * Recent traffic, for sends that are decided one after the other under the locks. Each allowed send is added, so that the
 * decision about the next send includes it.
 */
export class SendCounters {
  private readonly added = new Map<string, number>();
  private readonly paid = new Map<Uuid, Micros>();

  constructor(private readonly state: CounterState) {}

  /** The traffic that decides about one more send. */
  trafficWith(keys: SendKeys): Traffic {
    const { accountId } = keys;
    const limits = this.limitsOf(accountId);
    const balance = (scope: string): Balance => this.balanceOf(windowKey(accountId, scope));
    return {
      account: balance(ACCOUNT_SCOPE),
      country: balance(keys.country),
      block: balance(keys.block),
      day: balance(DAY_SCOPE),
      floor: limits.floor,
      messageCap: limits.messageCap,
      knownPhone: this.state.knownPhones.has(keys.phoneKey),
      spend: this.spendOf(keys, limits),
      phone: this.state.phones.with(keys.phone),
      phoneEverywhere: this.state.phones.with(keys.phoneEverywhere),
    };
  }

  addSend(keys: SendKeys): void {
    const { accountId, phone, phoneEverywhere, price } = keys;
    for (const scope of scopesOf(keys)) {
      const key = windowKey(accountId, scope);
      this.added.set(key, (this.added.get(key) ?? 0) + 1);
    }
    for (const counted of [phone, phoneEverywhere]) this.state.phones.add(counted);
    this.paid.set(accountId, (this.paid.get(accountId) ?? 0n) + (price ?? 0n));
  }

  /** Every counter of a phone that was read, with its value including the added sends. */
  counters(): ReturnType<PhoneCounters['all']> {
    return this.state.phones.all();
  }

  /** The amount that the added sends cost each account. */
  payments(): { readonly accountId: Uuid; readonly micros: Micros }[] {
    return [...this.paid].map(([accountId, micros]) => ({ accountId, micros }));
  }

  private limitsOf(accountId: Uuid): AccountLimits {
    const limits = this.state.accounts.get(accountId);
    if (limits === undefined) throw new Error('send counters: the account was not read');
    return limits;
  }

  private balanceOf(key: string): Balance {
    const { sends, settled, approvals } = this.state.windows.get(key) ?? NO_TRAFFIC;
    const more = this.added.get(key) ?? 0;
    return { sends: sends + more, unconverted: Math.max(0, sends - settled) + more, approvals };
  }

  /** A used-up cap, including a cap of 0, allows no send, not even one with a price of 0. */
  private spendOf({ accountId, price }: SendKeys, { spendCap }: AccountLimits): Traffic['spend'] {
    if (spendCap === null) return 'within';
    if (price === null) return 'no_price';
    const before = (this.state.spent.get(accountId) ?? 0n) + (this.paid.get(accountId) ?? 0n);
    return before < spendCap && before + price <= spendCap ? 'within' : 'over';
  }
}
