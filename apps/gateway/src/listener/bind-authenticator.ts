import { setTimeout as delay } from 'node:timers/promises';
import { systemPasswordMatches, type CarrierDirectory, type SmppSystem } from '@countersign/carriers/config';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { BindRequest } from '@countersign/smpp/link';
import { STATUS } from '@countersign/smpp/pdu';
import { connectionRefusal, refusalOf, type ConnectedPeer, type Refusal } from './admission.js';
import { LAST_ANSWER_MS, type BindLockout } from './bind-lockout.js';
import { MessageRate, shareOfRate } from './message-rate.js';
import { areRestricting } from './networks.js';
import type { SystemGuesses } from './system-guesses.js';

/** Delay of the response to a refused bind, at least. A wrong password waits longer with each failure (`bind-lockout.ts`). */
const REFUSED_BIND_MS = 1_000;

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
      /** Shared by all connections of the system. */
      readonly rate: MessageRate;
      readonly removeConnection: () => void;
    }
  | { readonly admitted: false; readonly refusal: Refusal; readonly status: number };

/** Connections of one system, and the rate that those of this gateway share. */
interface SystemConnections {
  readonly rate: MessageRate;
  perSecond: number | null;
  here: number;
  elsewhere: number;
}

export interface BindAuthenticatorOptions {
  readonly carriers: Pick<CarrierDirectory, 'system'>;
  readonly keys: ServerKeys;
  readonly bindLockout: BindLockout;
  readonly guesses: SystemGuesses;
  /** Receives the password of each admitted system, to store its digest under the current master key. */
  readonly onPassword: (system: SmppSystem, password: string) => void;
  /** Number of connections of the system at other gateways. Rejects when the database is unreachable. */
  readonly countConnectionsElsewhere: (systemId: Uuid) => Promise<number>;
}

/** Authenticates binds of systems, counts their connections and divides the rate of each system. */
export class BindAuthenticator {
  readonly #systems = new Map<Uuid, SystemConnections>();

  constructor(private readonly o: BindAuthenticatorOptions) {}

  /** Call `removeConnection` of an admission once, when its connection ends. Rejects when the database is unreachable. */
  async authenticateBind(request: BindRequest, peer: Peer): Promise<Admission> {
    const startedMs = performance.now();
    const system = await this.o.carriers.system(request.systemId);
    // Read before the password check: no await between that check and the count, so concurrent binds cannot exceed the limit.
    const elsewhere = system === null ? 0 : await this.o.countConnectionsElsewhere(system.id);
    if (this.o.bindLockout.isLockedOut(peer.address)) return refuseAt('shut_out', startedMs + REFUSED_BIND_MS);
    const earlyRefusal = system === null ? null : this.refusalBeforePassword(system, peer);
    if (earlyRefusal !== null)
      return refuseAt(earlyRefusal, startedMs + (earlyRefusal === 'guarded' ? LAST_ANSWER_MS : REFUSED_BIND_MS));
    const passwordMatches = systemPasswordMatches(this.o.keys, system, request.password);
    const here = system === null ? 0 : (this.#systems.get(system.id)?.here ?? 0);
    const applicant = { ...peer, bindType: request.bindType, connections: here + elsewhere };
    const refusal = refusalOf(system, passwordMatches, applicant);
    if (system !== null && refusal === null) {
      this.o.onPassword(system, request.password);
      return this.addConnection(system, peer, elsewhere);
    }
    const delayMs = passwordMatches ? REFUSED_BIND_MS : this.countFailure(system, peer);
    return refuseAt(refusal ?? 'unknown_system', startedMs + delayMs);
  }

  /** The refusal that precedes the password comparison; null if the password is to be compared. */
  private refusalBeforePassword(system: SmppSystem, peer: Peer): Refusal | null {
    const refusal = connectionRefusal(system, peer);
    if (refusal !== null) return refusal;
    const proven = areRestricting(system.allowedCidrs) || peer.certificateNames?.includes(system.systemId) === true;
    return proven || this.o.guesses.mayComparePassword(system, peer.address) ? null : 'guarded';
  }

  /** Counts a wrong password, or an unknown system, and returns the delay of the refusal in milliseconds. */
  private countFailure(system: SmppSystem | null, peer: Peer): number {
    const delayMs = this.o.bindLockout.recordFailure(peer.address);
    if (system === null) return delayMs;
    return this.o.guesses.recordFailure(system) ? LAST_ANSWER_MS : delayMs;
  }

  /** Applies a changed rate to the connections of a bound system. */
  setSystemRate({ id, submitPerSecond }: SmppSystem): void {
    const presence = this.#systems.get(id);
    if (presence === undefined || presence.perSecond === submitPerSecond) return;
    presence.perSecond = submitPerSecond;
    setShareOfRate(presence);
  }

  /** Sets the number of connections of each system at other gateways, which share its rate. */
  setConnectionsElsewhere(elsewhere: ReadonlyMap<Uuid, number>): void {
    for (const [id, presence] of this.#systems) {
      presence.elsewhere = elsewhere.get(id) ?? 0;
      setShareOfRate(presence);
    }
  }

  private addConnection(system: SmppSystem, { address }: Peer, elsewhere: number): Admission {
    const { id, submitPerSecond: perSecond } = system;
    this.o.guesses.recordBind(system, address);
    const rate = new MessageRate(shareOfRate(perSecond, 1, elsewhere), performance.now());
    const presence = this.#systems.get(id) ?? { rate, perSecond, here: 0, elsewhere };
    this.#systems.set(id, presence);
    presence.here += 1;
    presence.elsewhere = elsewhere;
    setShareOfRate(presence);
    return {
      admitted: true,
      system,
      rate: presence.rate,
      removeConnection: () => this.removeConnection(system, address, presence),
    };
  }

  private removeConnection(system: SmppSystem, address: string, presence: SystemConnections): void {
    this.o.guesses.recordDisconnect(system, address);
    presence.here -= 1;
    if (presence.here > 0) setShareOfRate(presence);
    else this.#systems.delete(system.id);
  }
}

function setShareOfRate({ rate, perSecond, here, elsewhere }: SystemConnections): void {
  rate.setLimit(shareOfRate(perSecond, here, elsewhere), performance.now());
}

async function refuseAt(refusal: Refusal, answerAtMs: number): Promise<Admission> {
  await delay(Math.max(0, answerAtMs - performance.now()));
  return { admitted: false, refusal, status: STATUS_OF[refusal] };
}
