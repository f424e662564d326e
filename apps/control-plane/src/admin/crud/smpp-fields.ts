import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { isLine, isText, isWholeNumber } from './fields.js';

/*
 * What binds and systems have in common. Texts go into octet strings of ASCII with a bound of their own (SMPP 3.4, 5.2):
 * who says more would be cut off by some peers and refused by others.
 */

export const MAX_CARRIER_CHARACTERS = 100;
const MAX_STATUS = 0x7fff_ffff;

const PRINTABLE = '^[\\x20-\\x7e]';
/** ASCII, of so many characters. */
export const asciiPattern = (low: number, high: number): string => `${PRINTABLE}{${low},${high}}$`;

export const isAscii = (low: number, high: number): ((value: unknown) => boolean) =>
  isText(new RegExp(asciiPattern(low, high)));

export const isSystemId = isAscii(1, 15);
export const isPassword = isAscii(1, 8);
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
    description: '1 to 8 characters of ASCII. It is set and never shown.',
    example: 'secret08',
  },
  carrier: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_CARRIER_CHARACTERS,
    description: 'Whose it is: parts of one long message may come over any link of one carrier.',
    example: 'north',
  },
  trustedForMo: {
    type: 'boolean',
    default: false,
    description: 'Whether an SMS that comes by it may approve a session. Changed by the role `owner` alone.',
  },
  status: { type: 'integer', minimum: 1, maximum: MAX_STATUS } satisfies ApiPropertyOptions,
} as const;

export const RATE_FIELD = { type: 'number', minimum: 0 } as const satisfies ApiPropertyOptions;

/** What a gateway last saw of a connection, in words that both roles have. */
export class ConnectionNumbers {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Requests of ours that are unanswered.', example: 2 })
  readonly windowUsed!: number;

  @ApiProperty({
    ...RATE_FIELD,
    description: 'Messages a second towards the carrier, or from the system: seen in 10 s.',
  })
  readonly submitPerSecond!: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Answers "throttled" or "queue full" since it was bound.' })
  readonly throttled!: number;

  @ApiProperty({
    oneOf: [{ type: 'number', minimum: 0 }, { type: 'null' }],
    description: 'How long the last answered enquire_link took; null before one.',
    example: 12,
  })
  readonly enquireLinkMs!: number | null;

  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'null' }],
    description: 'What last went wrong.',
    example: null,
  })
  readonly lastError!: string | null;
}
