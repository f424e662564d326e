import type { CardRecord } from '@countersign/rcs/offers';
import type { CardState, FinalChannel } from '@countersign/rcs/rules';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { Plain } from '../crud/plain.js';
import { nullable } from '../crud/view-fields.js';

const STATES = [
  'offered',
  'sending',
  'sent',
  'refused',
  'unknown',
  'withdrawn',
] as const satisfies readonly CardState[];
const COMMANDS = ['revoke', 'close_approved', 'close_denied'] as const;

const oneOf = (values: readonly string[], description: string): ApiPropertyOptions => ({
  oneOf: [{ type: 'string', enum: [...values] }, { type: 'null' }],
  description,
  example: null,
});
const moment = (description: string): ApiPropertyOptions =>
  nullable({ format: 'date-time' }, { description, example: null });

/** The card of a session in the admin API. */
export class SessionCard {
  @ApiProperty({
    type: 'string',
    enum: STATES,
    description:
      '`offered` to the gateways; `sending` to the platform; `sent`, but not yet delivered; `refused` by the platform or by a gateway; `unknown` when the platform did not answer, so that the card may still arrive; `withdrawn` because no gateway claimed it.',
    example: 'sent',
  })
  readonly state!: CardState;

  @ApiProperty(nullable({}, { description: 'Why it is `refused` or `unknown`.', example: null }))
  readonly reason!: string | null;

  @ApiProperty({ type: 'string', description: 'The RCS agent that sent it.', example: 'acme_verify_x1y2_agent' })
  readonly agentId!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether the user must choose the number that the browser shows.' })
  readonly numberMatching!: boolean;

  @ApiProperty(oneOf(['rcs', 'sms_fallback'], 'The channel in the response to its create; null while that waits.'))
  readonly settledAs!: FinalChannel | null;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2023-11-14T22:13:20.019Z' })
  readonly offeredAt!: string;

  @ApiProperty(moment('When the platform accepted it.'))
  readonly sentAt!: string | null;

  @ApiProperty(moment('When it reached the phone, as reported by the platform.'))
  readonly deliveredAt!: string | null;

  @ApiProperty(moment('When it was read.'))
  readonly readAt!: string | null;

  @ApiProperty(moment('When the user answered it, with effect.'))
  readonly tappedAt!: string | null;

  @ApiProperty(oneOf(COMMANDS, 'The pending command to the platform: revoke the card, or send the closing text.'))
  readonly command!: CardRecord['command'];
}

export function sessionCardView(card: CardRecord): Plain<SessionCard> {
  const { state, refusal: reason, agentId, numberMatching, finalChannel: settledAs, command } = card;
  return {
    state,
    reason,
    agentId,
    numberMatching,
    settledAs,
    offeredAt: card.createdAt.toISOString(),
    sentAt: timeOf(card.sentAt),
    deliveredAt: timeOf(card.deliveredAt),
    readAt: timeOf(card.readAt),
    tappedAt: timeOf(card.tappedAt),
    command,
  };
}

const timeOf = (moment: Date | null): string | null => moment?.toISOString() ?? null;
