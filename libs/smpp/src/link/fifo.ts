/** A queue with amortised constant-time push and shift (Array.shift is linear). */
export class Fifo<Item> {
  #incoming: Item[] = [];
  #outgoing: Item[] = [];

  get length(): number {
    return this.#incoming.length + this.#outgoing.length;
  }

  push(item: Item): void {
    this.#incoming.push(item);
  }

  shift(): Item | undefined {
    if (this.#outgoing.length === 0) {
      this.#outgoing = this.#incoming.reverse();
      this.#incoming = [];
    }
    return this.#outgoing.pop();
  }

  /** Empties the queue and returns its items, oldest first. */
  removeAll(): Item[] {
    const all = [...this.#outgoing.reverse(), ...this.#incoming];
    this.#outgoing = [];
    this.#incoming = [];
    return all;
  }
}
