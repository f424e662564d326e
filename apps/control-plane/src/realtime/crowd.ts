import { networkOf } from '../address-ranges.js';

/** Connections that have not said who they are, in all and from one client. */
const MAX_UNPROVEN = 2_000;
const MAX_UNPROVEN_OF_ONE = 100;

/** Counts who has come in and not said who he is: for five seconds that costs a connection and nothing else. */
export class Crowd {
  #size = 0;
  readonly #byNetwork = new Map<string, number>();

  get size(): number {
    return this.#size;
  }

  /** Whether one more may come in from this address. */
  roomFor(address: string): 'yes' | 'full' | 'too_many_of_one' {
    if (this.#size >= MAX_UNPROVEN) return 'full';
    return (this.#byNetwork.get(keyOf(address)) ?? 0) < MAX_UNPROVEN_OF_ONE ? 'yes' : 'too_many_of_one';
  }

  enter(address: string): void {
    const key = keyOf(address);
    this.#size += 1;
    this.#byNetwork.set(key, (this.#byNetwork.get(key) ?? 0) + 1);
  }

  /** Once for each that entered. */
  leave(address: string): void {
    const key = keyOf(address);
    const left = (this.#byNetwork.get(key) ?? 1) - 1;
    this.#size -= 1;
    if (left === 0) this.#byNetwork.delete(key);
    else this.#byNetwork.set(key, left);
  }
}

const keyOf = (address: string): string => networkOf(address) ?? 'unknown';
