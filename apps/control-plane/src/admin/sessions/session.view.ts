import { renderId } from '@countersign/ids';
import { maskPhone } from '@countersign/phone';
import { sessionOfRecord } from '@countersign/session';
import type { ApprovedBy } from '@countersign/session/rules';
import { ApiExtraModels, ApiProperty, getSchemaPath, OmitType } from '@nestjs/swagger';
import { ListedSession } from '../../verify/session.view.js';
import { PageOf } from '../crud/paging.js';
import { maskText } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { nullable } from '../crud/view-fields.js';
import { SessionCard, sessionCardView } from './session-card.view.js';
import type { SessionWithCard } from './session.records.js';

const TRIES = { type: 'integer', minimum: 0, example: 0 } as const;

/** A session in the admin API: without its token and without the proof of approval. */
@ApiExtraModels(SessionCard)
export class SessionRecordAnswer extends OmitType(ListedSession, ['fallbackUri', 'phone', 'metadata']) {
  @ApiProperty({
    type: 'string',
    pattern: '^[+*][0-9*]{1,15}$',
    description: 'E.164. Middle digits are asterisks for roles that may not see people’s data.',
    example: '+14155552671',
  })
  readonly phone!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 512 },
    maxProperties: 16,
    description: 'As sent, with its keys in order. Empty for roles that may not see people’s data.',
    example: { orderId: '7' },
  })
  readonly metadata!: Readonly<Record<string, string>>;

  @ApiProperty(nullable({ format: 'date-time' }, { description: 'Null while it is pending.', example: null }))
  readonly endedAt!: string | null;

  @ApiProperty({
    oneOf: [{ type: 'string', enum: ['mo', 'rcs', 'otp'] }, { type: 'null' }],
    description: 'By an SMS from the phone, a tap on the card or a code; null unless approved.',
    example: 'mo',
  })
  readonly approvedBy!: ApprovedBy | null;

  @ApiProperty({
    type: 'string',
    description: 'Country of the phone; `001` for a number of no country.',
    example: 'US',
  })
  readonly country!: string;

  @ApiProperty({ type: 'string', description: 'The number to which the phone sends its SMS.', example: '+14155550199' })
  readonly inboundNumber!: string;

  @ApiProperty({ type: 'boolean', example: true })
  readonly allowSmsOtp!: boolean;

  @ApiProperty({ ...TRIES, description: 'Number of codes sent.' })
  readonly codesSent!: number;

  @ApiProperty({ ...TRIES, description: 'Number of codes tried.' })
  readonly codesTried!: number;

  @ApiProperty({
    anyOf: [{ $ref: getSchemaPath(SessionCard) }, { type: 'null' }],
    description: 'The card that was offered for it; null when there was none.',
  })
  readonly card!: Plain<SessionCard> | null;
}

export class SessionRecordList extends PageOf(SessionRecordAnswer) {}

export function sessionRecordView(record: SessionWithCard): Plain<SessionRecordAnswer> {
  const session = sessionOfRecord(record);
  const { status, channel, phone, brandSlug, clientChallenge, test, country, inboundNumber, allowSmsOtp } = session;
  const endedAt = session.endedAt?.toISOString() ?? null;
  const approvedAt = status === 'approved' ? session.endedAt : null;
  return {
    id: renderId('sess', session.id),
    status,
    channel,
    phone,
    accountId: renderId('acct', session.accountId),
    brandId: renderId('brd', session.brandId),
    brandSlug,
    clientChallenge,
    latencyMs: approvedAt === null ? null : approvedAt.getTime() - session.createdAt.getTime(),
    approvedAt: approvedAt?.toISOString() ?? null,
    expiresAt: session.expiresAt.toISOString(),
    createdAt: session.createdAt.toISOString(),
    metadata: Object.fromEntries(session.metadata),
    endedAt,
    approvedBy: record.approvedBy,
    ...(test ? { test } : {}),
    country,
    inboundNumber,
    allowSmsOtp,
    codesSent: record.otpSends,
    codesTried: record.otpAttempts,
    card: record.card === null ? null : sessionCardView(record.card),
  };
}

/** The session without people's data. */
export function withoutPerson(session: Plain<SessionRecordAnswer>): Plain<SessionRecordAnswer> {
  const { card } = session;
  const reason = card?.reason ?? null;
  return {
    ...session,
    phone: maskPhone(session.phone),
    metadata: {},
    card: card === null ? null : { ...card, reason: reason === null ? null : maskText(reason) },
  };
}
