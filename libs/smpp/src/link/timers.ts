/**
 * The five timers of a link (SMPP 3.4 section 7.2, and the PDU-read timer), in milliseconds. 0 disables a timer,
 * except `responseMs`.
 */
export interface LinkTimers {
  /** From the connection to a successful bind. */
  readonly sessionInitMs: number;
  /** From the first octet of a PDU to its last. */
  readonly pduReadMs: number;
  /**
   * An enquire_link is sent after this time without a response from the peer; no answer within `responseMs` closes
   * the link.
   */
  readonly enquireLinkMs: number;
  /** From a request to its response: for our requests, and for the peer's messages while a handler processes them. */
  readonly responseMs: number;
  /** Time without a message; enquire_link does not count. Closes an idle link, so 0 where idle links are normal. */
  readonly inactivityMs: number;
}

/**
 * The timer state of one link. An immutable value: every event returns a new one, `handleTick` returns the timer that
 * is due.
 */
export interface TimersState {
  readonly settings: LinkTimers;
  readonly bound: boolean;
  readonly startedMs: number;
  /** Arrival of the first octet of an incomplete PDU. */
  readonly partialSinceMs: number | null;
  /** When the peer last answered, or when the last enquire_link was sent. */
  readonly provenMs: number;
  /** When the unanswered enquire_link was sent. */
  readonly enquiredMs: number | null;
  readonly lastMessageMs: number;
  /** Deadline of our oldest request. */
  readonly answerDueMs: number | null;
  /** Deadline of the peer's oldest message that is being handled. */
  readonly handlerDueMs: number | null;
  /** When reading started or resumed; null while back-pressure stops it: a missing response is then not counted. */
  readonly readingSinceMs: number | null;
  /** The first and the last read of a series that ended in pauses which the peer caused by what it sends; null without a series. */
  readonly heldBack: { readonly sinceMs: number; readonly lastMs: number } | null;
}

export type TimerName =
  'session-init' | 'pdu-read' | 'dead-link' | 'inactivity' | 'response' | 'handler' | 'enquire-link';

/** After reading resumes, time to read responses that are already in the socket before they count as missing. */
const RESUMED_GRACE_MS = 1_000;
/** Longer than a pause with the grace after it. */
const SERIES_ENDS_AFTER_MS = 2_000;

export function startTimers(settings: LinkTimers, nowMs: number): TimersState {
  return {
    settings,
    bound: false,
    startedMs: nowMs,
    partialSinceMs: null,
    provenMs: nowMs,
    enquiredMs: null,
    lastMessageMs: nowMs,
    answerDueMs: null,
    handlerDueMs: null,
    readingSinceMs: nowMs,
    heldBack: null,
  };
}

export function timersBound(timers: TimersState, nowMs: number): TimersState {
  return { ...timers, bound: true, provenMs: nowMs, lastMessageMs: nowMs };
}

export interface ReadOutcome {
  /** The read ended inside a PDU / it completed at least one. */
  readonly partial: boolean;
  readonly completed: boolean;
  /** A request of ours was answered / a message or its response arrived. */
  readonly answered: boolean;
  readonly message: boolean;
  /** A pause follows, since the peer sends more than it may. */
  readonly isHeldBack: boolean;
}

/** Call after each read. A PDU received in several reads keeps the time of its first octet. */
export function timersRead(timers: TimersState, nowMs: number, read: ReadOutcome): TimersState {
  const since = read.completed ? nowMs : (timers.partialSinceMs ?? nowMs);
  return {
    ...timers,
    partialSinceMs: read.partial ? since : null,
    provenMs: read.answered ? nowMs : timers.provenMs,
    lastMessageMs: read.message ? nowMs : timers.lastMessageMs,
    heldBack: heldBackAfter(timers, nowMs, read),
  };
}

/** One read without a pause does not end a series: a peer could alternate them, and answer nothing. */
function heldBackAfter({ heldBack }: TimersState, nowMs: number, { isHeldBack }: ReadOutcome): TimersState['heldBack'] {
  const goesOn = heldBack !== null && nowMs - heldBack.lastMs <= SERIES_ENDS_AFTER_MS;
  if (!isHeldBack) return goesOn ? heldBack : null;
  return { sinceMs: goesOn ? heldBack.sinceMs : nowMs, lastMs: nowMs };
}

export function timersEnquireAnswered(timers: TimersState, nowMs: number): TimersState {
  return { ...timers, enquiredMs: null, provenMs: nowMs };
}

export function timersReadingStopped(timers: TimersState): TimersState {
  return { ...timers, readingSinceMs: null };
}

export function timersReadingResumed(timers: TimersState, nowMs: number): TimersState {
  return { ...timers, readingSinceMs: nowMs, partialSinceMs: timers.partialSinceMs === null ? null : nowMs };
}

export function timersWaiting(
  timers: TimersState,
  answerDueMs: number | null,
  handlerDueMs: number | null,
): TimersState {
  return { ...timers, answerDueMs, handlerDueMs };
}

const NEVER = Infinity;

/** When each timer fires without a further event; timers that close the link come first. */
const DUE: readonly (readonly [TimerName, (timers: TimersState) => number])[] = [
  ['session-init', (t) => (t.bound || t.settings.sessionInitMs === 0 ? NEVER : t.startedMs + t.settings.sessionInitMs)],
  [
    'pdu-read',
    (t) =>
      t.partialSinceMs === null || t.readingSinceMs === null || t.settings.pduReadMs === 0
        ? NEVER
        : t.partialSinceMs + t.settings.pduReadMs,
  ],
  ['dead-link', (t) => (t.enquiredMs === null ? NEVER : missingAtMs(t, t.enquiredMs + t.settings.responseMs))],
  ['inactivity', (t) => (t.bound && t.settings.inactivityMs > 0 ? t.lastMessageMs + t.settings.inactivityMs : NEVER)],
  ['response', (t) => (t.answerDueMs === null ? NEVER : missingAtMs(t, t.answerDueMs))],
  ['handler', (t) => t.handlerDueMs ?? NEVER],
  [
    'enquire-link',
    (t) =>
      t.bound && t.enquiredMs === null && t.settings.enquireLinkMs > 0 ? t.provenMs + t.settings.enquireLinkMs : NEVER,
  ],
];

/** A peer that is held back has the response time once more: its flood may precede the response, and need not end. */
function missingAtMs({ readingSinceMs, heldBack, settings }: TimersState, dueMs: number): number {
  const { responseMs } = settings;
  const readMs = readingSinceMs === null ? NEVER : readingSinceMs + Math.min(RESUMED_GRACE_MS, responseMs);
  const latestMs = heldBack === null ? NEVER : Math.max(dueMs, heldBack.sinceMs) + responseMs;
  return Math.min(Math.max(dueMs, readMs), latestMs);
}

/** When to call `handleTick` next; Infinity when no timer runs. */
export function nextTickMs(timers: TimersState): number {
  return DUE.reduce((earliest, [, dueMs]) => Math.min(earliest, dueMs(timers)), NEVER);
}

/** The first timer that is due and the timers after it fired. Call again until `fired` is null. */
export function handleTick(timers: TimersState, nowMs: number): { timers: TimersState; fired: TimerName | null } {
  const fired = DUE.find(([, dueMs]) => dueMs(timers) <= nowMs)?.[0] ?? null;
  switch (fired) {
    case 'enquire-link':
      return { timers: { ...timers, enquiredMs: nowMs, provenMs: nowMs }, fired };
    case 'inactivity':
      return { timers: { ...timers, lastMessageMs: nowMs }, fired };
    case 'response':
      return { timers: { ...timers, answerDueMs: null }, fired };
    case 'handler':
      return { timers: { ...timers, handlerDueMs: null }, fired };
    default:
      return { timers, fired };
  }
}
