import { PubSub, TOPICS } from '@countersign/bus';
import { type Bind, type BindHost, CarrierStore } from '@countersign/carriers/config';
import { type BindRecord, BINDS } from '@countersign/carriers/records';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import type { CrudResource, Engineer, Reply } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import { discardsSenderEvidence } from '../crud/sender-format.js';
import { storedWindow } from '../crud/link-settings.js';
import { trustRefusal } from '../crud/trust.js';
import type { BindChange, BindDraft } from './bind.dto.js';
import { type BindAnswer, bindSettings, bindView, MAX_NAME_CHARACTERS } from './bind.view.js';
import { hostsOf } from './hosts.js';
import { tlsOf } from './tls.js';

type Answer = Plain<BindAnswer>;

/** Reserves characters for the number that distinguishes it from others of the same system and host. */
const GENERATED_NAME_CHARACTERS = MAX_NAME_CHARACTERS - 8;

@Injectable()
export class BindResource implements CrudResource<BindRecord, Answer, BindDraft, BindChange> {
  readonly name = 'binds';
  readonly noun = 'bind';
  readonly idPrefix = 'bind';
  readonly table = BINDS;
  readonly view = bindView;
  readonly refusals = {
    binds_name_key: { code: 'CONFLICT', field: 'name', message: 'Another bind has this name.' },
    routes_bind_id_fkey: { code: 'CONFLICT', message: 'A route uses this bind: delete or change the route first.' },
  } as const;

  constructor(
    private readonly carriers: CarrierStore,
    private readonly bus: PubSub,
  ) {}

  /** Gateways read the change at once; without this message, within 2 s. */
  readonly committed = (): void => this.bus.publish(TOPICS.binds);

  /**
   * The settings, and two values that an engineer's calls change: the generation (reconnects) and the learned sender
   * format.
   */
  readonly audited = (bind: BindRecord): object => ({
    ...bindSettings(bind),
    generation: bind.generation,
    learnedSenderFormat: bind.senderLearning?.learned ?? null,
  });

  async create(tx: Executor, body: BindDraft, by: Engineer): Reply<BindRecord, Answer> {
    const trust = { sent: body, stored: null, wanted: { trustedForMo: body.trustedForMo ?? false } };
    const refusal = trustRefusal(by, 'binds', trust);
    if (refusal !== null) return { ok: false, refusal };
    const { name: sentName, carrier, hosts: _hosts, host: _host, port: _port, systemId, password, ...rest } = body;
    const sentHosts = hostsOfBody(body);
    if (!sentHosts.ok) return sentHosts;
    const hosts = sentHosts.value ?? [];
    const name = sentName ?? (await this.nameFor(tx, systemId, hosts));
    const draft = { ...stored(rest), name, carrier: carrier ?? name, hosts, systemId, password };
    return succeed({ row: { ...(await this.carriers.createBind(tx, draft)), slots: [] }, hidden: ['password'] });
  }

  async update(tx: Executor, bind: BindRecord, change: BindChange, by: Engineer): Reply<BindRecord, Answer> {
    const { hosts: _hosts, host: _host, port: _port, password, ...rest } = change;
    const sentHosts = hostsOfBody(change);
    if (!sentHosts.ok) return sentHosts;
    const changed = { ...bind, ...stored(rest), hosts: sentHosts.value ?? bind.hosts };
    const refusal = trustRefusal(by, 'binds', { sent: change, stored: bind, wanted: changed });
    if (refusal !== null) return { ok: false, refusal };
    if (discardsSenderEvidence(bind, changed, change.senderFormat !== undefined))
      await this.carriers.discardSenderEvidence(tx, bind.id);
    const row = { ...(await this.carriers.updateBind(tx, changed, password)), slots: bind.slots };
    return succeed({ row, ...(password === undefined ? {} : { hidden: ['password'] }) });
  }

  delete(tx: Executor, { id }: BindRecord): Promise<void> {
    return this.carriers.deleteBind(tx, id);
  }

  enable(tx: Executor, bind: BindRecord): Reply<BindRecord, Answer> {
    return this.write(tx, { ...bind, enabled: true });
  }

  /** Implements disable and drain: gateways drain a link whenever possible before they close it. */
  disable(tx: Executor, bind: BindRecord): Reply<BindRecord, Answer> {
    return this.write(tx, { ...bind, enabled: false });
  }

  reconnect(tx: Executor, bind: BindRecord): Reply<BindRecord, Answer> {
    return this.write(tx, { ...bind, generation: bind.generation + 1 });
  }

  private async write(tx: Executor, bind: BindRecord): Reply<BindRecord, Answer> {
    return succeed({ row: { ...(await this.carriers.updateBind(tx, bind)), slots: bind.slots } });
  }

  private nameFor(tx: Executor, systemId: string, [first]: readonly BindHost[]): Promise<string> {
    const made = `${systemId.trim()}@${first?.host ?? ''}`.slice(0, GENERATED_NAME_CHARACTERS);
    return this.carriers.freeBindName(tx, made);
  }
}

/** The hosts of a body, from `hosts` or from `host` and `port`; undefined when it has none. */
function hostsOfBody({ hosts, host, port }: Plain<BindChange>): Outcome<readonly BindHost[] | undefined> {
  if (host === undefined && port === undefined) return succeed(hosts === undefined ? undefined : hostsOf(hosts));
  if (hosts !== undefined)
    return misplaced(host === undefined ? 'port' : 'host', 'must be omitted when hosts is given');
  if (host === undefined) return misplaced('host', 'is required with port');
  if (port === undefined) return misplaced('port', 'is required with host');
  return succeed([{ host, port }]);
}

const misplaced = (field: string, what: string): ReturnType<typeof refuse> =>
  refuse('VALIDATION_ERROR', { message: `${field} ${what}.`, field });

/** Converts a body to stored fields. */
function stored({
  tls,
  window,
  ...rest
}: Omit<Plain<BindChange>, 'hosts' | 'host' | 'port' | 'password'>): Partial<Bind> {
  return {
    ...rest,
    ...(tls === undefined ? {} : { tls: tlsOf(tls) }),
    ...storedWindow(window),
  };
}
