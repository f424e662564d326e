import type { Uuid } from '@countersign/postgres';
import type { Counted, Traffic } from './guard-rules.js';

export type Conversion = Traffic['prefix'];

/** Millionths of a US dollar: money is counted in whole numbers. */
export type Micros = bigint;

export interface Spend {
  /** What the account may spend on codes in a day; null for no cap. */
  readonly cap: Micros | null;
  /** What it has spent today. */
  readonly spent: Micros;
}

/** Where one send is counted: the keys of its counters, its block of numbers, its account's purse and its price. */
export interface Slots {
  readonly account: string;
  readonly country: string;
  readonly phoneHour: string;
  readonly phoneDay: string;
  readonly prefix: string;
  readonly purse: Uuid;
  readonly price: Micros;
}

/** What was read under the locks of the counters, by those keys. */
export interface LedgerPages {
  readonly counters: ReadonlyMap<string, Counted>;
  /** Counters of the same thing under other versions of the master key, by the key that is counted on with. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  readonly conversions: ReadonlyMap<string, Conversion>;
  readonly spends: ReadonlyMap<Uuid, Spend>;
}

/** An account of nothing, where a row is not there. */
const NO_SPEND: Spend = { cap: null, spent: 0n };

/**
 * What has been sent lately, for some sends that are decided one after the other while nobody else counts: each that goes
 * is entered, so that the next is judged as if the first had long been written.
 */
export class TrafficLedger {
  private readonly entered = new Map<string, number>();
  private readonly paid = new Map<Uuid, Micros>();

  constructor(private readonly pages: LedgerPages) {}

  /** The traffic that one more send would make, itself counted in. */
  trafficWith(slots: Slots): Traffic {
    const conversion = this.pages.conversions.get(slots.prefix);
    if (conversion === undefined) throw new Error('a block of numbers was not read');
    const more = this.entered.get(slots.prefix) ?? 0;
    return {
      account: this.countedWith(slots.account),
      country: this.countedWith(slots.country),
      phoneHour: this.countedWith(slots.phoneHour),
      phoneDay: this.countedWith(slots.phoneDay),
      prefix: { ...conversion, unconverted: conversion.unconverted + more, recent: conversion.recent + more },
      withinSpendCap: this.affords(slots),
    };
  }

  enter({ account, country, phoneHour, phoneDay, prefix, purse, price }: Slots): void {
    for (const key of [account, country, phoneHour, phoneDay, prefix]) {
      this.entered.set(key, (this.entered.get(key) ?? 0) + 1);
    }
    this.paid.set(purse, (this.paid.get(purse) ?? 0n) + price);
  }

  /** Every counter that was read, with what it holds now. */
  counters(): { readonly key: string; readonly sends: number }[] {
    return [...this.pages.counters].map(([key, { sends }]) => ({ key, sends: sends + (this.entered.get(key) ?? 0) }));
  }

  /** What was paid by whom, on top of what was read. */
  payments(): { readonly purse: Uuid; readonly micros: Micros }[] {
    return [...this.paid].map(([purse, micros]) => ({ purse, micros }));
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
  private affords({ purse, price }: Slots): boolean {
    const { cap, spent } = this.pages.spends.get(purse) ?? NO_SPEND;
    const before = spent + (this.paid.get(purse) ?? 0n);
    return cap === null || (before < cap && before + price <= cap);
  }
}
