import { renderId, type Uuid } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { Metrics, type Reading } from '@countersign/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { OverviewStore, type Overview } from './overview.store.js';
import { HOUR_MS, MINUTE_MS, type Span } from './usage-window.js';

const DIMENSIONS = ['country', 'channel', 'brand', 'route'] as const;
type Dimension = (typeof DIMENSIONS)[number];

/** Values of a dimension that get a label: those with most sessions, or codes. */
export const MAX_VALUES = 20;
/** The sessions of an hour that ended this long ago: by then no session of it is pending. */
const WINDOW_ENDED_MS = 5 * MINUTE_MS;
/** Scrapes within this time read the overview once. */
const REFRESH_MS = 60_000;

type Label = 'dimension' | 'value';
type TimeLabel = Label | 'quantile';
type Group = Overview['groups'][number] & { readonly dimension: Dimension; readonly value: string };

/** The slugs of brands, which are fewer and easier to read than their ids. $1 ids. */
const SLUGS = `SELECT id, slug FROM brands WHERE id = ANY ($1::uuid[])`;

/**
 * Gauges of conversion and time to approve by country, channel, brand (its slug) and route (its id), of live sessions of an hour. At
 * most 20 values of each dimension have a label, so that callers cannot make labels without bound.
 */
@Injectable()
export class FunnelGauges {
  #readAtMs = -Infinity;
  #groups: Promise<readonly Group[]> = Promise.resolve([]);

  constructor(
    @Inject(Metrics) metrics: Pick<Metrics, 'gauge'>,
    @Inject(Database) private readonly database: Executor,
    private readonly overview: OverviewStore,
  ) {
    metrics.gauge<Label>({
      name: 'conversion_ratio',
      help: 'Approved part of the live sessions of an hour, 5 minutes after it; of codes by route and channel sms_otp. The 20 largest values of each dimension.',
      labels: ['dimension', 'value'],
      readAll: () => this.#read((group) => [[{}, group.approved / startedOf(group)]]),
    });
    metrics.gauge<Label>({
      name: 'conversion_sessions',
      help: 'Live sessions of that hour, or codes: what countersign_conversion_ratio is a part of.',
      labels: ['dimension', 'value'],
      readAll: () => this.#read((group) => [[{}, startedOf(group)]]),
    });
    metrics.gauge<TimeLabel>({
      name: 'time_to_approve_seconds',
      help: 'Quantiles of the time from creation to approval in that hour, within 9.1 %.',
      labels: ['dimension', 'value', 'quantile'],
      readAll: () =>
        this.#read(({ p50Ms, p95Ms }) => [
          ...(p50Ms === null ? [] : [[{ quantile: '0.5' }, p50Ms / 1_000] as const]),
          ...(p95Ms === null ? [] : [[{ quantile: '0.95' }, p95Ms / 1_000] as const]),
        ]),
    });
  }

  async #read<More extends string = never>(
    valuesOf: (group: Group) => readonly (readonly [Readonly<Record<More, string>>, number])[],
  ): Promise<Reading<Label | More>[]> {
    if (performance.now() - this.#readAtMs >= REFRESH_MS) {
      this.#readAtMs = performance.now();
      this.#groups = this.#largest();
    }
    const groups = await this.#groups;
    return groups.flatMap((group) =>
      valuesOf(group).map(([more, value]) => ({
        labels: { dimension: group.dimension, value: group.value, ...more },
        value,
      })),
    );
  }

  async #largest(): Promise<readonly Group[]> {
    const read = await this.overview.inSnapshot(async (snapshot, clock) => {
      const toMs = clock.nowMs - WINDOW_ENDED_MS;
      const window: Span = { fromMs: toMs - HOUR_MS, toMs };
      const groups: Group[] = [];
      for (const dimension of DIMENSIONS) {
        const found = await this.overview.read(snapshot, clock, { window, test: false, grouping: dimension });
        groups.push(...found.groups.slice(0, MAX_VALUES).map((group) => ({ ...group, dimension, value: group.key })));
      }
      return groups;
    });
    const slugs = await this.#slugsOf(read.filter(({ dimension }) => dimension === 'brand').map(({ key }) => key));
    return read.map((group) => ({ ...group, value: valueOf(group, slugs) }));
  }

  async #slugsOf(ids: readonly Uuid[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<{ id: Uuid; slug: string }>(SLUGS, [ids]);
    return new Map(rows.map(({ id, slug }) => [id, slug]));
  }
}

const startedOf = ({ created, codes, dimension, key }: Group): number =>
  dimension === 'route' || key === 'sms_otp' ? codes : created;

function valueOf({ dimension, key }: Group, slugs: ReadonlyMap<string, string>): string {
  if (dimension === 'route') return renderId('route', key);
  return dimension === 'brand' ? (slugs.get(key) ?? renderId('brd', key)) : key;
}
