import { digestsEqual, type ServerKeys } from '@countersign/keys';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import type { Choice } from './card.js';

/** A button of a card: its label, and the postback that a tap sends. */
export interface Suggestion {
  readonly text: string;
  readonly postback: string;
}

/** The inputs of the derivation. */
export interface AnsweredCard {
  readonly id: Uuid;
  readonly numberMatching: boolean;
  /** Version of the master key that the buttons are derived with. */
  readonly keyVersion: number;
}

/** A card whose buttons can be derived. */
type KeyedCard = Pick<AnsweredCard, 'id' | 'keyVersion'>;

export type Verdict = 'approve' | 'deny';

const NONCE_OCTETS = 16;
const POSTBACK = /^v1\.(a|d|n[1-9][0-9])\.(sess_[0-9A-HJKMNP-TV-Z]{26})\.([0-9a-f]{32})$/;
/** Two digits without a leading zero. */
const LOWEST = 10;
const NUMBERS = 90;
const OFFERED_NUMBERS = 3;

/** A choice as stored and as in postbacks: `a`, `d`, `n42`. */
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
 * The buttons of cards and the meaning of taps. Everything is derived from the session's id with a server key, so nothing is
 * stored; each button has its own proof, so that one postback does not reveal another.
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

  /** The number that the browser shows, `10` to `99`: the only number of the card that approves. */
  matchCodeOf(card: KeyedCard): string {
    return numberFrom(this.derive('match', card));
  }

  /**
   * The card and the choice of a tap; null when the postback is not of one of our buttons. The proof is compared in constant
   * time under every version of the master key, because the version of the card is only in its row.
   */
  parsePostback(text: string): { readonly cardId: Uuid; readonly choice: Choice } | null {
    const [, choiceText = '', session = '', proof = ''] = POSTBACK.exec(text) ?? [];
    const choice = decodeChoice(choiceText);
    const cardId = parseId('sess', session);
    if (choice === null || cardId === null) return null;
    const given = Buffer.from(proof, 'hex');
    const isProved = this.keys.versions
      .map((keyVersion) => digestsEqual(this.proofOf({ id: cardId, keyVersion }, choice), given))
      .includes(true);
    return isProved ? { cardId, choice } : null;
  }

  /** The verdict of a choice; null when the card did not offer it. A wrong number denies. */
  verdictOf(card: AnsweredCard, choice: Choice): Verdict | null {
    if (choice.kind === 'deny') return 'deny';
    if (choice.kind === 'approve') return card.numberMatching ? null : 'approve';
    if (!card.numberMatching || !this.keys.has(card.keyVersion)) return null;
    if (!this.numbersOf(card).includes(choice.number)) return null;
    return choice.number === this.matchCodeOf(card) ? 'approve' : 'deny';
  }

  /** Three different numbers; the position of the right one varies. */
  private numbersOf(card: KeyedCard): readonly string[] {
    const right = this.matchCodeOf(card);
    const digest = this.derive('others', card);
    const others: string[] = [];
    // Both offsets differ from 0 (the right number) and from each other.
    const first = 1 + (digest.readUInt32BE(0) % (NUMBERS - 1));
    const second = 1 + ((first + (digest.readUInt32BE(4) % (NUMBERS - 2))) % (NUMBERS - 1));
    for (const offset of [first, second]) others.push(String(LOWEST + ((Number(right) - LOWEST + offset) % NUMBERS)));
    const position = digest.readUInt32BE(8) % OFFERED_NUMBERS;
    return [...others.slice(0, position), right, ...others.slice(position)];
  }

  private postbackOf(card: KeyedCard, choice: Choice): string {
    return `v1.${encodeChoice(choice)}.${renderId('sess', card.id)}.${this.proofOf(card, choice).toString('hex')}`;
  }

  private proofOf(card: KeyedCard, choice: Choice): Buffer {
    return this.derive(`tap:${encodeChoice(choice)}`, card).subarray(0, NONCE_OCTETS);
  }

  private derive(purpose: string, { id, keyVersion }: KeyedCard): Buffer {
    return this.keys.digest('card-answer', `${purpose}:${id}`, keyVersion);
  }
}

const labelOf = (choice: Choice): string => {
  if (choice.kind === 'number') return choice.number;
  return choice.kind === 'approve' ? 'Approve' : 'Deny';
};

const numberFrom = (digest: Buffer): string => String(LOWEST + (digest.readUInt32BE(0) % NUMBERS));
