import ipaddr from 'ipaddr.js';
import { inRanges, parseRanges, type AddressRange } from './address-ranges.js';
import { isWebPort } from './web-ports.js';

export const MAX_TARGET_LENGTH = 2048;
/**
 * Of a host name, without the dot at its end (RFC 1035, 2.3.4). No longer one has an address, and OpenSSL refuses one of
 * more than 255 octets in a way that Node mistakes for a fault of another connection, of a caller of ours for instance.
 */
const MAX_HOST_NAME_LENGTH = 253;

/** What an operator allows besides public https (contract, `WEBHOOK_ALLOWED_CIDRS` and `WEBHOOK_ALLOW_HTTP`). */
export interface TargetPolicy {
  readonly allowedCidrs: readonly string[];
  /** Plain http, and then only to addresses inside `allowedCidrs`. */
  readonly allowHttp: boolean;
}

export type TargetCheck = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly because: string };

/** Tabs, newlines and backslashes are what URL parsers disagree about; no URL needs them. */
const DOUBTFUL = /[\u0000-\u0020\u007f\\]/; // eslint-disable-line no-control-regex -- it is they that are looked for
/** Scheme, two slashes and an authority: URL parsers repair `https:host` and `https:///host`, receivers' own tools do not. */
const ABSOLUTE = /^[a-z]+:\/\/([^/?#]+)/i;

const FOUR_PARTS = /^[0-9]+(\.[0-9]+){3}$/;

/**
 * Where webhooks may go (contract, Targets): one set of rules for the URL that is given at create and for the address
 * that is met at delivery, so that what is accepted is what is called.
 */
export class TargetRules {
  private readonly allowed: readonly AddressRange[];

  /** Throws when a CIDR cannot be read. */
  constructor(private readonly policy: TargetPolicy) {
    this.allowed = parseRanges(policy.allowedCidrs);
  }

  /**
   * What a URL says by itself: scheme, length, no userinfo, no fragment, and a literal address, however it is spelled,
   * must be admitted. Names are not looked up here; every address of theirs is checked when the connection is made.
   */
  check(text: string): TargetCheck {
    if (text.length > MAX_TARGET_LENGTH) return no(`is longer than ${MAX_TARGET_LENGTH} characters`);
    if (DOUBTFUL.test(text)) return no('holds white space, a control character or a backslash');
    if (text.includes('#')) return no('has a fragment');
    const [, authority] = ABSOLUTE.exec(text) ?? [];
    if (authority === undefined) return no('is not an absolute URL');
    if (authority.includes('@')) return no('has a user name or password');
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || url.hostname === '') return no('is not an absolute URL');
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.policy.allowHttp)) return no('is not https');
    if (url.href.length > MAX_TARGET_LENGTH) return no(`is longer than ${MAX_TARGET_LENGTH} characters`);
    if (url.hostname.replace(/\.$/, '').length > MAX_HOST_NAME_LENGTH) {
      return no(`has a host name longer than ${MAX_HOST_NAME_LENGTH} characters`);
    }
    if (!isWebPort(url) && !this.isAllowedLoopback(url)) return no('names a port at which no web server is called');
    const literal = literalAddress(url.hostname);
    if (literal !== null && !this.admits(literal, url.protocol)) return no('points to an address that is not public');
    return { ok: true, url };
  }

  /** On loopback addresses that the operator has allowed, as in development, every port is allowed. */
  private isAllowedLoopback({ hostname, protocol }: URL): boolean {
    const address = hostname === 'localhost' ? '127.0.0.1' : literalAddress(hostname);
    return address !== null && inRanges(address, LOOPBACK) && this.admits(address, protocol);
  }

  /**
   * Whether a connection to this address may be made: public unicast over https, or what the operator allowed. Never one to
   * the metadata services of clouds, even inside an allowed range, because they return credentials.
   */
  admits(address: string, protocol: string): boolean {
    if (!ipaddr.isValid(address) || inRanges(address, CLOUD_SERVICES)) return false;
    if (inRanges(address, this.allowed)) return protocol === 'https:' || this.policy.allowHttp;
    return protocol === 'https:' && isPublicUnicast(ipaddr.parse(address));
  }
}

/**
 * Where clouds serve metadata and credentials to the machines that run in them. Only the first lies in public space; the
 * others are named because an allowed range may hold them.
 */
const CLOUD_SERVICES_V4 = [
  // Azure WireServer.
  '168.63.129.16/32',
  // AWS, Google, Azure, Oracle, OpenStack, DigitalOcean and others, on link-local addresses; ECS and EKS credentials too.
  '169.254.0.0/16',
  // Oracle (legacy).
  '192.0.0.192/32',
  // Alibaba.
  '100.100.100.200/32',
];
const CLOUD_SERVICES = parseRanges([
  ...CLOUD_SERVICES_V4,
  // The same addresses behind NAT64 (RFC 6052, 2.1).
  ...CLOUD_SERVICES_V4.map((range) => `64:ff9b::${range.replace(/\d+$/, (bits) => String(Number(bits) + 96))}`),
  'fe80::/10',
  // AWS over IPv6: metadata, name server, time, credentials of pods.
  'fd00:ec2::/32',
  // Google over IPv6.
  'fd20:ce::/32',
  // Oracle and Scaleway over IPv6.
  'fd00:c1::/32',
  'fd00:42::/32',
]);

const LOOPBACK = parseRanges(['127.0.0.0/8', '::1/128']);

/** All of IPv6 that is given out for public unicast (RFC 4291, 2.4); `::a.b.c.d` and other forms of old lie outside it. */
const GLOBAL_UNICAST = parseRanges(['0.0.0.0/0', '2000::/3']);

const isPublicUnicast = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === 'unicast' && inRanges(address.toString(), GLOBAL_UNICAST);

const no = (because: string): TargetCheck => ({ ok: false, because: `The URL ${because}.` });

/**
 * The address that a host name is, or null for a name. A URL parser has by then turned `127.1`, `0x7f.1`, `2130706433`
 * and full-width digits into four decimal parts, and put IPv6 in brackets.
 */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  // Told by their letters: asking the library about a name costs it an exception.
  return bare.includes(':') || FOUR_PARTS.test(bare) ? bare : null;
}

/**
 * The host and port in a stored URL. Deliveries to one host share its limits; the port belongs to it, since two services
 * of one machine fail apart. Read from the text, as the statements that look for free hosts read it.
 */
export function hostOf(url: string): string {
  return (ABSOLUTE.exec(url)?.[1] ?? '').toLowerCase();
}
