import { DESTINATION_ACTIONS, type DestinationRule } from '@countersign/carriers/destinations';
import { RESTRICTED_KINDS } from '@countersign/phone';
import { renderId } from '@countersign/ids';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import { maskPrefix, maskText } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable, nullableId } from '../crud/view-fields.js';
import { shortPrefix } from './short-prefix.js';

export const DESTINATION_FIELDS = {
  accountId: nullableId(
    'acct',
    'The account that it concerns; null for all. A rule of an account takes precedence over a common one.',
  ),
  prefix: {
    type: 'string',
    pattern: '^\\+[1-9][0-9]{0,14}$',
    description: 'Numbers that begin with this prefix. The longest prefix decides.',
    example: '+4479',
  },
  action: {
    type: 'string',
    enum: [...DESTINATION_ACTIONS],
    description:
      '`allow` overrides the countries of an account, and the restriction of the listed kinds of numbers; never a cap, the conversion budget or a block of the guard.',
  },
  kinds: {
    type: 'array',
    items: { type: 'string', enum: [...RESTRICTED_KINDS] },
    description:
      'Restricted kinds of numbers that an `allow` rule permits; empty for none, and in a `block`. `non_geographic` is +800, +808, +870, +878, +881, +882, +883, +888 and +979.',
    example: ['toll_free'],
  },
  reason: {
    type: 'string',
    maxLength: 200,
    description: 'A note for later readers.',
    example: 'pumping, ticket 4711',
  },
  until: nullable(
    { format: 'date-time' },
    { description: 'End of the rule; null for none.', example: '2026-02-01T00:00:00.000Z' },
  ),
} as const satisfies Record<string, ApiPropertyOptions>;

export class DestinationAnswer {
  @ApiProperty(idField('dest'))
  readonly id!: string;

  @ApiProperty(DESTINATION_FIELDS.accountId)
  readonly accountId!: string | null;

  @ApiProperty({
    ...DESTINATION_FIELDS.prefix,
    pattern: '^[+*][0-9*]{1,15}$',
    description:
      'Numbers that begin with this prefix. The longest prefix decides. A whole number is masked for roles that may not see people’s data, and the prefix of a block of the guard is shortened to three digits.',
  })
  readonly prefix!: string;

  @ApiProperty(DESTINATION_FIELDS.action)
  readonly action!: string;

  @ApiProperty(DESTINATION_FIELDS.kinds)
  readonly kinds!: readonly string[];

  @ApiProperty(DESTINATION_FIELDS.reason)
  readonly reason!: string;

  @ApiProperty(DESTINATION_FIELDS.until)
  readonly until!: string | null;

  @ApiProperty({
    type: 'string',
    enum: ['admin', 'guard'],
    description: 'The author of the rule: an engineer, or the automatic guard against toll fraud.',
  })
  readonly origin!: string;
}

export class DestinationList extends PageOf(DestinationAnswer) {}

export function destinationView(rule: DestinationRule): Plain<DestinationAnswer> {
  const { id, accountId, prefix, action, kinds, reason, until, origin } = rule;
  return {
    id: renderId('dest', id),
    accountId: accountId === null ? null : renderId('acct', accountId),
    prefix,
    action,
    kinds,
    reason,
    until: until?.toISOString() ?? null,
    origin,
  };
}

/**
 * The rule without people's data: a prefix may be a whole phone number; a guard's prefix lacks only its last four
 * digits.
 */
export function withoutPerson(rule: Plain<DestinationAnswer>): Plain<DestinationAnswer> {
  const { prefix, reason, origin } = rule;
  return { ...rule, prefix: origin === 'guard' ? shortPrefix(prefix) : maskPrefix(prefix), reason: maskText(reason) };
}
