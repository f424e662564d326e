import { CONNECTION_STATES } from '@countersign/carriers/leases';
import type { GatewayLease, GatewayRecord } from '@countersign/carriers/records';
import { renderId } from '@countersign/ids';
import { ApiProperty } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField } from '../crud/view-fields.js';

const TIME = { type: 'string', format: 'date-time' } as const;

/** One connection of a bind that a gateway may act on. */
export class GatewayLeaseAnswer {
  @ApiProperty(idField('bind'))
  readonly bindId!: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Which of the connections of the bind.' })
  readonly slot!: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'One more with each owner.', example: 3 })
  readonly epoch!: number;

  @ApiProperty({ ...TIME, description: 'Unless it is renewed.', example: '2026-01-31T12:00:15.000Z' })
  readonly expiresAt!: string;

  @ApiProperty({ oneOf: [{ type: 'string', enum: [...CONNECTION_STATES] }, { type: 'null' }], example: 'bound' })
  readonly state!: string | null;
}

export class GatewayAnswer {
  @ApiProperty(idField('gw', { description: 'Made anew with each start.' }))
  readonly id!: string;

  @ApiProperty({ type: 'string', description: 'The machine it runs on.', example: 'gateway-1' })
  readonly host!: string;

  @ApiProperty({ type: 'string', example: '1.0.0' })
  readonly version!: string;

  @ApiProperty({ ...TIME, example: '2026-01-31T12:00:00.000Z' })
  readonly startedAt!: string;

  @ApiProperty({ ...TIME, description: 'It says so every 5 s.', example: '2026-01-31T12:00:00.000Z' })
  readonly seenAt!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether it has been told to stop, and takes on nothing more.' })
  readonly stopping!: boolean;

  @ApiProperty({ type: GatewayLeaseAnswer, isArray: true, description: 'The connections of binds that it holds.' })
  readonly leases!: readonly Plain<GatewayLeaseAnswer>[];

  @ApiProperty({ type: 'integer', minimum: 0, description: 'How many connections systems have to it.' })
  readonly systemConnections!: number;
}

export class GatewayList extends PageOf(GatewayAnswer) {}

export function gatewayView(gateway: GatewayRecord): Plain<GatewayAnswer> {
  const { id, host, version, startedAt, seenAt, stopping, leases, systemConnections } = gateway;
  return {
    id: renderId('gw', id),
    host,
    version,
    startedAt: startedAt.toISOString(),
    seenAt: seenAt.toISOString(),
    stopping,
    leases: leases.map(leaseView),
    systemConnections,
  };
}

function leaseView({ bindId, slot, epoch, expiresAt, state }: GatewayLease): Plain<GatewayLeaseAnswer> {
  return { bindId: renderId('bind', bindId), slot, epoch, expiresAt: new Date(expiresAt).toISOString(), state };
}
