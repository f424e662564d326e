import type { MessageRecord } from '@countersign/carriers/messages';
import { maskPhone } from '@countersign/phone';
import { renderId } from '@countersign/ids';
import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import { maskText } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable, nullableId } from '../crud/view-fields.js';
import { attemptView, attemptWithoutPerson, MessageAttempt } from './attempt.view.js';
import { FATES } from './message.dto.js';

const COUNT = { type: 'integer', minimum: 1 } as const;

/** The number of a part and the total. */
const PART = { type: 'object', properties: { number: COUNT, total: COUNT }, required: ['number', 'total'] };

@ApiExtraModels(MessageAttempt)
export class MessageAnswer {
  @ApiProperty(idField('msg'))
  readonly id!: string;

  @ApiProperty({ type: 'string', enum: ['in', 'out'], description: '`in` from a phone, `out` to one.' })
  readonly direction!: 'in' | 'out';

  @ApiPropertyOptional({
    type: 'boolean',
    enum: [true],
    description: 'Present on messages of test sessions alone: nothing was sent to or received from a carrier.',
  })
  readonly test?: true;

  @ApiProperty({
    type: 'string',
    enum: [...FATES],
    description:
      'The result of an inbound message (`matched` to `ambiguous_sender`), or the progress of an outbound one (`queued` to `failed`).',
    example: 'matched',
  })
  readonly fate!: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    description: 'When an inbound message arrived, or an outbound one was requested.',
    example: '2026-01-31T12:00:00.000Z',
  })
  readonly at!: string;

  @ApiProperty(nullableId('sess', 'Null for a message of no session.'))
  readonly sessionId!: string | null;

  @ApiProperty(nullableId('acct', 'The account of the session.'))
  readonly accountId!: string | null;

  @ApiProperty(nullable({}, { description: 'Null before a carrier was chosen.', example: 'north' }))
  readonly carrier!: string | null;

  @ApiProperty(
    nullable(
      { pattern: '^(bind|sys)_' },
      {
        description: 'The bind or the system of the message; null before it was sent, and for a deleted link.',
        example: null,
      },
    ),
  )
  readonly linkId!: string | null;

  @ApiProperty({
    type: 'string',
    description:
      'The sender; of an inbound message as the carrier wrote it, masked for roles that may not see people’s data.',
    example: '+14155552671',
  })
  readonly source!: string;

  @ApiProperty({
    type: 'string',
    description:
      'The recipient, masked for roles that may not see people’s data; of an inbound message as the carrier wrote it.',
    example: '60606',
  })
  readonly destination!: string;

  @ApiProperty({
    oneOf: [PART, { type: 'null' }],
    description: 'The part of a longer inbound message; null for a whole one.',
    example: null,
  })
  readonly part!: { readonly number: number; readonly total: number } | null;

  @ApiProperty({
    oneOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }],
    description: 'Number of attempts; null for an inbound message.',
    example: null,
  })
  readonly attempts!: number | null;

  @ApiProperty({
    oneOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }],
    description:
      'Number of attempts without a response: the carrier may have accepted the message. Null for an inbound message.',
    example: null,
  })
  readonly unknownFates!: number | null;

  @ApiProperty(nullable({}, { description: 'The reason given by the carrier or by this service.', example: null }))
  readonly networkError!: string | null;

  @ApiProperty(nullable({}, { description: 'The carrier’s id of the message.', example: null }))
  readonly smscMessageId!: string | null;

  @ApiProperty(nullable({ format: 'date-time' }, { description: 'When the carrier accepted it.', example: null }))
  readonly submittedAt!: string | null;

  @ApiProperty(
    nullable({ format: 'date-time' }, { description: 'When its receipt arrived, or it was given up.', example: null }),
  )
  readonly endedAt!: string | null;

  @ApiPropertyOptional({
    type: 'array',
    items: { $ref: getSchemaPath(MessageAttempt) },
    description:
      'The attempts that `attempts` counts, oldest first: the first one and the latest 19. Of outbound messages, and not in lists.',
  })
  readonly attemptLog?: readonly Plain<MessageAttempt>[];

  @ApiPropertyOptional(
    nullable(
      {},
      {
        description:
          'In the response of `reveal` only; null once it is erased. For roles other than `owner` the digits of codes are asterisks.',
        example: null,
      },
    ),
  )
  readonly text?: string | null;
}

export class MessageList extends PageOf(MessageAnswer) {}

export function messageView(message: MessageRecord): Plain<MessageAnswer> {
  const { direction, fate, carrier, source, destination, attempts, networkError, smscMessageId } = message;
  const { sessionId, accountId, partNumber, partTotal, unknownFates } = message;
  return {
    id: renderId('msg', message.id),
    direction,
    ...(message.test ? { test: true as const } : {}),
    fate,
    at: message.at.toISOString(),
    sessionId: sessionId === null ? null : renderId('sess', sessionId),
    accountId: accountId === null ? null : renderId('acct', accountId),
    carrier,
    linkId: linkOf(message),
    source,
    destination,
    part: partNumber === null || partTotal === null ? null : { number: partNumber, total: partTotal },
    attempts,
    unknownFates,
    networkError,
    smscMessageId,
    submittedAt: message.submittedAt?.toISOString() ?? null,
    endedAt: message.endedAt?.toISOString() ?? null,
    ...(message.attemptLog === undefined ? {} : { attemptLog: message.attemptLog.map(attemptView) }),
  };
}

/** The audited state: without the attempts, which engineers do not change. */
export function auditedMessage(message: MessageRecord): Plain<MessageAnswer> {
  const { attemptLog: _attempts, ...rest } = message;
  return messageView(rest);
}

/** The message with the phone masked; the other address is a number of this service. */
export function withoutPerson(message: Plain<MessageAnswer>): Plain<MessageAnswer> {
  const { direction, source, destination, networkError, attemptLog } = message;
  return {
    ...message,
    source: direction === 'in' ? maskPhone(source) : source,
    destination: direction === 'out' ? maskPhone(destination) : destination,
    networkError: networkError === null ? null : maskText(networkError),
    ...(attemptLog === undefined ? {} : { attemptLog: attemptLog.map(attemptWithoutPerson) }),
  };
}

const linkOf = ({ linkKind, linkId }: MessageRecord): string | null =>
  linkKind === null || linkId === null ? null : renderId(linkKind, linkId);
