/** Links and messages of so many binds, and of so many systems, are told apart; those of further ones are counted together. */
export const MAX_PEERS = 200;
const OTHERS = '(others)';

/** What binds and systems are called in metrics: never more names than a metrics server keeps well. */
export class PeerNames {
  readonly #names = new Set<string>();

  /** The name itself for those that came first, one name for all others. A name that was given stays. */
  labelOf(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= MAX_PEERS) return OTHERS;
    this.#names.add(name);
    return name;
  }
}
