import type { AgentBrand, PhoneItem, RcsItem, SuggestionItem } from '../phone-item.js';

export interface Thread {
  readonly key: string;
  /** Null for a conversation by SMS. */
  readonly agent: AgentBrand | null;
  readonly peer: string | null;
  readonly items: readonly PhoneItem[];
  readonly at: string;
  readonly preview: string;
  readonly unread: number;
}
export type Entry =
  | { readonly key: string; readonly kind: 'day'; readonly text: string }
  | { readonly key: string; readonly kind: 'choice'; readonly mine: true; readonly text: string }
  | { readonly key: string; readonly kind: PhoneItem['kind']; readonly mine: boolean; readonly item: PhoneItem };
export type CardState = 'open' | 'answered' | 'over' | 'revoked' | 'expired';
export type Network = 'online' | 'offline' | 'none';
interface Switches {
  readonly reachable: boolean;
  readonly online: boolean;
}

export function isOnPhone(item: PhoneItem): boolean;
export function threadKeyOf(item: PhoneItem): string;
export function withItem(items: readonly PhoneItem[], item: PhoneItem): PhoneItem[];
export function threadsOf(items: readonly PhoneItem[], seen?: Readonly<Record<string, string>>): Thread[];
export function waitingIn(items: readonly PhoneItem[], now: number): number;
export function isOver(item: PhoneItem, now: number): boolean;
export function choiceOf(item: RcsItem): string;
export function cardStateOf(item: RcsItem, now: number): CardState;
export function suggestionLayoutOf(suggestions: readonly SuggestionItem[]): 'numbers' | 'actions';
export function codeIn(text: string): string | null;
export function entriesOf(items: readonly PhoneItem[], now: number, locale?: string): Entry[];
export function networkOf(view: Switches | undefined): Network;
export const SWITCHES: Readonly<Record<Network, Switches>>;
