import { LIMIT_NAMES, SCOPES, type ApiKey, type KeyLimits } from '@countersign/accounts/accounts';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable } from '../crud/view-fields.js';

export const MAX_LIMIT_PER_MINUTE = 1_000_000;

const LIMIT = { type: 'integer', minimum: 1, maximum: MAX_LIMIT_PER_MINUTE } as const;

export const KEY_FIELDS = {
  kind: { type: 'string', enum: ['live', 'test'], description: 'A test key sends nothing to phones or carriers.' },
  name: { type: 'string', minLength: 1, maxLength: 100, description: 'The place of its use.', example: 'backend' },
  scopes: {
    type: 'array',
    items: { type: 'string', enum: [...SCOPES] },
    minItems: 1,
    description:
      'Its permissions: sessions, codes, usage, realtime, webhook deliveries, and `account` for the account itself, which no key has by default.',
    example: ['verify', 'otp'],
  },
  limits: {
    type: 'object',
    properties: Object.fromEntries(LIMIT_NAMES.map((name) => [name, LIMIT])),
    additionalProperties: false,
    description:
      'Requests a minute, where they differ from the default 600 (default), 300 (create) and 60 (poll, usage).',
    example: { create: 1000 },
  },
} as const satisfies Record<string, ApiPropertyOptions>;

/**
 * The fields `prefix` and `key` of the views of keys.
 *
 * @param kinds of keys, as part of a regular expression
 * @param example one of the kinds
 */
export const keyTextFields = (kinds: string, example: string) =>
  ({
    prefix: {
      type: 'string',
      pattern: `^csk_${kinds}_[0-9A-Za-z]{4}$`,
      description: 'The beginning of the key: enough to recognise it, useless for guessing it.',
      example: `csk_${example}_f3Zk`,
    },
    key: {
      type: 'string',
      pattern: `^csk_${kinds}_[0-9A-Za-z]{38}$`,
      description: 'The key itself. Shown once, when it is created or rotated.',
    },
  }) as const satisfies Record<string, ApiPropertyOptions>;

const TEXT = keyTextFields('(live|test)', 'live');

export class KeyAnswer {
  @ApiProperty(idField('key', { description: 'Stays the same when the key is rotated.' }))
  readonly id!: string;

  @ApiProperty(idField('acct'))
  readonly accountId!: string;

  @ApiProperty(KEY_FIELDS.kind)
  readonly kind!: 'live' | 'test';

  @ApiProperty(KEY_FIELDS.name)
  readonly name!: string;

  @ApiProperty(KEY_FIELDS.scopes)
  readonly scopes!: readonly string[];

  @ApiProperty(KEY_FIELDS.limits)
  readonly limits!: KeyLimits;

  @ApiProperty(TEXT.prefix)
  readonly prefix!: string;

  @ApiProperty(
    nullable(
      { format: 'date-time' },
      { description: 'A few seconds behind; null before its first use.', example: '2026-01-31T12:00:00.000Z' },
    ),
  )
  readonly lastUsedAt!: string | null;

  @ApiProperty(nullable({ format: 'date-time' }, { description: 'Null while it is valid.', example: null }))
  readonly revokedAt!: string | null;

  @ApiPropertyOptional(
    idField('mbr', {
      description:
        'The member of the account who knows its text: made or last rotated by a session of theirs, or with such a key. Absent for other keys.',
    }),
  )
  readonly memberId?: string;

  @ApiPropertyOptional(TEXT.key)
  readonly key?: string;
}

export class KeyList extends PageOf(KeyAnswer) {}

export function keyView(apiKey: ApiKey): Plain<KeyAnswer> {
  const { id, accountId, kind, name, scopes, limits, prefix, lastUsedAt, revokedAt, memberId } = apiKey;
  return {
    id: renderId('key', id),
    accountId: renderId('acct', accountId),
    kind,
    name,
    scopes,
    limits,
    prefix,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    ...(memberId === null ? {} : { memberId: renderId('mbr', memberId) }),
  };
}
