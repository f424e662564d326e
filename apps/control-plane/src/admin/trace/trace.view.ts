import type { Bind } from '@countersign/carriers/config';
import type { TraceAnswer, TracedConnection } from '@countersign/carriers/traces';
import { renderId, type Uuid } from '@countersign/ids';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { Plain } from '../crud/plain.js';
import { idField, nullable } from '../crud/view-fields.js';

const open = (description: string): ApiPropertyOptions => ({ type: 'object', additionalProperties: true, description });
const end = (description: string, example: string): ApiPropertyOptions => ({ type: 'string', description, example });

export class TracedPduView {
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly at!: string;

  @ApiProperty({ type: 'string', enum: ['in', 'out'], description: '`in` from the carrier.' })
  readonly direction!: 'in' | 'out';

  @ApiProperty(end('Our end of the connection.', '192.0.2.1:40000'))
  readonly local!: string;

  @ApiProperty(end('The carrier’s end.', '198.51.100.7:2775'))
  readonly remote!: string;

  @ApiProperty(nullable({}, { description: 'The SMPP name; null for an unknown command.', example: 'submit_sm' }))
  readonly command!: string | null;

  @ApiProperty({ type: 'string', description: 'The SMPP name.', example: 'ESME_ROK' })
  readonly status!: string;

  @ApiProperty({ type: 'integer', minimum: 0, example: 7 })
  readonly sequence!: number;

  @ApiProperty(open('Field values by name; texts as their lengths. Empty for an unreadable PDU.'))
  readonly fields!: object;

  @ApiProperty(open('Optional parameters by name, or by tag.'))
  readonly tlvs!: object;

  @ApiProperty(nullable({}, { description: 'Why the PDU could not be decoded; null when it could.', example: null }))
  readonly fault!: string | null;

  @ApiProperty({
    type: 'string',
    pattern: '^([0-9a-f]{2})*$',
    description: 'The complete PDU in hexadecimal digits; each redacted octet is `2a`.',
    example: '00000010000000150000000000000001',
  })
  readonly octets!: string;
}

export class TracedConnectionView {
  @ApiProperty(idField('gw', { description: 'The gateway that recorded it.' }))
  readonly gateway!: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'The connection of the bind, by number.', example: 0 })
  readonly slot!: number;

  @ApiProperty({ type: TracedPduView, isArray: true, description: 'The last PDUs, oldest first.' })
  readonly pdus!: readonly Plain<TracedPduView>[];
}

export class FullTraceView {
  @ApiProperty(idField('bind'))
  readonly bindId!: string;

  @ApiProperty(
    nullable(
      { format: 'date-time' },
      { description: 'End of the recording of texts; null or past when texts are not recorded.', example: null },
    ),
  )
  readonly fullTraceUntil!: string | null;
}

export class TraceView extends FullTraceView {
  @ApiProperty({
    type: TracedConnectionView,
    isArray: true,
    description:
      'By gateway and connection. A connection that moved is listed for each gateway that has held it and still runs.',
  })
  readonly connections!: readonly Plain<TracedConnectionView>[];
}

export const fullTraceView = ({ id, fullTraceUntil }: Pick<Bind, 'id' | 'fullTraceUntil'>): Plain<FullTraceView> => ({
  bindId: renderId('bind', id),
  fullTraceUntil: fullTraceUntil?.toISOString() ?? null,
});

/** The recorded connections of one gateway. */
export interface GatewayTrace {
  readonly gatewayId: Uuid;
  readonly connections: readonly TracedConnection[];
}

export function traceView(
  bind: Pick<Bind, 'id' | 'fullTraceUntil'>,
  gateways: readonly GatewayTrace[],
): Plain<TraceView> {
  const connections = gateways.flatMap(({ gatewayId, connections: recorded }) =>
    recorded.map(({ slot, pdus }) => ({ gateway: renderId('gw', gatewayId), slot, pdus })),
  );
  return { ...fullTraceView(bind), connections };
}

/** Bounds of an answer: connections of one bind, and PDUs that a gateway records of each. */
const MAX_CONNECTIONS = 32;
const MAX_PDUS = 512;

/** Gateways of other versions may reply with another shape. */
export function isTraceAnswer(value: unknown): value is TraceAnswer {
  if (typeof value !== 'object' || value === null || !('connections' in value)) return false;
  return (
    Array.isArray(value.connections) &&
    value.connections.length <= MAX_CONNECTIONS &&
    value.connections.every(isTracedConnection)
  );
}

const isTracedConnection = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'slot' in value &&
  'pdus' in value &&
  Array.isArray(value.pdus) &&
  value.pdus.length <= MAX_PDUS &&
  value.pdus.every(isTracedPdu);

const isTracedPdu = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'at' in value &&
  typeof value.at === 'string' &&
  'octets' in value &&
  typeof value.octets === 'string' &&
  'fields' in value &&
  typeof value.fields === 'object' &&
  value.fields !== null;
