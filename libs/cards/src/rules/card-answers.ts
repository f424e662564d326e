import { digestsEqual, type ServerKeys } from '@countersign/keys';
import { parseId, renderId, type Uuid } from '@countersign/postgres';
import type { Choice } from '../card.js';

/** One button of a card: what it says, and what the platform tells when it is tapped. */
export interface Suggestion {
  readonly text: string;
  readonly postback: string;
}

/** What an answer depends on. */
export interface AnsweredCard {
  readonly id: Uuid;
  readonly numberMatching: boolean;
}

export type Verdict = 'approve' | 'deny';

const NONCE_OCTETS = 16;
const POSTBACK = /^v1\.(a|d|n[1-9][0-9])\.(sess_[0-9A-HJKMNP-TV-Z]{26})\.([0-9a-f]{32})$/;
/** Numbers of two digits, so that nobody wonders about a leading zero. */
const LOWEST = 10;
const NUMBERS = 90;
const OFFERED_NUMBERS = 3;

/** A choice as rows and postbacks spell it: `a`, `d`, `n42`. */
export function encodeChoice(choice: Choice): string {
  if (choice.kind === 'number') return `n${choice.number}`;
  return choice.kind === 'approve' ? 'a' : 'd';
}

export function decodeChoice(text: string): Choice | null {
  if (text === 'a') return { kind: 'approve' };
  if (text === 'd') return { kind: 'deny' };
  return /^n[1-9][0-9]$/.test(text) ? { kind: 'number', number: text.slice(1) } : null;
}

/**
 * The buttons of cards and what a tap on one means. All of it comes from the session's id by a key of the server, so
 * nothing is stored; each button has a proof of its own, so that one does not give away another.
 */
export class CardAnswers {
  constructor(private readonly keys: ServerKeys) {}

  /** Approve and Deny; with number matching three numbers and Deny. */
  suggestionsOf(card: AnsweredCard): readonly Suggestion[] {
    const approvals: readonly Choice[] = card.numberMatching
      ? this.numbersOf(card.id).map((number) => ({ kind: 'number', number }))
      : [{ kind: 'approve' }];
    const choices: readonly Choice[] = [...approvals, { kind: 'deny' }];
    return choices.map((choice) => ({ text: labelOf(choice), postback: this.postbackOf(card.id, choice) }));
  }

  /** What the browser shows: `10` to `99`, the one of the card's numbers that approves. */
  matchCodeOf(id: Uuid): string {
    return numberAt(this.draw('match', id));
  }

  /** Whose card was tapped and where; null for anything that is no button of ours. The proof is compared in constant time. */
  readPostback(text: string): { readonly cardId: Uuid; readonly choice: Choice } | null {
    const [, chosen = '', session = '', proof = ''] = POSTBACK.exec(text) ?? [];
    const choice = decodeChoice(chosen);
    const cardId = parseId('sess', session);
    if (choice === null || cardId === null) return null;
    return digestsEqual(this.proofOf(cardId, choice), Buffer.from(proof, 'hex')) ? { cardId, choice } : null;
  }

  /** What a choice says; null for one that this card never offered. A wrong number denies. */
  verdictOf(card: AnsweredCard, choice: Choice): Verdict | null {
    if (choice.kind === 'deny') return 'deny';
    if (choice.kind === 'approve') return card.numberMatching ? null : 'approve';
    if (!card.numberMatching || !this.numbersOf(card.id).includes(choice.number)) return null;
    return choice.number === this.matchCodeOf(card.id) ? 'approve' : 'deny';
  }

  /** Three different numbers, the right one at any place among them. */
  private numbersOf(id: Uuid): readonly string[] {
    const right = this.matchCodeOf(id);
    const drawn = this.draw('others', id);
    const others: string[] = [];
    // Each offset is another number than the right one, and the second other than the first.
    const first = 1 + (drawn.readUInt32BE(0) % (NUMBERS - 1));
    const second = 1 + ((first + (drawn.readUInt32BE(4) % (NUMBERS - 2))) % (NUMBERS - 1));
    for (const offset of [first, second]) others.push(String(LOWEST + ((Number(right) - LOWEST + offset) % NUMBERS)));
    const place = drawn.readUInt32BE(8) % OFFERED_NUMBERS;
    return [...others.slice(0, place), right, ...others.slice(place)];
  }

  private postbackOf(id: Uuid, choice: Choice): string {
    return `v1.${encodeChoice(choice)}.${renderId('sess', id)}.${this.proofOf(id, choice).toString('hex')}`;
  }

  private proofOf(id: Uuid, choice: Choice): Buffer {
    return this.draw(`tap:${encodeChoice(choice)}`, id).subarray(0, NONCE_OCTETS);
  }

  private draw(purpose: string, id: Uuid): Buffer {
    return this.keys.digest('card-answer', `${purpose}:${id}`);
  }
}

const labelOf = (choice: Choice): string => {
  if (choice.kind === 'number') return choice.number;
  return choice.kind === 'approve' ? 'Approve' : 'Deny';
};

const numberAt = (drawn: Buffer): string => String(LOWEST + (drawn.readUInt32BE(0) % NUMBERS));
