import { bindStatus, parseSystemConnectionStatus } from '@countersign/carriers/status';
import type { LinkCapacity } from '@countersign/carriers/planning';
import type { BindRecord, SystemRecord } from '@countersign/carriers/records';
import { renderId } from '@countersign/ids';
import type { SubmitOptions } from '@countersign/carriers/submit-options';
import type { LINK_STATES } from './route-resolution.view.js';

/** A bind or a system as the target of a route, from what gateways last reported of its connections. */
export interface LinkHealth {
  readonly id: string;
  readonly name: string;
  readonly carrier: string;
  readonly submitOptions: SubmitOptions;
  readonly state: (typeof LINK_STATES)[number];
  readonly connectionsBound: number;
  /** As gateways judge it, but over all of them. */
  readonly capacity: LinkCapacity | { readonly fullForMs: number } | null;
}

/** No lease ends within this answer, and no queue is estimated: only the connection is compared. */
const LEASE_SECONDS = 0;
const FULL_FOR_MS = 1;

export function bindHealth(bind: BindRecord): LinkHealth {
  const bound = bindStatus(bind, bind.slots).connections.flatMap((connection, slot) =>
    connection.state === 'bound' ? [{ ...connection, slot }] : [],
  );
  const free = bound.find(({ windowUsed }) => windowUsed < bind.sendWindow);
  const link = { bindId: bind.id, slot: free?.slot ?? 0, owner: free?.owner ?? '', epoch: '0' };
  const { name, carrier, submitOptions } = bind;
  return {
    id: renderId('bind', bind.id),
    name,
    carrier,
    submitOptions,
    ...stateOf(bind.enabled, bound.length, free === undefined ? null : { carrier, link, leaseSeconds: LEASE_SECONDS }),
  };
}

export function systemHealth(system: SystemRecord): LinkHealth {
  const bound = system.links
    .filter(({ bindType }) => bindType !== 'transmitter')
    .map(({ status }) => parseSystemConnectionStatus(status))
    .filter(({ state }) => state === 'bound');
  const isFree = bound.some(({ windowUsed }) => windowUsed < system.sendWindow);
  const { systemId: name, carrier, submitOptions } = system;
  const capacity = { carrier, link: { systemId: system.id }, leaseSeconds: LEASE_SECONDS };
  return {
    id: renderId('sys', system.id),
    name,
    carrier,
    submitOptions,
    ...stateOf(system.enabled, bound.length, isFree ? capacity : null),
  };
}

function stateOf(
  enabled: boolean,
  connectionsBound: number,
  free: LinkCapacity | null,
): Pick<LinkHealth, 'state' | 'connectionsBound' | 'capacity'> {
  if (!enabled) return { state: 'disabled', connectionsBound, capacity: null };
  if (connectionsBound === 0) return { state: 'unbound', connectionsBound, capacity: null };
  if (free === null) return { state: 'full', connectionsBound, capacity: { fullForMs: FULL_FOR_MS } };
  return { state: 'bound', connectionsBound, capacity: free };
}
