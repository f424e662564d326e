import type { SubmitOptions } from '@countersign/carriers/submit-options';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { Plain } from '../crud/plain.js';
import { idField, nullable, nullableId, USD_PATTERN } from '../crud/view-fields.js';
import { DestinationAnswer } from '../destinations/destination.view.js';
import { ROUTE_FIELDS } from '../routes/route.view.js';
import { ROUTE_SUBMIT_OPTIONS_FIELD } from '../crud/submit-options.js';
import { GUARD_RULES } from '../../guard/guard-rules.js';

export const DECISIONS = ['send', 'wait', 'refused', 'no_route'] as const;
export const VERDICTS = ['chosen', 'next', 'skipped'] as const;
export const LINK_STATES = ['bound', 'full', 'unbound', 'disabled'] as const;

const nullableEnum = (values: readonly string[], description: string): ApiPropertyOptions => ({
  oneOf: [{ type: 'string', enum: [...values] }, { type: 'null' }],
  description,
  example: null,
});

/** The answer that the guard would give. Nothing is counted. */
export class GuardState {
  @ApiProperty(
    nullableId('acct', 'The account whose limits were judged; null without a brand: then only rules for all.'),
  )
  readonly accountId!: string | null;

  @ApiProperty(nullableEnum(GUARD_RULES, 'The rule that refuses a code now; null if one may be sent.'))
  readonly refusedBy!: string | null;

  @ApiProperty(
    nullable(
      { format: 'date-time' },
      { description: 'End of a cap of the phone; null for other rules.', example: null },
    ),
  )
  readonly until!: string | null;

  @ApiProperty({ type: DestinationAnswer, isArray: true, description: 'The destination rules that match the number.' })
  readonly rules!: readonly Plain<DestinationAnswer>[];
}

/** A route whose prefix the number has. */
export class RouteCandidate {
  @ApiProperty(idField('route'))
  readonly routeId!: string;

  @ApiProperty(ROUTE_FIELDS.prefix)
  readonly prefix!: string;

  @ApiProperty(ROUTE_FIELDS.priority)
  readonly priority!: number;

  @ApiProperty(ROUTE_FIELDS.weight)
  readonly weight!: number;

  @ApiProperty({
    type: 'string',
    pattern: '^(bind|sys)_',
    description: 'Its bind or system.',
    example: idField('bind').example,
  })
  readonly linkId!: string;

  @ApiProperty({ type: 'string', description: 'Name of the bind, or `systemId` of the system.', example: 'north' })
  readonly linkName!: string;

  @ApiProperty({ type: 'string', example: 'north' })
  readonly carrier!: string;

  @ApiProperty({
    type: 'string',
    enum: [...LINK_STATES],
    description:
      '`bound`: a connection can send. `full`: all windows are used. `unbound`: no connection is bound, or the system has none that receives.',
  })
  readonly linkState!: (typeof LINK_STATES)[number];

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Connections that can send.', example: 1 })
  readonly connectionsBound!: number;

  @ApiProperty({
    type: 'string',
    enum: [...VERDICTS],
    description: '`chosen`; `next`: used when those before it fail; `skipped`, with the reason.',
  })
  readonly verdict!: (typeof VERDICTS)[number];

  @ApiProperty(nullable({}, { description: 'Why it is skipped; null otherwise.', example: null }))
  readonly reason!: string | null;
}

/** How a code would be sent now. */
export class ChosenRoute {
  @ApiProperty(idField('route'))
  readonly routeId!: string;

  @ApiProperty({ type: 'string', pattern: '^(bind|sys)_', example: idField('bind').example })
  readonly linkId!: string;

  @ApiProperty(
    nullable(
      {},
      { description: 'The sender that the phone shows; null if a brand would decide it.', example: '+14155550199' },
    ),
  )
  readonly sourceAddress!: string | null;

  @ApiProperty({
    ...ROUTE_SUBMIT_OPTIONS_FIELD,
    description: 'Those of the bind or system, with each key of the route in its place.',
  })
  readonly submitOptions!: SubmitOptions;

  @ApiProperty({ ...ROUTE_FIELDS.costUsd, description: 'Our cost of one message, from the route.' })
  readonly costUsd!: string;

  @ApiProperty(
    nullable(
      { pattern: USD_PATTERN },
      { description: 'Price of one code to the country (`sms_otp`); null if none is set.', example: '0.0079' },
    ),
  )
  readonly priceUsd!: string | null;
}

/** Which way a code would go now, and why. */
export class RouteResolution {
  @ApiProperty({
    type: 'string',
    enum: [...DECISIONS],
    description:
      '`send`; `wait`: queued until a bind has capacity, or the queue is resumed; `refused` by the guard (403 or 429 on `send-sms`); `no_route` (503).',
    example: 'send',
  })
  readonly decision!: (typeof DECISIONS)[number];

  @ApiProperty({ type: 'string', description: 'The same in a sentence.', example: 'A code goes over north 1.' })
  readonly reason!: string;

  @ApiProperty({
    type: 'string',
    description: 'Country of the phone; `001` for a number of no country.',
    example: 'US',
  })
  readonly country!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether an engineer has paused the queue of codes.' })
  readonly queuePaused!: boolean;

  @ApiProperty({ type: GuardState })
  readonly guard!: Plain<GuardState>;

  @ApiProperty({
    type: RouteCandidate,
    isArray: true,
    maxItems: 100,
    description:
      'In the order in which they are tried: longest prefix, priority, then by weight. Among routes of one prefix and priority each code draws its own order; here the heaviest is first.',
  })
  readonly candidates!: readonly Plain<RouteCandidate>[];

  @ApiProperty({ oneOf: [{ $ref: '#/components/schemas/ChosenRoute' }, { type: 'null' }] })
  readonly chosen!: Plain<ChosenRoute> | null;
}
