import type { SmppAddress } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import { FIND_SYSTEM, LIST_BINDS, LIST_FORMER_NUMBERS, LIST_NUMBERS, LIST_SYSTEMS } from './carrier.sql.js';
import type { Bind } from './bind.entity.js';
import type { InboundNumber } from './inbound-number.entity.js';
import type { SmppSystem } from './smpp-system.entity.js';
import { countriesOfFormer, possibleCountries, receivingCountry, servingNumber } from './number-plan.js';

/** The cache key of all inbound numbers: every query needs all of them. */
const ALL = 'all';
/** Maximum number of destinations whose country is cached per copy of the numbers. */
const MAX_REMEMBERED_DESTINATIONS = 10_000;

/** The numbers as read at one moment, with a cache of results derived from them. */
interface NumberPlan {
  readonly numbers: readonly InboundNumber[];
  /** Long numbers that were ours, in E.164. */
  readonly former: readonly string[];
  readonly countries: Map<string, string | null>;
  /** Null until a message needs them. */
  countriesOfFormer: readonly string[] | null;
}

/**
 * Inbound numbers for requests and messages, through a copy that is at most 3 s old; systems and binds, which are
 * read rarely, directly. Rejects with DatabaseUnavailable when rows have to be read and the database is unavailable.
 */
export class CarrierDirectory {
  private readonly plans: RowCache<NumberPlan>;

  constructor(private readonly db: Executor) {
    this.plans = new RowCache({
      load: async () => {
        const numbers = await db.query<InboundNumber>(LIST_NUMBERS);
        const former = await db.query<{ number: string }>(LIST_FORMER_NUMBERS);
        return planOf(
          numbers,
          former.map(({ number }) => number),
        );
      },
    });
  }

  /**
   * The number to which phones of this country send (see `servingNumber`); null only if the database has none, so a
   * number that was just created works at once.
   */
  async inboundNumberFor(country: string, brandId: Uuid | null = null): Promise<string | null> {
    const plan = await this.plan();
    const known = servingNumber(plan.numbers, country, brandId);
    if (known !== null) return known;
    const newer = (await this.plans.getNewer(ALL, plan)) ?? plan;
    return servingNumber(newer.numbers, country, brandId);
  }

  /** Whether there is any inbound number; one that was just created is found at once. */
  async hasInboundNumber(): Promise<boolean> {
    const plan = await this.plan();
    if (plan.numbers.length > 0) return true;
    return ((await this.plans.getNewer(ALL, plan)) ?? plan).numbers.length > 0;
  }

  /** The country of the number that received an SMS (see `receivingCountry`); null when unknown. */
  async receivingCountry(destination: SmppAddress): Promise<string | null> {
    const { numbers, former, countries } = await this.plan();
    const key = `${destination.ton}:${destination.value}`;
    const known = countries.get(key);
    if (known !== undefined) return known;
    const country = receivingCountry(numbers, destination, former);
    if (countries.size < MAX_REMEMBERED_DESTINATIONS) countries.set(key, country);
    return country;
  }

  /** The possible countries of an unknown receiving country (see `possibleCountries`). */
  async possibleCountries(destination: SmppAddress): Promise<readonly string[]> {
    const plan = await this.plan();
    plan.countriesOfFormer ??= countriesOfFormer(plan.former);
    return possibleCountries(plan.numbers, destination, plan.countriesOfFormer);
  }

  /** The current row of a system that connects in, enabled or not; null for an unknown system_id. */
  async system(systemId: string): Promise<SmppSystem | null> {
    return (await this.db.query<SmppSystem>(FIND_SYSTEM, [systemId]))[0] ?? null;
  }

  /** The current rows of all systems, disabled ones included; not cached. */
  listSystems(db: Executor = this.db): Promise<SmppSystem[]> {
    return db.query<SmppSystem>(LIST_SYSTEMS);
  }

  /** The current rows of all binds, disabled ones included; not cached. */
  listBinds(db: Executor = this.db): Promise<Bind[]> {
    return db.query<Bind>(LIST_BINDS);
  }

  private async plan(): Promise<NumberPlan> {
    return (await this.plans.get(ALL)) ?? planOf([], []);
  }
}

const planOf = (numbers: readonly InboundNumber[], former: readonly string[]): NumberPlan => ({
  numbers,
  former,
  countries: new Map(),
  countriesOfFormer: null,
});
