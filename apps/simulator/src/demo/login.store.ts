import { Subject } from 'rxjs';
import type { Login } from './login.js';

/** Time after its end for which a login can still be read. */
const KEPT_AFTER_END_MS = 5 * 60_000;

/** The logins of this shop, in memory, bounded in number and in age. */
export class LoginStore {
  readonly #logins = new Map<string, Login>();
  readonly #idsBySession = new Map<string, string>();
  /** Emits every login after each change. */
  readonly changes = new Subject<Login>();

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.#logins.size;
  }

  /** False when the store is full of logins that are not over. */
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
   * Applies a change to the current login, which may have changed while the service answered.
   *
   * @returns the login after the change, or null when the store does not have it any more
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

  /** When the store is full, ended logins are removed first. */
  #forgetEnded(): void {
    for (const { id, sessionId, phase } of this.#logins.values()) {
      if (phase === 'waiting' || phase === 'approved') continue;
      this.#logins.delete(id);
      this.#idsBySession.delete(sessionId);
    }
  }
}
