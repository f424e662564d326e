import type { Uuid } from '@countersign/ids';
import type { Balance, Counted, PhoneTraffic, Traffic } from './guard-rules.js';
import { ACCOUNT_SCOPE, DAY_SCOPE } from './traffic-slots.js';

/** Millionths of a US dollar: money is counted in whole numbers. */
export type Micros = bigint;

/** The send limits of an account. */
export interface AccountLimits {
  /** Countries that it sends codes to; `*` for all. */
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
  /** Of the phone at the account (`phoneKey` of approved-phones.ts), as in `knownPhones`. */
  readonly phoneKey: string;
  /** Null when there is no price. */
  readonly price: Micros | null;
}

export interface PhoneKeys {
  readonly hour: string;
  readonly day: string;
}

/** The state read after the counters were locked, by the keys of sends. */
export interface LedgerPages {
  readonly accounts: ReadonlyMap<Uuid, AccountLimits>;
  /** By `windowKey`; a window without rows may be left out. */
  readonly windows: ReadonlyMap<string, WindowSums>;
  readonly counters: ReadonlyMap<string, Counted>;
  /** Counters of the same phone under other versions of the master key, by the counter key of the current version. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  /** Spent today. */
  readonly spent: ReadonlyMap<Uuid, Micros>;
  readonly knownPhones: ReadonlySet<string>;
}

export const windowKey = (accountId: Uuid, scope: string): string => `${accountId} ${scope}`;

/** The scopes in which a send is counted, always in this order. */
export const scopesOf = ({ country, block }: Pick<SendKeys, 'country' | 'block'>): readonly string[] => [
  ACCOUNT_SCOPE,
  DAY_SCOPE,
  country,
  block,
];

const NOTHING: WindowSums = { sends: 0, settled: 0, approvals: 0 };

/**
 * Recent traffic, for sends that are decided one after the other under the locks: each allowed send is entered, so that
 * the next one is judged with it.
 */
export class SendCounters {
  private readonly entered = new Map<string, number>();
  private readonly paid = new Map<Uuid, Micros>();

  constructor(private readonly pages: LedgerPages) {}

  /** The traffic by which one more send is judged. */
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
      knownPhone: this.pages.knownPhones.has(keys.phoneKey),
      spend: this.spendOf(keys, limits),
      phone: this.phoneWith(keys.phone),
      phoneEverywhere: this.phoneWith(keys.phoneEverywhere),
    };
  }

  enter(keys: SendKeys): void {
    const { accountId, phone, phoneEverywhere, price } = keys;
    const windows = scopesOf(keys).map((scope) => windowKey(accountId, scope));
    for (const key of [...windows, phone.hour, phone.day, phoneEverywhere.hour, phoneEverywhere.day]) {
      this.entered.set(key, (this.entered.get(key) ?? 0) + 1);
    }
    this.paid.set(accountId, (this.paid.get(accountId) ?? 0n) + (price ?? 0n));
  }

  /** Every counter that was read, with what it holds now. */
  counters(): { readonly key: string; readonly sends: number }[] {
    return [...this.pages.counters].map(([key, { sends }]) => ({ key, sends: sends + (this.entered.get(key) ?? 0) }));
  }

  /** The amount that each account paid since the ledger was read. */
  payments(): { readonly accountId: Uuid; readonly micros: Micros }[] {
    return [...this.paid].map(([accountId, micros]) => ({ accountId, micros }));
  }

  private limitsOf(accountId: Uuid): AccountLimits {
    const limits = this.pages.accounts.get(accountId);
    if (limits === undefined) throw new Error('an account was not read');
    return limits;
  }

  private balanceOf(key: string): Balance {
    const { sends, settled, approvals } = this.pages.windows.get(key) ?? NOTHING;
    const more = this.entered.get(key) ?? 0;
    return { sends: sends + more, unconverted: Math.max(0, sends - settled) + more, approvals };
  }

  private phoneWith({ hour, day }: PhoneKeys): PhoneTraffic {
    return { hour: this.countedWith(hour), day: this.countedWith(day) };
  }

  /** With counters under other versions of the master key it is their sum, until the first of their windows ends. */
  private countedWith(key: string): Counted {
    const counted = this.read(key);
    const sends = counted.sends + (this.entered.get(key) ?? 0) + 1;
    const others = (this.pages.others.get(key) ?? [])
      .map((other) => this.read(other))
      .filter((other) => other.sends > 0);
    const endsMs = others.map(({ endsAt }) => endsAt.getTime());
    return {
      sends: others.reduce((sum, other) => sum + other.sends, sends),
      endsAt: new Date(Math.min(counted.endsAt.getTime(), ...endsMs)),
    };
  }

  private read(key: string): Counted {
    const counted = this.pages.counters.get(key);
    if (counted === undefined) throw new Error('a counter was not read');
    return counted;
  }

  /** A cap that is used up, one of nothing too, lets through nothing at all. */
  private spendOf({ accountId, price }: SendKeys, { spendCap }: AccountLimits): Traffic['spend'] {
    if (spendCap === null) return 'within';
    if (price === null) return 'no_price';
    const before = (this.pages.spent.get(accountId) ?? 0n) + (this.paid.get(accountId) ?? 0n);
    return before < spendCap && before + price <= spendCap ? 'within' : 'over';
  }
}
