import {
  BIND_TYPES,
  type BindType,
  INTERFACE_VERSIONS,
  type InterfaceVersion,
  LINK_ALPHABETS,
  type LinkAlphabet,
  MESSAGE_ID_BASES,
  type MessageIdBase,
} from '@countersign/carriers/config';
import { SENDER_FORMATS, type SenderFormat } from '@countersign/phone';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, ValidateIf } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import type { JsonObject, JsonValue } from '../../http/json-body.js';
import { ChangeOf, isLine, isListOf, isWholeNumber, Optional, Satisfies } from '../crud/fields.js';
import {
  isAscii,
  isCarrier,
  isErrorStatus,
  isPassword,
  isSystemId,
  MAX_CARRIER_CHARACTERS,
  SMPP_FIELDS,
} from '../crud/smpp-fields.js';
import { BIND_FIELDS, BIND_RANGES, MAX_NAME_CHARACTERS, MAX_STATUSES } from './bind.view.js';
import { hostsFault, isHost, isPort, MAX_HOSTS } from './hosts.js';
import { tlsFault } from './tls.js';

/** An optional whole number in its range. */
const Ranged =
  (field: keyof typeof BIND_RANGES): PropertyDecorator =>
  (target, property) => {
    const [low, high] = BIND_RANGES[field];
    ApiPropertyOptional(BIND_FIELDS[field])(target, property);
    Satisfies(isWholeNumber(low, high), `${field} must be a whole number from ${low} to ${high}.`)(target, property);
    Optional()(target, property);
  };

/** An optional field with one of the given values. */
const OneOf = (field: keyof typeof BIND_FIELDS, words: readonly string[]): PropertyDecorator => {
  return (target, property) => {
    ApiPropertyOptional(BIND_FIELDS[field])(target, property);
    IsIn([...words], failsWith(`${field} must be one of ${words.join(', ')}.`))(target, property);
    Optional()(target, property);
  };
};

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
export class BindDraft {
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

  @ApiPropertyOptional(BIND_FIELDS.tls)
  @Satisfies(
    (value) => tlsFault(value) === null,
    'tls must be an object of enabled (true or false), and where wanted caCertificate (PEM) and serverName (a host name).',
    (value) => tlsFault(value) ?? undefined,
  )
  @Optional()
  tls?: JsonObject;

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

  @OneOf('bindType', BIND_TYPES)
  bindType?: BindType;

  @OneOf('interfaceVersion', INTERFACE_VERSIONS)
  interfaceVersion?: InterfaceVersion;

  @ApiPropertyOptional(BIND_FIELDS.addressRange)
  @Satisfies(isAscii(0, 40), 'addressRange must be at most 40 characters of ASCII.')
  @Optional()
  addressRange?: string;

  @Ranged('connections')
  connections?: number;

  @Ranged('window')
  window?: number;

  @Ranged('submitPerSecond')
  submitPerSecond?: number;

  @Ranged('enquireLinkSeconds')
  enquireLinkSeconds?: number;

  @Ranged('responseTimeoutSeconds')
  responseTimeoutSeconds?: number;

  @OneOf('defaultAlphabet', LINK_ALPHABETS)
  defaultAlphabet?: LinkAlphabet;

  @OneOf('messageIdBase', MESSAGE_ID_BASES)
  messageIdBase?: MessageIdBase;

  @ApiPropertyOptional(BIND_FIELDS.temporaryStatuses)
  @Satisfies(
    isListOf(isErrorStatus, { most: MAX_STATUSES }),
    `temporaryStatuses must be a list of up to ${MAX_STATUSES} different command statuses: whole numbers from 1.`,
  )
  @Optional()
  temporaryStatuses?: readonly number[];

  @ApiPropertyOptional(BIND_FIELDS.retryableMoStatus)
  @Satisfies(isErrorStatus, 'retryableMoStatus must be a command status: a whole number from 1.')
  @Optional()
  retryableMoStatus?: number;

  @ApiPropertyOptional(SMPP_FIELDS.trustedForMo)
  @IsBoolean(failsWith('trustedForMo must be true or false.'))
  @Optional()
  trustedForMo?: boolean;

  @OneOf('senderFormat', SENDER_FORMATS)
  senderFormat?: SenderFormat;

  @ApiPropertyOptional(BIND_FIELDS.enabled)
  @IsBoolean(failsWith('enabled must be true or false.'))
  @Optional()
  enabled?: boolean;
}

/** The body of PATCH /v1/admin/binds/{id}. `hosts` and `tls` replace the stored ones. */
export class BindChange extends ChangeOf(BindDraft) {}
