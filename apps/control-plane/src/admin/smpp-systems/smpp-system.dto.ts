import { BIND_TYPES, type BindType } from '@countersign/carriers/config';
import { SENDER_FORMATS, type SenderFormat } from '@countersign/phone';
import { ApiExtraModels, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import type { JsonObject } from '../../http/json-body.js';
import { ChangeOf, isListOf, isOneOf, isWholeNumber, Nullable, Optional, Satisfies } from '../crud/fields.js';
import { LinkSettingsDraft, Ranged } from '../crud/link-settings.js';
import { SENDER_FIELDS } from '../crud/sender-format.js';
import { isCarrier, isSystemId, isUncommonPassword, MAX_CARRIER_CHARACTERS, SMPP_FIELDS } from '../crud/smpp-fields.js';
import { MAX_NETWORKS, networkOf } from '../crud/networks.js';
import { outbindFault } from './outbind.js';
import { MAX_CONNECTIONS, MAX_PER_SECOND, SYSTEM_FIELDS, SystemOutbindSettings } from './smpp-system.view.js';

const isNetwork = (value: unknown): boolean => typeof value === 'string' && networkOf(value) !== null;

/** The body of POST /v1/admin/smpp-systems. */
@ApiExtraModels(SystemOutbindSettings)
export class SmppSystemDraft extends LinkSettingsDraft {
  @ApiProperty(SMPP_FIELDS.systemId)
  @Satisfies(isSystemId, 'systemId must be 1 to 15 characters of ASCII.')
  systemId!: string;

  @ApiPropertyOptional(SYSTEM_FIELDS.password)
  @Satisfies(
    isUncommonPassword,
    'password must be 6 to 8 characters of ASCII and not a common password. Create without one, or call rotate, and a random one is generated.',
  )
  @Optional()
  password?: string;

  @ApiPropertyOptional(SMPP_FIELDS.carrier)
  @Satisfies(isCarrier, `carrier must be one line of 1 to ${MAX_CARRIER_CHARACTERS} characters.`)
  @Optional()
  carrier?: string;

  @ApiPropertyOptional(SYSTEM_FIELDS.allowedCidrs)
  @Satisfies(
    isListOf(isNetwork, { most: MAX_NETWORKS }),
    `allowedCidrs must be a list of up to ${MAX_NETWORKS} different networks such as "192.0.2.0/24" or addresses.`,
  )
  @Optional()
  allowedCidrs?: readonly string[];

  @ApiPropertyOptional(SYSTEM_FIELDS.bindTypes)
  @Satisfies(
    isListOf(isOneOf(BIND_TYPES), { least: 1 }),
    `bindTypes must be a list of at least one and different ones of ${BIND_TYPES.join(', ')}.`,
  )
  @Optional()
  bindTypes?: readonly BindType[];

  @ApiPropertyOptional(SYSTEM_FIELDS.maxConnections)
  @Satisfies(isWholeNumber(1, MAX_CONNECTIONS), `maxConnections must be a whole number from 1 to ${MAX_CONNECTIONS}.`)
  @Optional()
  maxConnections?: number;

  @ApiPropertyOptional(SYSTEM_FIELDS.submitPerSecond)
  @Satisfies(
    isWholeNumber(1, MAX_PER_SECOND),
    `submitPerSecond must be a whole number from 1 to ${MAX_PER_SECOND}, or null.`,
  )
  @Nullable()
  submitPerSecond?: number | null;

  @Ranged(SYSTEM_FIELDS.deliverPerSecond, [1, MAX_PER_SECOND])
  deliverPerSecond?: number;

  @ApiPropertyOptional(SYSTEM_FIELDS.tlsRequired)
  @IsBoolean(failsWith('tlsRequired must be true or false.'))
  @Optional()
  tlsRequired?: boolean;

  @ApiPropertyOptional(SYSTEM_FIELDS.outbind)
  @Satisfies(
    (value) => outbindFault(value) === null,
    'outbind must be null, or an object of host, port, systemId (1 to 15 characters of ASCII), password (1 to 8), and where wanted tls as of a bind.',
    (value) => outbindFault(value) ?? undefined,
  )
  @Nullable()
  outbind?: JsonObject | null;

  @ApiPropertyOptional(SYSTEM_FIELDS.trustedForMo)
  @IsBoolean(failsWith('trustedForMo must be true or false.'))
  @Optional()
  trustedForMo?: boolean;

  @ApiPropertyOptional(SENDER_FIELDS.senderFormat)
  @IsIn([...SENDER_FORMATS], failsWith(`senderFormat must be one of ${SENDER_FORMATS.join(', ')}.`))
  @Optional()
  senderFormat?: SenderFormat;

  @ApiPropertyOptional(SYSTEM_FIELDS.enabled)
  @IsBoolean(failsWith('enabled must be true or false.'))
  @Optional()
  enabled?: boolean;
}

/** The body of PATCH /v1/admin/smpp-systems/{id}. */
export class SmppSystemChange extends ChangeOf(SmppSystemDraft) {}
