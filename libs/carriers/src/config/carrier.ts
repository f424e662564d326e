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

export interface BindHost {
  readonly host: string;
  readonly port: number;
}

/** A bind over connections that the carrier opens: it sends outbind, and the gateway binds back (SMPP 3.4, 4.1.7). */
export interface BindOutbind {
  /** The system_id of the carrier's outbind. */
  readonly systemId: string;
  /** Networks from which the carrier connects; at least one. */
  readonly allowedCidrs: readonly string[];
}

/** The call of a system that connects in: this gateway connects to it and sends outbind, and the system binds (SMPP 3.4, 4.1.7). */
export interface SystemOutbind extends BindHost {
  readonly tls: BindTls;
  /** The system_id of our outbind. */
  readonly systemId: string;
}

export interface BindTls {
  readonly enabled: boolean;
  /** PEM; replaces the certificate authorities that Node trusts. */
  readonly caCertificate?: string;
  /** Name required in the certificate, if it is not the host. */
  readonly serverName?: string;
  /** PEM; presented to the carrier. Its key is `Bind.clientKeySealed`. */
  readonly clientCertificate?: string;
}
