import { ApiError } from '../api/client.js';

/** Texts that say what to do next, by the code of the error. */
const KEY_FAULTS: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'This key is not valid here. It may be mistyped, revoked, or not allowed from this address.',
  RATE_LIMITED: 'Too many sign-ins were begun. Wait for ten minutes, then try again.',
};

const PHONE_FAULTS: Readonly<Record<string, string>> = {
  INVALID_PHONE:
    'This number cannot be verified. Write it with the country code, such as +14155552671. If it is right, ask an owner: no number of this installation may serve its country.',
  RATE_LIMITED: 'Too many sign-ins were begun from this network. Wait for ten minutes, then try again.',
};

const CODE_FAULTS: Readonly<Record<string, string>> = {
  INVALID_CODE: 'This code is not right, or no longer valid. Check its digits, or start again for a new one.',
  SEND_LIMIT_REACHED: 'A code was sent a moment ago. Wait for forty seconds before the next one.',
  RATE_LIMITED: 'Too many calls came from this network. Wait for a minute, then try again.',
};

/** Reasons with which the server leads back to this page. */
const RETURNED: Readonly<Record<string, string>> = {
  oidc: 'The provider’s sign-in was not accepted: you may not be a member of this installation, or it took too long. Try again, or ask an owner to add you.',
  'no-phone': 'Your sign-in needs an approval by your phone, and no phone is known of you. Ask an owner to add it.',
  later: 'Too many sign-ins were begun. Wait for ten minutes, then try again.',
};

const textBy =
  (texts: Readonly<Record<string, string>>) =>
  (error: unknown): string => {
    if (!(error instanceof Error)) return 'The sign-in failed. Try again.';
    return (error instanceof ApiError ? texts[error.code] : undefined) ?? error.message;
  };

export const keyFault = textBy(KEY_FAULTS);
export const phoneFault = textBy(PHONE_FAULTS);
export const codeFault = textBy(CODE_FAULTS);
export const returnedFault = (reason: string | undefined): string | null =>
  reason === undefined ? null : (RETURNED[reason] ?? null);
