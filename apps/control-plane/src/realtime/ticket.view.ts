import { ApiProperty } from '@nestjs/swagger';

/** A new ticket, in the response of its call. */
export class TicketAnswer {
  @ApiProperty({
    pattern: '^rtk_[A-Za-z0-9_-]{43}$',
    description: 'Returned once, valid once, for this session only. It is sent as a message, never in a URL.',
    example: `rtk_${'7Q2M9XK4T1V8C3ZB'.repeat(3).slice(0, 43)}`,
  })
  ticket!: string;

  @ApiProperty({ format: 'date-time', description: 'One minute after creation.', example: '2023-11-14T22:14:20.007Z' })
  expiresAt!: string;

  @ApiProperty({
    description: 'The WebSocket URL, with subprotocol `countersign.v1`.',
    example: 'wss://localhost:8443/v1/realtime',
  })
  url!: string;
}
