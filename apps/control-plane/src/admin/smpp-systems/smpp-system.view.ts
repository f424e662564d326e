import { BIND_TYPES } from '@countersign/carriers/config';
import {
  lacksTrustProof,
  MAX_PASSWORD_CHARACTERS,
  MIN_CHOSEN_PASSWORD_CHARACTERS,
  MIN_TRUSTED_PREFIX_BITS,
} from '@countersign/carriers/credentials';
import type { SystemLink, SystemRecord } from '@countersign/carriers/records';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { linkSettings, LinkSettingsAnswer, wholeField } from '../crud/link-settings.js';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { SENDER_FIELDS } from '../crud/sender-format.js';
import { asciiPattern, ConnectionNumbers, isAscii, SMPP_FIELDS } from '../crud/smpp-fields.js';
import { idField, nullable } from '../crud/view-fields.js';

export const MAX_NETWORKS = 100;
export const MAX_CONNECTIONS = 1_000;
export const MAX_PER_SECOND = 100_000;

/** Whether an engineer's password has the required form. */
export const isChosenPassword = isAscii(MIN_CHOSEN_PASSWORD_CHARACTERS, MAX_PASSWORD_CHARACTERS);

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
    connections: system.links.map(connectionView),
  };
}

type Settings = Omit<Plain<SmppSystemAnswer>, 'trustWarning' | 'connections' | 'password'>;

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
    ...linkSettings(system),
    trustedForMo: system.trustedForMo,
    senderFormat: system.senderFormat,
    learnedSenderFormat: system.senderLearning?.learned ?? null,
    enabled: system.enabled,
  };
}

function connectionView({ gatewayId, address, bindType, since, status }: SystemLink): Plain<SystemConnectionAnswer> {
  return {
    owner: renderId('gw', gatewayId),
    address,
    bindType,
    state: status.state ?? 'bound',
    since: new Date(since).toISOString(),
    tls: status.tls ?? false,
    windowUsed: status.windowUsed ?? 0,
    submitPerSecond: status.submitPerSecond ?? 0,
    throttled: status.throttled ?? 0,
    enquireLinkMs: status.enquireLinkMs ?? null,
    lastError: status.lastError ?? null,
  };
}
