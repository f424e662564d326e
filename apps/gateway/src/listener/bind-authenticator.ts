import { setTimeout as delay } from 'node:timers/promises';
import { CarrierDirectory, type SmppSystem } from '@countersign/carriers/config';
import { Injectable } from '@nestjs/common';
import type { BindRequest } from '@countersign/smpp/link';
import { STATUS } from '@countersign/smpp/pdu';
import { connectionRefusal, refusalOf, type ConnectedPeer, type Refusal } from './admission.js';
import { LAST_ANSWER_MS } from './bind-lockout.js';
import { GuessLimits } from './guess-limits.js';
import { SystemConnections, type CountedConnection } from './system-connections.js';
import { SystemPasswords } from './system-passwords.js';

/** Delay of the response to a refused bind, at least. A wrong password waits longer with each failure (`bind-lockout.ts`). */
export const REFUSED_BIND_MS = 1_000;

/**
 * SMPP 3.4 section 5.1.3. An unknown system_id is answered as a wrong password, so that a peer cannot find out which
 * systems there are. All other refusals are ESME_RBINDFAIL, which reveals no term.
 */
const STATUS_OF: Readonly<Record<Refusal, number>> = {
  shut_out: STATUS.ESME_RBINDFAIL,
  guarded: STATUS.ESME_RBINDFAIL,
  unknown_system: STATUS.ESME_RINVPASWD,
  wrong_password: STATUS.ESME_RINVPASWD,
  disabled: STATUS.ESME_RBINDFAIL,
  address: STATUS.ESME_RBINDFAIL,
  tls_required: STATUS.ESME_RBINDFAIL,
  certificate: STATUS.ESME_RBINDFAIL,
  bind_type: STATUS.ESME_RBINDFAIL,
  too_many_connections: STATUS.ESME_RBINDFAIL,
};

export interface Peer extends ConnectedPeer {
  readonly port: number;
}

export type Admission =
  | {
      readonly admitted: true;
      readonly system: SmppSystem;
      readonly connection: CountedConnection;
    }
  | { readonly admitted: false; readonly refusal: Refusal; readonly status: number };

/** Authenticates binds of systems. */
@Injectable()
export class BindAuthenticator {
  constructor(
    private readonly carriers: CarrierDirectory,
    private readonly passwords: SystemPasswords,
    private readonly guesses: GuessLimits,
    private readonly connections: SystemConnections,
  ) {}

  /** Call `remove` of an admitted connection once, when it ends. Rejects when the database is unreachable. */
  async authenticateBind(request: BindRequest, peer: Peer): Promise<Admission> {
    const startedMs = performance.now();
    const system = await this.carriers.system(request.systemId);
    // Read before the password check: no await between that check and the count, so concurrent binds cannot exceed the limit.
    const elsewhere = system === null ? 0 : await this.connections.countElsewhere(system.id);
    if (this.guesses.isLockedOut(peer)) return refuseAt('shut_out', startedMs + REFUSED_BIND_MS);
    const earlyRefusal = system === null ? null : this.refusalBeforePassword(system, peer);
    if (earlyRefusal !== null)
      return refuseAt(earlyRefusal, startedMs + (earlyRefusal === 'guarded' ? LAST_ANSWER_MS : REFUSED_BIND_MS));
    const passwordMatches = this.passwords.matches(system, request.password);
    const here = system === null ? 0 : this.connections.countHere(system.id);
    const attempt = { ...peer, bindType: request.bindType, connections: here + elsewhere };
    const refusal = refusalOf(system, passwordMatches, attempt);
    if (system !== null && refusal === null) {
      this.passwords.renewDigest(system, request.password);
      return this.admit(system, peer, elsewhere);
    }
    const delayMs = passwordMatches ? REFUSED_BIND_MS : this.guesses.recordFailure(system, peer);
    return refuseAt(refusal ?? 'unknown_system', startedMs + delayMs);
  }

  /** The refusal that precedes the password comparison; null if the password is to be compared. */
  private refusalBeforePassword(system: SmppSystem, peer: Peer): Refusal | null {
    const refusal = connectionRefusal(system, peer);
    if (refusal !== null) return refusal;
    return this.guesses.mayComparePassword(system, peer) ? null : 'guarded';
  }

  private admit(system: SmppSystem, peer: Peer, elsewhere: number): Admission {
    this.guesses.recordBind(system, peer);
    const connection = this.connections.addConnection(system, elsewhere);
    const remove = (): void => {
      this.guesses.recordDisconnect(system, peer);
      connection.remove();
    };
    return { admitted: true, system, connection: { ...connection, remove } };
  }
}

async function refuseAt(refusal: Refusal, answerAtMs: number): Promise<Admission> {
  await delay(Math.max(0, answerAtMs - performance.now()));
  return { admitted: false, refusal, status: STATUS_OF[refusal] };
}
