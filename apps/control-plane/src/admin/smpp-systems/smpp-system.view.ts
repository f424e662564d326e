import { BIND_TYPES } from '@countersign/carriers/config';
import {
  lacksTrustProof,
  MAX_PASSWORD_CHARACTERS,
  MIN_CHOSEN_PASSWORD_CHARACTERS,
  MIN_TRUSTED_PREFIX_BITS,
} from '@countersign/carriers/credentials';
import { parseInstant, parseSystemConnectionStatus } from '@countersign/carriers/status';
import type { SystemLink, SystemRecord, SystemRefusal } from '@countersign/carriers/records';
import { renderId } from '@countersign/ids';
import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  type ApiPropertyOptions,
  getSchemaPath,
} from '@nestjs/swagger';
import { BindHostAnswer, BindTlsAnswer, BindTlsSettings } from '../binds/bind.view.js';
import { linkSettings, LinkSettingsAnswer, wholeField } from '../crud/link-settings.js';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { SENDER_FIELDS } from '../crud/sender-format.js';
import { asciiPattern, ConnectionNumbers, SMPP_FIELDS } from '../crud/smpp-fields.js';
import { idField, nullable } from '../crud/view-fields.js';
import { MAX_NETWORKS } from '../crud/networks.js';

export const MAX_CONNECTIONS = 1_000;
export const MAX_PER_SECOND = 100_000;

export class SystemOutbindAnswer extends BindHostAnswer {
  @ApiProperty({ type: BindTlsAnswer, default: { enabled: false }, example: { enabled: false } })
  readonly tls!: Plain<BindTlsAnswer>;

  @ApiProperty({ ...SMPP_FIELDS.systemId, description: 'The system_id of our outbind.', example: 'countersign' })
  readonly systemId!: string;
}

export class SystemOutbindSettings extends BindHostAnswer {
  @ApiPropertyOptional({ type: BindTlsSettings, default: { enabled: false }, example: { enabled: false } })
  readonly tls?: Plain<BindTlsSettings>;

  @ApiProperty({ ...SMPP_FIELDS.systemId, description: 'The system_id of our outbind.', example: 'countersign' })
  readonly systemId!: string;

  @ApiPropertyOptional({
    ...SMPP_FIELDS.password,
    description:
      'The password of our outbind, 1 to 8 ASCII characters. Write-only; stored encrypted. Required with a new `outbind`, or another host, port or tls; else kept when it is omitted, and so is the client key.',
  })
  readonly password?: string;
}

/** A nullable `outbind` of this class. */
const outbindField = (schema: typeof BindHostAnswer): ApiPropertyOptions => {
  return {
    anyOf: [{ $ref: getSchemaPath(schema) }, { type: 'null' }],
    default: null,
    description:
      'Set: when a code has a route to the system and it is not connected, a gateway connects to this host and sends outbind, and the system binds over that connection. Null: only the system connects.',
    example: null,
  };
};

export const SYSTEM_FIELDS = {
  password: {
    type: 'string',
    pattern: asciiPattern(MIN_CHOSEN_PASSWORD_CHARACTERS, MAX_PASSWORD_CHARACTERS),
    description:
      'When omitted in a create, 8 random characters are generated and shown in that response only. Your own password ' +
      'has 6 to 8 ASCII characters, is not a common password, is not the systemId, and is never shown.',
  },
  trustedForMo: {
    ...SMPP_FIELDS.trustedForMo,
    description:
      'Whether an SMS received over it may approve a session. Only the role `owner` may change this. Requires allowedCidrs, ' +
      'none of them wider than /16 (IPv6: /32), or tlsRequired: connections must then show a client certificate of ' +
      'SMPP_TLS_CLIENT_CA_FILE whose CN or SAN is the systemId.',
  },
  allowedCidrs: {
    type: 'array',
    items: { type: 'string' },
    maxItems: MAX_NETWORKS,
    default: [],
    description: 'Networks that it may connect from; an address alone is a network of one. Empty for any.',
    example: ['192.0.2.0/24'],
  },
  bindTypes: {
    type: 'array',
    items: { type: 'string', enum: [...BIND_TYPES] },
    minItems: 1,
    default: [...BIND_TYPES],
    description: 'The bind types that it may use.',
  },
  maxConnections: { type: 'integer', minimum: 1, maximum: MAX_CONNECTIONS, default: 4 },
  submitPerSecond: {
    oneOf: [{ type: 'integer', minimum: 1, maximum: MAX_PER_SECOND }, { type: 'null' }],
    default: null,
    description:
      'Messages a second that are accepted over all its connections; further ones are throttled. Null for no limit.',
    example: 100,
  },
  deliverPerSecond: wholeField([1, MAX_PER_SECOND], {
    default: 50,
    description: 'Codes a second that are sent to it over all its connections; less while it throttles.',
  }),
  tlsRequired: { type: 'boolean', default: false, description: 'Whether it may bind on the TLS port only.' },
  outbind: outbindField(SystemOutbindSettings),
  enabled: { type: 'boolean', default: true, description: 'Whether it may bind.' },
} as const satisfies Record<string, ApiPropertyOptions>;

/** One connection of a system to a gateway, as the gateway reported it at most 5 s ago. */
export class SystemConnectionAnswer extends ConnectionNumbers {
  @ApiProperty(idField('gw', { description: 'The gateway that it is connected to.' }))
  readonly owner!: string;

  @ApiProperty({ type: 'string', description: 'Its IP address and port.', example: '192.0.2.7:50123' })
  readonly address!: string;

  @ApiProperty({ type: 'string', enum: [...BIND_TYPES] })
  readonly bindType!: string;

  @ApiProperty({ type: 'string', enum: ['bound', 'draining'] })
  readonly state!: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly since!: string;

  @ApiProperty({ type: 'boolean' })
  readonly tls!: boolean;
}

/** A bind of a system that a gateway refused. */
export class LastRefusal {
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly at!: string;

  @ApiProperty({
    type: 'string',
    description:
      '`wrong_password`, `address` (not in `allowedCidrs`), `tls_required`, `certificate`, `bind_type`, `too_many_connections`, `disabled`, or `shut_out` and `guarded` after too many wrong passwords. New ones may be added.',
    example: 'wrong_password',
  })
  readonly reason!: string;

  @ApiProperty({ type: 'string', description: 'The IP address of the peer.', example: '192.0.2.7' })
  readonly address!: string;
}

@ApiExtraModels(LastRefusal, SystemOutbindAnswer)
export class SmppSystemAnswer extends LinkSettingsAnswer {
  @ApiProperty(idField('sys'))
  readonly id!: string;

  @ApiProperty(SMPP_FIELDS.systemId)
  readonly systemId!: string;

  @ApiProperty(SMPP_FIELDS.carrier)
  readonly carrier!: string;

  @ApiProperty(SYSTEM_FIELDS.allowedCidrs)
  readonly allowedCidrs!: readonly string[];

  @ApiProperty(SYSTEM_FIELDS.bindTypes)
  readonly bindTypes!: readonly string[];

  @ApiProperty(SYSTEM_FIELDS.maxConnections)
  readonly maxConnections!: number;

  @ApiProperty(SYSTEM_FIELDS.submitPerSecond)
  readonly submitPerSecond!: number | null;

  @ApiProperty(SYSTEM_FIELDS.deliverPerSecond)
  readonly deliverPerSecond!: number;

  @ApiProperty(SYSTEM_FIELDS.tlsRequired)
  readonly tlsRequired!: boolean;

  @ApiProperty(outbindField(SystemOutbindAnswer))
  readonly outbind!: Plain<SystemOutbindAnswer> | null;

  @ApiProperty(SYSTEM_FIELDS.trustedForMo)
  readonly trustedForMo!: boolean;

  @ApiProperty(
    nullable(
      {},
      {
        description:
          'Why its messages approve nothing although trustedForMo is true: a system that an earlier release stored.',
        example: null,
      },
    ),
  )
  readonly trustWarning!: string | null;

  @ApiProperty(SENDER_FIELDS.senderFormat)
  readonly senderFormat!: string;

  @ApiProperty(SENDER_FIELDS.learnedSenderFormat)
  readonly learnedSenderFormat!: string | null;

  @ApiProperty(SYSTEM_FIELDS.enabled)
  readonly enabled!: boolean;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Refused binds under its `systemId`, over all gateways.' })
  readonly refusedBinds!: number;

  @ApiProperty({
    oneOf: [{ $ref: getSchemaPath(LastRefusal) }, { type: 'null' }],
    description: 'The last refused bind, written within a second or two; null without one.',
  })
  readonly lastRefusal!: Plain<LastRefusal> | null;

  @ApiProperty({ type: SystemConnectionAnswer, isArray: true, description: 'Its current connections.' })
  readonly connections!: readonly Plain<SystemConnectionAnswer>[];

  @ApiPropertyOptional({
    type: 'string',
    pattern: `^[A-Za-z0-9]{${MAX_PASSWORD_CHARACTERS}}$`,
    description: 'The generated password. Shown once, when the system is created without one or its password rotated.',
  })
  readonly password?: string;
}

export class SmppSystemList extends PageOf(SmppSystemAnswer) {}

export function smppSystemView(system: SystemRecord): Plain<SmppSystemAnswer> {
  return {
    ...smppSystemSettings(system),
    trustWarning: lacksTrustProof(system) ? `Its messages approve nothing. ${TRUST_REMEDY}` : null,
    refusedBinds: system.refused?.refusals ?? 0,
    lastRefusal: system.refused === null ? null : lastRefusalOf(system.refused),
    connections: system.links.map(connectionView),
  };
}

type Settings = Omit<
  Plain<SmppSystemAnswer>,
  'trustWarning' | 'refusedBinds' | 'lastRefusal' | 'connections' | 'password'
>;

const lastRefusalOf = ({ at, reason, address }: SystemRefusal): Plain<LastRefusal> => ({
  at: new Date(at).toISOString(),
  reason,
  address,
});

/** The message of a refusal and of a warning, after its first sentence. */
export const TRUST_REMEDY =
  `A system with trustedForMo needs allowedCidrs, none of them wider than /${MIN_TRUSTED_PREFIX_BITS.ipv4} ` +
  `(IPv6: /${MIN_TRUSTED_PREFIX_BITS.ipv6}), or tlsRequired and a client certificate whose CN or SAN is the systemId. ` +
  'Set either of them, or trustedForMo to false.';

/** The settings of a system, without its state. */
export function smppSystemSettings(system: SystemRecord): Settings {
  return {
    id: renderId('sys', system.id),
    systemId: system.systemId,
    carrier: system.carrier,
    allowedCidrs: system.allowedCidrs,
    bindTypes: system.bindTypes,
    maxConnections: system.maxConnections,
    submitPerSecond: system.submitPerSecond,
    deliverPerSecond: system.deliverPerSecond,
    tlsRequired: system.tlsRequired,
    outbind: system.outbind,
    ...linkSettings(system),
    trustedForMo: system.trustedForMo,
    senderFormat: system.senderFormat,
    learnedSenderFormat: system.senderLearning?.learned ?? null,
    enabled: system.enabled,
  };
}

function connectionView({ gatewayId, address, bindType, since, status }: SystemLink): Plain<SystemConnectionAnswer> {
  const shown = parseSystemConnectionStatus(status);
  return {
    owner: renderId('gw', gatewayId),
    address,
    bindType,
    state: shown.state,
    since: parseInstant(since) ?? UNKNOWN_INSTANT,
    tls: shown.tls,
    windowUsed: shown.windowUsed,
    submitPerSecond: shown.submitPerSecond,
    measuredSubmitPerSecond: shown.submitPerSecond,
    unanswered: shown.unanswered ?? 0,
    throttled: shown.throttled,
    enquireLinkMs: shown.enquireLinkMs,
    lastError: shown.lastError,
    lastErrorAt: shown.lastErrorAt ?? null,
  };
}

/** Of a time that no gateway writes. */
const UNKNOWN_INSTANT = new Date(0).toISOString();
