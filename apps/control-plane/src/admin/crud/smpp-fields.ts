import {
  isCommonPassword,
  MAX_PASSWORD_CHARACTERS,
  MIN_CHOSEN_PASSWORD_CHARACTERS,
} from '@countersign/carriers/credentials';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { isLine, isText, isWholeNumber } from './fields.js';

/*
 * Fields that binds and systems share. Texts become ASCII octet strings with a length limit each (SMPP 3.4, 5.2): peers
 * truncate or refuse longer ones.
 */

export const MAX_CARRIER_CHARACTERS = 100;
const MAX_STATUS = 0x7fff_ffff;

const PRINTABLE = '^[\\x20-\\x7e]';
/** ASCII of `low` to `high` characters. */
export const asciiPattern = (low: number, high: number): string => `${PRINTABLE}{${low},${high}}$`;

export const isAscii = (low: number, high: number): ((value: unknown) => boolean) =>
  isText(new RegExp(asciiPattern(low, high)));

export const isSystemId = isAscii(1, 15);
export const isPassword = isAscii(1, 8);
const isChosenPassword = isAscii(MIN_CHOSEN_PASSWORD_CHARACTERS, MAX_PASSWORD_CHARACTERS);
/** Whether an engineer may choose it as a password that peers prove themselves with. */
export const isUncommonPassword = (value: unknown): boolean =>
  typeof value === 'string' && isChosenPassword(value) && !isCommonPassword(value);
export const isCarrier = isLine(MAX_CARRIER_CHARACTERS);
/** A command status that is not "OK". */
export const isErrorStatus = isWholeNumber(1, MAX_STATUS);

export const SMPP_FIELDS = {
  systemId: {
    type: 'string',
    pattern: asciiPattern(1, 15),
    description: 'The system_id of the bind: 1 to 15 characters of ASCII.',
    example: 'acme',
  },
  password: {
    type: 'string',
    pattern: asciiPattern(1, 8),
    writeOnly: true,
    description: '1 to 8 ASCII characters. Write-only.',
    example: 'secret08',
  },
  carrier: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_CARRIER_CHARACTERS,
    description: 'The carrier: parts of a long message may arrive over any link of one carrier.',
    example: 'north',
  },
  trustedForMo: {
    type: 'boolean',
    default: false,
    description: 'Whether an SMS received over it may approve a session. Only the role `owner` may change this.',
  },
  status: { type: 'integer', minimum: 1, maximum: MAX_STATUS } satisfies ApiPropertyOptions,
} as const;

export const RATE_FIELD = { type: 'number', minimum: 0 } as const satisfies ApiPropertyOptions;

/** The last reported state of a connection, in fields that binds and systems share. */
export class ConnectionNumbers {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Unanswered requests sent by this service.', example: 2 })
  readonly windowUsed!: number;

  @ApiProperty({
    ...RATE_FIELD,
    description:
      'Messages a second to the carrier, or from the system, over the last 10 s: as `measuredSubmitPerSecond`.',
  })
  readonly submitPerSecond!: number;

  @ApiProperty({
    ...RATE_FIELD,
    description:
      'Messages a second to the carrier, or from the system, measured over the last 10 s. The allowed rate is `submitPerSecond` of the bind or system.',
  })
  readonly measuredSubmitPerSecond!: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Responses "throttled" or "queue full" since the bind.' })
  readonly throttled!: number;

  @ApiProperty({
    oneOf: [{ type: 'number', minimum: 0 }, { type: 'null' }],
    description: 'Latency of the last answered enquire_link; null before the first.',
    example: 12,
  })
  readonly enquireLinkMs!: number | null;

  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'null' }],
    description: 'The last error; null once the connection is bound again.',
    example: null,
  })
  readonly lastError!: string | null;

  @ApiProperty({
    oneOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
    description: 'When `lastError` occurred, at most 5 s late; null with a gateway of an earlier release.',
    example: null,
  })
  readonly lastErrorAt!: string | null;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Codes that got no response in time since the bind: the peer may or may not have accepted them.',
  })
  readonly unanswered!: number;
}
