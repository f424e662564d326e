import type { PhoneProfile } from './phone-profile.js';

interface ItemFields {
  /** Unique among all items of this run. */
  readonly id: string;
  /** E.164: the number whose message list has it. */
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
  /**
   * Of an SMS sent from the phone: the command_status of the service's answer, 0 when accepted, null without an answer.
   */
  readonly commandStatus: number | null;
}

/**
 * `waiting`: accepted by the platform, not on the phone. `delivered`, `read` and `tapped`: on the phone, permanently.
 * `revoked` and `expired`: never reached the phone.
 */
export type RcsState = 'waiting' | 'delivered' | 'read' | 'tapped' | 'revoked' | 'expired';

/** An agent as its business has registered it with the platform. */
export interface AgentBrand {
  readonly agentId: string;
  readonly name: string;
  /** A path on this server, or null. */
  readonly logoUrl: string | null;
  readonly verified: boolean;
}

export interface SuggestionItem {
  /** The index for `POST /_admin/cards/{messageId}/tap {"suggestion"}`. */
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
  /** The address of its image: a path on this server or an https URL; null without one. */
  readonly mediaUrl: string | null;
  readonly suggestions: readonly SuggestionItem[];
  /** Index of the suggestion that was tapped; null before. */
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

/** An event of the feed. */
export type FeedEvent =
  | { readonly event: 'snapshot'; readonly data: { readonly phones: PhoneView[]; readonly items: PhoneItem[] } }
  | { readonly event: 'item'; readonly data: PhoneItem }
  | { readonly event: 'phone'; readonly data: PhoneView };
