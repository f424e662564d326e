import type { SenderFormat } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { SenderLearning } from '../senders/sender-learning.js';

export type BindType = 'transmitter' | 'receiver' | 'transceiver';

export const INTERFACE_VERSIONS = ['3.3', '3.4', '5.0'] as const;
export type InterfaceVersion = (typeof INTERFACE_VERSIONS)[number];

export const LINK_ALPHABETS = ['gsm', 'latin1', 'ascii', 'gsm-packed'] as const;
/** The alphabet of `data_coding` 0 on a link (contract, Admin). */
export type LinkAlphabet = (typeof LINK_ALPHABETS)[number];

export const BIND_TYPES: readonly BindType[] = ['transmitter', 'receiver', 'transceiver'];

export const MESSAGE_ID_BASES = ['as-is', 'hex-to-dec', 'dec-to-hex'] as const;
/**
 * `hex-to-dec`: the response gives the id in hexadecimal, the receipt gives the same number in decimal; `dec-to-hex`:
 * the reverse.
 */
export type MessageIdBase = (typeof MESSAGE_ID_BASES)[number];

/** The common settings of our binds and of systems that connect in. */
export interface LinkTerms {
  /** Parts of one long message may arrive over any link of one carrier. */
  readonly carrier: string;
  readonly defaultAlphabet: LinkAlphabet;
  /** The SMPP command status that makes this carrier send an MO again. */
  readonly retryableMoStatus: number;
  /** Only the MOs of a trusted link are evidence (contract, MO matching). */
  readonly trustedForMo: boolean;
  /** The format of senders of unknown type (TON 0) that begin with neither a plus nor `00`. */
  readonly senderFormat: SenderFormat;
  /** Sender evidence; null if there is none. Read with the row, written only by gateways. */
  readonly senderLearning: SenderLearning | null;
  readonly enabled: boolean;
}

/** A carrier or aggregator that connects in. */
export interface SmppSystem extends LinkTerms {
  readonly id: Uuid;
  readonly systemId: string;
  /** See `systemPasswordMatches`. */
  readonly passwordDigest: Buffer;
  /**
   * The version of the master key of the digest; the digest is renewed with the current version when the system
   * binds.
   */
  readonly digestVersion: number;
  readonly bindTypes: readonly BindType[];
  /** Networks from which it may connect; empty for any. */
  readonly allowedCidrs: readonly string[];
  readonly maxConnections: number;
  /** Maximum messages per second over all its connections; null for no limit. */
  readonly submitPerSecond: number | null;
  readonly tlsRequired: boolean;
}

export interface BindHost {
  readonly host: string;
  readonly port: number;
}

export interface BindTls {
  readonly enabled: boolean;
  /** PEM; replaces the certificate authorities that Node trusts. */
  readonly caCertificate?: string;
  /** Name required in the certificate, if it is not the host. */
  readonly serverName?: string;
}

/** The desired state of one of our binds, as configured by an administrator. */
export interface Bind extends LinkTerms {
  readonly id: Uuid;
  readonly name: string;
  /** Tried in order; at least one. */
  readonly hosts: readonly BindHost[];
  readonly tls: BindTls;
  readonly systemId: string;
  /** See `bindPassword`. Changes whenever the password is set. */
  readonly passwordSealed: Buffer;
  readonly systemType: string;
  readonly bindType: BindType;
  readonly interfaceVersion: InterfaceVersion;
  readonly addressRange: string;
  /** Maximum number of our unanswered requests. */
  readonly sendWindow: number;
  /** Number of connections to keep, spread over the hosts. */
  readonly connections: number;
  /** Submits per second over all connections; less while the carrier throttles. */
  readonly submitPerSecond: number;
  /** How this carrier's receipts write the message ids of its responses. */
  readonly messageIdBase: MessageIdBase;
  /** Command statuses after which a submit may be retried. */
  readonly temporaryStatuses: readonly number[];
  /** Incremented to request a reconnect: connections of an older generation are replaced. */
  readonly generation: number;
  /** Until when its trace includes message texts; null or past: never. */
  readonly fullTraceUntil: Date | null;
  readonly enquireLinkSeconds: number;
  readonly responseTimeoutSeconds: number;
}

/** A number to which phones send. */
export interface InboundNumber {
  readonly id: Uuid;
  /** E.164, or a short code of 3 to 8 digits. */
  readonly number: string;
  /** ISO 3166-1 alpha-2 codes of the countries that it serves; `*` for all. */
  readonly countries: readonly string[];
  /** The brand for which it is reserved, or null. */
  readonly brandId: Uuid | null;
}
