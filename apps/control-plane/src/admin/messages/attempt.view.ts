import { ATTEMPT_OUTCOMES, type Attempt } from '@countersign/carriers/outbound';
import { renderId } from '@countersign/ids';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { maskText } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable, nullableId } from '../crud/view-fields.js';

const moment = (description: string): ApiPropertyOptions =>
  nullable({ format: 'date-time' }, { description, example: null });

/** One attempt to send a code. */
export class MessageAttempt {
  @ApiProperty({ type: 'integer', minimum: 1, description: 'From 1.', example: 1 })
  readonly attempt!: number;

  @ApiProperty({
    oneOf: [{ type: 'string', enum: [...ATTEMPT_OUTCOMES] }, { type: 'null' }],
    description:
      '`submitted`: the carrier accepted it. `throttled`: a temporary status, so the route may be tried again. `refused`: any other error status. `not_sent`: nothing was written to the carrier. `unanswered`: no response in time, so it may have been accepted. `unknown`: the gateway ended before it recorded a result. Null while the attempt is under way.',
    example: 'throttled',
  })
  readonly outcome!: (typeof ATTEMPT_OUTCOMES)[number] | null;

  @ApiProperty(
    nullable({}, { description: 'The carrier’s status; null without a response.', example: 'ESME_RTHROTTLED' }),
  )
  readonly commandStatus!: string | null;

  @ApiProperty(nullable({}, { description: 'Why there is no response: `NOT_SENT`, `NO_ANSWER` …', example: null }))
  readonly error!: string | null;

  @ApiProperty(nullable({}, { description: 'The carrier’s id of the message.', example: null }))
  readonly smscMessageId!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    description: 'When a gateway claimed it, before it waited for the window and the rate of the connection.',
    example: '2026-01-31T12:00:00.000Z',
  })
  readonly startedAt!: string;

  @ApiProperty(moment('When it was written to the connection.'))
  readonly submittedAt!: string | null;

  @ApiProperty(moment('When the carrier’s response arrived.'))
  readonly answeredAt!: string | null;

  @ApiProperty(nullable({ pattern: '^(bind|sys)_' }, { description: 'The bind or the system.', example: null }))
  readonly linkId!: string | null;

  @ApiProperty(
    nullable(
      {},
      { description: 'Name of the bind, or `systemId` of the system; null if it was deleted.', example: 'north' },
    ),
  )
  readonly linkName!: string | null;

  @ApiProperty({
    oneOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }],
    description: 'The connection of the bind, from 0; null for a system.',
    example: 0,
  })
  readonly connection!: number | null;

  @ApiProperty({ ...idField('gw'), description: 'The gateway that owned the connection.' })
  readonly owner!: string;

  @ApiProperty(nullableId('route', 'The route that was used.'))
  readonly routeId!: string | null;

  @ApiProperty(nullable({}, { description: 'The carrier.', example: 'north' }))
  readonly carrier!: string | null;

  @ApiProperty(nullable({}, { description: 'The sender that the phone shows.', example: '60606' }))
  readonly source!: string | null;
}

export function attemptView(made: Attempt): Plain<MessageAttempt> {
  const { attempt, outcome, commandStatus, error, smscMessageId, linkKind, linkId, linkName, carrier, source } = made;
  return {
    attempt,
    outcome,
    commandStatus,
    error,
    smscMessageId,
    startedAt: made.startedAt.toISOString(),
    submittedAt: made.submittedAt?.toISOString() ?? null,
    answeredAt: made.answeredAt?.toISOString() ?? null,
    linkId: linkKind === null || linkId === null ? null : renderId(linkKind, linkId),
    linkName,
    connection: made.slot,
    owner: renderId('gw', made.gatewayId),
    routeId: made.routeId === null ? null : renderId('route', made.routeId),
    carrier,
    source,
  };
}

/** The attempt without people's data: a gateway's text may quote a phone. */
export function attemptWithoutPerson(made: Plain<MessageAttempt>): Plain<MessageAttempt> {
  const masked = (text: string | null): string | null => (text === null ? null : maskText(text));
  const { commandStatus, error, smscMessageId } = made;
  return {
    ...made,
    commandStatus: masked(commandStatus),
    error: masked(error),
    smscMessageId: masked(smscMessageId),
  };
}
