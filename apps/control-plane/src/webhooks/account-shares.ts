import type { Uuid } from '@countersign/ids';

/** Deliveries of test keys get this part of what live ones of the same account would get. */
const TEST_SHARE = 1 / 4;

/** Whose share it is: live and test deliveries of an account have one each. */
export interface ShareOwner {
  readonly accountId: Uuid;
  readonly test: boolean;
}

interface Share {
  readonly owner: ShareOwner;
  used: number;
  /** It was full, so more deliveries may be due than were claimed: new capacity is reported. */
  wasFull: boolean;
}

/**
 * Counts the places of each account, so that no account has more than its share: as many as are free, up to a maximum
 * (dynamic thresholds: Choudhury and Hahne, 1998). However many accounts are at their share, another one finds as many free
 * places as each of them has. Holds accounts with some places only.
 */
export class AccountShares {
  private readonly shares = new Map<string, Share>();
  private used = 0;

  /**
   * @param total places of all accounts
   * @param most places of one account at most
   */
  constructor(
    private readonly total: number,
    private readonly most = total,
  ) {}

  /** How many more places the account may take, one after the other: each leaves one less free. */
  capacityFor(owner: ShareOwner): number {
    const used = this.shares.get(ownerKey(owner))?.used ?? 0;
    const part = owner.test ? TEST_SHARE : 1;
    const byFree = Math.floor((part * (this.total - this.used) - used) / (1 + part));
    return Math.max(used === 0 ? 1 : 0, Math.min(byFree, part * this.most - used));
  }

  /** Owners of shares without capacity. */
  fullOwners(): ShareOwner[] {
    return [...this.shares.values()].flatMap((share) => {
      if (this.capacityFor(share.owner) > 0) return [];
      share.wasFull = true;
      return [share.owner];
    });
  }

  /** Counts a place that is taken. */
  add(owner: ShareOwner): void {
    const key = ownerKey(owner);
    let share = this.shares.get(key);
    if (share === undefined) {
      share = { owner: { accountId: owner.accountId, test: owner.test }, used: 0, wasFull: false };
      this.shares.set(key, share);
    }
    share.used += 1;
    this.used += 1;
    share.wasFull ||= this.capacityFor(owner) === 0;
  }

  /** Counts a place that is free again; true when half of a share is free again that was full. */
  remove(owner: ShareOwner): boolean {
    const key = ownerKey(owner);
    const share = this.shares.get(key);
    if (share === undefined) return false;
    share.used -= 1;
    this.used -= 1;
    if (share.used === 0) this.shares.delete(key);
    const hasCapacity = share.wasFull && share.used <= this.capacityFor(owner);
    if (hasCapacity) share.wasFull = false;
    return hasCapacity;
  }
}

/** A key for each owner. */
export const ownerKey = ({ accountId, test }: ShareOwner): string => (test ? `${accountId} test` : accountId);
