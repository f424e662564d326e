/** Maximum distinct peer labels of binds, and of systems; all further peers share one label. */
export const MAX_PEERS = 200;
const OTHERS = '(others)';

/** Peer labels of metrics, bounded in number so that the metrics server can store them. */
export class PeerNames {
  readonly #names = new Set<string>();

  /** The name itself for the first `MAX_PEERS` names, `(others)` for the rest. A label once assigned does not change. */
  labelOf(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= MAX_PEERS) return OTHERS;
    this.#names.add(name);
    return name;
  }
}
