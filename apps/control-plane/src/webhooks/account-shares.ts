import type { Uuid } from '@countersign/ids';

interface Share {
  claimed: number;
  /** It was full, so more deliveries may be due than were claimed: new capacity is reported. */
  wasFull: boolean;
}

/** Counts the claimed deliveries of each account, so that no account has more than its share. Holds accounts with some only. */
export class AccountShares {
  private readonly shares = new Map<Uuid, Share>();

  /** @param most claimed deliveries of one account at most */
  constructor(private readonly most: number) {}

  /** How many more deliveries of the account may be claimed. */
  capacityFor(accountId: Uuid): number {
    return Math.max(0, this.most - (this.shares.get(accountId)?.claimed ?? 0));
  }

  /** Accounts without capacity. */
  fullAccounts(): Uuid[] {
    return [...this.shares].flatMap(([accountId, { claimed }]) => (claimed < this.most ? [] : [accountId]));
  }

  /** Counts a claimed delivery. */
  add(accountId: Uuid): void {
    const share = this.shares.get(accountId) ?? { claimed: 0, wasFull: false };
    share.claimed += 1;
    share.wasFull ||= share.claimed >= this.most;
    this.shares.set(accountId, share);
  }

  /** Counts a delivery that is no longer claimed; true when half of a share is free again that was full. */
  remove(accountId: Uuid): boolean {
    const share = this.shares.get(accountId);
    if (share === undefined) return false;
    share.claimed -= 1;
    if (share.claimed === 0) this.shares.delete(accountId);
    const hasCapacity = share.wasFull && 2 * share.claimed <= this.most;
    if (hasCapacity) share.wasFull = false;
    return hasCapacity;
  }
}
