import type { RefusalTally } from '@countersign/carriers/destinations';
import { renderId } from '@countersign/ids';
import { ApiProperty } from '@nestjs/swagger';
import { GUARD_RULES } from '../../guard/guard-rules.js';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField } from '../crud/view-fields.js';
import { shortPrefix } from './short-prefix.js';

const TIME = { type: 'string', format: 'date-time' } as const;

const RULES = GUARD_RULES.map((rule) => `\`${rule}\``).join(', ');

/** Refusals of the guard; callers see only DESTINATION_BLOCKED or SEND_LIMIT_REACHED. */
export class RefusalAnswer {
  @ApiProperty(idField('refusal'))
  readonly id!: string;

  @ApiProperty(idField('acct'))
  readonly accountId!: string;

  @ApiProperty({ ...TIME, description: 'The start of the hour that it counts.', example: '2026-01-31T12:00:00.000Z' })
  readonly hour!: string;

  @ApiProperty({
    type: 'string',
    description: `The rule that refused: ${RULES}. New ones may be added. The page "Codes by SMS" explains each.`,
    example: 'breaker',
  })
  readonly rule!: string;

  @ApiProperty({
    type: 'string',
    description: 'The numbers without their last four digits; three digits for roles that see masked phones.',
    example: '+1415555',
  })
  readonly prefix!: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'How often.', example: 42 })
  readonly refused!: number;

  @ApiProperty({ ...TIME, example: '2026-01-31T12:34:56.789Z' })
  readonly lastAt!: string;
}

export class RefusalList extends PageOf(RefusalAnswer) {}

export function refusalView(tally: RefusalTally): Plain<RefusalAnswer> {
  const { id, accountId, hour, rule, prefix, refused, lastAt } = tally;
  return {
    id: renderId('refusal', id),
    accountId: renderId('acct', accountId),
    hour: hour.toISOString(),
    rule,
    prefix,
    refused,
    lastAt: lastAt.toISOString(),
  };
}

/** The count without people's data. */
export const withoutBlock = (tally: Plain<RefusalAnswer>): Plain<RefusalAnswer> => ({
  ...tally,
  prefix: shortPrefix(tally.prefix),
});
