import { type Bind, BIND_TYPES, INTERFACE_VERSIONS } from '@countersign/carriers/config';
import {
  BIND_STATES,
  type BindConnection,
  bindStatus,
  CONNECTION_STATES,
  type PreviousError,
} from '@countersign/carriers/status';
import type { BindRecord } from '@countersign/carriers/records';
import { renderId } from '@countersign/ids';
import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  type ApiPropertyOptions,
  getSchemaPath,
} from '@nestjs/swagger';
import { linkSettings, LinkSettingsAnswer, wholeField } from '../crud/link-settings.js';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { asciiPattern, ConnectionNumbers, RATE_FIELD, SMPP_FIELDS } from '../crud/smpp-fields.js';
import { SENDER_FIELDS } from '../crud/sender-format.js';
import { idField, nullable, nullableId } from '../crud/view-fields.js';
import { MAX_NETWORKS } from '../crud/networks.js';
import { MAX_HOSTS } from './hosts.js';
import { MAX_CERTIFICATE_CHARACTERS, MAX_KEY_CHARACTERS } from './tls.js';

export const MAX_NAME_CHARACTERS = 100;

/** Inclusive ranges of whole numbers. */
export const BIND_RANGES = {
  connections: [1, 32],
  submitPerSecond: [1, 10_000],
} as const;

const HOST_FIELDS = {
  host: { type: 'string', maxLength: 253, description: 'A name or an IP address.', example: 'smsc.north.example' },
  port: { type: 'integer', minimum: 1, maximum: 65_535, example: 2775 },
} as const satisfies Record<string, ApiPropertyOptions>;

export class BindHostAnswer {
  @ApiProperty(HOST_FIELDS.host)
  readonly host!: string;

  @ApiProperty(HOST_FIELDS.port)
  readonly port!: number;
}

export class BindTlsAnswer {
  @ApiProperty({ type: 'boolean' })
  readonly enabled!: boolean;

  @ApiPropertyOptional({
    type: 'string',
    maxLength: MAX_CERTIFICATE_CHARACTERS,
    description: 'One or several PEM certificates that replace the default authorities for the carrier’s certificate.',
  })
  readonly caCertificate?: string;

  @ApiPropertyOptional({
    type: 'string',
    description: 'The name that the certificate must contain, if it is not the host.',
    example: 'smpp.north.example',
  })
  readonly serverName?: string;

  @ApiPropertyOptional({
    type: 'string',
    maxLength: MAX_CERTIFICATE_CHARACTERS,
    description: 'The PEM certificate to present to the carrier, followed by those of its issuers.',
  })
  readonly clientCertificate?: string;
}

export class BindTlsSettings extends BindTlsAnswer {
  @ApiPropertyOptional({
    type: 'string',
    maxLength: MAX_KEY_CHARACTERS,
    writeOnly: true,
    description:
      'The PEM key of `clientCertificate`, without a passphrase. Write-only; stored encrypted. Required with a new certificate; kept when it is omitted and the certificate stays.',
  })
  readonly clientKey?: string;
}

export class BindOutbindAnswer {
  @ApiProperty({ ...SMPP_FIELDS.systemId, description: 'The system_id of the outbind.', example: 'smsc' })
  readonly systemId!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: MAX_NETWORKS,
    description: 'Networks that the carrier connects from, none wider than /16 (IPv6: /32).',
    example: ['192.0.2.0/24'],
  })
  readonly allowedCidrs!: readonly string[];
}

export class BindOutbindSettings extends BindOutbindAnswer {
  @ApiPropertyOptional({
    ...SMPP_FIELDS.password,
    description:
      'The password of the outbind, 1 to 8 ASCII characters. While trustedForMo is true, a new one has 6 to 8, is not a common password and is not the systemId of the outbind. Write-only; stored encrypted. Required with a new `outbind`; kept when it is omitted.',
  })
  readonly password?: string;
}

const OUTBIND_DESCRIPTION =
  'Set: the carrier opens the connections and sends outbind, and the gateway binds over the same connection; the hosts are not connected to. Null: the gateway connects to the hosts.';

/** A nullable `outbind` of this class. */
const outbindField = (schema: typeof BindOutbindAnswer): ApiPropertyOptions => {
  return {
    anyOf: [{ $ref: getSchemaPath(schema) }, { type: 'null' }],
    default: null,
    description: OUTBIND_DESCRIPTION,
    example: null,
  };
};

export const BIND_FIELDS = {
  name: { type: 'string', minLength: 1, maxLength: MAX_NAME_CHARACTERS, description: 'Unique.', example: 'north 1' },
  hosts: {
    type: BindHostAnswer,
    isArray: true,
    minItems: 1,
    maxItems: MAX_HOSTS,
    description: 'Tried in turn; each connection begins with a different one, and returns to it after a failure.',
    example: [{ host: 'smsc.north.example', port: 2775 }],
  },
  host: {
    ...HOST_FIELDS.host,
    description: 'With `port`, replaces `hosts` for a single host: send one of the two forms.',
  },
  port: HOST_FIELDS.port,
  tls: { type: BindTlsAnswer, default: { enabled: false }, example: { enabled: false } },
  outbind: outbindField(BindOutbindSettings),
  systemType: { type: 'string', pattern: asciiPattern(0, 12), default: '', example: '' },
  bindType: { type: 'string', enum: [...BIND_TYPES], default: 'transceiver' },
  interfaceVersion: { type: 'string', enum: [...INTERFACE_VERSIONS], default: '3.4' },
  addressRange: { type: 'string', pattern: asciiPattern(0, 40), default: '', example: '' },
  connections: wholeField(BIND_RANGES.connections, {
    default: 1,
    description: 'Number of connections, spread over hosts and gateways.',
  }),
  submitPerSecond: wholeField(BIND_RANGES.submitPerSecond, {
    default: 50,
    description: 'Codes a second over all connections; temporarily fewer when the carrier throttles.',
  }),
  senderFormat: SENDER_FIELDS.senderFormat,
  enabled: { type: 'boolean', default: true, description: 'Whether its connections are to be established.' },
} as const satisfies Record<string, ApiPropertyOptions>;

export class BindConnectionAnswer extends ConnectionNumbers {
  @ApiProperty(
    nullable(
      {},
      { description: 'Host and port of the current or last connection.', example: 'smsc.north.example:2775' },
    ),
  )
  readonly host!: string | null;

  @ApiProperty(nullableId('gw', 'The gateway that holds it; null for none.'))
  readonly owner!: string | null;

  @ApiProperty({ type: 'string', enum: [...CONNECTION_STATES] })
  readonly state!: string;

  @ApiProperty(
    nullable({ format: 'date-time' }, { description: 'Start of this state.', example: '2026-01-31T12:00:00.000Z' }),
  )
  readonly since!: string | null;

  @ApiProperty({ ...RATE_FIELD, description: 'MO and receipts a second over the last 10 s.' })
  readonly deliverPerSecond!: number;

  @ApiProperty({ ...RATE_FIELD, description: 'The same as `deliverPerSecond`.' })
  readonly measuredDeliverPerSecond!: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  readonly reconnects!: number;

  @ApiProperty({
    oneOf: [
      {
        type: 'object',
        properties: {
          error: { type: 'string' },
          at: { type: 'string', format: 'date-time' },
          clearedAt: { type: 'string', format: 'date-time' },
        },
        required: ['error', 'at', 'clearedAt'],
      },
      { type: 'null' },
    ],
    description: 'The `lastError` that the bind at `clearedAt` has ended; null without one.',
    example: null,
  })
  readonly previousError!: PreviousError | null;
}

export class BindStatusAnswer {
  @ApiProperty({
    type: 'string',
    enum: [...BIND_STATES],
    description: '`bound` when all its connections are, `degraded` when some are.',
  })
  readonly state!: string;

  @ApiProperty(SENDER_FIELDS.learnedSenderFormat)
  readonly learnedSenderFormat!: string | null;

  @ApiProperty({ type: BindConnectionAnswer, isArray: true })
  readonly connections!: readonly Plain<BindConnectionAnswer>[];
}

@ApiExtraModels(BindOutbindAnswer)
export class BindAnswer extends LinkSettingsAnswer {
  @ApiProperty(idField('bind'))
  readonly id!: string;

  @ApiProperty(BIND_FIELDS.name)
  readonly name!: string;

  @ApiProperty(SMPP_FIELDS.carrier)
  readonly carrier!: string;

  @ApiProperty(BIND_FIELDS.hosts)
  readonly hosts!: readonly Plain<BindHostAnswer>[];

  @ApiProperty(BIND_FIELDS.tls)
  readonly tls!: Plain<BindTlsAnswer>;

  @ApiProperty(outbindField(BindOutbindAnswer))
  readonly outbind!: Plain<BindOutbindAnswer> | null;

  @ApiProperty(SMPP_FIELDS.systemId)
  readonly systemId!: string;

  @ApiProperty(BIND_FIELDS.systemType)
  readonly systemType!: string;

  @ApiProperty(BIND_FIELDS.bindType)
  readonly bindType!: string;

  @ApiProperty(BIND_FIELDS.interfaceVersion)
  readonly interfaceVersion!: string;

  @ApiProperty(BIND_FIELDS.addressRange)
  readonly addressRange!: string;

  @ApiProperty(BIND_FIELDS.connections)
  readonly connections!: number;

  @ApiProperty(BIND_FIELDS.submitPerSecond)
  readonly submitPerSecond!: number;

  @ApiProperty(SMPP_FIELDS.trustedForMo)
  readonly trustedForMo!: boolean;

  @ApiProperty(BIND_FIELDS.senderFormat)
  readonly senderFormat!: string;

  @ApiProperty(BIND_FIELDS.enabled)
  readonly enabled!: boolean;

  @ApiProperty({ type: BindStatusAnswer })
  readonly status!: Plain<BindStatusAnswer>;
}

export class BindList extends PageOf(BindAnswer) {}

export function bindView(bind: BindRecord): Plain<BindAnswer> {
  const { state, connections } = bindStatus(bind, bind.slots);
  const learnedSenderFormat = bind.senderLearning?.learned ?? null;
  return {
    ...bindSettings(bind),
    status: { state, learnedSenderFormat, connections: connections.map(connectionView) },
  };
}

/** The settings of a bind, without its state. */
export function bindSettings(bind: BindRecord): Omit<Plain<BindAnswer>, 'status'> {
  const { enabled, ...tls } = bind.tls;
  return {
    id: renderId('bind', bind.id),
    name: bind.name,
    carrier: bind.carrier,
    hosts: bind.hosts.map(({ host, port }) => ({ host, port })),
    tls: { enabled, ...tls },
    outbind: outbindView(bind.outbind),
    systemId: bind.systemId,
    systemType: bind.systemType,
    bindType: bind.bindType,
    interfaceVersion: bind.interfaceVersion,
    addressRange: bind.addressRange,
    connections: bind.connections,
    submitPerSecond: bind.submitPerSecond,
    ...linkSettings(bind),
    trustedForMo: bind.trustedForMo,
    senderFormat: bind.senderFormat,
    enabled: bind.enabled,
  };
}

function outbindView(outbind: Bind['outbind']): Plain<BindOutbindAnswer> | null {
  return outbind === null ? null : { systemId: outbind.systemId, allowedCidrs: outbind.allowedCidrs };
}

function connectionView(connection: BindConnection): Plain<BindConnectionAnswer> {
  return {
    host: connection.host,
    owner: connection.owner === null ? null : renderId('gw', connection.owner),
    state: connection.state,
    since: connection.since === null ? null : new Date(connection.since).toISOString(),
    windowUsed: connection.windowUsed,
    submitPerSecond: connection.submitPerSecond,
    measuredSubmitPerSecond: connection.submitPerSecond,
    deliverPerSecond: connection.deliverPerSecond,
    measuredDeliverPerSecond: connection.deliverPerSecond,
    unanswered: connection.unanswered ?? 0,
    throttled: connection.throttled,
    enquireLinkMs: connection.enquireLinkMs,
    reconnects: connection.reconnects,
    lastError: connection.lastError,
    lastErrorAt: connection.lastErrorAt ?? null,
    previousError: connection.previousError ?? null,
  };
}
