import type { Counted, PhoneTraffic } from './guard-rules.js';

/** The keys of the counters of one phone. */
export interface PhoneKeys {
  readonly hour: string;
  readonly day: string;
}

/** Counters of the sends to phones. Each added send counts for the next one. */
export class PhoneCounters {
  private readonly added = new Map<string, number>();

  constructor(
    private readonly stored: ReadonlyMap<string, Counted>,
    /** Counters of the same phone under other versions of the master key, by the counter key of the current version. */
    private readonly others: ReadonlyMap<string, readonly string[]>,
  ) {}

  add({ hour, day }: PhoneKeys): void {
    for (const key of [hour, day]) this.added.set(key, (this.added.get(key) ?? 0) + 1);
  }

  /** Every counter that was read, with its value including the added sends. */
  all(): { readonly key: string; readonly sends: number }[] {
    return [...this.stored].map(([key, { sends }]) => ({ key, sends: sends + (this.added.get(key) ?? 0) }));
  }

  /** The counters of a phone with one more send. */
  with({ hour, day }: PhoneKeys): PhoneTraffic {
    return { hour: this.countedWith(hour), day: this.countedWith(day) };
  }

  /** The counter plus the send and the counters under other key versions; ends with the first of their windows. */
  private countedWith(key: string): Counted {
    const counted = this.counterOf(key);
    const sends = counted.sends + (this.added.get(key) ?? 0) + 1;
    const others = (this.others.get(key) ?? [])
      .map((other) => this.counterOf(other))
      .filter((other) => other.sends > 0);
    const endsMs = others.map(({ endsAt }) => endsAt.getTime());
    return {
      sends: others.reduce((sum, other) => sum + other.sends, sends),
      endsAt: new Date(Math.min(counted.endsAt.getTime(), ...endsMs)),
    };
  }

  private counterOf(key: string): Counted {
    const counted = this.stored.get(key);
    if (counted === undefined) throw new Error('send counters: the counter was not read');
    return counted;
  }
}
