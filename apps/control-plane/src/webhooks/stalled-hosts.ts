import { ownerKey, type ShareOwner } from './account-shares.js';

interface Stalled {
  readonly owner: ShareOwner;
  /** Longest waiting first. */
  readonly hosts: Set<string>;
}

/** Hosts whose jobs wait until their accounts may start one more. Accounts take turns, and so do the hosts of each. */
export class StalledHosts {
  private readonly byOwner = new Map<string, Stalled>();

  get isEmpty(): boolean {
    return this.byOwner.size === 0;
  }

  /** Adds a host behind the others of these owners, unless it is there. */
  add(host: string, owners: readonly ShareOwner[]): void {
    for (const { accountId, test } of owners) {
      // A copy: the owner may be a job, which has a body.
      const owner = { accountId, test };
      const key = ownerKey(owner);
      const stalled = this.byOwner.get(key);
      if (stalled === undefined) this.byOwner.set(key, { owner, hosts: new Set([host]) });
      else stalled.hosts.add(host);
    }
  }

  /** Removes the next host of the next owner that may start a job. */
  take(mayStart: (owner: ShareOwner) => boolean): string | undefined {
    for (const [key, stalled] of this.byOwner) {
      if (!mayStart(stalled.owner)) continue;
      this.byOwner.delete(key);
      const [host] = stalled.hosts;
      if (host === undefined) continue;
      stalled.hosts.delete(host);
      if (stalled.hosts.size > 0) this.byOwner.set(key, stalled);
      return host;
    }
    return undefined;
  }
}
