import type { Uuid } from '@countersign/postgres';

/** Of all places the last ones, as a share, … */
const LAST = 1 / 5;
/** … are for accounts that have few connections, which is less than this share of all places. */
const FEW = 1 / 15;

/**
 * The connections that one process has room for. An account may take as many as it likes while there are plenty; it never
 * takes the last ones, so that one client that leaks connections does not keep the other accounts out.
 */
export class Places {
  readonly #last: number;
  readonly #few: number;
  readonly #byAccount = new Map<Uuid, number>();

  /** `most` connections in all. */
  constructor(private readonly most: number) {
    this.#last = Math.floor(most * LAST);
    this.#few = Math.ceil(most * FEW);
  }

  /** Whether there is room for one more while `open` are open. */
  roomBeside(open: number): boolean {
    return open < this.most;
  }

  /** Whether this account may have one more while `open` are open. */
  roomFor(accountId: Uuid, open: number): boolean {
    return open < this.most - this.#last || (this.#byAccount.get(accountId) ?? 0) < this.#few;
  }

  enter(accountId: Uuid): void {
    this.#byAccount.set(accountId, (this.#byAccount.get(accountId) ?? 0) + 1);
  }

  /** Once for each that entered. */
  leave(accountId: Uuid): void {
    const left = (this.#byAccount.get(accountId) ?? 1) - 1;
    if (left === 0) this.#byAccount.delete(accountId);
    else this.#byAccount.set(accountId, left);
  }
}
