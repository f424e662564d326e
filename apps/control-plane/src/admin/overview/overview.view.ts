import { renderUsd } from '@countersign/accounts/prices';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Overview, OverviewCounts, OverviewGrouping } from '../../usage/overview.store.js';
import type { Plain } from '../crud/plain.js';

const COUNT = { type: 'integer', minimum: 0 } as const;
/** Null in groups of codes. */
const OF_SESSIONS = { oneOf: [COUNT, { type: 'null' as const }] };
const TIME = { oneOf: [COUNT, { type: 'null' as const }], example: 8_300 };

class OverviewPeriod {
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-01T00:00:00.000Z' })
  readonly from!: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-12-01T00:00:00.000Z' })
  readonly to!: string;
}

class OverviewFunnel {
  @ApiProperty({ ...OF_SESSIONS, description: 'Sessions created in the period. Null in groups of codes.' })
  readonly created!: number | null;

  @ApiProperty({
    ...OF_SESSIONS,
    description:
      'Of these: the card was delivered or tapped (channel `rcs`), or the session was approved or denied in another way. Null in groups of codes.',
  })
  readonly deliveredOrTapped!: number | null;

  @ApiProperty({ ...COUNT, description: 'Approved. In groups of codes: approved by a code of the group.' })
  readonly approved!: number;

  @ApiProperty({ ...OF_SESSIONS, description: 'Null in groups of codes.' })
  readonly denied!: number | null;

  @ApiProperty({
    ...OF_SESSIONS,
    description: 'Ended without an answer, past `expiresAt` included. Null in groups of codes.',
  })
  readonly expired!: number | null;

  @ApiProperty({ ...OF_SESSIONS, description: 'Null in groups of codes.' })
  readonly cancelled!: number | null;
}

class OverviewTimes {
  @ApiProperty({ ...TIME, description: 'Median in milliseconds, within 9.1 %; null without approvals.' })
  readonly p50!: number | null;

  @ApiProperty({ ...TIME, description: '95th percentile in milliseconds, within 9.1 %; null without approvals.' })
  readonly p95!: number | null;
}

class OverviewFigures {
  @ApiProperty({ type: OverviewFunnel })
  readonly funnel!: Plain<OverviewFunnel>;

  @ApiProperty({
    type: OverviewTimes,
    description: 'From creation to approval. Hours folded by releases before this report have no times.',
  })
  readonly timeToApproveMs!: Plain<OverviewTimes>;

  @ApiProperty({ ...COUNT, description: 'Codes submitted to carriers for these sessions.' })
  readonly codesSent!: number;

  @ApiProperty({
    type: 'string',
    pattern: '^[0-9]+\\.[0-9]{2,6}$',
    example: '12.3456',
    description: 'US dollars: sessions and codes at the prices of their time, as in the usage of accounts.',
  })
  readonly spendUsd!: string;
}

/** A group. Groups by route, and the channel `sms_otp`, are of codes: sessions have no route. */
class OverviewGroup extends OverviewFigures {
  @ApiPropertyOptional({ type: 'string', example: 'US', description: 'ISO 3166-1 alpha-2, `001` for no country.' })
  readonly country?: string;

  @ApiPropertyOptional({
    type: 'string',
    enum: ['rcs', 'sms_fallback', 'sms_otp'],
    description: 'Channel of the sessions; `sms_otp` for their codes.',
  })
  readonly channel?: string;

  @ApiPropertyOptional({ type: 'string', example: 'brd_01KAKF2TQ8Z1N4V6X7Y8Z9ABCD' })
  readonly brandId?: string;

  @ApiPropertyOptional({ type: 'string', example: 'route_01KAKF2TQ8Z1N4V6X7Y8Z9ABCD' })
  readonly routeId?: string;

  @ApiPropertyOptional({ type: 'string', format: 'date', example: '2026-11-21', description: 'UTC.' })
  readonly day?: string;

  @ApiPropertyOptional({ type: 'string', format: 'date-time', example: '2026-11-21T17:00:00.000Z' })
  readonly hour?: string;
}

/** The funnel of all accounts. */
export class OverviewAnswer extends OverviewFigures {
  @ApiProperty({
    type: OverviewPeriod,
    description: 'Whole minutes that contain the window; whole hours where minutes are not kept any more.',
  })
  readonly period!: Plain<OverviewPeriod>;

  @ApiProperty({ type: 'boolean', description: 'Whether the sessions are those of test keys.' })
  readonly test!: boolean;

  @ApiPropertyOptional({
    type: OverviewGroup,
    isArray: true,
    description: 'Only with `groupBy`: at most 1,000 groups, most sessions or codes first; days and hours in order.',
  })
  readonly breakdown?: readonly Plain<OverviewGroup>[];
}

/** Groups that are shown. */
export const MAX_GROUPS = 1_000;

export function overviewAnswer(
  { period, all, groups }: Overview,
  { test, grouping }: { readonly test: boolean; readonly grouping: OverviewGrouping | null },
): Plain<OverviewAnswer> {
  const { fromMs, toMs } = period;
  const answer = {
    period: { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
    test,
    ...figures(all, false),
  };
  if (grouping === null) return answer;
  const shown = groups.slice(0, MAX_GROUPS);
  return {
    ...answer,
    breakdown: shown.map((group) => ({
      ...label(grouping, group.key),
      ...figures(group, grouping === 'route' || group.key === 'sms_otp'),
    })),
  };
}

function label(grouping: OverviewGrouping, key: string): Partial<Plain<OverviewGroup>> {
  if (grouping === 'brand') return { brandId: renderId('brd', key) };
  if (grouping === 'route') return { routeId: renderId('route', key) };
  return { [grouping]: key };
}

function figures(counts: OverviewCounts, ofCodes: boolean): Plain<OverviewFigures> {
  const ofSessions = (count: number): number | null => (ofCodes ? null : count);
  const { created, reached, approved, denied, expired, cancelled, codes, costMicros, p50Ms, p95Ms } = counts;
  return {
    funnel: {
      created: ofSessions(created),
      deliveredOrTapped: ofSessions(reached),
      approved,
      denied: ofSessions(denied),
      expired: ofSessions(expired),
      cancelled: ofSessions(cancelled),
    },
    timeToApproveMs: { p50: p50Ms, p95: p95Ms },
    codesSent: codes,
    spendUsd: renderUsd(usdOf(costMicros)),
  };
}

const usdOf = (micros: bigint): string => `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`;
