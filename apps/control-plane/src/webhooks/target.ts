import ipaddr from 'ipaddr.js';
import { inRanges, parseRanges, type AddressRange } from '../address-ranges.js';

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
    const literal = literalAddress(url.hostname);
    if (literal !== null && !this.admits(literal, url.protocol)) return no('points to an address that is not public');
    return { ok: true, url };
  }

  /** Whether a connection to this address may be made: public unicast over https, or what the operator allowed. */
  admits(address: string, protocol: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    if (inRanges(address, this.allowed)) return protocol === 'https:' || this.policy.allowHttp;
    return protocol === 'https:' && isPublicUnicast(ipaddr.parse(address));
  }
}

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
