import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import { type Bind, BIND_ROWS } from './bind.entity.js';
import {
  ADD_FORMER_NUMBER,
  DELETE_BIND,
  DELETE_FORMER_NUMBERS,
  DELETE_SYSTEM,
  FIND_LONG_NUMBER,
  HAS_TRUSTED_LINK,
  LIST_NAMES_LIKE,
  LIST_SAME_END,
  LOCK_NUMBERS,
} from './carrier.sql.js';
import { INBOUND_NUMBERS, type InboundNumber } from './inbound-number.entity.js';
import { shareNationalDigits } from './number-plan.js';
import { type SmppSystem, SYSTEMS } from './smpp-system.entity.js';
import { LIST_ROUTES } from '../routes/route.sql.js';
import { type Route, ROUTES } from '../routes/route.entity.js';
import { DISCARD_SENDER_FORMAT } from '../senders/sender-format.sql.js';
import { sealBindClientKey, sealBindPassword, sealOutbindPassword, systemPasswordDigest } from './smpp-password.js';

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

/** A number of another country whose national digits are those of a number. */
export interface SameDigitsNumber {
  readonly number: string;
  /** False for one that was deleted or replaced. */
  readonly isOurs: boolean;
}

type Defaulted<Whole, Required extends keyof Whole> = Pick<Whole, Required> & Partial<Omit<Whole, Required>>;

/** A new system; every field except name, carrier and password has the contract's default. */
export type NewSystem = Defaulted<
  Omit<SmppSystem, 'id' | 'passwordDigest' | 'outbindPasswordSealed' | 'outbindClientKeySealed' | 'senderLearning'>,
  'systemId' | 'carrier'
> &
  SystemSecrets & { readonly password: string };

/** Values of a system that are stored digested or sealed. */
interface SystemSecrets {
  readonly password?: string;
  /** The password of `outbind`; null for none. */
  readonly outbindPassword?: string | null;
  /** PEM of the key of `outbind.tls.clientCertificate`; null for none. */
  readonly outbindClientKey?: string | null;
}

/** Values of a bind that are stored sealed. */
export interface BindSecrets {
  readonly password?: string;
  /** PEM of the key of `tls.clientCertificate`; null for none. */
  readonly clientKey?: string | null;
  /** The password of `outbind`; null for none. */
  readonly outbindPassword?: string | null;
}

/** A new bind; every field except names, hosts and password has the contract's default. */
export type NewBind = Defaulted<
  Omit<Bind, 'id' | 'passwordSealed' | 'clientKeySealed' | 'outbindPasswordSealed' | 'senderLearning'>,
  'name' | 'carrier' | 'hosts' | 'systemId'
> &
  BindSecrets & { readonly password: string };

/** A new route, to a bind or to a system; every other field except the prefix has the contract's default. */
export type NewRoute = Defaulted<Omit<Route, 'id'>, 'prefix'>;

/** Writes inbound numbers, systems, binds and routes, in the caller's transaction. Passwords are stored digested or sealed. */
export class CarrierStore {
  constructor(private readonly options: CarrierStoreOptions) {}

  /** Throws DataError 23505 for an existing number, 23514 for an invalid one. */
  async createInboundNumber(tx: Executor, number: NewInboundNumber): Promise<InboundNumber> {
    await this.deleteFormerNumbers(tx, number.number, null);
    return INBOUND_NUMBERS.insert(tx, { ...number, id: this.options.newId() });
  }

  /** Writes all fields of a locked number. Throws as `createInboundNumber`. */
  async updateInboundNumber(tx: Executor, { id, ...number }: InboundNumber): Promise<InboundNumber> {
    await this.deleteFormerNumbers(tx, number.number, id);
    await this.addFormerNumber(tx, id, number.number);
    return INBOUND_NUMBERS.update(tx, id, number);
  }

  /** Sessions keep a copy of their number. */
  async deleteInboundNumber(tx: Executor, id: Uuid): Promise<void> {
    await this.addFormerNumber(tx, id, null);
    await INBOUND_NUMBERS.delete(tx, id);
  }

  /** Makes creates and changes of inbound numbers wait for each other, until the end of the transaction. */
  async lockNumbers(tx: Executor): Promise<void> {
    await tx.query(LOCK_NUMBERS);
  }

  /**
   * The numbers of other countries, ours and former ones, that share national digits with a number.
   *
   * @param id the row of the number, which is left out; null for a new one
   */
  async listWithSameDigits(tx: Executor, number: string, id: Uuid | null): Promise<readonly SameDigitsNumber[]> {
    const found = await tx.query<SameDigitsNumber>(LIST_SAME_END, [number, id]);
    return found.filter((other) => shareNationalDigits(number, other.number));
  }

  /** Whether a bind or a system is trusted for MO. A disabled one counts: enabling it needs no further right. */
  async hasTrustedLink(tx: Executor): Promise<boolean> {
    return requireRow(await tx.query<{ found: boolean }>(HAS_TRUSTED_LINK)).found;
  }

  /** Throws DataError 23505 for an existing system_id. */
  createSystem(
    tx: Executor,
    { outbindPassword = null, outbindClientKey = null, ...rest }: NewSystem,
  ): Promise<SmppSystem> {
    const { password, ...system } = rest;
    const id = this.options.newId();
    const sealed = this.sealedOfSystem(id, { outbindPassword, outbindClientKey });
    return SYSTEMS.insert(tx, { ...system, id, ...this.digestOf(id, password), ...sealed });
  }

  /** Writes all fields of a locked system, with new secrets if given. Throws as `createSystem`. */
  updateSystem(tx: Executor, { id, ...system }: SmppSystem, secrets: SystemSecrets = {}): Promise<SmppSystem> {
    const { password } = secrets;
    return SYSTEMS.update(tx, id, {
      ...system,
      ...(password === undefined ? {} : this.digestOf(id, password)),
      ...this.sealedOfSystem(id, secrets),
    });
  }

  /** Throws DataError 23503 while a route uses the system. */
  async deleteSystem(tx: Executor, id: Uuid): Promise<void> {
    await tx.query(DELETE_SYSTEM, [id]);
  }

  /** Throws DataError 23505 for an existing name. */
  createBind(tx: Executor, { password, clientKey = null, outbindPassword = null, ...bind }: NewBind): Promise<Bind> {
    const id = this.options.newId();
    const { keys } = this.options;
    const passwordSealed = sealBindPassword(keys, id, password);
    return BIND_ROWS.insert(tx, { ...bind, id, passwordSealed, ...this.sealed(id, { clientKey, outbindPassword }) });
  }

  /** Writes all fields of a locked bind, with new secrets if given. Throws as `createBind`. */
  updateBind(tx: Executor, { id, ...bind }: Bind, secrets: BindSecrets = {}): Promise<Bind> {
    const { password } = secrets;
    return BIND_ROWS.update(tx, id, {
      ...bind,
      ...(password === undefined ? {} : { passwordSealed: sealBindPassword(this.options.keys, id, password) }),
      ...this.sealed(id, secrets),
    });
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

  /** Throws DataError 23503 for an unknown bind or system, 23514 for an invalid prefix, or not one of bind and system. */
  createRoute(tx: Executor, route: NewRoute): Promise<Route> {
    return ROUTES.insert(tx, { ...route, id: this.options.newId() });
  }

  /** Writes all fields of a locked route. Throws as `createRoute`. */
  updateRoute(tx: Executor, { id, ...route }: Route): Promise<Route> {
    return ROUTES.update(tx, id, route);
  }

  deleteRoute(tx: Executor, id: Uuid): Promise<void> {
    return ROUTES.delete(tx, id);
  }

  /** The current rows of all routes, oldest first, disabled ones included. */
  listRoutes(db: Executor): Promise<Route[]> {
    return db.query<Route>(LIST_ROUTES);
  }

  /** A number that was permitted gives its national digits their country from then on. */
  private async deleteFormerNumbers(tx: Executor, number: string, id: Uuid | null): Promise<void> {
    const former = (await this.listWithSameDigits(tx, number, id)).filter(({ isOurs }) => !isOurs);
    if (former.length > 0) await tx.query(DELETE_FORMER_NUMBERS, [former.map((each) => each.number)]);
  }

  /**
   * Keeps the country that a deleted or replaced number gave its national digits, unless a number of another country has
   * them from then on.
   */
  private async addFormerNumber(tx: Executor, id: Uuid, next: string | null): Promise<void> {
    const [row] = await tx.query<{ number: string }>(FIND_LONG_NUMBER, [id]);
    if (row === undefined || row.number === next) return;
    if (next !== null && shareNationalDigits(row.number, next)) return;
    if ((await this.listWithSameDigits(tx, row.number, id)).some(({ isOurs }) => isOurs)) return;
    await tx.query(ADD_FORMER_NUMBER, [row.number]);
  }

  /** The stored form of the secrets that may be absent. Undefined ones are left as they are. */
  private sealed(
    id: Uuid,
    { clientKey, outbindPassword }: BindSecrets,
  ): Partial<Pick<Bind, 'clientKeySealed' | 'outbindPasswordSealed'>> {
    const { keys } = this.options;
    const orNull = (text: string | null, seal: typeof sealBindClientKey): Buffer | null =>
      text === null ? null : seal(keys, id, text);
    return {
      ...(clientKey === undefined ? {} : { clientKeySealed: orNull(clientKey, sealBindClientKey) }),
      ...(outbindPassword === undefined ? {} : { outbindPasswordSealed: orNull(outbindPassword, sealOutbindPassword) }),
    };
  }

  private sealedOfSystem(
    id: Uuid,
    { outbindPassword, outbindClientKey }: SystemSecrets,
  ): Partial<Pick<SmppSystem, 'outbindPasswordSealed' | 'outbindClientKeySealed'>> {
    const { outbindPasswordSealed, clientKeySealed } = this.sealed(id, {
      ...(outbindPassword === undefined ? {} : { outbindPassword }),
      ...(outbindClientKey === undefined ? {} : { clientKey: outbindClientKey }),
    });
    return {
      ...(outbindPasswordSealed === undefined ? {} : { outbindPasswordSealed }),
      ...(clientKeySealed === undefined ? {} : { outbindClientKeySealed: clientKeySealed }),
    };
  }

  private digestOf(id: Uuid, password: string): Pick<SmppSystem, 'passwordDigest' | 'digestVersion'> {
    const { keys } = this.options;
    return { passwordDigest: systemPasswordDigest(keys, id, password), digestVersion: keys.currentVersion };
  }
}
