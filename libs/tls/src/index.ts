export { AGREED_TLS } from './agreed-tls.js';
export { CertificateReload } from './certificate-reload.js';
export { TlsOverhead } from './tls-overhead.js';
