import { PubSub, TOPICS } from '@countersign/bus';
import { CarrierStore } from '@countersign/carriers/config';
import { createSystemPassword, lacksTrustProof, type TrustTerms } from '@countersign/carriers/credentials';
import { SMPP_SYSTEMS, type SystemRecord } from '@countersign/carriers/records';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Refusal } from '../../http/errors.js';
import type { AdminResource, CrudResource, Engineer, Reply } from '../crud/admin-resource.js';
import { maskedFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { discardsSenderEvidence } from '../crud/sender-format.js';
import { storedWindow } from '../crud/link-settings.js';
import { storedSubmitOptions, withoutPersonInOptions } from '../crud/submit-options.js';
import { trustRefusal } from '../crud/trust.js';
import { networkOf } from '../crud/networks.js';
import { outbindOf, outbindSecrets } from './outbind.js';
import type { SmppSystemChange, SmppSystemDraft } from './smpp-system.dto.js';
import { type SmppSystemAnswer, smppSystemSettings, smppSystemView, TRUST_REMEDY } from './smpp-system.view.js';

type Answer = Plain<SmppSystemAnswer>;

@Injectable()
export class SmppSystemResource implements CrudResource<SystemRecord, Answer, SmppSystemDraft, SmppSystemChange> {
  readonly name = 'smpp-systems';
  readonly noun = 'SMPP system';
  readonly idPrefix = 'sys';
  readonly table = SMPP_SYSTEMS;
  readonly view = smppSystemView;
  readonly audited = smppSystemSettings;
  readonly refusals = {
    smpp_systems_system_id_key: { code: 'CONFLICT', field: 'systemId', message: 'Another system has this systemId.' },
    routes_system_id_fkey: { code: 'CONFLICT', message: 'A route uses this system: delete or change the route first.' },
  } as const;

  constructor(
    private readonly carriers: CarrierStore,
    private readonly bus: PubSub,
  ) {}

  /** The systems with the view of the engineer's role. */
  seenBy(by: Engineer): AdminResource<SystemRecord, Answer> {
    return maskedFor(by, this, withoutPersonInOptions);
  }

  /** Gateways read the change at once; without this message, within 2 s. */
  readonly committed = (): void => this.bus.publish(TOPICS.systems);

  async create(tx: Executor, body: SmppSystemDraft, by: Engineer): Reply<SystemRecord, Answer> {
    const { systemId, password: chosen, carrier = systemId, ...rest } = body;
    const wanted = { ...stored(rest), systemId, carrier };
    const refusal =
      trustRefusal(by, 'smpp-systems', { sent: body, stored: null, wanted }) ??
      proofRefusal(body, wanted) ??
      passwordRefusal(chosen, systemId);
    if (refusal !== null) return { ok: false, refusal };
    const secrets = outbindSecrets(body.outbind, null);
    if (!secrets.ok) return secrets;
    const password = chosen ?? createSystemPassword();
    const system = await this.carriers.createSystem(tx, { ...wanted, password, ...secrets.value });
    return succeed({
      row: { ...system, links: [], refused: null },
      hidden: ['password', ...namesOf(secrets.value)],
      ...(chosen === undefined ? { once: { password } } : {}),
    });
  }

  async update(tx: Executor, system: SystemRecord, body: SmppSystemChange, by: Engineer): Reply<SystemRecord, Answer> {
    const { password, ...change } = body;
    const wanted = { ...system, ...stored(change) };
    const refusal =
      trustRefusal(by, 'smpp-systems', { sent: body, stored: system, wanted }) ??
      proofRefusal(body, wanted) ??
      passwordRefusal(password, wanted.systemId);
    if (refusal !== null) return { ok: false, refusal };
    const others = outbindSecrets(body.outbind, system.outbind);
    if (!others.ok) return others;
    const secrets = { ...(password === undefined ? {} : { password }), ...others.value };
    if (discardsSenderEvidence(system, wanted, change.senderFormat !== undefined))
      await this.carriers.discardSenderEvidence(tx, system.id);
    const changed = await this.carriers.updateSystem(tx, wanted, secrets);
    return succeed({
      row: { ...changed, links: system.links, refused: system.refused },
      hidden: namesOf(secrets),
    });
  }

  /** Sets a new random password. Open connections stay. */
  async rotate(tx: Executor, by: Engineer, system: SystemRecord): Reply<SystemRecord, Answer> {
    const password = createSystemPassword();
    const refusal = trustRefusal(by, 'smpp-systems', { sent: { password }, stored: system, wanted: system });
    if (refusal !== null) return { ok: false, refusal };
    const changed = await this.carriers.updateSystem(tx, system, { password });
    return succeed({
      row: { ...changed, links: system.links, refused: system.refused },
      once: { password },
      hidden: ['password'],
    });
  }

  delete(tx: Executor, { id }: SystemRecord): Promise<void> {
    return this.carriers.deleteSystem(tx, id);
  }
}

/** The names of the secrets that are set, for the audit log. */
const namesOf = (secrets: object): readonly string[] =>
  Object.entries(secrets).flatMap(([name, value]) => (value === null ? [] : [name]));

/** Fields on which trust depends. A refusal names trustedForMo when the body contains it. */
const TRUST_FIELDS = ['trustedForMo', 'allowedCidrs', 'tlsRequired'] as const;

/**
 * Refuses a body that sets one of TRUST_FIELDS if the system would then be trusted without proof; null otherwise. Other
 * fields of a system that an earlier release saved without proof can still be changed.
 */
function proofRefusal(sent: Plain<SmppSystemChange>, wanted: Partial<TrustTerms>): Refusal | null {
  const field = TRUST_FIELDS.find((name) => sent[name] !== undefined);
  const { trustedForMo = false, allowedCidrs = [], tlsRequired = false } = wanted;
  if (field === undefined || !lacksTrustProof({ trustedForMo, allowedCidrs, tlsRequired })) return null;
  return { code: 'VALIDATION_ERROR', field, message: TRUST_REMEDY };
}

/** Refuses a password that equals the systemId, ignoring case; null otherwise. */
function passwordRefusal(password: string | undefined, systemId: string): Refusal | null {
  if (password?.toLowerCase() !== systemId.toLowerCase()) return null;
  const message =
    'password must not be the systemId. Create without one, or call rotate, and a random one is generated.';
  return { code: 'VALIDATION_ERROR', field: 'password', message };
}

/** Converts a body to stored fields: every network gets a prefix length. */
function stored({
  allowedCidrs,
  outbind,
  window,
  submitOptions,
  ...rest
}: Omit<Plain<SmppSystemChange>, 'password'>): Partial<SystemRecord> {
  return {
    ...rest,
    ...storedWindow(window),
    ...storedSubmitOptions(submitOptions),
    ...(outbind === undefined ? {} : { outbind: outbind === null ? null : outbindOf(outbind) }),
    ...(allowedCidrs === undefined ? {} : { allowedCidrs: allowedCidrs.map((text) => networkOf(text) ?? text) }),
  };
}
