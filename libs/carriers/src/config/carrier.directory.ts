import type { SmppAddress } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import { FIND_SYSTEM, LIST_BINDS, LIST_NUMBERS, LIST_SYSTEMS } from './carrier.sql.js';
import type { Bind, InboundNumber, SmppSystem } from './carrier.js';
import { possibleCountries, receivingCountry, servingNumber } from './number-plan.js';

/** All inbound numbers are one entry: every question about them looks at all of them. */
const ALL = 'all';
/** Destinations whose country one copy of the numbers remembers. */
const MAX_REMEMBERED_DESTINATIONS = 10_000;

/** The numbers as read at one moment, with what has been worked out from them since. */
interface NumberPlan {
  readonly numbers: readonly InboundNumber[];
  readonly countries: Map<string, string | null>;
}

/**
 * Inbound numbers as every request and message needs them: through a copy that is at most 3 s old; systems and binds, which
 * few ask for, as they are now. Rejects with DatabaseUnavailable when rows have to be read and the database is away.
 */
export class CarrierDirectory {
  private readonly plans: RowCache<NumberPlan>;

  constructor(private readonly db: Executor) {
    this.plans = new RowCache({
      load: async () => ({ numbers: await db.query<InboundNumber>(LIST_NUMBERS), countries: new Map() }),
    });
  }

  /**
   * The number that phones of this country send to (see `servingNumber`); null when none serves it, as the database
   * says now: a number that was just made works at once.
   */
  async inboundNumberFor(country: string, brandId: Uuid | null = null): Promise<string | null> {
    const plan = await this.plan();
    const known = servingNumber(plan.numbers, country, brandId);
    if (known !== null) return known;
    const newer = (await this.plans.getNewer(ALL, plan)) ?? plan;
    return servingNumber(newer.numbers, country, brandId);
  }

  /** The country of the number that an SMS was sent to (see `receivingCountry`); null when it is not known. */
  async receivingCountry(destination: SmppAddress): Promise<string | null> {
    const { numbers, countries } = await this.plan();
    const key = `${destination.ton}:${destination.value}`;
    const known = countries.get(key);
    if (known !== undefined) return known;
    const country = receivingCountry(numbers, destination);
    if (countries.size < MAX_REMEMBERED_DESTINATIONS) countries.set(key, country);
    return country;
  }

  /** The countries that an unknown receiving country may be (see `possibleCountries`). */
  async possibleCountries(destination: SmppAddress): Promise<readonly string[]> {
    const { numbers } = await this.plan();
    return possibleCountries(numbers, destination);
  }

  /** A system that connects in, enabled or not, as it is now; null when there is none of that system_id. */
  async system(systemId: string): Promise<SmppSystem | null> {
    return (await this.db.query<SmppSystem>(FIND_SYSTEM, [systemId]))[0] ?? null;
  }

  /** Every system as it is wanted now, disabled ones too; not through a copy. */
  listSystems(db: Executor = this.db): Promise<SmppSystem[]> {
    return db.query<SmppSystem>(LIST_SYSTEMS);
  }

  /** Every bind as it is wanted now, disabled ones too; not through a copy. */
  listBinds(db: Executor = this.db): Promise<Bind[]> {
    return db.query<Bind>(LIST_BINDS);
  }

  private async plan(): Promise<NumberPlan> {
    return (await this.plans.get(ALL)) ?? { numbers: [], countries: new Map() };
  }
}
