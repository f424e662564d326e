/** Exports for a page: no key, no calls to the service. */
export { createChallenge, verifySecret, type Challenge } from './challenge.js';
export { parseFallbackUri, platformSmsUri, smsQrText, type FallbackMessage } from './fallback-uri.js';
export { qrSvg, type QrOptions } from './qr-svg.js';
export type { RealtimeListener } from './realtime-channel.js';
export type {
  Realtime,
  RealtimeChannelName,
  RealtimeStatus,
  RealtimeSubscription,
  RealtimeTicket,
} from './realtime-client.js';
export type { LiveEvent, SessionEvent, SessionView } from './realtime-event.js';
export { RealtimeError, type RealtimeEndReason } from './realtime-retry.js';
export type { ConnectSocket, RealtimeSocket } from './realtime-socket.js';
export { realtime, type KeyRealtimeOptions, type RealtimeOptions, type TicketRealtimeOptions } from './realtime.js';
