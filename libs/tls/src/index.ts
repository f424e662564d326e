export { AGREED_TLS } from './agreed-tls.js';
export { CertificateReload } from './certificate-reload.js';
export { connectionName } from './connection-name.js';
export { GuardedTlsStream } from './guarded-tls-stream.js';
export { TlsOverhead } from './tls-overhead.js';
