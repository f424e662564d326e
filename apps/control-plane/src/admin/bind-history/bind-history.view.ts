import type { SlotEvents } from '@countersign/carriers/leases';
import { CONNECTION_EVENTS, type ConnectionEvent } from '@countersign/carriers/status';
import { renderId } from '@countersign/ids';
import { ApiProperty } from '@nestjs/swagger';
import type { Plain } from '../crud/plain.js';
import { idField, nullable } from '../crud/view-fields.js';

const TIME = { type: 'string', format: 'date-time', example: '2026-01-31T12:00:00.000Z' } as const;

export class BindEventView {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'The connection of the bind, by number.', example: 0 })
  readonly slot!: number;

  @ApiProperty({
    type: 'string',
    enum: [...CONNECTION_EVENTS],
    description:
      '`bound`: the carrier accepted the bind; `error`: an attempt or a link failed; `draining`: it finishes its open requests; `unbound`: it has ended.',
    example: 'bound',
  })
  readonly event!: ConnectionEvent['event'];

  @ApiProperty({ ...TIME, description: 'When it happened; of a repeated error the first time.' })
  readonly at!: string;

  @ApiProperty({ ...TIME, description: 'Of a repeated error the last time; otherwise as `at`.' })
  readonly lastAt!: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'How often an error was repeated.', example: 1 })
  readonly times!: number;

  @ApiProperty(
    nullable({}, { description: 'The host; null where `error` names it.', example: 'smsc.north.example:2775' }),
  )
  readonly host!: string | null;

  @ApiProperty(nullable({}, { description: 'What failed, or why it ended.', example: null }))
  readonly error!: string | null;

  @ApiProperty(idField('gw', { description: 'The gateway that held the connection.' }))
  readonly gateway!: string;
}

/** Events of the connections of a bind. */
export class BindHistory {
  @ApiProperty({
    type: BindEventView,
    isArray: true,
    description: 'Newest first, at most 50 of each connection.',
  })
  readonly data!: readonly Plain<BindEventView>[];
}

const eventView = (slot: number, { gatewayId, ...event }: ConnectionEvent): Plain<BindEventView> => ({
  ...{ slot, ...event, gateway: renderId('gw', gatewayId) },
});

/** Newest first, also of one connection whose events have the same time. */
export const historyView = (slots: readonly SlotEvents[]): Plain<BindHistory> => ({
  data: slots
    .flatMap(({ slot, events }) => events.map((event) => eventView(slot, event)).reverse())
    .sort((one, other) => Date.parse(other.lastAt) - Date.parse(one.lastAt)),
});
