import { BIND_TYPES, type BindType, INTERFACE_VERSIONS, type InterfaceVersion } from '@countersign/carriers/config';
import { SENDER_FORMATS, type SenderFormat } from '@countersign/phone';
import { ApiExtraModels, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, ValidateIf } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import type { JsonObject, JsonValue } from '../../http/json-body.js';
import { ChangeOf, isLine, Nullable, Optional, Satisfies } from '../crud/fields.js';
import { LinkSettingsDraft, OneOf, Ranged } from '../crud/link-settings.js';
import {
  isAscii,
  isCarrier,
  isPassword,
  isSystemId,
  MAX_CARRIER_CHARACTERS,
  SMPP_FIELDS,
} from '../crud/smpp-fields.js';
import { BIND_FIELDS, BIND_RANGES, BindOutbindSettings, BindTlsSettings, MAX_NAME_CHARACTERS } from './bind.view.js';
import { hostsFault, isHost, isPort, MAX_HOSTS } from './hosts.js';
import { outbindFault } from './outbind.js';
import { tlsFault } from './tls.js';

/** Required when all the others are absent. */
const UnlessOneOf = (...others: readonly string[]): PropertyDecorator =>
  ValidateIf(
    (body: object, value: unknown) =>
      value !== undefined || others.every((other) => Reflect.get(body, other) === undefined),
  );

/** The fields of which a new bind needs one set, by the name of its schema. */
export const BIND_HOST_FORMS: Readonly<Record<string, readonly string[]>> = {
  BindHosts: ['hosts'],
  BindSingleHost: ['host', 'port'],
};

/** The body of POST /v1/admin/binds. The resource then checks that hosts are given in one form only. */
@ApiExtraModels(BindOutbindSettings)
export class BindDraft extends LinkSettingsDraft {
  @ApiPropertyOptional(BIND_FIELDS.name)
  @Satisfies(isLine(MAX_NAME_CHARACTERS), `name must be one line of 1 to ${MAX_NAME_CHARACTERS} characters.`)
  @Optional()
  name?: string;

  @ApiPropertyOptional(SMPP_FIELDS.carrier)
  @Satisfies(isCarrier, `carrier must be one line of 1 to ${MAX_CARRIER_CHARACTERS} characters.`)
  @Optional()
  carrier?: string;

  @ApiPropertyOptional(BIND_FIELDS.hosts)
  @Satisfies(
    (value) => hostsFault(value) === null,
    `hosts must be a list of 1 to ${MAX_HOSTS} objects of host (a name or an IP address) and port (1 to 65535).`,
    (value) => hostsFault(value) ?? undefined,
  )
  @UnlessOneOf('host', 'port')
  hosts?: readonly JsonValue[];

  @ApiPropertyOptional(BIND_FIELDS.host)
  @Satisfies(isHost, 'host must be a name or an IP address.')
  @Optional()
  host?: string;

  @ApiPropertyOptional(BIND_FIELDS.port)
  @Satisfies(isPort, 'port must be a whole number from 1 to 65535.')
  @Optional()
  port?: number;

  @ApiPropertyOptional({ ...BIND_FIELDS.tls, type: BindTlsSettings })
  @Satisfies(
    (value) => tlsFault(value) === null,
    'tls must be an object of enabled (true or false), and where wanted caCertificate (PEM), serverName (a host name), clientCertificate and clientKey (PEM, without a passphrase).',
    (value) => tlsFault(value) ?? undefined,
  )
  @Optional()
  tls?: JsonObject;

  @ApiPropertyOptional(BIND_FIELDS.outbind)
  @Satisfies(
    (value) => outbindFault(value) === null,
    'outbind must be null, or an object of systemId (1 to 15 characters of ASCII), password (1 to 8; 6 to 8 and uncommon while trustedForMo is true) and allowedCidrs (1 to 100 different networks or addresses, none wider than /16, IPv6: /32).',
    (value) => outbindFault(value) ?? undefined,
  )
  @Nullable()
  outbind?: JsonObject | null;

  @ApiProperty(SMPP_FIELDS.systemId)
  @Satisfies(isSystemId, 'systemId must be 1 to 15 characters of ASCII.')
  systemId!: string;

  @ApiProperty(SMPP_FIELDS.password)
  @Satisfies(isPassword, 'password must be 1 to 8 characters of ASCII.')
  password!: string;

  @ApiPropertyOptional(BIND_FIELDS.systemType)
  @Satisfies(isAscii(0, 12), 'systemType must be at most 12 characters of ASCII.')
  @Optional()
  systemType?: string;

  @OneOf(BIND_FIELDS.bindType, BIND_TYPES)
  bindType?: BindType;

  @OneOf(BIND_FIELDS.interfaceVersion, INTERFACE_VERSIONS)
  interfaceVersion?: InterfaceVersion;

  @ApiPropertyOptional(BIND_FIELDS.addressRange)
  @Satisfies(isAscii(0, 40), 'addressRange must be at most 40 characters of ASCII.')
  @Optional()
  addressRange?: string;

  @Ranged(BIND_FIELDS.connections, BIND_RANGES.connections)
  connections?: number;

  @Ranged(BIND_FIELDS.submitPerSecond, BIND_RANGES.submitPerSecond)
  submitPerSecond?: number;

  @ApiPropertyOptional(SMPP_FIELDS.trustedForMo)
  @IsBoolean(failsWith('trustedForMo must be true or false.'))
  @Optional()
  trustedForMo?: boolean;

  @OneOf(BIND_FIELDS.senderFormat, SENDER_FORMATS)
  senderFormat?: SenderFormat;

  @ApiPropertyOptional(BIND_FIELDS.enabled)
  @IsBoolean(failsWith('enabled must be true or false.'))
  @Optional()
  enabled?: boolean;
}

/** The body of PATCH /v1/admin/binds/{id}. `hosts` and `tls` replace the stored ones. */
export class BindChange extends ChangeOf(BindDraft) {}
