import { forgetOldest } from '../memory/forget-oldest.js';

/** How RCS behaves for one number (contract, the carrier simulator). */
export interface PhoneProfile {
  /** Whether the number has RCS at all; a phone without it is what RBM answers 404 for. */
  readonly reachable: boolean;
  /** What is sent to a phone that is reachable but not online waits until it is, or until it expires. */
  readonly online: boolean;
  /** From the send, or from coming online. */
  readonly deliverAfterMs: number;
  /** A person who answers every card at once. */
  readonly autoTap: 'approve' | 'deny' | null;
  /** From delivery. */
  readonly tapAfterMs: number;
  /** A revoked card reaches the phone all the same, since the revoke came too late. */
  readonly deliverAnyway: boolean;
  /** Capabilities, as the service lists them. */
  readonly features: readonly string[];
}

/** A profile, and what sends to such a number are met with. */
export interface NumberBehaviour {
  readonly profile: PhoneProfile;
  /** Answered instead of taking the message. */
  readonly sendStatus: 429 | 503 | null;
  /** The message is taken, but the answer never comes. */
  readonly muteSend: boolean;
  /** The delivery and its opposite, the expiry, are both told. */
  readonly bothEvents: boolean;
}

const FEATURES = [
  'RICHCARD_STANDALONE',
  'RICHCARD_CAROUSEL',
  'ACTION_CREATE_CALENDAR_EVENT',
  'ACTION_DIAL',
  'ACTION_OPEN_URL',
  'ACTION_SHARE_LOCATION',
  'ACTION_VIEW_LOCATION',
  'ACTION_OPEN_URL_IN_WEBVIEW',
  'PDF_IN_RICH_CARDS',
];

const WITHOUT_RCS: PhoneProfile = {
  reachable: false,
  online: true,
  deliverAfterMs: 100,
  autoTap: null,
  tapAfterMs: 500,
  deliverAnyway: false,
  features: FEATURES,
};
const ONLINE: PhoneProfile = { ...WITHOUT_RCS, reachable: true, deliverAfterMs: 300 };
const OFFLINE: PhoneProfile = { ...ONLINE, online: false };

const plain = (profile: PhoneProfile): NumberBehaviour => ({
  profile,
  sendStatus: null,
  muteSend: false,
  bothEvents: false,
});

/** Numbers that end like this behave so from the start, whatever comes before. */
const BY_ENDING: ReadonlyMap<string, NumberBehaviour> = new Map([
  ['0404', plain(WITHOUT_RCS)],
  ['0200', plain(ONLINE)],
  ['0500', plain(OFFLINE)],
  ['0429', { ...plain(ONLINE), sendStatus: 429 }],
  ['0503', { ...plain(ONLINE), sendStatus: 503 }],
  ['0599', { ...plain(ONLINE), muteSend: true }],
  ['0410', plain({ ...OFFLINE, deliverAnyway: true })],
  ['0301', { ...plain(ONLINE), bothEvents: true }],
]);
const ENDING_DIGITS = 4;

/** Numbers that were told how to behave; beyond that the ones told first are forgotten. */
const MOST_NUMBERS = 100_000;

/** How every number behaves: as it was told, else by its ending, else without RCS. */
export class PhoneProfiles {
  readonly #told = new Map<string, PhoneProfile>();

  constructor(private readonly most = MOST_NUMBERS) {}

  behaviourOf(phone: string): NumberBehaviour {
    const usual = BY_ENDING.get(phone.slice(-ENDING_DIGITS)) ?? plain(WITHOUT_RCS);
    return { ...usual, profile: this.#told.get(phone) ?? usual.profile };
  }

  profileOf(phone: string): PhoneProfile {
    return this.behaviourOf(phone).profile;
  }

  /** What a change does not name stays as it is. */
  set(phone: string, changes: Partial<PhoneProfile>): PhoneProfile {
    const profile = { ...this.profileOf(phone), ...changes };
    this.#told.delete(phone);
    this.#told.set(phone, profile);
    forgetOldest(this.#told, this.most);
    return profile;
  }
}
