import { ownerKey, type ShareOwner } from './account-shares.js';

/** The waiting jobs of one host: a FIFO queue for each account and mode, which take turns. */
export class WaitingJobs<Job extends ShareOwner> {
  private readonly byOwner = new Map<string, Job[]>();
  private count = 0;

  get length(): number {
    return this.count;
  }

  /** Whose jobs wait. */
  get owners(): ShareOwner[] {
    return [...this.byOwner.values()].flatMap((jobs) => jobs.slice(0, 1));
  }

  add(job: Job): void {
    const key = ownerKey(job);
    const jobs = this.byOwner.get(key);
    if (jobs === undefined) this.byOwner.set(key, [job]);
    else jobs.push(job);
    this.count += 1;
  }

  /** Removes the next job whose owner may start one. */
  take(mayStart: (owner: ShareOwner) => boolean): Job | undefined {
    for (const [key, jobs] of this.byOwner) {
      const [next] = jobs;
      if (next === undefined || !mayStart(next)) continue;
      jobs.shift();
      this.count -= 1;
      this.byOwner.delete(key);
      if (jobs.length > 0) this.byOwner.set(key, jobs);
      return next;
    }
    return undefined;
  }

  /** Removes all jobs. */
  clear(): Job[] {
    const jobs = [...this.byOwner.values()].flat();
    this.byOwner.clear();
    this.count = 0;
    return jobs;
  }
}
