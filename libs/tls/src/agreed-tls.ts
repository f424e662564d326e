import { constants } from 'node:crypto';
import tls from 'node:tls';

/**
 * The TLS that every connection of a daemon agrees to, as a client and as a server, except those to PostgreSQL and Redis:
 * options of `tls.connect`, `tls.createServer`, `createSecureContext` and the connectors of undici.
 *
 * The curves are the only groups. OpenSSL would accept finite-field groups too: a key share of ffdhe8192 (RFC 7919) costs the
 * peer nothing and this process 100 ms of CPU, and in TLS 1.2 a server chooses the prime, of up to 10,000 bits (700 ms).
 * Renegotiation, which TLS 1.2 lets a peer repeat without end, is refused.
 */
export const AGREED_TLS = {
  minVersion: 'TLSv1.2',
  ciphers: `${tls.DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: 'X25519:P-256:P-384',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const satisfies tls.SecureContextOptions;
