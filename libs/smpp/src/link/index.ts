export { credentialsEqual } from './credentials-equal.js';
export { LinkClosedError, NotSentError, ResponseTimeoutError } from './link-errors.js';
export type { BindCall, BindRequest, LinkHandlers, LinkOptions, MessageAnswer } from './link-options.js';
export type { LinkRole, LinkState } from './link-state.js';
export { SmppLink } from './smpp-link.js';
export type { LinkTimers } from './timers.js';
