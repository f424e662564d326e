import type { ControlPlaneSettings } from '@countersign/settings';
import ipaddr from 'ipaddr.js';
import { inRanges, isCloudService, parseRanges, type AddressRange } from './address-ranges.js';
import { isWebPort } from './web-ports.js';

export const MAX_TARGET_LENGTH = 2048;
/**
 * Of a host name without its final dot (RFC 1035, 2.3.4). Longer names have no address, and OpenSSL refuses one of more than
 * 255 octets with an error that Node attributes to another connection, for instance to one of our callers.
 */
const MAX_HOST_NAME_LENGTH = 253;

/** Targets that an operator allows besides public https (contract, `WEBHOOK_ALLOWED_CIDRS` and `WEBHOOK_ALLOW_HTTP`). */
export interface TargetPolicy {
  readonly allowedCidrs: readonly string[];
  /** Plain http, and then only to addresses inside `allowedCidrs`. */
  readonly allowHttp: boolean;
}

type TargetSettings = Pick<ControlPlaneSettings, 'webhookAllowedCidrs' | 'webhookAllowHttp'>;

export type TargetCheck = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly because: string };

/** URL parsers disagree about tabs, newlines and backslashes; no URL needs them. */
const AMBIGUOUS = /[\u0000-\u0020\u007f\\]/; // eslint-disable-line no-control-regex -- the pattern matches them
/** Scheme, two slashes and an authority. URL parsers repair `https:host` and `https:///host`; the tools of receivers do not. */
const ABSOLUTE = /^[a-z]+:\/\/([^/?#]+)/i;

const FOUR_PARTS = /^[0-9]+(\.[0-9]+){3}$/;

/**
 * The rules for webhook targets (contract, Targets). The same rules apply to the URL at its creation and to its address at
 * delivery.
 */
export class TargetRules {
  private readonly allowed: readonly AddressRange[];

  static ofSettings(settings: TargetSettings): TargetRules {
    return new TargetRules({ allowedCidrs: settings.webhookAllowedCidrs, allowHttp: settings.webhookAllowHttp });
  }

  /** Throws on a malformed CIDR. */
  constructor(private readonly policy: TargetPolicy) {
    this.allowed = parseRanges(policy.allowedCidrs);
  }

  /**
   * Checks the text of a URL: scheme, length, port, no userinfo, no fragment; a literal address in any spelling must be
   * admitted. Names are not looked up: their addresses are checked at connect.
   */
  check(text: string): TargetCheck {
    if (text.length > MAX_TARGET_LENGTH) return refuse(`is longer than ${MAX_TARGET_LENGTH} characters`);
    if (AMBIGUOUS.test(text)) return refuse('holds white space, a control character or a backslash');
    if (text.includes('#')) return refuse('has a fragment');
    const [, authority] = ABSOLUTE.exec(text) ?? [];
    if (authority === undefined) return refuse('is not an absolute URL');
    if (authority.includes('@')) return refuse('has a user name or password');
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || url.hostname === '') return refuse('is not an absolute URL');
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.policy.allowHttp))
      return refuse('is not https');
    if (url.href.length > MAX_TARGET_LENGTH) return refuse(`is longer than ${MAX_TARGET_LENGTH} characters`);
    if (url.hostname.replace(/\.$/, '').length > MAX_HOST_NAME_LENGTH) {
      return refuse(`has a host name longer than ${MAX_HOST_NAME_LENGTH} characters`);
    }
    if (!isWebPort(url) && !this.isAllowedLoopback(url)) return refuse('names a port at which no web server is called');
    const literal = literalAddress(url.hostname);
    if (literal !== null && !this.admits(literal, url.protocol))
      return refuse('points to an address that is not public');
    return { ok: true, url };
  }

  /** Allowed loopback addresses, as in development, may have any port. */
  private isAllowedLoopback({ hostname, protocol }: URL): boolean {
    const address = hostname === 'localhost' ? '127.0.0.1' : literalAddress(hostname);
    return address !== null && inRanges(address, LOOPBACK) && this.admits(address, protocol);
  }

  /** Whether the operator allows networks besides public addresses, in which local names may be those of receivers. */
  get allowsNetworks(): boolean {
    return this.allowed.length > 0;
  }

  /**
   * Whether a connection to this address is allowed: public unicast over https, or a range that the operator allowed. Never to
   * metadata services of clouds, even inside an allowed range, because they return credentials.
   */
  admits(address: string, protocol: string): boolean {
    if (!ipaddr.isValid(address) || isCloudService(address)) return false;
    if (inRanges(address, this.allowed)) return protocol === 'https:' || this.policy.allowHttp;
    return protocol === 'https:' && isPublicUnicast(ipaddr.parse(address));
  }
}

const LOOPBACK = parseRanges(['127.0.0.0/8', '::1/128']);

/** The IPv6 range of public unicast (RFC 4291, 2.4), without `::a.b.c.d` and other deprecated forms; all of IPv4. */
const GLOBAL_UNICAST = parseRanges(['0.0.0.0/0', '2000::/3']);

const isPublicUnicast = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === 'unicast' && inRanges(address.toString(), GLOBAL_UNICAST);

const refuse = (because: string): TargetCheck => ({ ok: false, because: `The URL ${because}.` });

/**
 * The literal address in a host name of a parsed URL, or null for a name. The URL parser has normalized `127.1`, `0x7f.1`,
 * `2130706433` and full-width digits to four decimal parts, and put IPv6 in brackets.
 */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  // By a pattern: the library would throw and catch an exception for every name.
  return bare.includes(':') || FOUR_PARTS.test(bare) ? bare : null;
}

/**
 * The host and port of a stored URL, by which deliveries share limits; services on two ports of one machine fail independently.
 * The same text as HOST in webhooks/deliveries.sql.ts.
 */
export function hostOf(url: string): string {
  return (ABSOLUTE.exec(url)?.[1] ?? '').toLowerCase();
}
