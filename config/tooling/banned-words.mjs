// Words that a stranger cannot decode, each with the field's word for it. check-words.mjs reads this list.

/**
 * Parts of identifiers (`sendLane` has the parts `send` and `lane`), in any case, and why.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const BANNED_PARTS = {
  bell: 'notifier, queue',
  bells: 'notifiers, queues',
  crowd: 'clients, connections',
  crowded: 'overloaded',
  desk: 'service, handler, responder',
  errand: 'command',
  errands: 'commands',
  farewell: 'unbind sequence, close',
  gatekeeper: 'authorizer',
  guest: 'bound session, peer',
  housekeeping: 'maintenance',
  keeper: 'sweeper, monitor, renewer, maintainer',
  lane: 'queue, pool',
  lanes: 'queues, pools',
  nudge: 'trigger',
  roster: 'cache',
  rung: 'notified',
  seldom: 'throttled',
  tidings: 'event, rendered event',
  told: 'sent, published, reported, received',
  waiter: 'origin process',
  ajar: 'half_open',
};

/**
 * Openings of comments that put a clause where a noun belongs (style: subject, verb, object).
 *
 * @type {readonly { readonly pattern: RegExp, readonly instead: string }[]}
 */
export const BANNED_OPENINGS = [
  { pattern: /^What (?!if\b)/, instead: 'begin with the noun that it is about' },
  { pattern: /^Who(ever)? /, instead: 'name the caller, client, process or person' },
  { pattern: /^Those (that|who|which) /, instead: 'name them' },
  { pattern: /^That (it|the|nothing|a|an|they|this) /, instead: 'begin with the noun and its verb' },
  {
    pattern: /^It is (?!\w+(?:ed|en|ad|nt|pt|de|nd) )(?:(?! so that )[^.,;:])* that /,
    instead: 'subject, verb, object',
  },
  { pattern: /^Of (all|nothing|what) /, instead: 'subject, verb, object' },
];

/** Places where a banned part is a name that others own: a column, a field of the public API, a foreign protocol. */
export const EXEMPT = [
  { file: /session-card\.view\.ts$/, parts: ['errand', 'errands'], because: 'a field of the admin API' },
  { file: /contract\/verify-cards\.spec\.ts$/, parts: ['errand'], because: 'a field of the admin API' },
];
