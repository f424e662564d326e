import { SESSION_STATUSES, type Channel, type SessionStatus } from '@countersign/session/rules';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/*
 * The API description of answers about sessions. The answers themselves are JSON text of the
 * SessionRenderer: these classes are never instantiated. The contract tests compare every answer with them.
 */

const NULL = { type: 'null' } as const;
const ENTROPY = {
  pattern: '^[0-9a-f]{64}$',
  description:
    'HMAC-SHA256 of phone, account and brand (specification 2.1): always the same for the same three. Test sessions have another value than live ones.',
  example: '3f1c9ab2'.repeat(8),
} as const;
const PHONE = { pattern: '^\\+[1-9][0-9]{1,14}$', description: 'E.164.', example: '+14155552671' } as const;
const TEST_MARK = {
  type: 'boolean',
  enum: [true],
  description: 'Present only on sessions of test keys. Nobody was verified: never sign a user in with such a session.',
} as const;
const SESSION_ID = {
  pattern: '^sess_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
  description: 'Ids sort by creation time.',
  example: 'sess_01HF7YAT000000000000000001',
} as const;

/** A Session (specification 2.1) without `authEntropy`, as in listings. */
export class ListedSession {
  @ApiProperty(SESSION_ID)
  id!: string;

  @ApiProperty({
    enum: SESSION_STATUSES,
    description: 'A pending session past `expiresAt` is shown as `expired`.',
    example: 'approved',
  })
  status!: SessionStatus;

  @ApiProperty({
    enum: ['rcs', 'sms_fallback'],
    description:
      'The delivery path: `rcs` if a card has reached the phone. It never changes after the answer of create; a card that arrives late can still approve or deny.',
    example: 'sms_fallback',
  })
  channel!: Channel;

  @ApiProperty({
    oneOf: [{ type: 'string', pattern: '^sms:(\\+[0-9]{7,15}|[0-9]{3,8})\\?body=' }, NULL],
    description: 'The link that opens the phone’s compose sheet with the token in it; null when `channel` is `rcs`.',
    example: 'sms:+14155550199?body=AUTH-ACME-7Q2M9XK4T1V8C3ZB%0ASend%20this%20message%20to%20sign%20in%20to%20Acme.',
  })
  fallbackUri!: string | null;

  @ApiProperty({
    pattern: '^[+*][0-9*]{1,15}$',
    description: 'E.164. For viewers of an account, over the console, middle digits are asterisks.',
    example: '+14155552671',
  })
  phone!: string;

  @ApiProperty({ pattern: '^acct_[0-7][0-9A-HJKMNP-TV-Z]{25}$', example: 'acct_01HF7YAT000000000000000002' })
  accountId!: string;

  @ApiProperty({ pattern: '^brd_[0-7][0-9A-HJKMNP-TV-Z]{25}$', example: 'brd_01HF7YAT000000000000000003' })
  brandId!: string;

  @ApiProperty({
    pattern: '^[A-Z0-9]{2,12}$',
    description: 'The brand’s part of the token `AUTH-<SLUG>-<token>`.',
    example: 'ACME',
  })
  brandSlug!: string;

  @ApiProperty({
    pattern: '^[0-9A-Fa-f]{64}$',
    description: 'SHA-256 of the browser’s secret, as sent in the create. Compare it before you trust an approval.',
    example: 'ab'.repeat(32),
  })
  clientChallenge!: string;

  @ApiProperty({
    oneOf: [{ type: 'integer', minimum: 0 }, NULL],
    description: 'Milliseconds from creation to approval; null until approved.',
    example: 4314,
  })
  latencyMs!: number | null;

  @ApiProperty({
    oneOf: [{ type: 'string', format: 'date-time' }, NULL],
    description: 'Null until approved.',
    example: '2023-11-14T22:13:24.321Z',
  })
  approvedAt!: string | null;

  @ApiProperty({
    format: 'date-time',
    description: 'The first moment at which the token is no longer valid.',
    example: '2023-11-14T22:14:50.007Z',
  })
  expiresAt!: string;

  @ApiProperty({ format: 'date-time', example: '2023-11-14T22:13:20.007Z' })
  createdAt!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 512 },
    maxProperties: 16,
    description: 'As sent in the create, with the order of its keys.',
    example: { orderId: '7' },
  })
  metadata!: Readonly<Record<string, string>>;

  @ApiPropertyOptional(TEST_MARK)
  test?: true;
}

/** The Session (specification 2.1) in answers of create and GET, and in webhooks. */
export class SessionAnswer extends ListedSession {
  @ApiProperty(PHONE)
  override phone!: string;

  @ApiPropertyOptional({ ...ENTROPY, description: `Only when approved. ${ENTROPY.description}` })
  authEntropy?: string;
}

/** The Session in the answer of create. */
export class CreatedSession extends SessionAnswer {
  @ApiPropertyOptional({
    pattern: '^[1-9][0-9]$',
    description:
      'Two digits to show to the user, who taps the same number on the card. Present only if the brand has number matching and a card may arrive. No later answer repeats it.',
    example: '42',
  })
  matchCode?: string;
}

/** Example for the API description: the answer of create. */
export const PENDING_SESSION = {
  id: SESSION_ID.example,
  status: 'pending',
  channel: 'sms_fallback',
  fallbackUri: 'sms:+14155550199?body=AUTH-ACME-7Q2M9XK4T1V8C3ZB%0ASend%20this%20message%20to%20sign%20in%20to%20Acme.',
  phone: PHONE.example,
  accountId: 'acct_01HF7YAT000000000000000002',
  brandId: 'brd_01HF7YAT000000000000000003',
  brandSlug: 'ACME',
  clientChallenge: 'ab'.repeat(32),
  latencyMs: null,
  approvedAt: null,
  expiresAt: '2023-11-14T22:14:50.007Z',
  createdAt: '2023-11-14T22:13:20.007Z',
  metadata: { orderId: '7' },
} as const;

/** Example for the API description: the same session after its approval. */
export const APPROVED_SESSION = {
  ...PENDING_SESSION,
  status: 'approved',
  latencyMs: 4314,
  approvedAt: '2023-11-14T22:13:24.321Z',
  authEntropy: ENTROPY.example,
} as const;

/** One page of sessions, newest first. */
export class SessionListAnswer {
  @ApiProperty({ type: [ListedSession] })
  data!: ListedSession[];

  @ApiProperty({
    description:
      'Whether older sessions may follow: send the last id of this page, or `nextStartingAfter` if it is present, as `startingAfter` to get them.',
  })
  hasMore!: boolean;

  @ApiPropertyOptional({
    ...SESSION_ID,
    description:
      'Present if the page ended before it was full, even without a session: very many sessions were read of which few match. The next page begins here. Not the id of a session.',
  })
  nextStartingAfter?: string;
}

/** The answer to an accepted code (specification 4.4). */
export class CheckAnswer {
  @ApiProperty(SESSION_ID)
  id!: string;

  @ApiProperty({ enum: ['approved'] })
  status!: 'approved';

  @ApiProperty(PHONE)
  phone!: string;

  @ApiProperty(ENTROPY)
  authEntropy!: string;

  @ApiProperty({ ...ENTROPY, description: 'The same value as `authEntropy`.' })
  e2eeKeyShare!: string;

  @ApiPropertyOptional(TEST_MARK)
  test?: true;
}

/** The answer to a queued code (specification 4.3). */
export class SendSmsAnswer {
  @ApiProperty({ description: 'Always true: a refusal is an error answer.' })
  success!: true;

  @ApiProperty({ description: 'For humans; the text may change.', example: 'A code is on its way.' })
  message!: string;

  @ApiProperty(PHONE)
  phone!: string;
}
