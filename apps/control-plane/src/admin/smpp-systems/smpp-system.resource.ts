import { PubSub } from '@countersign/bus';
import { CarrierStore, SMPP_SYSTEMS, type SystemRecord } from '@countersign/carriers';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome } from '../../http/errors.js';
import type { AdminResource, Engineer, Written } from '../admin-resource.js';
import type { Plain } from '../plain.js';
import { discardsSenderEvidence } from '../sender-format.js';
import { trustRefusal } from '../trust.js';
import { networkOf } from './networks.js';
import type { SmppSystemChange, SmppSystemDraft } from './smpp-system.dto.js';
import { type SmppSystemAnswer, smppSystemSettings, smppSystemView } from './smpp-system.view.js';

type Answer = Plain<SmppSystemAnswer>;
type Reply = Promise<Outcome<Written<SystemRecord, Answer>>>;

@Injectable()
export class SmppSystemResource implements AdminResource<SystemRecord, Answer> {
  readonly name = 'smpp-systems';
  readonly noun = 'SMPP system';
  readonly idPrefix = 'sys';
  readonly table = SMPP_SYSTEMS;
  readonly view = smppSystemView;
  readonly audited = smppSystemSettings;
  readonly refusals = {
    smpp_systems_system_id_key: { code: 'CONFLICT', field: 'systemId', message: 'Another system has this systemId.' },
  } as const;

  constructor(
    private readonly carriers: CarrierStore,
    private readonly bus: PubSub,
  ) {}

  /** Gateways look at once, and else within 2 s. */
  readonly committed = (): void => this.bus.publish('systems');

  async create(tx: Executor, by: Engineer, body: SmppSystemDraft): Reply {
    const refusal = trustRefusal(by, body.trustedForMo, false);
    if (refusal !== null) return { ok: false, refusal };
    const { systemId, password, carrier = systemId, ...rest } = body;
    const system = await this.carriers.createSystem(tx, { ...stored(rest), systemId, password, carrier });
    return succeed({ row: { ...system, links: [] }, hidden: ['password'] });
  }

  async update(tx: Executor, by: Engineer, system: SystemRecord, body: SmppSystemChange): Reply {
    const refusal = trustRefusal(by, body.trustedForMo, system.trustedForMo);
    if (refusal !== null) return { ok: false, refusal };
    const { password, ...change } = body;
    const wanted = { ...system, ...stored(change) };
    if (discardsSenderEvidence(system, wanted, change.senderFormat !== undefined))
      await this.carriers.discardSenderEvidence(tx, system.id);
    const changed = await this.carriers.updateSystem(tx, wanted, password);
    return succeed({
      row: { ...changed, links: system.links },
      ...(password === undefined ? {} : { hidden: ['password'] }),
    });
  }

  delete(tx: Executor, { id }: SystemRecord): Promise<void> {
    return this.carriers.deleteSystem(tx, id);
  }
}

/** What was sent as it is stored: every network with the length of its prefix. */
function stored({ allowedCidrs, ...rest }: Omit<Plain<SmppSystemChange>, 'password'>): Partial<SystemRecord> {
  return {
    ...rest,
    ...(allowedCidrs === undefined ? {} : { allowedCidrs: allowedCidrs.map((text) => networkOf(text) ?? text) }),
  };
}
