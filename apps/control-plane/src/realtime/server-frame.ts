import type { ErrorCode } from '../http/errors.js';
import type { FrameId } from './client-frame.js';

/*
 * Frames of the server (contract, Realtime), as JSON text. A snapshot and the data of an event are JSON text that this
 * process rendered, or that a row of events holds, and are inserted unchanged: metadata keeps the order of its keys.
 * Every other value is escaped.
 */

export const welcomeFrame = (authenticated: boolean, heartbeatMs: number): string =>
  JSON.stringify({ type: 'welcome', authenticated, heartbeatMs });

export const authenticatedFrame = (id: FrameId): string => JSON.stringify({ type: 'authenticated', id });

export const pongFrame = (id: FrameId): string => JSON.stringify({ type: 'pong', id });

export const subscribedFrame = (id: FrameId, channel: string, snapshot: string): string =>
  `{"type":"subscribed","id":${JSON.stringify(id)},"channel":${JSON.stringify(channel)},"snapshot":${snapshot}}`;

/** The id is null when the client did not request it. */
export const unsubscribedFrame = (id: FrameId | null, channel: string): string =>
  JSON.stringify({ type: 'unsubscribed', ...(id === null ? {} : { id }), channel });

export const closingFrame = (reconnectAfterMs: number): string => JSON.stringify({ type: 'closing', reconnectAfterMs });

/** A subscribe cannot be resumed; HTTP has no such error. */
export const RESUME_TOO_OLD = 'RESUME_TOO_OLD';

export interface FrameError {
  readonly code: ErrorCode | typeof RESUME_TOO_OLD;
  readonly message: string;
}

export const errorFrame = (id: FrameId | null, { code, message }: FrameError): string =>
  JSON.stringify({ type: 'error', ...(id === null ? {} : { id }), error: { code, message } });

export interface EventFrame {
  /** `evt_…` */
  readonly id: string;
  readonly event: string;
  readonly timestamp: string;
  /** JSON text. */
  readonly data: string;
}

/** Octets instead of text: the same ones are sent to every subscriber. */
export function eventFrame(channel: string, { id, event, timestamp, data }: EventFrame): Buffer {
  const head = JSON.stringify({ type: 'event', channel, id, event, timestamp });
  return Buffer.from(`${head.slice(0, -1)},"data":${data}}`);
}
