import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import {
  DELETE_BIND,
  DELETE_NUMBER,
  DELETE_SYSTEM,
  HAS_TRUSTED_LINK,
  INSERT_BIND,
  INSERT_NUMBER,
  INSERT_SYSTEM,
  LIST_NAMES_LIKE,
  UPDATE_BIND,
  UPDATE_NUMBER,
  UPDATE_SYSTEM,
} from './carrier.sql.js';
import { BIND_TYPES, type Bind, type InboundNumber, type LinkTerms, type SmppSystem } from './carrier.js';
import { DELETE_ROUTE, INSERT_ROUTE, LIST_ROUTES, UPDATE_ROUTE } from '../routes/route.sql.js';
import type { Route } from '../routes/route.js';
import { DISCARD_SENDER_FORMAT } from '../senders/sender-format.sql.js';
import { sealBindPassword, systemPasswordDigest } from './smpp-password.js';

/** ESME_RMSGQFUL: the carrier's queue is full, try again (SMPP 3.4, 5.1.3). */
const RETRYABLE_BY_DEFAULT = 0x14;

export interface CarrierStoreOptions {
  readonly keys: ServerKeys;
  /** A new id from the database's clock. */
  newId(): Uuid;
}

export interface NewInboundNumber {
  readonly number: string;
  readonly countries: readonly string[];
  readonly brandId?: Uuid | null;
}

type Defaulted<Whole, Required extends keyof Whole> = Pick<Whole, Required> & Partial<Omit<Whole, Required>>;

/** A new system; every field except name, carrier and password has the contract's default. */
export type NewSystem = Defaulted<
  Omit<SmppSystem, 'id' | 'passwordDigest' | 'senderLearning'>,
  'systemId' | 'carrier'
> & {
  readonly password: string;
};

/** A new bind; every field except names, hosts and password has the contract's default. */
export type NewBind = Defaulted<
  Omit<Bind, 'id' | 'passwordSealed' | 'senderLearning'>,
  'name' | 'carrier' | 'hosts' | 'systemId'
> & {
  readonly password: string;
};

/** A new route; every field except prefix and bind has the contract's default. */
export type NewRoute = Defaulted<Omit<Route, 'id'>, 'prefix' | 'bindId'>;

const ROUTE_DEFAULTS = { priority: 0, weight: 1, costUsd: '0', sourceAddress: null, enabled: true } as const;

const LINK_DEFAULTS: Omit<LinkTerms, 'carrier'> = {
  defaultAlphabet: 'gsm',
  retryableMoStatus: RETRYABLE_BY_DEFAULT,
  trustedForMo: false,
  senderFormat: 'auto',
  senderLearning: null,
  enabled: true,
};

const SYSTEM_DEFAULTS = {
  ...LINK_DEFAULTS,
  bindTypes: BIND_TYPES,
  allowedCidrs: [],
  maxConnections: 4,
  submitPerSecond: null,
  tlsRequired: false,
} as const;

const BIND_DEFAULTS = {
  ...LINK_DEFAULTS,
  tls: { enabled: false },
  systemType: '',
  bindType: 'transceiver',
  interfaceVersion: '3.4',
  addressRange: '',
  sendWindow: 10,
  connections: 1,
  submitPerSecond: 50,
  messageIdBase: 'as-is',
  temporaryStatuses: [0x08, 0x14, 0x58],
  generation: 0,
  fullTraceUntil: null,
  enquireLinkSeconds: 30,
  responseTimeoutSeconds: 10,
} as const;

/** Writes inbound numbers, systems, binds and routes, in the caller's transaction. Passwords are stored digested or sealed. */
export class CarrierStore {
  constructor(private readonly options: CarrierStoreOptions) {}

  /** Throws DataError 23505 for an existing number, 23514 for an invalid one. */
  async createInboundNumber(tx: Executor, number: NewInboundNumber): Promise<InboundNumber> {
    const values = [this.options.newId(), number.number, number.countries, number.brandId ?? null];
    return requireRow(await tx.query<InboundNumber>(INSERT_NUMBER, values));
  }

  /** Writes all fields of a locked number. Throws as `createInboundNumber`. */
  async updateInboundNumber(tx: Executor, { id, number, countries, brandId }: InboundNumber): Promise<InboundNumber> {
    return requireRow(await tx.query<InboundNumber>(UPDATE_NUMBER, [id, number, countries, brandId]));
  }

  /** Sessions keep a copy of their number. */
  async deleteInboundNumber(tx: Executor, id: Uuid): Promise<void> {
    await tx.query(DELETE_NUMBER, [id]);
  }

  /** Whether a bind or a system is trusted for MO. A disabled one counts: enabling it needs no further right. */
  async hasTrustedLink(tx: Executor): Promise<boolean> {
    return requireRow(await tx.query<{ found: boolean }>(HAS_TRUSTED_LINK)).found;
  }

  /** Throws DataError 23505 for an existing system_id. */
  async createSystem(tx: Executor, { password, ...system }: NewSystem): Promise<SmppSystem> {
    const id = this.options.newId();
    const passwordDigest = systemPasswordDigest(this.options.keys, id, password);
    const { currentVersion: digestVersion } = this.options.keys;
    const all = { ...SYSTEM_DEFAULTS, ...system, id, passwordDigest, digestVersion };
    return requireRow(await tx.query<SmppSystem>(INSERT_SYSTEM, this.systemValues(all)));
  }

  /** Writes all fields of a locked system, with a new password if given. Throws as `createSystem`. */
  async updateSystem(tx: Executor, system: SmppSystem, password?: string): Promise<SmppSystem> {
    const passwordDigest =
      password === undefined ? system.passwordDigest : systemPasswordDigest(this.options.keys, system.id, password);
    return requireRow(await tx.query<SmppSystem>(UPDATE_SYSTEM, this.systemValues({ ...system, passwordDigest })));
  }

  async deleteSystem(tx: Executor, id: Uuid): Promise<void> {
    await tx.query(DELETE_SYSTEM, [id]);
  }

  /** Throws DataError 23505 for an existing name. */
  async createBind(tx: Executor, { password, ...bind }: NewBind): Promise<Bind> {
    const id = this.options.newId();
    const all = { ...BIND_DEFAULTS, ...bind, id, passwordSealed: sealBindPassword(this.options.keys, id, password) };
    return requireRow(await tx.query<Bind>(INSERT_BIND, bindValues(all)));
  }

  /** Writes all fields of a locked bind, with a new password if given. Throws as `createBind`. */
  async updateBind(tx: Executor, bind: Bind, password?: string): Promise<Bind> {
    const passwordSealed =
      password === undefined ? bind.passwordSealed : sealBindPassword(this.options.keys, bind.id, password);
    return requireRow(await tx.query<Bind>(UPDATE_BIND, [...bindValues({ ...bind, passwordSealed }), bind.generation]));
  }

  /** Throws DataError 23503 while a route uses the bind. */
  async deleteBind(tx: Executor, id: Uuid): Promise<void> {
    await tx.query(DELETE_BIND, [id]);
  }

  /** Discards the sender evidence of a bind or a system, including evidence that gateways have not written yet. */
  async discardSenderEvidence(tx: Executor, linkId: Uuid): Promise<void> {
    await tx.query(DISCARD_SENDER_FORMAT, [linkId]);
  }

  /** The name itself if it is free, else the first free one of `name 2`, `name 3` and so on. */
  async freeBindName(tx: Executor, name: string): Promise<string> {
    const taken = new Set((await tx.query<{ name: string }>(LIST_NAMES_LIKE, [name])).map((row) => row.name));
    if (!taken.has(name)) return name;
    let next = 2;
    while (taken.has(`${name} ${next}`)) next += 1;
    return `${name} ${next}`;
  }

  /** Throws DataError 23503 for an unknown bind, 23514 for an invalid prefix. */
  async createRoute(tx: Executor, route: NewRoute): Promise<Route> {
    const all = { ...ROUTE_DEFAULTS, ...route, id: this.options.newId() };
    return requireRow(await tx.query<Route>(INSERT_ROUTE, routeValues(all)));
  }

  /** Writes all fields of a locked route. Throws as `createRoute`. */
  async updateRoute(tx: Executor, route: Route): Promise<Route> {
    return requireRow(await tx.query<Route>(UPDATE_ROUTE, routeValues(route)));
  }

  async deleteRoute(tx: Executor, id: Uuid): Promise<void> {
    await tx.query(DELETE_ROUTE, [id]);
  }

  /** The current rows of all routes, oldest first, disabled ones included. */
  listRoutes(db: Executor): Promise<Route[]> {
    return db.query<Route>(LIST_ROUTES);
  }

  private systemValues(system: SmppSystem): unknown[] {
    return [...systemValues(system), this.options.keys.currentVersion];
  }
}

function systemValues(system: SmppSystem): unknown[] {
  return [
    system.id,
    system.systemId,
    system.passwordDigest,
    system.carrier,
    system.bindTypes,
    system.allowedCidrs,
    system.maxConnections,
    system.submitPerSecond,
    system.tlsRequired,
    system.trustedForMo,
    system.defaultAlphabet,
    system.retryableMoStatus,
    system.enabled,
    system.senderFormat,
  ];
}

function bindValues(bind: Bind): unknown[] {
  return [
    bind.id,
    bind.name,
    bind.carrier,
    JSON.stringify(bind.hosts),
    JSON.stringify(bind.tls),
    bind.systemId,
    bind.passwordSealed,
    bind.systemType,
    bind.bindType,
    bind.interfaceVersion,
    bind.addressRange,
    bind.sendWindow,
    bind.connections,
    bind.submitPerSecond,
    bind.messageIdBase,
    bind.temporaryStatuses,
    bind.enquireLinkSeconds,
    bind.responseTimeoutSeconds,
    bind.defaultAlphabet,
    bind.retryableMoStatus,
    bind.trustedForMo,
    bind.enabled,
    bind.senderFormat,
  ];
}

function routeValues(route: Route): unknown[] {
  const { id, prefix, bindId, priority, weight, costUsd, sourceAddress, enabled } = route;
  return [id, prefix, bindId, priority, weight, costUsd, sourceAddress, enabled];
}
