import { TEST_MESSAGE_STATES, type TestMessageResult } from '@countersign/carriers/test-messages';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { nullable } from '../crud/view-fields.js';

const time = (description: string): ApiPropertyOptions =>
  nullable({ format: 'date-time' }, { description, example: '2026-01-31T12:00:00.000Z' });

/** The result of a test message. */
export class TestMessageAnswer implements TestMessageResult {
  @ApiProperty({
    type: 'string',
    enum: [...TEST_MESSAGE_STATES],
    description:
      '`accepted` by the carrier: its receipt is in the trace of the bind; `refused` by it; `unanswered`: sent without a response so far, or its gateway has not recorded what became of it; `not_sent`: no connection could send it, and none will.',
    example: 'accepted',
  })
  readonly state!: TestMessageResult['state'];

  @ApiProperty(
    nullable({}, { description: 'The SMPP status, or why there is none; null when accepted.', example: null }),
  )
  readonly error!: string | null;

  @ApiProperty(nullable({}, { description: 'The carrier’s id of the message.', example: '7a3f' }))
  readonly smscMessageId!: string | null;

  @ApiProperty({
    oneOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }],
    description: 'The connection of the bind, by number; null when it was not sent.',
    example: 0,
  })
  readonly slot!: number | null;

  @ApiProperty(time('When the submit_sm was sent; null when it was not.'))
  readonly sentAt!: string | null;

  @ApiProperty(time('When the carrier responded; null without a response.'))
  readonly answeredAt!: string | null;

  @ApiProperty({ type: 'string', description: 'The sender.', example: '60606' })
  readonly from!: string;

  @ApiProperty({
    type: 'string',
    description: 'The text, which is not the caller’s to choose.',
    example: 'Test message 9B2C of Countersign, 2026-01-31 12:00 UTC. No action is needed.',
  })
  readonly text!: string;
}
