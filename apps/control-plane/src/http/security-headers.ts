import type { TlsSettings } from '@countersign/settings';

/** One year, as in the shipped proxy configuration. */
const HSTS = 'max-age=31536000';

/**
 * Headers of every response of the control plane, errors included: nosniff, so that browsers do not guess the content
 * type (Fetch standard), and HSTS where this process serves TLS (RFC 6797). Behind a TLS proxy the proxy sends HSTS.
 * With a base URL on `localhost` HSTS is omitted: a browser would then refuse plain HTTP to every other server of that
 * machine, since the policy of a host holds for all its ports.
 */
export function securityHeaders(tls: TlsSettings, publicBaseUrl: string): Readonly<Record<string, string>> {
  const forAll = { 'x-content-type-options': 'nosniff' };
  if (tls.mode === 'proxy' || isLocalhost(new URL(publicBaseUrl).hostname)) return forAll;
  return { ...forAll, 'strict-transport-security': HSTS };
}

const isLocalhost = (hostname: string): boolean => hostname === 'localhost' || hostname.endsWith('.localhost');
