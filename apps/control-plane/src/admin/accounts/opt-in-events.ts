import { EVENT_TYPES } from '@countersign/events';

/** What an account may ask to be told of (contract, Webhooks); `verification.completed` it is told of anyway. */
export const OPT_IN_EVENTS: readonly string[] = EVENT_TYPES.filter((type) => type !== 'verification.completed');
