/** The five timers of a link (SMPP 3.4 section 7.2, and the PDU-read timer), in milliseconds. 0 turns one off, but not `responseMs`. */
export interface LinkTimers {
  /** From the connection to a successful bind. */
  readonly sessionInitMs: number;
  /** From the first octet of a PDU to its last. */
  readonly pduReadMs: number;
  /** An enquire_link goes out when the peer has answered nothing for so long; no answer within `responseMs` closes. */
  readonly enquireLinkMs: number;
  /** From a request to its answer: ours, and the peer's while a handler holds it. */
  readonly responseMs: number;
  /** Without any message; enquire_link does not count. Closes a quiet link, so 0 where quiet is normal. */
  readonly inactivityMs: number;
}

/** What the timers of one link know. A value: every event makes a new one, `handleTick` says what is due. */
export interface TimersState {
  readonly settings: LinkTimers;
  readonly bound: boolean;
  readonly startedMs: number;
  /** First octet of a PDU that is not complete yet. */
  readonly partialSinceMs: number | null;
  /** When the peer last answered anything, or was last asked. */
  readonly provenMs: number;
  /** When the unanswered enquire_link went out. */
  readonly enquiredMs: number | null;
  readonly lastMessageMs: number;
  /** When the oldest request of ours becomes overdue. */
  readonly answerDueMs: number | null;
  /** When the oldest request of the peer that a handler holds becomes overdue. */
  readonly handlerDueMs: number | null;
  /** Since when octets are being read; null while back-pressure stops it: nothing can then be held against the peer. */
  readonly readingSinceMs: number | null;
}

export type TimerName =
  'session-init' | 'pdu-read' | 'dead-link' | 'inactivity' | 'response' | 'handler' | 'enquire-link';

/** After reading was stopped, answers that wait in the socket have so long to be read before they count as missing. */
const RESUMED_GRACE_MS = 1_000;

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
  };
}

export function timersBound(timers: TimersState, nowMs: number): TimersState {
  return { ...timers, bound: true, provenMs: nowMs, lastMessageMs: nowMs };
}

export interface ReadOutcome {
  /** The read left a PDU incomplete / it completed or began one. */
  readonly partial: boolean;
  readonly completed: boolean;
  /** A request of ours was answered / a message or its answer came. */
  readonly answered: boolean;
  readonly message: boolean;
}

/** After each read. A PDU that dribbles in keeps the time of its first octet. */
export function timersRead(timers: TimersState, nowMs: number, read: ReadOutcome): TimersState {
  const since = read.completed ? nowMs : (timers.partialSinceMs ?? nowMs);
  return {
    ...timers,
    partialSinceMs: read.partial ? since : null,
    provenMs: read.answered ? nowMs : timers.provenMs,
    lastMessageMs: read.message ? nowMs : timers.lastMessageMs,
  };
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

/** When each timer fires if nothing happens before; those that close come first. */
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

function missingAtMs(timers: TimersState, dueMs: number): number {
  if (timers.readingSinceMs === null) return NEVER;
  return Math.max(dueMs, timers.readingSinceMs + Math.min(RESUMED_GRACE_MS, timers.settings.responseMs));
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
