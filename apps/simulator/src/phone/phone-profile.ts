import { forgetOldest } from '../memory/forget-oldest.js';

/** How RCS behaves for one number (contract, the carrier simulator). */
export interface PhoneProfile {
  /** Whether the number has RCS at all; for a phone without it RBM answers 404. */
  readonly reachable: boolean;
  /** A message to a phone that is reachable but not online waits until the phone is online, or until it expires. */
  readonly online: boolean;
  /** Counted from the send, or from the time at which the phone comes online. */
  readonly deliverAfterMs: number;
  /** Answers every card by itself. */
  readonly autoTap: 'approve' | 'deny' | null;
  /** Counted from the delivery. */
  readonly tapAfterMs: number;
  /** A revoked card reaches the phone nevertheless, because the revoke was too late. */
  readonly deliverAnyway: boolean;
  /** Capabilities as the service lists them. */
  readonly features: readonly string[];
}

/** A profile, and the errors of sends to such a number. */
export interface NumberBehaviour {
  readonly profile: PhoneProfile;
  /** The status that a send gets instead of being accepted. */
  readonly sendStatus: 429 | 503 | null;
  /** The message is accepted, but the response never arrives. */
  readonly muteSend: boolean;
  /** Both the delivery and the contradicting expiry are reported. */
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

/** The initial behaviour of numbers by their last digits. */
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

/** Numbers with a profile of their own; above the bound the profiles that were set first are removed. */
const MOST_NUMBERS = 100_000;

/** The behaviour of every number: as it was set, else by its last digits, else without RCS. */
export class PhoneProfiles {
  readonly #profiles = new Map<string, PhoneProfile>();

  constructor(private readonly most = MOST_NUMBERS) {}

  behaviourOf(phone: string): NumberBehaviour {
    const usual = BY_ENDING.get(phone.slice(-ENDING_DIGITS)) ?? plain(WITHOUT_RCS);
    return { ...usual, profile: this.#profiles.get(phone) ?? usual.profile };
  }

  profileOf(phone: string): PhoneProfile {
    return this.behaviourOf(phone).profile;
  }

  /** Fields that a change does not name are unchanged. */
  set(phone: string, changes: Partial<PhoneProfile>): PhoneProfile {
    const profile = { ...this.profileOf(phone), ...changes };
    this.#profiles.delete(phone);
    this.#profiles.set(phone, profile);
    forgetOldest(this.#profiles, this.most);
    return profile;
  }
}
