export { LinkClosedError, NotSentError, ResponseTimeoutError, UnreadableResponseError } from './link-errors.js';
export type { BindCall, BindRequest, LinkOptions, MessageAnswer, OutbindAgreement } from './link-options.js';
export type { BindType, LinkRole, LinkState } from './link-state.js';
export { SmppLink } from './smpp-link.js';
export type { LinkTimers } from './timers.js';
