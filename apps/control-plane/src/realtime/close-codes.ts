/** Close codes of the server (contract, Realtime). */
export const CLOSE = {
  goingAway: 1001,
  badMessages: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  noAuthInTime: 4408,
  tooMany: 4429,
  tooSlow: 4503,
} as const;

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];

/** Reason texts of the close frame, for people. */
export const CLOSE_REASONS: Readonly<Record<CloseCode, string>> = {
  1001: 'the server is going away',
  4400: 'three messages could not be understood',
  4401: 'the ticket, the API key or the session of the console is not valid',
  4403: 'this may not be listened to',
  4408: 'no auth within 5 seconds',
  4429: 'too many messages or connections',
  4503: 'the reader is too slow',
};
