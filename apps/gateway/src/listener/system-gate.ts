import { setTimeout as delay } from 'node:timers/promises';
import { systemPasswordMatches, type CarrierDirectory, type SmppSystem } from '@countersign/carriers';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/postgres';
import { STATUS, type BindRequest } from '@countersign/smpp';
import { refusalOf, type Refusal } from './admission.js';

/** A refused bind is answered this long after it was asked for, whatever the reason: guessing is slow and time tells nothing. */
export const REFUSED_BIND_MS = 1_000;

/** SMPP 3.4 section 5.1.3. What only the right password reveals is one answer: "bind failed". */
const STATUS_OF: Readonly<Record<Refusal, number>> = {
  unknown_system: STATUS.ESME_RINVSYSID,
  wrong_password: STATUS.ESME_RINVPASWD,
  disabled: STATUS.ESME_RBINDFAIL,
  address: STATUS.ESME_RBINDFAIL,
  tls_required: STATUS.ESME_RBINDFAIL,
  bind_type: STATUS.ESME_RBINDFAIL,
  too_many_connections: STATUS.ESME_RBINDFAIL,
};

export interface Peer {
  readonly address: string;
  readonly overTls: boolean;
}

export type Admission =
  | { readonly admitted: true; readonly system: SmppSystem; readonly leave: () => void }
  | { readonly admitted: false; readonly refusal: Refusal; readonly status: number };

/** Decides who may bind to us, and counts who is in. */
export class SystemGate {
  readonly #connections = new Map<Uuid, number>();

  constructor(
    private readonly carriers: CarrierDirectory,
    private readonly keys: ServerKeys,
  ) {}

  /** Call `leave` of an admission once, when its connection is over. Rejects when the database cannot be asked. */
  async admit(request: BindRequest, peer: Peer): Promise<Admission> {
    const refuseAtMs = performance.now() + REFUSED_BIND_MS;
    const system = await this.carriers.system(request.systemId);
    const passwordMatches = systemPasswordMatches(this.keys, system, request.password);
    const connections = system === null ? 0 : (this.#connections.get(system.id) ?? 0);
    const refusal = refusalOf(system, passwordMatches, { ...peer, bindType: request.bindType, connections });
    if (system === null || refusal !== null) {
      await delay(refuseAtMs - performance.now());
      return refused(refusal ?? 'unknown_system');
    }
    this.#connections.set(system.id, connections + 1);
    return { admitted: true, system, leave: () => this.leave(system.id) };
  }

  private leave(id: Uuid): void {
    const left = (this.#connections.get(id) ?? 0) - 1;
    if (left > 0) this.#connections.set(id, left);
    else this.#connections.delete(id);
  }
}

function refused(refusal: Refusal): Admission {
  return { admitted: false, refusal, status: STATUS_OF[refusal] };
}
