export { AGREED_TLS } from './agreed-tls.js';
