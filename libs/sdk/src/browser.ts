/** What a page needs: no key, no call to the service. */
export { createChallenge, verifySecret, type Challenge } from './challenge.js';
export { parseFallbackUri, platformSmsUri, smsQrText, type FallbackMessage } from './fallback-uri.js';
export { qrSvg, type QrOptions } from './qr-svg.js';
