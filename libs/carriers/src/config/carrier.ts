import type { SenderFormat } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { SenderLearning } from '../senders/sender-learning.js';

export type BindType = 'transmitter' | 'receiver' | 'transceiver';

export const INTERFACE_VERSIONS = ['3.3', '3.4', '5.0'] as const;
export type InterfaceVersion = (typeof INTERFACE_VERSIONS)[number];

export const LINK_ALPHABETS = ['gsm', 'latin1', 'ascii', 'gsm-packed'] as const;
/** What `data_coding` 0 means on a link (contract, Admin). */
export type LinkAlphabet = (typeof LINK_ALPHABETS)[number];

export const BIND_TYPES: readonly BindType[] = ['transmitter', 'receiver', 'transceiver'];

export const MESSAGE_ID_BASES = ['as-is', 'hex-to-dec', 'dec-to-hex'] as const;
/** `hex-to-dec`: the response gives an id in hexadecimal, its receipt the same number in decimal; and the other way round. */
export type MessageIdBase = (typeof MESSAGE_ID_BASES)[number];

/** What a bind of ours and a system that connects in have in common. */
export interface LinkTerms {
  /** Parts of one long message may come over any link of one carrier. */
  readonly carrier: string;
  readonly defaultAlphabet: LinkAlphabet;
  /** SMPP command status that makes this carrier send an MO again. */
  readonly retryableMoStatus: number;
  /** Only a trusted link's MO is evidence (contract, MO matching). */
  readonly trustedForMo: boolean;
  /** The format of its senders of unknown type (TON 0) that begin with neither a plus nor `00`. */
  readonly senderFormat: SenderFormat;
  /** Sender evidence; null without any. Read with the row, written only by gateways. */
  readonly senderLearning: SenderLearning | null;
  readonly enabled: boolean;
}

/** A carrier or aggregator that connects in. */
export interface SmppSystem extends LinkTerms {
  readonly id: Uuid;
  readonly systemId: string;
  /** See `systemPasswordMatches`. */
  readonly passwordDigest: Buffer;
  /** The version of the master key that made the digest; it is made again with the current one when the system binds. */
  readonly digestVersion: number;
  readonly bindTypes: readonly BindType[];
  /** Networks it may come from; empty for any. */
  readonly allowedCidrs: readonly string[];
  readonly maxConnections: number;
  /** Messages a second that are taken from it over all its connections; null for no limit. */
  readonly submitPerSecond: number | null;
  readonly tlsRequired: boolean;
}

export interface BindHost {
  readonly host: string;
  readonly port: number;
}

export interface BindTls {
  readonly enabled: boolean;
  /** PEM; in place of the authorities that Node trusts. */
  readonly caCertificate?: string;
  /** Name that the certificate must carry, where it is not the host. */
  readonly serverName?: string;
}

/** A connection that we are to keep: desired state, as an administrator wants it. */
export interface Bind extends LinkTerms {
  readonly id: Uuid;
  readonly name: string;
  /** Tried in turn; at least one. */
  readonly hosts: readonly BindHost[];
  readonly tls: BindTls;
  readonly systemId: string;
  /** See `bindPassword`. Changes whenever the password is set. */
  readonly passwordSealed: Buffer;
  readonly systemType: string;
  readonly bindType: BindType;
  readonly interfaceVersion: InterfaceVersion;
  readonly addressRange: string;
  /** Our requests that may be unanswered at a time. */
  readonly sendWindow: number;
  /** Connections to be held at a time, spread over the hosts. */
  readonly connections: number;
  /** Submits a second over all connections; less while the carrier throttles. */
  readonly submitPerSecond: number;
  /** How this carrier's receipts spell the message ids of its responses. */
  readonly messageIdBase: MessageIdBase;
  /** Command statuses after which a submit may be tried again. */
  readonly temporaryStatuses: readonly number[];
  /** Raised by a wish to reconnect: a connection made under an older one is made anew. */
  readonly generation: number;
  /** Until when its trace shows message texts; null or past: never. */
  readonly fullTraceUntil: Date | null;
  readonly enquireLinkSeconds: number;
  readonly responseTimeoutSeconds: number;
}

/** A number that phones send to. */
export interface InboundNumber {
  readonly id: Uuid;
  /** E.164, or a short code of 3 to 8 digits. */
  readonly number: string;
  /** ISO 3166-1 alpha-2 of the countries that it serves; `*` for all. */
  readonly countries: readonly string[];
  /** The one brand it is reserved for, or null. */
  readonly brandId: Uuid | null;
}
