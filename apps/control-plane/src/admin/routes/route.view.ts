import { renderUsd } from '@countersign/accounts/prices';
import type { Route } from '@countersign/carriers/routes';
import type { SubmitOptions } from '@countersign/carriers/submit-options';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import { maskPrefix, maskText } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { ROUTE_SUBMIT_OPTIONS_FIELD, withoutPersonInOptions } from '../crud/submit-options.js';
import { idField, nullable, nullableId, USD_PATTERN } from '../crud/view-fields.js';

export const MAX_PRIORITY = 1_000_000;
export const MAX_WEIGHT = 1_000_000;

export const ROUTE_FIELDS = {
  prefix: {
    type: 'string',
    pattern: '^\\+([1-9][0-9]{0,14})?$',
    description: 'Numbers that begin with this prefix; the plus sign alone for every number.',
    example: '+4479',
  },
  bindId: {
    ...nullableId('bind', 'The bind over which they are sent; null for a route to a system.'),
    example: idField('bind').example,
  },
  smppSystemId: nullableId(
    'sys',
    'Instead of a bind: the system over whose connections they are sent, as deliver_sm over those that it has bound as receiver or transceiver.',
  ),
  priority: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_PRIORITY,
    default: 0,
    description: 'Among routes of one prefix the lowest is tried first.',
  },
  weight: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_WEIGHT,
    default: 1,
    description: 'The share of the codes among routes of one prefix and priority.',
  },
  costUsd: { type: 'string', pattern: USD_PATTERN, description: 'The cost of one message.', example: '0.0079' },
  sourceAddress: nullable(
    {},
    {
      description:
        'The sender of all messages on this route: E.164, a short code of 3 to 8 digits, or up to 11 letters and digits. Null for the sender of the brand.',
      example: 'ACME',
    },
  ),
  enabled: { type: 'boolean', default: true },
} as const satisfies Record<string, ApiPropertyOptions>;

export class RouteAnswer {
  @ApiProperty(idField('route'))
  readonly id!: string;

  @ApiProperty({
    ...ROUTE_FIELDS.prefix,
    pattern: '^(\\+|[+*][0-9*]{1,15})$',
    description:
      'Numbers that begin with this prefix; the plus sign alone for every number. A whole number is masked for roles that may not see people’s data.',
  })
  readonly prefix!: string;

  @ApiProperty(ROUTE_FIELDS.bindId)
  readonly bindId!: string | null;

  @ApiPropertyOptional({
    ...idField('sys'),
    description: 'The system over whose connections they are sent, as deliver_sm. Absent for a route to a bind.',
  })
  readonly smppSystemId?: string;

  @ApiProperty(ROUTE_FIELDS.priority)
  readonly priority!: number;

  @ApiProperty(ROUTE_FIELDS.weight)
  readonly weight!: number;

  @ApiProperty(ROUTE_FIELDS.costUsd)
  readonly costUsd!: string;

  @ApiProperty(ROUTE_FIELDS.sourceAddress)
  readonly sourceAddress!: string | null;

  @ApiProperty(ROUTE_SUBMIT_OPTIONS_FIELD)
  readonly submitOptions!: SubmitOptions;

  @ApiProperty(ROUTE_FIELDS.enabled)
  readonly enabled!: boolean;
}

export class RouteList extends PageOf(RouteAnswer) {}

export function routeView({ id, bindId, systemId, costUsd, ...rest }: Route): Plain<RouteAnswer> {
  const { prefix, priority, weight, sourceAddress, submitOptions, enabled } = rest;
  return {
    id: renderId('route', id),
    prefix,
    bindId: bindId === null ? null : renderId('bind', bindId),
    ...(systemId === null ? {} : { smppSystemId: renderId('sys', systemId) }),
    priority,
    weight,
    costUsd: renderUsd(costUsd),
    sourceAddress,
    submitOptions,
    enabled,
  };
}

/** The route without people's data: its prefix and its sender may be whole phone numbers. */
export const withoutPerson = (route: Plain<RouteAnswer>): Plain<RouteAnswer> => ({
  ...withoutPersonInOptions(route),
  prefix: maskPrefix(route.prefix),
  sourceAddress: route.sourceAddress === null ? null : maskText(route.sourceAddress),
});
