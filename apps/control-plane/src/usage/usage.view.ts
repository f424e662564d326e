import { renderUsd } from '@countersign/accounts/prices';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Span } from './usage-window.js';
import type { Grouping, UsageCount, UsageCounts } from './usage.store.js';

class UsagePeriod {
  @ApiProperty({ format: 'date-time', example: '2026-11-01T00:00:00.000Z' })
  from!: string;

  @ApiProperty({ format: 'date-time', example: '2026-12-01T00:00:00.000Z', description: 'Not part of the period.' })
  to!: string;
}

class VerificationCounts {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'All sessions, including pending and cancelled ones.' })
  total!: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  approved!: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  expired!: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  denied!: number;
}

class ChannelCounts {
  @ApiProperty({ type: 'integer', minimum: 0 })
  rcs!: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  sms_fallback!: number;
}

class UsageFigures {
  @ApiProperty({ type: VerificationCounts })
  verifications!: VerificationCounts;

  @ApiProperty({ type: ChannelCounts })
  channels!: ChannelCounts;

  @ApiProperty({
    pattern: '^[0-9]+\\.[0-9]{2,6}$',
    example: '12.3456',
    description:
      'Exact, in US dollars: sessions at the price of their channel, and submitted codes, each at the price of its time. Sessions and codes of test keys cost nothing.',
  })
  estimatedCostUsd!: string;
}

/** One entry of a breakdown. It has `day`, `country` or `brandId`, by the requested grouping. */
class UsageGroup extends UsageFigures {
  @ApiPropertyOptional({ format: 'date', example: '2026-11-21', description: 'UTC. With `groupBy=day`.' })
  day?: string;

  @ApiPropertyOptional({
    example: 'US',
    description: 'ISO 3166-1 alpha-2, `001` for numbers of no country. With `groupBy=country`.',
  })
  country?: string;

  @ApiPropertyOptional({ example: 'brd_01KAKF2TQ8Z1N4V6X7Y8Z9ABCD', description: 'With `groupBy=brand`.' })
  brandId?: string;
}

/** The usage report (specification 2.2). */
export class UsageAnswer extends UsageFigures {
  @ApiProperty({
    type: UsagePeriod,
    description: 'The window, to the millisecond. Edges that are older than retention are extended to the full hour.',
  })
  period!: UsagePeriod;

  @ApiPropertyOptional({
    type: [UsageGroup],
    description: 'Only with `groupBy`. Groups without sessions are left out.',
  })
  breakdown?: UsageGroup[];
}

/** The plain object type of a class of the API description. */
type Plain<T> = T extends object ? { [Field in keyof T]: Plain<T[Field]> } : T;

export type UsageReport = Plain<UsageAnswer>;
type Figures = Plain<UsageFigures>;
type Label = Pick<UsageGroup, 'day' | 'country' | 'brandId'>;

export function usageAnswer(period: Span, { all, groups }: UsageCount, grouping: Grouping | null): UsageReport {
  const { fromMs, toMs } = period;
  const report = {
    period: { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
    ...figures(all),
  };
  if (grouping === null) return report;
  return { ...report, breakdown: groups.map((group) => ({ ...label(grouping, group.key), ...figures(group) })) };
}

function label(grouping: Grouping, key: string): Label {
  return grouping === 'brand' ? { brandId: renderId('brd', key) } : { [grouping]: key };
}

function figures({ total, approved, expired, denied, rcs, smsFallback, costUsd }: UsageCounts): Figures {
  return {
    verifications: { total, approved, expired, denied },
    channels: { rcs, sms_fallback: smsFallback },
    estimatedCostUsd: renderUsd(costUsd),
  };
}
