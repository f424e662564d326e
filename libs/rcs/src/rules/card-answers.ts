import { digestsEqual, type ServerKeys } from '@countersign/keys';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import type { Choice } from './card.js';

/** One button of a card: what it says, and what the platform tells when it is tapped. */
export interface Suggestion {
  readonly text: string;
  readonly postback: string;
}

/** What an answer depends on. */
export interface AnsweredCard {
  readonly id: Uuid;
  readonly numberMatching: boolean;
  /** Version of the master key that its buttons are derived with. */
  readonly keyVersion: number;
}

/** A card whose buttons can be derived. */
type KeyedCard = Pick<AnsweredCard, 'id' | 'keyVersion'>;

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
      ? this.numbersOf(card).map((number) => ({ kind: 'number', number }))
      : [{ kind: 'approve' }];
    const choices: readonly Choice[] = [...approvals, { kind: 'deny' }];
    return choices.map((choice) => ({ text: labelOf(choice), postback: this.postbackOf(card, choice) }));
  }

  /** What the browser shows: `10` to `99`, the one of the card's numbers that approves. */
  matchCodeOf(card: KeyedCard): string {
    return numberAt(this.draw('match', card));
  }

  /**
   * The card and the button of a tap; null for anything that is no button of ours. The proof is compared in constant time
   * under every version of the master key: the card's own version is in its row.
   */
  readPostback(text: string): { readonly cardId: Uuid; readonly choice: Choice } | null {
    const [, chosen = '', session = '', proof = ''] = POSTBACK.exec(text) ?? [];
    const choice = decodeChoice(chosen);
    const cardId = parseId('sess', session);
    if (choice === null || cardId === null) return null;
    const given = Buffer.from(proof, 'hex');
    const isProved = this.keys.versions
      .map((keyVersion) => digestsEqual(this.proofOf({ id: cardId, keyVersion }, choice), given))
      .includes(true);
    return isProved ? { cardId, choice } : null;
  }

  /** What a choice says; null for one that this card never offered. A wrong number denies. */
  verdictOf(card: AnsweredCard, choice: Choice): Verdict | null {
    if (choice.kind === 'deny') return 'deny';
    if (choice.kind === 'approve') return card.numberMatching ? null : 'approve';
    if (!card.numberMatching || !this.keys.has(card.keyVersion)) return null;
    if (!this.numbersOf(card).includes(choice.number)) return null;
    return choice.number === this.matchCodeOf(card) ? 'approve' : 'deny';
  }

  /** Three different numbers, the right one at any place among them. */
  private numbersOf(card: KeyedCard): readonly string[] {
    const right = this.matchCodeOf(card);
    const drawn = this.draw('others', card);
    const others: string[] = [];
    // Each offset is another number than the right one, and the second other than the first.
    const first = 1 + (drawn.readUInt32BE(0) % (NUMBERS - 1));
    const second = 1 + ((first + (drawn.readUInt32BE(4) % (NUMBERS - 2))) % (NUMBERS - 1));
    for (const offset of [first, second]) others.push(String(LOWEST + ((Number(right) - LOWEST + offset) % NUMBERS)));
    const place = drawn.readUInt32BE(8) % OFFERED_NUMBERS;
    return [...others.slice(0, place), right, ...others.slice(place)];
  }

  private postbackOf(card: KeyedCard, choice: Choice): string {
    return `v1.${encodeChoice(choice)}.${renderId('sess', card.id)}.${this.proofOf(card, choice).toString('hex')}`;
  }

  private proofOf(card: KeyedCard, choice: Choice): Buffer {
    return this.draw(`tap:${encodeChoice(choice)}`, card).subarray(0, NONCE_OCTETS);
  }

  private draw(purpose: string, { id, keyVersion }: KeyedCard): Buffer {
    return this.keys.digest('card-answer', `${purpose}:${id}`, keyVersion);
  }
}

const labelOf = (choice: Choice): string => {
  if (choice.kind === 'number') return choice.number;
  return choice.kind === 'approve' ? 'Approve' : 'Deny';
};

const numberAt = (drawn: Buffer): string => String(LOWEST + (drawn.readUInt32BE(0) % NUMBERS));
