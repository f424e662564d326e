import type { TlsSettings } from '@countersign/settings';

/** A year, as the shipped proxy says it too. */
const HSTS = 'max-age=31536000';

/**
 * Headers of every response of the control plane, errors included: no browser guesses a type from the content (Fetch
 * standard), and with TLS of its own no browser that was here comes back without TLS (RFC 6797). Behind a TLS proxy
 * the second is the proxy's header. It is not sent by an installation whose base URL is on `localhost`: a browser would
 * then refuse plain HTTP to every other server of that machine, since the policy of a host holds for all its ports.
 */
export function securityHeaders(tls: TlsSettings, publicBaseUrl: string): Readonly<Record<string, string>> {
  const forAll = { 'x-content-type-options': 'nosniff' };
  if (tls.mode === 'proxy' || isLocalhost(new URL(publicBaseUrl).hostname)) return forAll;
  return { ...forAll, 'strict-transport-security': HSTS };
}

const isLocalhost = (hostname: string): boolean => hostname === 'localhost' || hostname.endsWith('.localhost');
