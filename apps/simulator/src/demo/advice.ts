/** An error as the service, or the connection to it, reported it. */
export interface Fault {
  /** An error code of the service (contract, Errors) or of this shop. */
  readonly code: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly attemptsRemaining?: number | undefined;
}

/** The text that the shop shows: what happened, and what to do next. */
export interface Advice {
  readonly code: string;
  readonly title: string;
  readonly next: string;
  /** Milliseconds until the same request may be repeated; null: not at all. */
  readonly retryInMs: number | null;
  readonly attemptsLeft: number | null;
}

interface Words {
  readonly title: string;
  readonly next: string;
}

const WORDS: Readonly<Record<string, Words>> = {
  INVALID_PHONE: {
    title: 'That number cannot be used',
    next: 'Check the digits, with the country code first: +1 415 555 2671.',
  },
  DESTINATION_BLOCKED: {
    title: 'No codes go to that number',
    next: 'Send us the text instead, or sign in with another number.',
  },
  SMS_OTP_DISABLED: { title: 'Codes are switched off here', next: 'Use the card or the text on your phone.' },
  OTP_NOT_SENT: { title: 'No code was sent yet', next: 'Ask for a code first.' },
  SESSION_NOT_FOUND: { title: 'This sign-in has run out', next: 'Start again: it takes a moment.' },
  SESSION_NOT_PENDING: { title: 'This sign-in is already decided', next: 'Start again if you are not signed in.' },
  UNAUTHORIZED: {
    title: 'The shop’s key is not accepted',
    next: 'Start everything again with npm start: it hands the shop a fresh key.',
  },
  NO_ACCOUNT: {
    title: 'The shop has no account yet',
    next: 'Stop this simulator and run npm start: it starts the service too and gives the shop an account.',
  },
  SERVICE_UNAVAILABLE: {
    title: 'The service is busy',
    next: 'Nothing was sent. Wait a moment, then try again.',
  },
  UNREACHABLE: {
    title: 'The shop cannot reach the service',
    next: 'Is Countersign still running? Look at the terminal of npm start, then try again.',
  },
  TOO_MANY_LOGINS: { title: 'The shop is full', next: 'Try again in a minute.' },
  LOGIN_NOT_FOUND: { title: 'This sign-in is gone', next: 'Start again: it takes a moment.' },
  OTHER_BROWSER: {
    title: 'Approved, but not for this browser',
    next: 'The secret of this browser is not the one that the sign-in began with. Start again here.',
  },
};

const OTHERWISE: Words = {
  title: 'That did not work',
  next: 'Try again. If it stays, the log of the simulator says why.',
};

export function adviceOn(fault: Fault): Advice {
  const { code, retryAfterSeconds, attemptsRemaining } = fault;
  return {
    code,
    ...wordsFor(fault),
    retryInMs: retryAfterSeconds === undefined ? null : retryAfterSeconds * 1_000,
    attemptsLeft: attemptsRemaining ?? null,
  };
}

function wordsFor({ code, retryAfterSeconds, attemptsRemaining }: Fault): Words {
  switch (code) {
    case 'INVALID_CODE':
      return wrongCode(attemptsRemaining);
    case 'TOO_MANY_ATTEMPTS':
      return {
        title: 'Too many wrong codes',
        next: 'Answer on your phone instead, or start again with a new sign-in.',
      };
    case 'RATE_LIMITED':
      return { title: 'One moment', next: `You can ask again ${inWords(retryAfterSeconds)}.` };
    case 'SEND_LIMIT_REACHED':
      return {
        title: 'That is all the codes for now',
        next: `Use the newest one you got, or the text. More codes ${inWords(retryAfterSeconds)}.`,
      };
    default:
      return WORDS[code] ?? OTHERWISE;
  }
}

function wrongCode(left: number | undefined): Words {
  const title = 'That is not the code';
  if (left === undefined) return { title, next: 'Check the newest text and try again.' };
  if (left === 0) return { title, next: 'No attempts are left. Answer on your phone instead, or start again.' };
  return { title, next: `Check the newest text: ${left === 1 ? '1 attempt is' : `${left} attempts are`} left.` };
}

function inWords(seconds: number | undefined): string {
  if (seconds === undefined) return 'in a moment';
  if (seconds < 90) return seconds === 1 ? 'in a second' : `in ${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `in ${minutes} minutes` : `in ${Math.ceil(minutes / 60)} hours`;
}
