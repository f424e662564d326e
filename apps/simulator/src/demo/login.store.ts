import { Subject } from 'rxjs';
import type { Login } from './login.js';

/** So long after its end a login can still be asked about. */
const KEPT_AFTER_END_MS = 5 * 60_000;

/** The logins of this shop, in memory: at most so many, and none much longer than it can matter. */
export class LoginStore {
  readonly #logins = new Map<string, Login>();
  readonly #idsBySession = new Map<string, string>();
  /** Every login as it becomes. */
  readonly changes = new Subject<Login>();

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.#logins.size;
  }

  /** False when the book is full of logins that may still be answered. */
  add(login: Login, now: number): boolean {
    if (!this.hasRoom(now)) return false;
    this.#logins.set(login.id, login);
    this.#idsBySession.set(login.sessionId, login.id);
    return true;
  }

  hasRoom(now: number): boolean {
    this.#forget(now);
    return this.#logins.size < this.limit;
  }

  find(id: string): Login | null {
    return this.#logins.get(id) ?? null;
  }

  findBySession(sessionId: string): Login | null {
    return this.find(this.#idsBySession.get(sessionId) ?? '');
  }

  /**
   * Applies a change to the login as it is now, which is not as it was before the service answered.
   *
   * @returns the login after it, or null when it is not in the book any more
   */
  change(id: string, how: (login: Login) => Login): Login | null {
    const before = this.find(id);
    if (before === null) return null;
    const after = how(before);
    if (after === before) return before;
    this.#logins.set(id, after);
    this.changes.next(after);
    return after;
  }

  #forget(now: number): void {
    for (const { id, sessionId, expiresAt } of this.#logins.values()) {
      if (now <= expiresAt + KEPT_AFTER_END_MS) continue;
      this.#logins.delete(id);
      this.#idsBySession.delete(sessionId);
    }
    if (this.#logins.size >= this.limit) this.#forgetEnded();
  }

  /** Under pressure those that are over go first. */
  #forgetEnded(): void {
    for (const { id, sessionId, phase } of this.#logins.values()) {
      if (phase === 'waiting' || phase === 'approved') continue;
      this.#logins.delete(id);
      this.#idsBySession.delete(sessionId);
    }
  }
}
