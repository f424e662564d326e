import { CONNECTION_STATES, parseConnectionState } from '@countersign/carriers/status';
import type { GatewayLease, GatewayRecord } from '@countersign/carriers/records';
import { renderId } from '@countersign/ids';
import { ApiProperty } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField } from '../crud/view-fields.js';

const TIME = { type: 'string', format: 'date-time' } as const;

/** One connection of a bind for which a gateway holds the lease. */
export class GatewayLeaseAnswer {
  @ApiProperty(idField('bind'))
  readonly bindId!: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'The number of the connection.' })
  readonly slot!: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Incremented with each owner.', example: 3 })
  readonly epoch!: number;

  @ApiProperty({
    ...TIME,
    description: 'Expiry of the lease unless it is renewed.',
    example: '2026-01-31T12:00:15.000Z',
  })
  readonly expiresAt!: string;

  @ApiProperty({ oneOf: [{ type: 'string', enum: [...CONNECTION_STATES] }, { type: 'null' }], example: 'bound' })
  readonly state!: string | null;
}

export class GatewayAnswer {
  @ApiProperty(idField('gw', { description: 'Generated at each start.' }))
  readonly id!: string;

  @ApiProperty({ type: 'string', description: 'The host name of its machine.', example: 'gateway-1' })
  readonly host!: string;

  @ApiProperty({ type: 'string', example: '1.0.0' })
  readonly version!: string;

  @ApiProperty({ ...TIME, example: '2026-01-31T12:00:00.000Z' })
  readonly startedAt!: string;

  @ApiProperty({
    ...TIME,
    description: 'Time of its last heartbeat; there is one every 5 s.',
    example: '2026-01-31T12:00:00.000Z',
  })
  readonly seenAt!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether it is shutting down and accepts no further work.' })
  readonly stopping!: boolean;

  @ApiProperty({ type: GatewayLeaseAnswer, isArray: true, description: 'The connections of binds that it holds.' })
  readonly leases!: readonly Plain<GatewayLeaseAnswer>[];

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Number of connections of systems to it.' })
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
  return {
    bindId: renderId('bind', bindId),
    slot,
    epoch,
    expiresAt: new Date(expiresAt).toISOString(),
    state: parseConnectionState(state),
  };
}
