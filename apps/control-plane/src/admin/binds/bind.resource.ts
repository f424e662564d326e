import { PubSub, TOPICS } from '@countersign/bus';
import { type Bind, type BindHost, type BindSecrets, CarrierStore } from '@countersign/carriers/config';
import { needsTlvs, NO_OPTIONS } from '@countersign/carriers/submit-options';
import { type BindRecord, BINDS } from '@countersign/carriers/records';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed, type Outcome, type Refusal } from '../../http/errors.js';
import type { JsonObject } from '../../http/json-body.js';
import type { AdminResource, CrudResource, Engineer, Reply } from '../crud/admin-resource.js';
import { maskedFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { discardsSenderEvidence } from '../crud/sender-format.js';
import { storedWindow } from '../crud/link-settings.js';
import { storedSubmitOptions, withoutPersonInOptions } from '../crud/submit-options.js';
import { trustRefusal } from '../crud/trust.js';
import type { BindChange, BindDraft } from './bind.dto.js';
import { type BindAnswer, bindSettings, bindView, MAX_NAME_CHARACTERS } from './bind.view.js';
import { hostsOf } from './hosts.js';
import { outbindOf, outbindPasswordOf, outbindPasswordRefusal } from './outbind.js';
import { clientKeyFault, clientKeyOf, tlsOf } from './tls.js';

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

  /** The binds with the view of the engineer's role. */
  seenBy(by: Engineer): AdminResource<BindRecord, Answer> {
    return maskedFor(by, this, withoutPersonInOptions);
  }

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
    const { trustedForMo = false } = body;
    const refusal =
      trustRefusal(by, 'binds', { sent: body, stored: null, wanted: { trustedForMo } }) ??
      outbindPasswordRefusal(body.outbind, trustedForMo);
    if (refusal !== null) return { ok: false, refusal };
    const { name: sentName, carrier, hosts: _hosts, host: _host, port: _port, systemId, password, ...rest } = body;
    const sentHosts = hostsOfBody(body);
    if (!sentHosts.ok) return sentHosts;
    const secrets = secretsChange(body, null);
    if (!secrets.ok) return secrets;
    const unknownTlvs = tlvRefusal(stored(rest));
    if (unknownTlvs !== null) return { ok: false, refusal: unknownTlvs };
    const hosts = sentHosts.value ?? [];
    const name = sentName ?? (await this.nameFor(tx, systemId, hosts));
    const draft = { ...stored(rest), name, carrier: carrier ?? name, hosts, systemId, password, ...secrets.value };
    const row = { ...(await this.carriers.createBind(tx, draft)), slots: [] };
    return succeed({ row, hidden: hiddenOf({ password, ...secrets.value }) });
  }

  async update(tx: Executor, bind: BindRecord, change: BindChange, by: Engineer): Reply<BindRecord, Answer> {
    const { hosts: _hosts, host: _host, port: _port, password, ...rest } = change;
    const sentHosts = hostsOfBody(change);
    if (!sentHosts.ok) return sentHosts;
    const others = secretsChange(change, bind);
    if (!others.ok) return others;
    const changed = { ...bind, ...stored(rest), hosts: sentHosts.value ?? bind.hosts };
    const refusal =
      trustRefusal(by, 'binds', { sent: change, stored: bind, wanted: changed }) ??
      outbindPasswordRefusal(change.outbind, changed.trustedForMo) ??
      tlvRefusal(changed);
    if (refusal !== null) return { ok: false, refusal };
    if (discardsSenderEvidence(bind, changed, change.senderFormat !== undefined))
      await this.carriers.discardSenderEvidence(tx, bind.id);
    const secrets = { ...(password === undefined ? {} : { password }), ...others.value };
    const row = { ...(await this.carriers.updateBind(tx, changed, secrets)), slots: bind.slots };
    return succeed({ row, hidden: hiddenOf(secrets) });
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

/** Refuses options with TLVs on a bind of SMPP 3.3, which would be sent without them; null otherwise. */
function tlvRefusal({ interfaceVersion, submitOptions = NO_OPTIONS }: Partial<Bind>): Refusal | null {
  if (interfaceVersion !== '3.3' || !needsTlvs(submitOptions)) return null;
  const message = 'submitOptions must have no tlvs, and the concatenation udh, while interfaceVersion is 3.3.';
  return { code: 'VALIDATION_ERROR', field: 'submitOptions', message };
}

/** The names of the secrets that are set, for the audit log. */
const hiddenOf = ({ password, clientKey, outbindPassword }: BindSecrets): readonly string[] => [
  ...(password === undefined ? [] : ['password']),
  ...(clientKey === undefined || clientKey === null ? [] : ['clientKey']),
  ...(outbindPassword === undefined || outbindPassword === null ? [] : ['outbindPassword']),
];

type StoredSecrets = Pick<Bind, 'tls' | 'clientKeySealed' | 'outbind'>;

/**
 * The secrets inside of other fields that a body changes.
 *
 * @param bind null for a create
 */
function secretsChange(
  { tls, outbind }: Plain<BindChange>,
  bind: StoredSecrets | null,
): Outcome<Omit<BindSecrets, 'password'>> {
  const key = clientKeyChange(tls, bind);
  if (!key.ok) return key;
  const password = outbindPasswordChange(outbind, bind);
  return password.ok ? succeed({ ...key.value, ...password.value }) : password;
}

/** The change of the password of `outbind` by a body: it is kept while there is an `outbind`, and removed with it. */
function outbindPasswordChange(
  sent: JsonObject | null | undefined,
  bind: Pick<Bind, 'outbind'> | null,
): Outcome<Pick<BindSecrets, 'outbindPassword'>> {
  if (sent === undefined) return succeed({});
  if (sent === null) return succeed({ outbindPassword: null });
  const password = outbindPasswordOf(sent);
  if (password !== null) return succeed({ outbindPassword: password });
  if (bind?.outbind != null) return succeed({});
  return misplaced('outbind.password', 'is required with a new outbind');
}

/**
 * The change of the client key by a body: a key is kept while its certificate stays, and removed with it.
 *
 * @param bind null for a create
 */
function clientKeyChange(
  sent: JsonObject | undefined,
  bind: StoredSecrets | null,
): Outcome<Pick<BindSecrets, 'clientKey'>> {
  if (sent === undefined) return succeed({});
  const clientKey = clientKeyOf(sent);
  const { clientCertificate } = tlsOf(sent);
  const kept = bind?.clientKeySealed != null && clientCertificate === bind.tls.clientCertificate;
  if (clientKey === null && clientCertificate !== undefined && kept) return succeed({});
  const fault = clientKeyFault(clientCertificate, clientKey);
  return fault === null ? succeed({ clientKey }) : refuse('VALIDATION_ERROR', fault);
}

/** Converts a body to stored fields. */
function stored({
  tls,
  outbind,
  window,
  submitOptions,
  ...rest
}: Omit<Plain<BindChange>, 'hosts' | 'host' | 'port' | 'password'>): Partial<Bind> {
  return {
    ...rest,
    ...(tls === undefined ? {} : { tls: tlsOf(tls) }),
    ...(outbind === undefined ? {} : { outbind: outbind === null ? null : outbindOf(outbind) }),
    ...storedWindow(window),
    ...storedSubmitOptions(submitOptions),
  };
}
