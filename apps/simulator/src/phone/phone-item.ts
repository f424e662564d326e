import type { PhoneProfile } from './phone-profile.js';

interface ItemFields {
  /** Unique among all items of this run. */
  readonly id: string;
  /** E.164: whose message list it stands in. */
  readonly phone: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
}

/** An SMS: `in` reached the phone, `out` was sent from it. */
export interface SmsItem extends ItemFields {
  readonly kind: 'sms';
  readonly direction: 'in' | 'out';
  /** The other end: a number, a short code or a name. */
  readonly peer: string;
  readonly text: string;
  /** Of an SMS sent from the phone: what the service answered, 0 when it was taken, null when it never answered. */
  readonly commandStatus: number | null;
}

/**
 * `waiting`: taken by the platform, not on the phone. `delivered`, `read` and `tapped`: on the phone, for good.
 * `revoked` and `expired`: never reached the phone.
 */
export type RcsState = 'waiting' | 'delivered' | 'read' | 'tapped' | 'revoked' | 'expired';

/** What a business has registered with the platform. */
export interface AgentBrand {
  readonly agentId: string;
  readonly name: string;
  /** A path on this server, or null. */
  readonly logoUrl: string | null;
  readonly verified: boolean;
}

export interface SuggestionItem {
  /** What `POST /_admin/cards/{messageId}/tap {"suggestion"}` takes. */
  readonly index: number;
  readonly text: string;
}

/** A message of a business over RCS: a card, or a text. */
export interface RcsItem extends ItemFields {
  readonly kind: 'card' | 'text';
  readonly messageId: string;
  readonly agent: AgentBrand;
  readonly state: RcsState;
  /** Null on a text. */
  readonly title: string | null;
  /** The description of a card, or the text. */
  readonly text: string | null;
  /** Where its picture is: a path on this server or an https URL; null without one. */
  readonly mediaUrl: string | null;
  readonly suggestions: readonly SuggestionItem[];
  /** Index of the suggestion that was tapped, null before. */
  readonly tapped: number | null;
  readonly expiresAt: string | null;
}

/** A text that the person wrote to a business over RCS. */
export interface ReplyItem extends ItemFields {
  readonly kind: 'reply';
  readonly agent: AgentBrand;
  readonly text: string;
}

export type PhoneItem = SmsItem | RcsItem | ReplyItem;

/** A number and its switches. */
export type PhoneView = PhoneProfile & { readonly phone: string };

/** What the feed tells. */
export type FeedEvent =
  | { readonly event: 'snapshot'; readonly data: { readonly phones: PhoneView[]; readonly items: PhoneItem[] } }
  | { readonly event: 'item'; readonly data: PhoneItem }
  | { readonly event: 'phone'; readonly data: PhoneView };
